//! Composing a reply: from committed events and recorded outcomes to ordered blocks (ADR-005).
//!
//! Receipts are rendered by the domain from events that were reloaded from the ledger; what failed, was
//! refused, superseded or waits gets a notice; cards are shown once they are persisted. The claim guard reads
//! every block against the evidence before anything is stored. Nothing here knows what was intended.

pub mod words;

mod notices;

use std::collections::BTreeMap;

use turnframe_core::block::{ActReport, Author, NoticeSeverity, ResponseBlock, ServerNotice};
use turnframe_core::claim::{self, ClaimViolation, Evidence};
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{CaseRef, EntryId, InteractionId, Locale, SubjectId, TurnId};
use turnframe_core::interaction::Interaction;
use turnframe_core::personal::Personal;
use turnframe_core::plan::{ExecutionPlan, PlannedAnswer, PlannedQuestion};
use turnframe_core::policy::ClaimMode;
use turnframe_core::receipt::{OperationalReceipt, ReceiptDraft, ReceiptSeverity, ReceiptStatus};
use turnframe_core::registry::{CorruptJson, StoredEvent, WorkflowRegistry};
use turnframe_core::text::Text;
use turnframe_core::view::WorkflowView;
use turnframe_core::words::Message;

use words::{NoticeCode, NoticeDetails};

/// A case as the turn left it.
#[derive(Debug, Clone)]
pub struct CaseAfter {
    /// The view at the revision this turn committed.
    pub view: WorkflowView,
    /// The events of this turn's acts, reloaded from the ledger.
    pub events: Vec<CommittedEvent<StoredEvent>>,
    /// The cards that are open on it.
    pub cards: Vec<Interaction>,
}

/// Everything a reply is composed from.
#[derive(Debug)]
pub struct ComposeInput<'a> {
    /// The turn.
    pub turn: &'a TurnId,
    /// The reader's language.
    pub locale: &'a Locale,
    /// Whose words the message is.
    pub speaker: &'a SubjectId,
    /// The workflows.
    pub registry: &'a WorkflowRegistry,
    /// The message; none for a click alone.
    pub message: Option<&'a Message>,
    /// Whether the message could not be understood at all.
    pub not_understood: bool,
    /// The plan.
    pub plan: &'a ExecutionPlan,
    /// Every act with its outcome.
    pub acts: &'a [ActReport],
    /// Every case the turn touched.
    pub cases: &'a BTreeMap<CaseRef, CaseAfter>,
    /// The choices between records that the conversation held when the turn was taken up.
    pub choices: &'a [Interaction],
}

impl ComposeInput<'_> {
    /// The cards that can be shown: those on the turn's cases, and the conversation's choices.
    fn open_cards(&self) -> impl Iterator<Item = &Interaction> {
        let plan = self.plan;
        let is_closed =
            |id: InteractionId| plan.closed_choices.iter().any(|closed| closed.card == id);
        let is_new = |id: InteractionId| plan.choices.iter().any(|card| card.id == id);
        let others = self.choices.iter().filter(move |it| !is_closed(it.id) && !is_new(it.id));
        self.cases.values().flat_map(|case| &case.cards).chain(&plan.choices).chain(others)
    }
}

/// Why a reply cannot be composed: a defect of a workflow, never the user's doing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// A stored event cannot be read.
    #[error(transparent)]
    Corrupt(#[from] CorruptJson),
    /// A block claims more than the ledger holds (I16, I6).
    #[error(transparent)]
    Claim(#[from] ClaimViolation),
}

/// Composes the blocks of a reply and has them checked by the claim guard.
///
/// # Errors
/// [`ComposeError`] when a receipt cannot be rendered or does not pass the guard.
pub fn compose(input: &ComposeInput<'_>) -> Result<Vec<ResponseBlock>, ComposeError> {
    let mut composition = Composition { input, blocks: Vec::new(), shown: Vec::new() };
    composition.receipts()?;
    composition.notices();
    composition.answers();
    composition.heard_and_unread();
    composition.cards();
    composition.never_silent();
    claim::check(&composition.blocks, &evidence(input))?;
    Ok(composition.blocks)
}

/// What the ledger was read to hold.
fn evidence(input: &ComposeInput<'_>) -> Evidence {
    let events = input.cases.values().flat_map(|case| &case.events).map(|event| event.id);
    let cards = input.open_cards().map(|card| card.id);
    Evidence { events: events.collect(), cards: cards.collect() }
}

/// Renders the receipts of a case's committed events. Every event is cited by one of them.
///
/// # Errors
/// [`CorruptJson`] when an event cannot be read.
pub fn receipts(
    registry: &WorkflowRegistry,
    view: &WorkflowView,
    events: &[CommittedEvent<StoredEvent>],
    locale: &Locale,
) -> Result<Vec<ResponseBlock>, CorruptJson> {
    let Some(workflow) = registry.get(&view.case.workflow) else { return Ok(Vec::new()) };
    let mut drafts = workflow.receipts(events, view, locale)?;
    let cited: Vec<EntryId> =
        drafts.iter().flat_map(|draft| draft.event_ids.iter().copied()).collect();
    let uncited = events.iter().map(|event| event.id).filter(|id| !cited.contains(id));
    let uncited: Vec<_> = uncited.collect();
    if !uncited.is_empty() {
        tracing::error!(case = %view.case, "the workflow's receipts leave events uncited");
        drafts.push(plain_receipt(view, uncited, locale));
    }
    let receipt = |draft| {
        let revision = view.revision;
        ResponseBlock::Receipt(OperationalReceipt::of(view.case.clone(), revision, draft))
    };
    Ok(drafts.into_iter().map(receipt).collect())
}

fn plain_receipt(view: &WorkflowView, event_ids: Vec<EntryId>, locale: &Locale) -> ReceiptDraft {
    let title = if locale.language() == "de" { "Änderung vermerkt" } else { "Change recorded" };
    ReceiptDraft {
        status: ReceiptStatus::Recorded,
        severity: ReceiptSeverity::Info,
        title: title.into(),
        body: view.projection.label.clone(),
        event_ids,
        external_reference: None,
        claim_mode: ClaimMode::ServerReceiptOnly,
    }
}

struct Composition<'a> {
    input: &'a ComposeInput<'a>,
    blocks: Vec<ResponseBlock>,
    /// Cards that a notice speaks of; they are shown too.
    shown: Vec<InteractionId>,
}

impl Composition<'_> {
    fn receipts(&mut self) -> Result<(), ComposeError> {
        for case in self.input.cases.values().filter(|case| !case.events.is_empty()) {
            let (registry, locale) = (self.input.registry, self.input.locale);
            self.blocks.extend(receipts(registry, &case.view, &case.events, locale)?);
        }
        Ok(())
    }

    fn notices(&mut self) {
        for act in self.input.acts {
            if let Some(notice) = notices::of_act(self.input, act) {
                self.shown.extend(notices::cards_of(&act.outcome));
                self.blocks.push(ResponseBlock::Notice(notice));
            }
        }
    }

    fn answers(&mut self) {
        for question in &self.input.plan.questions {
            let block = self.answer(question);
            self.blocks.push(block);
        }
    }

    fn answer(&mut self, question: &PlannedQuestion) -> ResponseBlock {
        let code = match &question.answer {
            PlannedAnswer::FromView(case) => match self.answer_about(case, question) {
                Some(text) => return ResponseBlock::Answer { text, author: Author::Server },
                None => NoticeCode::NotAnsweredUnknown,
            },
            PlannedAnswer::Ambiguous { card } => {
                self.shown.push(*card);
                NoticeCode::NotAnsweredAmbiguous
            }
            PlannedAnswer::Missing => NoticeCode::NotAnsweredMissing,
            PlannedAnswer::NotExecuted { .. } => NoticeCode::NotAnsweredDepends,
        };
        let interaction = match &question.answer {
            PlannedAnswer::Ambiguous { card } => Some(*card),
            PlannedAnswer::FromView(_)
            | PlannedAnswer::Missing
            | PlannedAnswer::NotExecuted { .. } => None,
        };
        let notice = self.notice(code, NoticeSeverity::Warning, Text::new());
        ResponseBlock::Notice(ServerNotice { interaction, ..notice })
    }

    fn answer_about(&self, case: &CaseRef, question: &PlannedQuestion) -> Option<Text> {
        let workflow = self.input.registry.get(&case.workflow)?;
        let view = &self.input.cases.get(case)?.view;
        workflow.answer(&question.topic, view, self.input.locale)
    }

    fn heard_and_unread(&mut self) {
        if !self.input.plan.prohibitions.is_empty() {
            let info = NoticeSeverity::Info;
            let notice = self.notice(NoticeCode::ProhibitionHeard, info, Text::new());
            self.blocks.push(ResponseBlock::Notice(notice));
        }
        if self.input.not_understood {
            let failure = NoticeSeverity::Failure;
            let notice = self.notice(NoticeCode::NotUnderstood, failure, Text::new());
            self.blocks.push(ResponseBlock::Notice(notice));
        }
        for words in &self.input.plan.unread {
            let quoted = self.input.message.and_then(|message| message.slice(*words));
            let quoted = quoted.unwrap_or_default().to_owned();
            let quoted = Personal::known(self.input.speaker.clone(), quoted);
            let tail = Text::new().plain("“").personal(&quoted).plain("”");
            let notice = self.notice(NoticeCode::Unread, NoticeSeverity::Warning, tail);
            self.blocks.push(ResponseBlock::Notice(notice));
        }
    }

    /// Shows what this turn drew, and what a notice speaks of; each card once.
    fn cards(&mut self) {
        let drawn = |card: &&Interaction| card.turn == *self.input.turn;
        let spoken_of = |card: &&Interaction| self.shown.contains(&card.id);
        let cards: Vec<_> =
            self.input.open_cards().filter(|card| drawn(card) || spoken_of(card)).collect();
        self.blocks.extend(cards.into_iter().map(|card| ResponseBlock::Interaction(card.view())));
    }

    /// A turn that asked for nothing is answered all the same.
    fn never_silent(&mut self) {
        if self.blocks.is_empty() {
            let notice = self.notice(NoticeCode::NothingAsked, NoticeSeverity::Info, Text::new());
            self.blocks.push(ResponseBlock::Notice(notice));
        }
    }

    fn notice(&self, code: NoticeCode, severity: NoticeSeverity, tail: Text) -> ServerNotice {
        let details = NoticeDetails { tail, ..NoticeDetails::default() };
        ServerNotice {
            code: code.as_str().to_owned(),
            severity,
            text: words::notice(code, &details, self.input.locale),
            act: None,
            interaction: None,
        }
    }
}
