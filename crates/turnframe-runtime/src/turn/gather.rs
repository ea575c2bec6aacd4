//! Which cases a turn considers, asked of the directory one and all (threat model: a narrower scope).

use std::collections::BTreeMap;

use futures::future::try_join_all;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{AccountId, CaseRef, CaseRevision, InteractionId};
use turnframe_core::interaction::{
    Interaction, InteractionResponse, InteractionStatus, OptionMeaning,
};
use turnframe_core::reduce::{CaseInTurn, Click};
use turnframe_core::target::{TargetTable, TargetToken};
use turnframe_ledger::{Entry, EntryKind, EventLedger, KeyName, Version};

use super::{Cases, ConversationContext, OpenCase, TurnEngine, TurnError};
use crate::fold::FoldError;
use crate::fold::conversation::UnfinishedTurn;
use crate::key;
use crate::record::{CardClosed, CardOpened};

/// What a turn is reduced from, beside what was said.
pub(super) struct Gathered {
    pub(super) cases: BTreeMap<CaseRef, CaseInTurn>,
    pub(super) targets: TargetTable,
    pub(super) tokens: Vec<(TargetToken, CaseRef)>,
    pub(super) click: Option<Click>,
}

/// A click with its card.
pub(super) struct Clicked {
    response: InteractionResponse,
    card: Interaction,
}

impl TurnEngine {
    /// The click with its card, wherever the card lives. A card that is not this conversation's is none.
    pub(super) async fn find_click(
        &self,
        context: &ConversationContext,
        turn: &UnfinishedTurn,
    ) -> Result<Option<Clicked>, TurnError> {
        let Some(record) = &turn.accepted.click else { return Ok(None) };
        let account = &turn.accepted.actor.account;
        let ledger = self.ledger.as_ref();
        let Some(card) = find_card(ledger, account, record.interaction).await? else {
            return Ok(None);
        };
        if card.conversation != context.conversation {
            return Ok(None);
        }
        let response = InteractionResponse {
            interaction: record.interaction,
            option: record.option.clone(),
            expected_revision: record.expected_revision,
            value: record.value.as_ref().and_then(|value| value.value()).cloned(),
        };
        Ok(Some(Clicked { response, card }))
    }

    /// Asks the directory for every case this turn can address, opens and projects what it admits, and mints
    /// a token for each. A refused case is not projected; its card leaves the turn.
    pub(super) async fn gather(
        &self,
        context: &ConversationContext,
        turn: &UnfinishedTurn,
        click: Option<Clicked>,
        cases: &dyn Cases,
    ) -> Result<Gathered, TurnError> {
        let actor = &turn.accepted.actor;
        let conversation = &context.conversation;
        let mut admitted = self.directory.candidates(actor, conversation).await?;
        let is_cut = admitted.len() > crate::port::CANDIDATES_MAX;
        admitted.truncate(crate::port::CANDIDATES_MAX);
        if let Some(origin) = &turn.accepted.origin {
            let origin = crate::port::OriginToken(origin.clone());
            let bound = self.directory.resolve_origin(actor, &origin).await?;
            admitted.extend(bound.filter(|case| !admitted.contains(case)));
        }
        let opened = |case: CaseRef| async move {
            match cases.open(&actor.account, &case).await {
                Ok(open) => Ok(Some((case, open))),
                Err(error) if error.is_transient => Err(TurnError::from(error)),
                Err(error) => {
                    tracing::error!(%case, %error, "a case is left out: its stream has stopped");
                    Ok(None)
                }
            }
        };
        let others = beside(&admitted, context, click.as_ref());
        let mut found: Vec<_> =
            try_join_all(admitted.into_iter().map(opened)).await?.into_iter().flatten().collect();
        for (case, open) in
            try_join_all(others.into_iter().map(opened)).await?.into_iter().flatten()
        {
            if self.admits(turn, context, &case, &open).await? {
                found.push((case, open));
            }
        }
        let mut gathered = self.project(turn, found);
        if is_cut {
            gathered.targets.cut();
        }
        let reachable = |click: &Clicked| match &click.card.case {
            Some(case) => gathered.cases.contains_key(case),
            None => true,
        };
        if let Some(Clicked { response, card }) = click.filter(reachable) {
            let status = self.status_of(&card, actor, &gathered, context).await?;
            gathered.click = Some(Click { response, card, status });
        }
        Ok(gathered)
    }

    /// Where a card stands, its case having been read: the ledger is asked about a card that is not open only.
    async fn status_of(
        &self,
        card: &Interaction,
        actor: &ActorContext,
        gathered: &Gathered,
        context: &ConversationContext,
    ) -> Result<InteractionStatus, TurnError> {
        let is_open = match &card.case {
            Some(case) => gathered
                .cases
                .get(case)
                .is_some_and(|case| case.cards.iter().any(|open| open.id == card.id)),
            None => context.choices.iter().any(|open| open.id == card.id),
        };
        if is_open {
            return Ok(InteractionStatus::Active);
        }
        let closed = find_closed(self.ledger.as_ref(), &actor.account, card.id).await?;
        Ok(closed.map_or(InteractionStatus::Invalidated, |closed| closed.status))
    }

    /// A case outside the candidates: the directory is asked, but for one that does not exist yet and whose
    /// open card is this conversation's.
    async fn admits(
        &self,
        turn: &UnfinishedTurn,
        context: &ConversationContext,
        case: &CaseRef,
        open: &OpenCase,
    ) -> Result<bool, TurnError> {
        let here = |card: &Interaction| card.conversation == context.conversation;
        if open.revision == CaseRevision::NONE {
            return Ok(open.cards.iter().any(here));
        }
        let (actor, conversation) = (&turn.accepted.actor, &context.conversation);
        Ok(self.directory.authorize_case(actor, conversation, case).await?)
    }

    fn project(&self, turn: &UnfinishedTurn, found: Vec<(CaseRef, OpenCase)>) -> Gathered {
        let actor = &turn.accepted.actor;
        let mut targets = TargetTable::new(actor.account.clone());
        let (mut cases, mut tokens) = (BTreeMap::new(), Vec::new());
        for (case, open) in found {
            let Some(workflow) = self.registry.get(&case.workflow) else { continue };
            let projection = match workflow.project(&open.state, &actor.locale) {
                Ok(projection) => projection,
                Err(error) => {
                    tracing::error!(%case, %error, "a case is left out: it cannot be projected");
                    continue;
                }
            };
            let names = std::iter::once(&projection.label).chain(&projection.aliases);
            let names: Vec<String> = names.map(ToString::to_string).collect();
            let is_open = !projection.is_closed() && open.revision > CaseRevision::NONE;
            let names = names.iter().map(String::as_str);
            let token = targets.admit(case.clone(), is_open, names, &self.ids);
            tokens.push((token, case.clone()));
            let (revision, state, cards) = (open.revision, open.state, open.cards);
            cases.insert(case, CaseInTurn { revision, state, projection, cards });
        }
        Gathered { click: None, cases, targets, tokens }
    }
}

/// Cases beside the candidates: those the conversation touched, the clicked card's, and those a choice offers.
fn beside(
    candidates: &[CaseRef],
    context: &ConversationContext,
    click: Option<&Clicked>,
) -> Vec<CaseRef> {
    let offered = |card: &Interaction| {
        let chosen = card.payload.options.iter().filter_map(|option| match &option.meaning {
            OptionMeaning::Choose(case) => Some(case.clone()),
            OptionMeaning::Execute(_) | OptionMeaning::Fill(_) | OptionMeaning::Decline => None,
        });
        chosen.collect::<Vec<_>>()
    };
    let mut cases = context.touched.clone();
    cases.extend(click.and_then(|click| click.card.case.clone()));
    cases.extend(context.choices.iter().flat_map(offered));
    cases.sort();
    cases.dedup();
    cases.retain(|case| !candidates.contains(case));
    cases
}

/// A card of an account, found by its key.
///
/// # Errors
/// [`TurnError`] when the ledger cannot be read.
pub async fn find_card(
    ledger: &dyn EventLedger,
    account: &AccountId,
    card: InteractionId,
) -> Result<Option<Interaction>, TurnError> {
    let Some(entry) = find_entry(ledger, account, &key::card(card)?).await? else {
        return Ok(None);
    };
    let shape = |source| FoldError::Shape { at: entry.reference(), source };
    if entry.kind != EntryKind::CardOpened {
        return Ok(None);
    }
    let CardOpened { card, .. } = entry.body.open().map_err(shape)?;
    Ok(Some(card))
}

/// How a card of an account ended, if it did.
///
/// # Errors
/// [`TurnError`] when the ledger cannot be read.
pub async fn find_closed(
    ledger: &dyn EventLedger,
    account: &AccountId,
    card: InteractionId,
) -> Result<Option<CardClosed>, TurnError> {
    let Some(entry) = find_entry(ledger, account, &key::card_closed(card)?).await? else {
        return Ok(None);
    };
    let shape = |source| FoldError::Shape { at: entry.reference(), source };
    Ok(Some(entry.body.open().map_err(shape)?))
}

/// The entry that a key of an account names.
///
/// # Errors
/// [`TurnError`] when the ledger cannot be read.
pub async fn find_entry(
    ledger: &dyn EventLedger,
    account: &AccountId,
    key: &KeyName,
) -> Result<Option<Entry>, TurnError> {
    let Some(record) = ledger.find_key(account, key).await? else { return Ok(None) };
    let before = Version(record.entry.version.0.saturating_sub(1));
    let mut entries = ledger.read_stream(account, &record.entry.stream, before, 1).await?;
    Ok(entries.pop())
}
