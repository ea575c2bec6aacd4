//! What a conversation appends for a stage of a turn: pure, so that its actor stays a shell.

use turnframe_core::context::ActorContext;
use turnframe_core::id::{ConversationId, EntryId, InteractionId, TurnId};
use turnframe_core::interaction::Interaction;
use turnframe_core::personal::SealError;
use turnframe_core::plan::ClosedChoice;
use turnframe_core::source::{IdSource, Timestamp};
use turnframe_ledger::append::NotAKey;
use turnframe_ledger::{
    Append, EntryKind, KeyName, MarkChange, MarkKind, NewEntry, StreamName, Version,
};

use crate::entry::EntryBuilder;
use crate::fold::conversation::ConversationFold;
use crate::key;
use crate::record::{
    CardClosed, CardOpened, ConversationOpened, FactKey, TurnAccepted, TurnAnswered, TurnReduced,
    UpdatePosted,
};

/// A stage of a conversation, before it is appended.
#[derive(Debug, Clone)]
pub enum TurnRecord {
    /// The conversation comes into being.
    Opened(ConversationOpened),
    /// A turn arrived.
    Accepted(Box<TurnAccepted>),
    /// It was reduced.
    Reduced(Box<TurnReduced>),
    /// It was answered.
    Answered(Box<TurnAnswered>),
    /// The server tells what became of an effect.
    Updated {
        /// What is shown.
        update: Box<UpdatePosted>,
        /// The fact it carries on, whose mark the append clears.
        carries: FactKey,
    },
}

/// Why a stage cannot be appended: a payload that cannot be stored, or a key that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendOfError {
    /// The payload cannot be stored.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The key cannot be made.
    #[error(transparent)]
    Key(#[from] NotAKey),
}

/// Builds the append of a stage and the fold that follows it.
///
/// # Errors
/// [`AppendOfError`] when the stage cannot be stored.
pub fn append_of(
    fold: &ConversationFold,
    conversation: &ConversationId,
    actor: &ActorContext,
    turn: Option<(&TurnId, Option<EntryId>)>,
    record: TurnRecord,
    ids: &IdSource,
) -> Result<(Append, ConversationFold), AppendOfError> {
    let stream = StreamName::Conversation(conversation.clone());
    let builder = EntryBuilder {
        ids,
        turn: turn.map(|(turn, _)| turn),
        causation: turn.and_then(|(_, causation)| causation),
    };
    let mut stage = Stage {
        builder,
        stream,
        fold: fold.clone(),
        entries: Vec::new(),
        keys: Vec::new(),
        marks: Vec::new(),
    };
    match (record, turn) {
        (TurnRecord::Opened(opened), _) => stage.opened(conversation, &opened)?,
        (TurnRecord::Accepted(accepted), Some((turn, _))) => {
            stage.accepted(conversation, turn, *accepted)?;
        }
        (TurnRecord::Reduced(reduced), Some((turn, _))) => stage.reduced(turn, *reduced)?,
        (TurnRecord::Answered(answered), Some((turn, _))) => {
            stage.answered(conversation, turn, *answered)?;
        }
        (TurnRecord::Updated { update, carries }, _) => stage.updated(&update, carries)?,
        // A stage of a turn without a turn is a defect of the caller; nothing is appended for it.
        (TurnRecord::Accepted(_) | TurnRecord::Reduced(_) | TurnRecord::Answered(_), None) => {}
    }
    Ok(stage.finish(fold.version, actor))
}

struct Stage<'a> {
    builder: EntryBuilder<'a>,
    stream: StreamName,
    fold: ConversationFold,
    entries: Vec<NewEntry>,
    keys: Vec<turnframe_ledger::Key>,
    marks: Vec<MarkChange>,
}

impl Stage<'_> {
    fn push<T: serde::Serialize>(
        &mut self,
        kind: EntryKind,
        payload: &T,
    ) -> Result<EntryId, SealError> {
        let entry = self.builder.build(&self.stream, kind, payload)?;
        let id = entry.id;
        self.entries.push(entry);
        Ok(id)
    }

    fn claim(&mut self, name: KeyName) {
        let entry = self.entries.len().saturating_sub(1);
        self.keys.push(key::claim(name, &[], entry));
    }

    fn opened(
        &mut self,
        conversation: &ConversationId,
        opened: &ConversationOpened,
    ) -> Result<(), AppendOfError> {
        self.push(EntryKind::ConversationOpened, opened)?;
        self.claim(key::conversation(conversation)?);
        Ok(())
    }

    fn accepted(
        &mut self,
        conversation: &ConversationId,
        turn: &TurnId,
        accepted: TurnAccepted,
    ) -> Result<(), AppendOfError> {
        let id = self.push(EntryKind::TurnAccepted, &accepted)?;
        self.claim(key::turn(conversation, turn)?);
        self.marks.push(MarkChange::Set {
            kind: MarkKind::Turn,
            key: turn_mark(conversation, turn),
            stream: self.stream.clone(),
            due: self.builder.ids.now(),
        });
        self.fold.accept(turn.clone(), id, accepted);
        Ok(())
    }

    fn reduced(&mut self, turn: &TurnId, reduced: TurnReduced) -> Result<(), AppendOfError> {
        self.push(EntryKind::TurnReduced, &reduced)?;
        for card in &reduced.plan.choices {
            self.open_choice(card)?;
        }
        for closed in &reduced.plan.closed_choices {
            self.close_choice(closed)?;
        }
        self.fold.reduce(turn, reduced);
        Ok(())
    }

    fn open_choice(&mut self, card: &Interaction) -> Result<(), AppendOfError> {
        let payload = CardOpened { card: card.clone(), act: None, renews: None };
        self.push(EntryKind::CardOpened, &payload)?;
        self.claim(key::card(card.id)?);
        self.marks.push(MarkChange::Set {
            kind: MarkKind::Card,
            key: card.id.to_string(),
            stream: self.stream.clone(),
            due: Timestamp::from_micros(i64::MAX),
        });
        self.fold.choices.insert(card.id, card.clone());
        Ok(())
    }

    fn close_choice(&mut self, closed: &ClosedChoice) -> Result<(), AppendOfError> {
        let ClosedChoice { card, status, option } = closed;
        if !self.fold.choices.contains_key(card) {
            return Ok(());
        }
        let payload = CardClosed { card: *card, status: *status, option: option.clone() };
        self.push(EntryKind::CardClosed, &payload)?;
        self.claim(key::card_closed(*card)?);
        self.marks.push(clear_card(*card));
        self.fold.choices.remove(card);
        Ok(())
    }

    fn answered(
        &mut self,
        conversation: &ConversationId,
        turn: &TurnId,
        answered: TurnAnswered,
    ) -> Result<(), AppendOfError> {
        self.push(EntryKind::TurnAnswered, &answered)?;
        let key = turn_mark(conversation, turn);
        self.marks.push(MarkChange::Clear { kind: MarkKind::Turn, key });
        self.fold.answer(turn, answered.touched);
        Ok(())
    }

    fn updated(&mut self, update: &UpdatePosted, carries: FactKey) -> Result<(), AppendOfError> {
        self.push(EntryKind::UpdatePosted, update)?;
        self.claim(key::relay(carries.entry)?);
        let key = carries.to_string();
        self.marks.push(MarkChange::Clear { kind: MarkKind::Relay, key });
        Ok(())
    }

    fn finish(self, version: Version, actor: &ActorContext) -> (Append, ConversationFold) {
        let mut fold = self.fold;
        fold.version = version.plus(self.entries.len() as u64);
        fold.chain = None;
        let append = Append {
            account: actor.account.clone(),
            expected: vec![(self.stream, version)],
            entries: self.entries,
            keys: self.keys,
            marks: self.marks,
        };
        (append, fold)
    }
}

fn clear_card(card: InteractionId) -> MarkChange {
    MarkChange::Clear { kind: MarkKind::Card, key: card.to_string() }
}

/// The mark of an unfinished turn.
fn turn_mark(conversation: &ConversationId, turn: &TurnId) -> String {
    format!("{conversation}/{turn}")
}
