//! Streams, versions, partitions and positions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use turnframe_core::id::{
    AccountId, CaseId, CaseRef, ConversationId, DomainActorKey, EffectId, WorkflowKey,
};

/// How many logical partitions a ledger has. Fixed at creation, the same on every backend.
pub const PARTITIONS: u16 = 64;

/// The name of the function from account to partition, stored when a ledger is created.
pub const PARTITION_HASH: &str = "sha256-first8-be-mod64";

/// The place of an entry in its stream: from 1, without gaps. 0 is a stream without entries.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Version(pub u64);

impl Version {
    /// The version of a stream without entries.
    pub const NONE: Self = Self(0);

    /// This version after `count` more entries.
    #[must_use]
    pub const fn plus(self, count: u64) -> Self {
        Self(self.0 + count)
    }
}

/// The place of an entry in its partition: from 1, without gaps, in commit order. 0 precedes all.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(pub u64);

impl Position {
    /// Before the first entry.
    pub const START: Self = Self(0);

    /// The position `count` places further on.
    #[must_use]
    pub const fn plus(self, count: u64) -> Self {
        Self(self.0 + count)
    }
}

/// One of the [`PARTITIONS`]: the unit of order, of writing and of ownership.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartitionId(u16);

impl PartitionId {
    /// The partition of an account: the first eight bytes of its SHA-256, big-endian, modulo 64.
    #[must_use]
    pub fn of(account: &AccountId) -> Self {
        let digest: [u8; 32] = Sha256::digest(account.as_str().as_bytes()).into();
        // Modulo a power of two needs the last bits of the first eight bytes only.
        Self(u16::from(digest[7]) % PARTITIONS)
    }

    /// A partition by its number, where there is one.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number < PARTITIONS { Some(Self(number)) } else { None }
    }

    /// All partitions in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PARTITIONS).map(Self)
    }

    /// The partition's number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
}

/// Some of the partitions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PartitionSet(u64);

// One bit for each partition.
const _: () = assert!(PARTITIONS as u32 == u64::BITS);

impl PartitionSet {
    /// Every partition.
    pub const ALL: Self = Self(u64::MAX);
    /// No partition.
    pub const NONE: Self = Self(0);

    /// Whether a partition is among them.
    #[must_use]
    pub const fn contains(self, partition: PartitionId) -> bool {
        self.0 & (1 << partition.0) != 0
    }

    /// Adds a partition.
    pub const fn insert(&mut self, partition: PartitionId) {
        self.0 |= 1 << partition.0;
    }

    /// Takes a partition out.
    pub const fn remove(&mut self, partition: PartitionId) {
        self.0 &= !(1 << partition.0);
    }

    /// Those of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those of this set that the other does not have.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// How many there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The partitions in order.
    pub fn iter(self) -> impl Iterator<Item = PartitionId> {
        PartitionId::all().filter(move |partition| self.contains(*partition))
    }
}

impl FromIterator<PartitionId> for PartitionSet {
    fn from_iter<I: IntoIterator<Item = PartitionId>>(partitions: I) -> Self {
        let mut set = Self::NONE;
        partitions.into_iter().for_each(|partition| set.insert(partition));
        set
    }
}

impl fmt::Debug for PartitionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(PartitionId::number)).finish()
    }
}

/// What a stream tells the history of. Unique within its account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StreamName {
    /// Turns and updates of a conversation.
    Conversation(ConversationId),
    /// Commands, events and cards of a case.
    Case(CaseRef),
    /// The attempts of an external effect.
    Effect(EffectId),
    /// The timers that a domain actor set for a case.
    Domain(Box<DomainStream>),
}

/// What a domain actor has of a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainStream {
    /// The actor.
    pub actor: DomainActorKey,
    /// The case.
    pub case: CaseRef,
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conversation(id) => write!(f, "conversation/{id}"),
            Self::Case(case) => write!(f, "case/{case}"),
            Self::Effect(id) => write!(f, "effect/{id}"),
            Self::Domain(of) => write!(f, "domain/{}/{}", of.actor, of.case),
        }
    }
}

/// Text that is not the name of a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} does not name a stream")]
pub struct NotAStream(String);

impl FromStr for StreamName {
    type Err = NotAStream;

    fn from_str(text: &str) -> Result<Self, NotAStream> {
        parse(text).ok_or_else(|| NotAStream(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<StreamName> {
    let (head, rest) = text.split_once('/')?;
    match head {
        "conversation" => rest.parse().ok().map(StreamName::Conversation),
        "case" => parse_case(rest).map(StreamName::Case),
        "effect" => rest.parse().ok().map(StreamName::Effect),
        "domain" => {
            let (actor, case) = rest.split_once('/')?;
            let (actor, case) = (actor.parse().ok()?, parse_case(case)?);
            Some(StreamName::Domain(Box::new(DomainStream { actor, case })))
        }
        _ => None,
    }
}

fn parse_case(text: &str) -> Option<CaseRef> {
    let (workflow, case) = text.split_once('/')?;
    let workflow: WorkflowKey = workflow.parse().ok()?;
    let case: CaseId = case.parse().ok()?;
    Some(CaseRef { workflow, case })
}

impl TryFrom<String> for StreamName {
    type Error = NotAStream;

    fn try_from(text: String) -> Result<Self, NotAStream> {
        text.parse()
    }
}

impl From<StreamName> for String {
    fn from(stream: StreamName) -> Self {
        stream.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_of_an_account_never_changes() {
        // Written down once: an account that moved to another partition would lose its history.
        for (account, number) in [("acme", 32), ("demo", 4), ("a", 10)] {
            let account = AccountId::new(account).expect("account");
            assert_eq!(PartitionId::of(&account).number(), number, "{account}");
        }
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        let some: PartitionSet = PartitionId::all().filter(|id| id.number() % 3 == 0).collect();
        assert_eq!(some.len(), 22);
        assert!(some.iter().all(|id| some.contains(id) && id.number() % 3 == 0));
        let rest = PartitionSet::ALL.without(some);
        assert_eq!((rest.len(), rest.union(some)), (42, PartitionSet::ALL));
        assert_eq!(rest.intersection(some), PartitionSet::NONE);
        let mut one = PartitionSet::NONE;
        let last = PartitionId::new(63).expect("a partition");
        one.insert(last);
        assert_eq!(one.iter().collect::<Vec<_>>(), [last]);
        one.remove(last);
        assert!(one.is_empty());
    }

    #[test]
    fn a_stream_reads_back_from_its_name() {
        let id = "0190c9c8-7d1e-7000-8000-000000000001";
        for name in [
            "conversation/c1".to_owned(),
            format!("case/loan/{id}"),
            format!("effect/{id}"),
            format!("domain/due/loan/{id}"),
        ] {
            assert_eq!(name.parse::<StreamName>().expect("stream").to_string(), name);
        }
        for name in [
            "",
            "conversation",
            "conversation/",
            "case/loan",
            "effect/x",
            "domain/due/x",
            "loan/c1",
        ] {
            assert!(name.parse::<StreamName>().is_err(), "{name:?}");
        }
    }
}
