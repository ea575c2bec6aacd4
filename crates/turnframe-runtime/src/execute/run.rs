//! Running a command: authorised, decided, recorded.

use turnframe_core::canonical::Json;
use turnframe_core::id::{CaseRevision, EffectId, InteractionId, OperationRef};
use turnframe_core::interaction::{InteractionEvent, InteractionStatus, OptionMeaning};
use turnframe_core::plan::{ActOutcome, Rejection};
use turnframe_core::policy::CommandOrigin;
use turnframe_core::workflow::EffectRequest;
use turnframe_ledger::{EntryKind, KeyName, MarkChange, MarkKind, StreamName, Version};

use super::{ExecuteError, Execution, Original, Wanted};
use crate::record::{CaseCommand, CaseEvent, EffectRequested, FactKey, SCHEMA};

impl Execution<'_> {
    pub(super) fn run(
        &mut self,
        index: usize,
        command: &Json,
        origin: &CommandOrigin,
        resolves: Option<InteractionId>,
    ) -> Result<(), ExecuteError> {
        if let Some(card) = resolves.filter(|card| !self.cards.contains_key(card)) {
            self.outcomes[index] = Some(self.resolved_before(card));
            return Ok(());
        }
        if let Some(expected) = self.moved() {
            return self.record_conflict(index, command, origin, expected);
        }
        if !self.authorises(command, origin)? {
            return self.unauthorised(index, command, origin);
        }
        let decision = match self.workflow.decide(&self.state, command, self.job.now)? {
            Ok(decision) => decision,
            Err(rejection) => {
                self.reject(index, command, origin, rejection)?;
                return self.settle_card(resolves, InteractionEvent::Failed, origin);
            }
        };
        if decision.events.is_empty() {
            let rejection = Rejection::new("nothing_to_do");
            self.reject(index, command, origin, rejection)?;
            return self.settle_card(resolves, InteractionEvent::Failed, origin);
        }
        self.apply(index, command, origin, &decision.events, &decision.effects)?;
        self.state = decision.after;
        self.settle_card(resolves, InteractionEvent::Resolved, origin)
    }

    /// The revision the plan was made for, where somebody else has moved the case since (I13). Where a step of this
    /// very turn is on the record, the turn itself has: what is left of it goes on from there.
    pub(super) fn moved(&self) -> Option<CaseRevision> {
        let own = |original: &Original| self.job.turn.is_some() && original.turn == self.job.turn;
        if self.known.originals.values().any(own) {
            return None;
        }
        self.job.expected.filter(|expected| *expected != self.fold.revision)
    }

    fn record_conflict(
        &mut self,
        index: usize,
        command: &Json,
        origin: &CommandOrigin,
        expected: CaseRevision,
    ) -> Result<(), ExecuteError> {
        let (case, actual) = (self.job.case.clone(), self.fold.revision);
        let outcome = ActOutcome::RevisionConflict { case, expected, actual };
        self.record_of_turn(index, command, origin, outcome)
    }

    /// Whether the origin authorises exactly this command in the state it meets (I12).
    fn authorises(&self, command: &Json, origin: &CommandOrigin) -> Result<bool, ExecuteError> {
        match origin {
            CommandOrigin::DirectUserAct { .. } => {
                Ok(!self.workflow.policy(&self.state, command)?.requires_click())
            }
            CommandOrigin::ConfirmedInteraction { interaction, option, payload_hash } => {
                let Some(card) = self.cards.get(interaction) else { return Ok(false) };
                let names_it = match card.payload.option(option).map(|it| &it.meaning) {
                    Some(OptionMeaning::Execute(named)) => named == command,
                    Some(OptionMeaning::Fill(_)) => true,
                    Some(OptionMeaning::Choose(_) | OptionMeaning::Decline) | None => false,
                };
                let said_so = card.payload_hash == *payload_hash && card.is_intact();
                let risk = self.workflow.policy(&self.state, command)?.risk;
                Ok(names_it && said_so && risk <= card.payload.risk)
            }
            CommandOrigin::InternalPolicy { .. }
            | CommandOrigin::ExternalReceipt { .. }
            | CommandOrigin::ExternalCallback { .. } => Ok(true),
        }
    }

    /// Words that are not enough any more ask for a click; a click that names something else does nothing.
    fn unauthorised(
        &mut self,
        index: usize,
        command: &Json,
        origin: &CommandOrigin,
    ) -> Result<(), ExecuteError> {
        match (origin, self.job.steps[index].operation.clone()) {
            (CommandOrigin::DirectUserAct { .. }, Some(operation)) => {
                self.confirm(index, command, &operation)
            }
            _ => {
                let code = "origin_does_not_authorise".to_owned();
                self.record_of_turn(index, command, origin, ActOutcome::Failed { code })
            }
        }
    }

    /// A command that would be rejected is rejected now; otherwise a card will ask for a click.
    pub(super) fn confirm(
        &mut self,
        index: usize,
        command: &Json,
        operation: &OperationRef,
    ) -> Result<(), ExecuteError> {
        let origin = self.words_of(index);
        if let Some(expected) = self.moved() {
            return self.record_conflict(index, command, &origin, expected);
        }
        match self.workflow.decide(&self.state, command, self.job.now)? {
            Err(rejection) => self.reject(index, command, &origin, rejection),
            Ok(_) => {
                let (operation, command) = (operation.clone(), command.clone());
                self.wanted.push(Wanted { step: index, operation, command, renews: None });
                Ok(())
            }
        }
    }

    /// The origin that a refused command is recorded with: the words that asked for it.
    pub(super) fn words_of(&self, index: usize) -> CommandOrigin {
        match (&self.job.turn, self.job.steps[index].act) {
            (Some(turn), Some(act)) => CommandOrigin::DirectUserAct { turn: turn.clone(), act },
            _ => CommandOrigin::InternalPolicy { rule: "unattributed".to_owned() },
        }
    }

    pub(super) fn reject(
        &mut self,
        index: usize,
        command: &Json,
        origin: &CommandOrigin,
        rejection: Rejection,
    ) -> Result<(), ExecuteError> {
        let outcome = ActOutcome::Rejected { case: self.job.case.clone(), rejection };
        self.record(index, command, origin, outcome)
    }

    /// Records a command with its outcome under the step's key.
    pub(super) fn record(
        &mut self,
        index: usize,
        command: &Json,
        origin: &CommandOrigin,
        outcome: ActOutcome,
    ) -> Result<(), ExecuteError> {
        let name = self.job.steps[index].key.clone();
        self.record_as(index, name, command, origin, outcome)
    }

    /// Records what became of a turn's act, and not of the click it came with: that may still be made.
    fn record_of_turn(
        &mut self,
        index: usize,
        command: &Json,
        origin: &CommandOrigin,
        outcome: ActOutcome,
    ) -> Result<(), ExecuteError> {
        let step = &self.job.steps[index];
        let name = step.act_key.clone().unwrap_or_else(|| step.key.clone());
        self.record_as(index, name, command, origin, outcome)
    }

    fn record_as(
        &mut self,
        index: usize,
        name: KeyName,
        command: &Json,
        origin: &CommandOrigin,
        outcome: ActOutcome,
    ) -> Result<(), ExecuteError> {
        let entry = self.entries.len();
        let payload = CaseCommand {
            act: self.job.steps[index].act,
            conversation: self.job.conversation.clone(),
            locale: self.job.actor.locale.clone(),
            origin: origin.clone(),
            command: command.clone(),
            revision: self.fold.revision,
            outcome: outcome.clone(),
        };
        let id = self.push(EntryKind::CaseCommand, SCHEMA, &payload)?;
        self.claim_as(index, entry, name);
        self.outcomes[index] = Some(outcome);
        self.recorded[index] = Some(self.last_version());
        let tells = matches!(self.outcomes[index], Some(ActOutcome::Applied { .. }));
        // A turn tells of its own commands; nobody would hear of the others.
        if tells && self.job.turn.is_none() {
            let fact = FactKey { version: self.last_version(), entry: id };
            self.marks.push(MarkChange::Set {
                kind: MarkKind::Relay,
                key: fact.to_string(),
                stream: self.stream.clone(),
                due: self.job.now,
            });
        }
        Ok(())
    }

    /// Records a command that came to events. The events follow their command at once, so that whoever finds
    /// the command finds them.
    fn apply(
        &mut self,
        index: usize,
        command: &Json,
        origin: &CommandOrigin,
        events: &[Json],
        effects: &[EffectRequest],
    ) -> Result<(), ExecuteError> {
        self.has_events = true;
        let revision = self.revision_after();
        let schema = self.workflow.event_schema();
        let mut built = Vec::with_capacity(events.len());
        for event in events {
            let payload = CaseEvent { revision, event: event.clone() };
            let kind = EntryKind::CaseEvent;
            built.push(self.builder.build_versioned(&self.stream, kind, schema, &payload)?);
        }
        let effect_ids = effects.iter().map(|_| self.ids.effect()).collect::<Vec<_>>();
        let outcome = ActOutcome::Applied {
            case: self.job.case.clone(),
            revision,
            events: built.iter().map(|entry| entry.id).collect(),
            effects: effect_ids.clone(),
        };
        self.note_member();
        self.record(index, command, origin, outcome)?;
        self.own_entries += built.len() as u64;
        self.entries.extend(built);
        for (nth, (effect, id)) in effects.iter().zip(effect_ids).enumerate() {
            self.request(effect, id, nth)?;
        }
        Ok(())
    }

    fn request(
        &mut self,
        effect: &EffectRequest,
        id: EffectId,
        nth: usize,
    ) -> Result<(), ExecuteError> {
        let payload = EffectRequested {
            case: self.job.case.clone(),
            conversation: self.job.conversation.clone(),
            locale: self.job.actor.locale.clone(),
            actor: self.job.actor.actor.clone(),
            destination: effect.destination.clone(),
            operation: effect.operation.clone(),
            payload: effect.payload.clone(),
            order: format!("{:016x}.{nth:04x}", self.last_version().0),
        };
        let (stream, key) = (StreamName::Effect(id), crate::effect::mark_key(&payload, id));
        let entry = self.builder.build(&stream, EntryKind::EffectRequested, &payload)?;
        self.entries.push(entry);
        self.expected.push((stream.clone(), Version::NONE));
        let (kind, due) = (MarkKind::Effect, self.job.now);
        self.marks.push(MarkChange::Set { kind, key, stream, due });
        Ok(())
    }

    /// The first event of a case makes it findable for the actor who brought it into being.
    fn note_member(&mut self) {
        if self.fold.revision == CaseRevision::NONE && self.job.turn.is_some() {
            self.marks.push(MarkChange::Set {
                kind: MarkKind::Member,
                key: crate::directory::member_key(&self.job.actor.actor, &self.job.case),
                stream: self.stream.clone(),
                due: self.job.now,
            });
        }
    }

    /// What a step on a card that is not open any more comes to: the first resolution stands.
    pub(super) fn resolved_before(&self, card: InteractionId) -> ActOutcome {
        let here = self.closed_here.get(&card).copied();
        let before = self.known.closed.get(&card).map(|closed| closed.status);
        let status = here.or(before).unwrap_or(InteractionStatus::Invalidated);
        ActOutcome::AlreadyResolved { card, status }
    }
}
