//! Derived idempotency keys (I14): the same thing has the same key whoever asks for it, and whenever.

use turnframe_core::canonical::{Digest, Json};
use turnframe_core::id::{
    CaseRef, ConversationId, DestinationKey, DomainActorKey, EntryId, InteractionId, OptionId,
    TurnId,
};
use turnframe_core::plan::{ActId, Action, PlannedAct};
use turnframe_ledger::append::NotAKey;
use turnframe_ledger::{Key, KeyName};

/// The arrival of a conversation.
///
/// # Errors
/// [`NotAKey`] never for ids that exist: their alphabet fits and their length is bounded.
pub fn conversation(conversation: &ConversationId) -> Result<KeyName, NotAKey> {
    KeyName::new(format!("conversation/{conversation}"))
}

/// The arrival of a turn.
///
/// # Errors
/// As [`conversation`].
pub fn turn(conversation: &ConversationId, turn: &TurnId) -> Result<KeyName, NotAKey> {
    KeyName::new(format!("turn/{conversation}/{turn}"))
}

/// A persisted card.
///
/// # Errors
/// As [`conversation`].
pub fn card(card: InteractionId) -> Result<KeyName, NotAKey> {
    KeyName::new(format!("card/{card}"))
}

/// The end of a card.
///
/// # Errors
/// As [`conversation`].
pub fn card_closed(card: InteractionId) -> Result<KeyName, NotAKey> {
    KeyName::new(format!("card-closed/{card}"))
}

/// A click: the card and the option, in whatever turn it comes.
///
/// # Errors
/// As [`conversation`].
pub fn click(card: InteractionId, option: &OptionId) -> Result<KeyName, NotAKey> {
    KeyName::new(format!("click/{card}/{option}"))
}

/// An act of a turn.
///
/// # Errors
/// As [`conversation`].
pub fn act(conversation: &ConversationId, turn: &TurnId, act: ActId) -> Result<KeyName, NotAKey> {
    KeyName::new(format!("act/{conversation}/{turn}/{act}"))
}

/// A fact carried from one stream to the next.
///
/// # Errors
/// As [`conversation`].
pub fn relay(fact: EntryId) -> Result<KeyName, NotAKey> {
    KeyName::new(format!("relay/{fact}"))
}

/// A callback, by the id that its destination gave it.
///
/// # Errors
/// As [`conversation`].
pub fn callback(destination: &DestinationKey, id: &str) -> Result<KeyName, NotAKey> {
    KeyName::new(format!(
        "callback/{destination}/{}",
        Digest::of("tf.callback.1", &[id.as_bytes()])
    ))
}

/// A statement of a destination, by the name that it gave it.
///
/// # Errors
/// As [`conversation`].
pub fn statement(destination: &DestinationKey, name: &str) -> Result<KeyName, NotAKey> {
    let name = Digest::of("tf.statement.1", &[name.as_bytes()]);
    KeyName::new(format!("statement/{destination}/{name}"))
}

/// A command that a domain actor asks for because of an entry, the nth time that it asks for this very one.
///
/// # Errors
/// As [`conversation`].
pub fn domain(
    actor: &DomainActorKey,
    cause: EntryId,
    (case, command): (&CaseRef, &Json),
    nth: usize,
) -> Result<KeyName, NotAKey> {
    let case = case.to_string();
    let asked = Digest::of("tf.domain.1", &[case.as_bytes(), command.as_str().as_bytes()]);
    KeyName::new(format!("domain/{actor}/{cause}/{asked}/{nth}"))
}

/// A timer that a domain actor sets because of an entry.
///
/// # Errors
/// As [`conversation`].
pub fn timer(actor: &DomainActorKey, cause: EntryId, timer: &str) -> Result<KeyName, NotAKey> {
    KeyName::new(format!("timer/{actor}/{cause}/{timer}"))
}

/// The key of a step: the click's where a click authorised it, the act's otherwise.
///
/// # Errors
/// As [`conversation`].
pub fn step(
    conversation: &ConversationId,
    turn: &TurnId,
    id: ActId,
    action: &Action,
) -> Result<KeyName, NotAKey> {
    use turnframe_core::policy::CommandOrigin as Origin;
    match action {
        Action::Run {
            origin: Origin::ConfirmedInteraction { interaction, option, .. }, ..
        } => click(*interaction, option),
        Action::Close { card, option: Some(option), .. } if id == ActId::CLICK => {
            click(*card, option)
        }
        Action::Run { .. }
        | Action::Confirm { .. }
        | Action::Close { .. }
        | Action::Renew { .. } => act(conversation, turn, id),
    }
}

/// Claims a key for an entry of an append. The digest covers facts only, never a person's words.
#[must_use]
pub fn claim(name: KeyName, facts: &[&str], entry: usize) -> Key {
    let parts: Vec<&[u8]> = facts.iter().map(|fact| fact.as_bytes()).collect();
    Key { digest: Digest::of("tf.key.1", &parts), name, entry }
}

/// What tells one act's content from another's: its operation and its case.
#[must_use]
pub fn facts_of(act: &PlannedAct, case: &CaseRef) -> [String; 2] {
    let operation = act.operation.as_ref().map(ToString::to_string).unwrap_or_default();
    [operation, case.to_string()]
}
