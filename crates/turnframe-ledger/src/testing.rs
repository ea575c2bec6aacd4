//! What this crate's own tests are made of.

use serde_json::{Value, json};
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, ConversationId};
use turnframe_core::personal::Sealed;
use turnframe_core::source::IdSource;

use crate::append::{Append, Key, KeyName, NewEntry};
use crate::entry::EntryKind;
use crate::stream::{StreamName, Version};

pub(crate) use turnframe_test::sources::ids;

pub(crate) fn account(name: &str) -> AccountId {
    AccountId::new(name).expect("account")
}

pub(crate) fn conversation(name: &str) -> StreamName {
    StreamName::Conversation(ConversationId::new(name).expect("conversation"))
}

pub(crate) fn key(name: &str) -> KeyName {
    KeyName::new(name).expect("key")
}

pub(crate) fn entry(ids: &IdSource, stream: &StreamName, payload: &Value) -> NewEntry {
    NewEntry {
        id: ids.entry(),
        stream: stream.clone(),
        kind: EntryKind::TurnAccepted,
        schema: 1,
        recorded_at: ids.now(),
        turn: None,
        causation: None,
        body: Sealed::seal(payload, ids).expect("sealed"),
    }
}

/// An append of `count` entries to one stream.
pub(crate) fn append(
    ids: &IdSource,
    account: &AccountId,
    stream: &StreamName,
    expected: u64,
    count: u64,
) -> Append {
    let payload = |number| json!({ "number": expected + number });
    Append {
        account: account.clone(),
        expected: vec![(stream.clone(), Version(expected))],
        entries: (1..=count).map(|number| entry(ids, stream, &payload(number))).collect(),
        keys: Vec::new(),
        marks: Vec::new(),
    }
}

/// The append with a key that names its first entry, and a digest of the given content.
pub(crate) fn keyed(mut append: Append, name: &str, content: &str) -> Append {
    let digest = Digest::of("test", &[content.as_bytes()]);
    append.keys.push(Key { name: key(name), digest, entry: 0 });
    append
}
