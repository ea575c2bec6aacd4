//! Executing a plan on its cases and reading back what was committed (ADR-005, decision 5).

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use turnframe_core::block::{ActReport, AssistantTurn, Author, ResponseBlock};
use turnframe_core::claim;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{AccountId, CaseRef, CaseRevision, EntryId, Locale};
use turnframe_core::personal::Personal;
use turnframe_core::plan::{ActId, ActOutcome, CaseExpectation, Disposition};
use turnframe_core::receipt::OperationalReceipt;
use turnframe_core::registry::{CorruptJson, StoredEvent};
use turnframe_core::target::fold;
use turnframe_core::text::{Run, Text};
use turnframe_core::view::WorkflowView;
use turnframe_core::words::Message;
use turnframe_ledger::{EntryKind, EventLedger, StreamName, Version};

use super::{
    CaseReport, Cases, ConversationContext, NARRATE_TIMEOUT, NARRATION_MAX_BYTES, OpenCase,
    TurnEngine, TurnError,
};
use crate::compose::{CaseAfter, ComposeInput, compose};
use crate::execute::{CaseJob, TurnFrame};
use crate::fold::FoldError;
use crate::fold::conversation::UnfinishedTurn;
use crate::port::NarrationBrief;
use crate::record::{CaseEvent, Reading, TurnReduced};

/// What a plan came to.
#[derive(Debug)]
pub struct Settled {
    /// Every act with its outcome.
    pub acts: Vec<ActReport>,
    /// Every case the turn touched, as it left it.
    pub cases: BTreeMap<CaseRef, CaseAfter>,
}

impl Settled {
    /// The cases that exist now, or hold a card: where the conversation's cards may sit.
    #[must_use]
    pub fn touched(&self) -> Vec<CaseRef> {
        let there =
            |after: &CaseAfter| after.view.revision > CaseRevision::NONE || !after.cards.is_empty();
        self.cases.iter().filter(|(_, after)| there(after)).map(|(case, _)| case.clone()).collect()
    }
}

impl TurnEngine {
    /// Step 8: runs the plan's steps, case by case, and reloads the committed events.
    pub(super) async fn settle(
        &self,
        context: &ConversationContext,
        turn: &UnfinishedTurn,
        reduced: &TurnReduced,
        cases: &dyn Cases,
    ) -> Result<Settled, TurnError> {
        let actor = &turn.accepted.actor;
        let frame = TurnFrame {
            conversation: &context.conversation,
            turn: &turn.turn,
            causation: turn.accepted_by,
            actor,
            speaker: &actor.subject()?,
        };
        let one = |expected: &CaseExpectation| {
            let (case, revision) = (expected.case.clone(), expected.revision);
            async move { self.settle_case(&frame, reduced, case, revision, cases).await }
        };
        let settled = try_join_all(reduced.plan.cases.iter().map(one)).await?;
        let mut outcomes = BTreeMap::new();
        let mut after = BTreeMap::new();
        for (case, reported, case_after) in settled {
            outcomes.extend(reported);
            after.insert(case, case_after);
        }
        let report = |act: &turnframe_core::plan::PlannedAct| ActReport {
            id: act.id,
            source: act.source,
            operation: act.operation.clone(),
            outcome: match &act.disposition {
                Disposition::Final(outcome) => outcome.clone(),
                Disposition::Step(_) => outcomes
                    .get(&act.id)
                    .cloned()
                    .unwrap_or_else(|| ActOutcome::Failed { code: "not_executed".to_owned() }),
            },
        };
        Ok(Settled { acts: reduced.plan.acts.iter().map(report).collect(), cases: after })
    }

    async fn settle_case(
        &self,
        frame: &TurnFrame<'_>,
        reduced: &TurnReduced,
        case: CaseRef,
        revision: CaseRevision,
        cases: &dyn Cases,
    ) -> Result<(CaseRef, Vec<(ActId, ActOutcome)>, CaseAfter), TurnError> {
        let account = &frame.actor.account;
        let job = CaseJob::of_plan(&reduced.plan, &case, revision, frame)?;
        let acts: Vec<_> = reduced.plan.steps(&case).map(|(act, _)| act.id).collect();
        let CaseReport { outcomes, recorded, case: open } = match job {
            Some(job) => cases.execute(job).await?,
            None => {
                let case = cases.open(account, &case).await?;
                CaseReport { outcomes: Vec::new(), recorded: Vec::new(), case }
            }
        };
        let mut events = Vec::new();
        for (outcome, version) in outcomes.iter().zip(recorded) {
            let claimed = outcome.events();
            if let Some(version) = version.filter(|_| !claimed.is_empty()) {
                let ledger = self.ledger.as_ref();
                events.extend(reload(ledger, account, &case, version, claimed).await?);
            }
        }
        if revision == CaseRevision::NONE && open.revision > CaseRevision::NONE {
            self.directory.case_opened(frame.actor, frame.conversation, &case);
        }
        let after = self.case_after(frame, &case, open, events)?;
        Ok((case, acts.into_iter().zip(outcomes).collect(), after))
    }

    fn case_after(
        &self,
        frame: &TurnFrame<'_>,
        case: &CaseRef,
        open: OpenCase,
        events: Vec<CommittedEvent<StoredEvent>>,
    ) -> Result<CaseAfter, TurnError> {
        let unknown = || CorruptJson {
            workflow: case.workflow.clone(),
            reason: "no such workflow is registered".to_owned(),
        };
        let workflow = self.registry.get(&case.workflow).ok_or_else(unknown)?;
        let projection = workflow.project(&open.state, &frame.actor.locale)?;
        let view = WorkflowView { case: case.clone(), revision: open.revision, projection };
        let mut cards = open.cards;
        cards.retain(|card| card.conversation == *frame.conversation);
        Ok(CaseAfter { view, events, cards })
    }

    /// Steps 9 and 10: the blocks, and a model's words around them where one is asked.
    pub(super) async fn answer(
        &self,
        context: &ConversationContext,
        turn: &UnfinishedTurn,
        message: Option<&Message>,
        reduced: &TurnReduced,
        settled: &Settled,
    ) -> Result<AssistantTurn, TurnError> {
        let actor = &turn.accepted.actor;
        let mut blocks = compose(&ComposeInput {
            turn: &turn.turn,
            locale: &actor.locale,
            speaker: &actor.subject()?,
            registry: &self.registry,
            message,
            not_understood: matches!(reduced.reading, Reading::Failed { .. }),
            plan: &reduced.plan,
            acts: &settled.acts,
            cases: &settled.cases,
            choices: &context.choices,
        })?;
        if let Some(words) = self.narrate(turn, settled, &blocks).await {
            // Whatever a model wrote may be about the speaker: it goes when they are erased.
            let words = Personal::known(actor.subject()?, words);
            let (text, author) = (Text::new().personal(&words), Author::Model);
            blocks.insert(0, ResponseBlock::Transition { text, author });
        }
        Ok(AssistantTurn { turn: turn.turn.clone(), acts: settled.acts.clone(), blocks })
    }

    /// A model's words. Whatever goes wrong with them, the reply goes out without (I17).
    async fn narrate(
        &self,
        turn: &UnfinishedTurn,
        settled: &Settled,
        blocks: &[ResponseBlock],
    ) -> Option<String> {
        let narrator = self.narrator.as_ref()?;
        let locale = turn.accepted.actor.locale.clone();
        let receipt = |block: &ResponseBlock| {
            if let ResponseBlock::Receipt(receipt) = block { Some(receipt.clone()) } else { None }
        };
        let receipts = blocks.iter().filter_map(receipt).collect();
        let brief = NarrationBrief { locale: locale.clone(), receipts };
        let words = match tokio::time::timeout(NARRATE_TIMEOUT, narrator.words(&brief)).await {
            Ok(Ok(words)) => words?,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the reply goes out in the server's words");
                return None;
            }
            Err(_) => {
                tracing::warn!(
                    "the narrator took too long; the reply goes out in the server's words"
                );
                return None;
            }
        };
        let nul_or_blank = words.contains('\0') || words.trim().is_empty();
        let unusable = nul_or_blank || words.len() > NARRATION_MAX_BYTES;
        let names_somebody = || brief.receipts.iter().any(|receipt| names(receipt, &words));
        let claims = || claim::breaks_guardrail(&words, &self.forbidden_phrases(&locale));
        if unusable || names_somebody() || claims() {
            tracing::warn!(
                counter.turnframe.narration.refused = 1,
                cases = settled.cases.len(),
                "a model's words were refused by the guardrail"
            );
            return None;
        }
        Some(words)
    }

    /// What no model may say to a reader. A model may slip into any language that a workflow speaks, and a claim is
    /// none the less one for that.
    fn forbidden_phrases(&self, reader: &Locale) -> Vec<String> {
        let mut forbidden = BTreeSet::new();
        for workflow in self.registry.iter() {
            let names = workflow.operations().iter().flat_map(|operation| &operation.names);
            let spoken: BTreeSet<&Locale> = names.map(|name| &name.locale).collect();
            for locale in spoken.into_iter().chain([reader]) {
                forbidden.extend(workflow.forbidden_phrases(locale));
            }
        }
        forbidden.into_iter().collect()
    }
}

/// Whether words repeat what a receipt says about a person: an erasure could not take it out of them.
fn names(receipt: &OperationalReceipt, words: &str) -> bool {
    let runs = receipt.draft.title.runs().iter().chain(receipt.draft.body.runs());
    let mut people = runs.filter_map(|run| match run {
        Run::Personal(value) => value.value(),
        Run::Plain(_) => None,
    });
    people.any(|person| fold(words).contains(&fold(person)))
}

/// Reads the events of a command back from the ledger. They follow their command at once.
async fn reload(
    ledger: &dyn EventLedger,
    account: &AccountId,
    case: &CaseRef,
    command: Version,
    claimed: &[EntryId],
) -> Result<Vec<CommittedEvent<StoredEvent>>, TurnError> {
    let stream = StreamName::Case(case.clone());
    let entries = ledger.read_stream(account, &stream, command, claimed.len()).await?;
    let mut events = Vec::with_capacity(entries.len());
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::CaseEvent) {
        let shape = |source| FoldError::Shape { at: entry.reference(), source };
        let CaseEvent { revision, event } = entry.body.open().map_err(shape)?;
        events.push(CommittedEvent {
            id: entry.id,
            case: case.clone(),
            revision,
            recorded_at: entry.recorded_at,
            event: StoredEvent { schema: entry.schema, json: event },
        });
    }
    Ok(events)
}
