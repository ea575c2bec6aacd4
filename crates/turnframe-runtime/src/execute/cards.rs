//! Cards of a case: closed, invalidated and drawn in the append of what caused it.

use turnframe_core::id::{InteractionId, OperationRef, OptionId};
use turnframe_core::interaction::{
    CardContext, Interaction, InteractionEvent, InteractionKind, InteractionPayload,
    InteractionStatus, OptionMeaning, StoredOption,
};
use turnframe_core::plan::ActOutcome;
use turnframe_core::policy::CommandOrigin;
use turnframe_core::source::Timestamp;
use turnframe_core::view::{PhaseOwner, Projection};
use turnframe_ledger::{EntryKind, MarkChange, MarkKind};

use super::{ExecuteError, Execution, Wanted};
use crate::key;
use crate::record::{CardClosed, CardOpened, SCHEMA};

impl Execution<'_> {
    /// Closes an open card without a command.
    pub(super) fn close(
        &mut self,
        index: usize,
        card: InteractionId,
        status: InteractionStatus,
        option: Option<&OptionId>,
    ) -> Result<(), ExecuteError> {
        if !self.cards.contains_key(&card) {
            self.outcomes[index] = Some(self.resolved_before(card));
            return Ok(());
        }
        let entry = self.entries.len();
        self.close_card(card, status, option)?;
        self.claim(index, entry);
        self.outcomes[index] = Some(ActOutcome::CardClosed { card, status });
        self.recorded[index] = Some(self.last_version());
        Ok(())
    }

    /// A click on a card that is not open: the first resolution stands, and a stale command is asked anew.
    pub(super) fn renew(
        &mut self,
        index: usize,
        card: &Interaction,
        option: &OptionId,
        status: InteractionStatus,
        operation: Option<&OperationRef>,
    ) -> Result<(), ExecuteError> {
        let was_open = self.cards.contains_key(&card.id);
        if was_open {
            self.close_card(card.id, InteractionStatus::Invalidated, None)?;
        }
        let closed = self.known.closed.get(&card.id).map(|closed| closed.status);
        let status =
            if was_open { InteractionStatus::Invalidated } else { closed.unwrap_or(status) };
        match status {
            InteractionStatus::Resolved
            | InteractionStatus::Declined
            | InteractionStatus::Dismissed => {
                let outcome = ActOutcome::AlreadyResolved { card: card.id, status };
                self.outcomes[index] = Some(outcome);
                return Ok(());
            }
            InteractionStatus::Active
            | InteractionStatus::Resolving
            | InteractionStatus::Invalidated
            | InteractionStatus::Expired
            | InteractionStatus::Failed => {}
        }
        self.outcomes[index] = Some(ActOutcome::StaleCard { card: card.id, fresh: None });
        let meaning = card.payload.option(option).map(|stored| &stored.meaning);
        let (Some(OptionMeaning::Execute(command)), Some(operation)) = (meaning, operation) else {
            return Ok(());
        };
        match self.workflow.decide(&self.state, command, self.job.now)? {
            Ok(_) => {
                let (operation, command) = (operation.clone(), command.clone());
                let renews = Some(card.id);
                self.wanted.push(Wanted { step: index, operation, command, renews });
                Ok(())
            }
            Err(rejection) => {
                let origin = self.words_of(index);
                self.reject(index, command, &origin, rejection)
            }
        }
    }

    /// Settles the card that a command came from.
    pub(super) fn settle_card(
        &mut self,
        card: Option<InteractionId>,
        event: InteractionEvent,
        origin: &CommandOrigin,
    ) -> Result<(), ExecuteError> {
        let Some(card) = card else { return Ok(()) };
        let option = match origin {
            CommandOrigin::ConfirmedInteraction { option, .. } => Some(option),
            CommandOrigin::DirectUserAct { .. }
            | CommandOrigin::InternalPolicy { .. }
            | CommandOrigin::ExternalReceipt { .. }
            | CommandOrigin::ExternalCallback { .. } => None,
        };
        let answered = InteractionStatus::Active.next(InteractionEvent::Answered);
        let status = answered.and_then(|status| status.next(event)).map_err(|error| {
            ExecuteError::PostState { case: self.job.case.clone(), reason: error.to_string() }
        })?;
        self.close_card(card, status, option)
    }

    fn close_card(
        &mut self,
        card: InteractionId,
        status: InteractionStatus,
        option: Option<&OptionId>,
    ) -> Result<(), ExecuteError> {
        let entry = self.entries.len();
        let payload = CardClosed { card, status, option: option.cloned() };
        self.push(EntryKind::CardClosed, SCHEMA, &payload)?;
        self.keys.push(key::claim(key::card_closed(card)?, &[], entry));
        self.marks.push(MarkChange::Clear { kind: MarkKind::Card, key: card.to_string() });
        self.cards.remove(&card);
        self.closed_here.insert(card, status);
        Ok(())
    }

    /// Once all steps ran: cards of the older revision go, what the state requires comes, and what a step asked
    /// for comes where the one blocking slot is free (I5, I6).
    pub(super) fn draw_cards(&mut self) -> Result<(), ExecuteError> {
        if self.has_events {
            let old = |card: &&Interaction| !card.payload.independent;
            let old: Vec<_> = self.cards.values().filter(old).map(|card| card.id).collect();
            for card in old {
                self.close_card(card, InteractionStatus::Invalidated, None)?;
            }
        }
        let projection = self.projection()?;
        self.draw_required(projection.required)?;
        for wanted in std::mem::take(&mut self.wanted) {
            self.draw_wanted(&wanted)?;
        }
        Ok(())
    }

    fn projection(&self) -> Result<Projection, ExecuteError> {
        Ok(self.workflow.project(&self.state, &self.job.actor.locale)?)
    }

    fn draw_required(&mut self, required: Option<InteractionPayload>) -> Result<(), ExecuteError> {
        let Some(mut payload) = required else { return Ok(()) };
        let meets = |card: &Interaction| card.payload.requirement == payload.requirement;
        if self.cards.values().any(meets) {
            return Ok(());
        }
        // It weighs what its heaviest answer weighs by policy: an answer to a lighter card would be asked again.
        for option in &payload.options {
            if let OptionMeaning::Execute(command) | OptionMeaning::Fill(command) = &option.meaning
            {
                payload.risk = payload.risk.max(self.workflow.policy(&self.state, command)?.risk);
            }
        }
        self.open_card(payload, None).map(|_| ())
    }

    fn draw_wanted(&mut self, wanted: &Wanted) -> Result<(), ExecuteError> {
        let blocking = self.cards.values().find(|card| !card.payload.independent).cloned();
        if let Some(holder) = blocking {
            // On the record like any other outcome: decided again in the state after this append, it might differ.
            let (outcome, origin) = (self.held_by(&holder, wanted), self.words_of(wanted.step));
            return self.record(wanted.step, &wanted.command, &origin, outcome);
        }
        let policy = self.workflow.policy(&self.state, &wanted.command)?;
        let locale = &self.job.actor.locale;
        let words = self.workflow.confirmation(&self.state, &wanted.command, locale)?;
        let option = |id: &str, label, meaning| {
            Ok::<_, ExecuteError>(StoredOption {
                id: OptionId::new(id)?,
                label,
                meaning,
                freeform: None,
            })
        };
        let payload = InteractionPayload {
            kind: InteractionKind::ConfirmCommand,
            requirement: None,
            operation: Some(wanted.operation.clone()),
            continuation: None,
            title: words.title,
            lines: words.lines,
            options: vec![
                option("confirm", words.confirm, OptionMeaning::Execute(wanted.command.clone()))?,
                option("decline", words.decline, OptionMeaning::Decline)?,
            ],
            risk: policy.risk,
            independent: false,
        };
        let entry = self.entries.len();
        let card = self.open_card(payload, Some(wanted))?;
        self.claim(wanted.step, entry);
        self.recorded[wanted.step] = Some(self.last_version());
        self.outcomes[wanted.step] = Some(match wanted.renews {
            None => ActOutcome::AwaitingConfirmation { card },
            Some(stale) => ActOutcome::StaleCard { card: stale, fresh: Some(card) },
        });
        Ok(())
    }

    /// What a step comes to whose slot is taken: the very same question counts as its own, and a stale one is
    /// stale whatever has taken its place.
    fn held_by(&self, holder: &Interaction, wanted: &Wanted) -> ActOutcome {
        let is_here = holder.conversation == self.job.conversation;
        let asks_the_same = holder.payload.options.iter().any(|option| {
            matches!(&option.meaning, OptionMeaning::Execute(command) if *command == wanted.command)
        });
        match (wanted.renews, is_here && asks_the_same) {
            (Some(card), true) => ActOutcome::StaleCard { card, fresh: Some(holder.id) },
            (Some(card), false) => ActOutcome::StaleCard { card, fresh: None },
            (None, true) => ActOutcome::AwaitingConfirmation { card: holder.id },
            (None, false) if is_here => ActOutcome::Waiting { card: holder.id },
            (None, false) => ActOutcome::WaitingElsewhere,
        }
    }

    fn open_card(
        &mut self,
        payload: InteractionPayload,
        wanted: Option<&Wanted>,
    ) -> Result<InteractionId, ExecuteError> {
        let unattributed;
        let turn = match &self.job.turn {
            Some(turn) => turn,
            None => {
                unattributed = turnframe_core::id::TurnId::new("server")?;
                &unattributed
            }
        };
        let context = CardContext {
            conversation: &self.job.conversation,
            turn,
            case: Some(&self.job.case),
            revision: self.revision_after(),
            subject: &self.job.speaker,
        };
        let card = Interaction::draw(payload, &context, self.ids)?;
        let entry = self.entries.len();
        let payload = CardOpened {
            act: wanted.and_then(|wanted| self.job.steps[wanted.step].act),
            renews: wanted.and_then(|wanted| wanted.renews),
            card: card.clone(),
        };
        self.push(EntryKind::CardOpened, SCHEMA, &payload)?;
        let id = card.id;
        self.keys.push(key::claim(key::card(id)?, &[], entry));
        let (kind, stream) = (MarkKind::Card, self.stream.clone());
        // A card without a time limit is never due.
        let due = Timestamp::from_micros(i64::MAX);
        self.marks.push(MarkChange::Set { kind, key: id.to_string(), stream, due });
        self.cards.insert(id, card);
        Ok(id)
    }

    /// One phase, at most one blocking card, and a card wherever it is the user's move.
    pub(super) fn check_post_state(&self) -> Result<(), ExecuteError> {
        let broken = |reason: &str| {
            let (case, reason) = (self.job.case.clone(), reason.to_owned());
            Err(ExecuteError::PostState { case, reason })
        };
        if self.cards.values().filter(|card| !card.payload.independent).count() > 1 {
            return broken("I5: more than one blocking card is open");
        }
        let projection = self.projection()?;
        let required = projection.required.and_then(|card| card.requirement);
        let asked = self
            .cards
            .values()
            .any(|card| required.is_some() && card.payload.requirement == required);
        if projection.phase.owner == PhaseOwner::User && !asked {
            return broken("I6: it is the user's move and no card asks");
        }
        Ok(())
    }
}
