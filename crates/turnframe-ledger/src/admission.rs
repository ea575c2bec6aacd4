//! Admission: which appends of a batch go in, and what exactly each of them writes.
//!
//! The planner is pure, and all backends share it. A backend loads what [`Intake`] asks for, inside its
//! transaction; [`Intake::admit`] judges the appends in order, keys before versions, each against what it
//! loaded plus the appends admitted before it; the backend then takes positions for
//! [`Admission::demand`], and [`Admission::place`] gives the [`Plan`] that it writes.
//!
//! Only admitted appends take positions and chain hashes, so a refused one never disturbs its neighbours. Nothing
//! here knows whether the transaction went through: when it did not, [`Intake::withdraw`] and [`Plan::withdraw`]
//! take back every verdict that rested on it.

use std::collections::{BTreeMap, HashMap};

use turnframe_core::canonical::Digest;
use turnframe_core::id::AccountId;
use turnframe_core::source::Timestamp;

use crate::append::{Append, AppendError, Appended, Key, KeyName, KeyRecord, NewEntry};
use crate::chain::Header;
use crate::entry::EntryRef;
use crate::mark::{MarkChange, MarkKind};
use crate::stream::{PartitionId, Position, StreamName, Version};

/// One answer for each append of a batch, in its order.
pub type Answers = Vec<Result<Appended, AppendError>>;

/// The new ends of the partitions that a batch was written to.
pub type NewHeads = Vec<(PartitionId, Position)>;

/// The end of a stream: what the next entry must continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The version of the last entry.
    pub version: Version,
    /// Its chain hash.
    pub chain: Digest,
}

impl Head {
    /// The end of a stream without entries.
    pub const EMPTY: Self = Self { version: Version::NONE, chain: Digest::ZERO };
}

/// What a batch is judged against. A stream that is not named is empty, a key that is not named is free.
#[derive(Debug, Default)]
pub struct Ground<'a> {
    /// The ends of the streams that the batch expects.
    pub heads: HashMap<(&'a AccountId, &'a StreamName), Head>,
    /// The keys of the batch that were claimed before.
    pub keys: HashMap<(&'a AccountId, &'a KeyName), KeyRecord>,
}

/// A batch whose appends were each checked for limits and shape.
#[derive(Debug)]
pub struct Intake<'a> {
    appends: Vec<(&'a Append, Result<PartitionId, AppendError>)>,
}

impl<'a> Intake<'a> {
    /// Checks every append of a batch by itself.
    #[must_use]
    pub fn new(batch: &'a [Append]) -> Self {
        let checked = |append: &'a Append| {
            (append, append.check().map(|()| PartitionId::of(&append.account)))
        };
        Self { appends: batch.iter().map(checked).collect() }
    }

    fn sound(&self) -> impl Iterator<Item = &'a Append> {
        self.appends.iter().filter(|(_, checked)| checked.is_ok()).map(|(append, _)| *append)
    }

    /// The streams whose heads are needed; one may be named more than once.
    pub fn streams(&self) -> impl Iterator<Item = (&'a AccountId, &'a StreamName)> {
        let expected = |append: &'a Append| {
            append.expected.iter().map(|(stream, _)| (&append.account, stream))
        };
        self.sound().flat_map(expected)
    }

    /// The streams that marks lead to; one may be named more than once.
    pub fn marked_streams(&self) -> impl Iterator<Item = (&'a AccountId, &'a StreamName)> {
        let led_to = |append: &'a Append| {
            let streams = append.marks.iter().filter_map(MarkChange::stream);
            streams.map(|stream| (&append.account, stream))
        };
        self.sound().flat_map(led_to)
    }

    /// The keys that must be looked up; one may be named more than once.
    pub fn keys(&self) -> impl Iterator<Item = (&'a AccountId, &'a KeyName)> {
        let claimed =
            |append: &'a Append| append.keys.iter().map(|key| (&append.account, &key.name));
        self.sound().flat_map(claimed)
    }

    /// Judges the appends in order, each against the ground and those admitted before it.
    #[must_use]
    pub fn admit(self, mut ground: Ground<'a>) -> Admission<'a> {
        let verdict = |(append, checked): (&'a Append, Result<PartitionId, AppendError>)| {
            let partition = match checked {
                Ok(partition) => partition,
                Err(error) => return Verdict::Malformed(error),
            };
            match judge(append, &ground) {
                Ok(()) => Verdict::Admitted(admit(append, partition, &mut ground)),
                Err(error) => Verdict::Refused { partition, error },
            }
        };
        Admission { verdicts: self.appends.into_iter().map(verdict).collect() }
    }

    /// The answers where the batch could not even be judged.
    #[must_use]
    pub fn withdraw(self, error: &AppendError) -> Answers {
        let answer = |(_, checked): (&Append, Result<PartitionId, AppendError>)| {
            checked.and_then(|_| Err(error.clone()))
        };
        self.appends.into_iter().map(answer).collect()
    }
}

/// What becomes of one append.
#[derive(Debug)]
enum Verdict<T> {
    /// It goes in.
    Admitted(T),
    /// The ledger stands against it, or an append of this batch does.
    Refused { partition: PartitionId, error: AppendError },
    /// It is refused for what it is, whatever the ledger holds.
    Malformed(AppendError),
}

impl<T> Verdict<T> {
    fn admitted(&self) -> Option<&T> {
        match self {
            Self::Admitted(admitted) => Some(admitted),
            Self::Refused { .. } | Self::Malformed(_) => None,
        }
    }
}

/// An append that goes in, but for its positions.
#[derive(Debug)]
pub struct Admitted<'a> {
    /// What was asked for.
    pub append: &'a Append,
    /// The partition of its account.
    pub partition: PartitionId,
    /// What each entry has beside its content.
    pub links: Vec<Link>,
}

impl<'a> Admitted<'a> {
    /// The entries with what they have beside their content, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&'a NewEntry, Link)> {
        self.append.entries.iter().zip(self.links.iter().copied())
    }

    /// The keys with what they stand for from now on.
    pub fn keys(&self) -> impl Iterator<Item = (&'a KeyName, KeyRecord)> {
        keys(self.append, &self.links)
    }
}

fn keys<'a>(append: &'a Append, links: &[Link]) -> impl Iterator<Item = (&'a KeyName, KeyRecord)> {
    append.keys.iter().map(move |key: &'a Key| {
        let entry = reference(append, links, key.entry);
        (&key.name, KeyRecord { entry, digest: key.digest })
    })
}

/// What an entry has beside its content: its place in the stream and its hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The entry's version.
    pub version: Version,
    /// The commitment to its body.
    pub commitment: Digest,
    /// Its chain hash.
    pub chain: Digest,
}

fn judge(append: &Append, ground: &Ground<'_>) -> Result<(), AppendError> {
    let account = &append.account;
    // Keys first: the repeat of an append that went in would otherwise look like a lost race.
    for key in &append.keys {
        if let Some(original) = ground.keys.get(&(account, &key.name)) {
            return Err(AppendError::DuplicateKey {
                key: key.name.clone(),
                original: original.clone(),
                same_content: original.digest == key.digest,
            });
        }
    }
    for (stream, expected) in &append.expected {
        let (head, expected) = (ground.heads.get(&(account, stream)), *expected);
        let actual = head.unwrap_or(&Head::EMPTY).version;
        if actual != expected {
            return Err(AppendError::Conflict { stream: stream.clone(), expected, actual });
        }
    }
    Ok(())
}

fn admit<'a>(append: &'a Append, partition: PartitionId, ground: &mut Ground<'a>) -> Admitted<'a> {
    let account = &append.account;
    let mut links = Vec::with_capacity(append.entries.len());
    for entry in &append.entries {
        let head = ground.heads.entry((account, &entry.stream)).or_insert(Head::EMPTY);
        let version = head.version.plus(1);
        let commitment = entry.body.commitment();
        let chain = Header::of_new(account, version, entry).extend(head.chain, commitment);
        *head = Head { version, chain };
        links.push(Link { version, commitment, chain });
    }
    for key in &append.keys {
        let entry = reference(append, &links, key.entry);
        ground.keys.insert((account, &key.name), KeyRecord { entry, digest: key.digest });
    }
    Admitted { append, partition, links }
}

fn reference(append: &Append, links: &[Link], index: usize) -> EntryRef {
    let entry = &append.entries[index];
    EntryRef { stream: entry.stream.clone(), version: links[index].version, id: entry.id }
}

/// A judged batch whose admitted appends have no positions yet.
#[derive(Debug)]
pub struct Admission<'a> {
    verdicts: Vec<Verdict<Admitted<'a>>>,
}

impl<'a> Admission<'a> {
    /// The appends that go in, in order.
    pub fn admitted(&self) -> impl Iterator<Item = &Admitted<'a>> {
        self.verdicts.iter().filter_map(Verdict::admitted)
    }

    /// Whether an append was refused for what the ledger holds.
    #[must_use]
    pub fn has_refusals(&self) -> bool {
        self.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Refused { .. }))
    }

    /// The last word about every mark the batch touches: an append may clear what one before it set.
    #[must_use]
    pub fn marks(&self) -> Marks<'a> {
        last_words(self.admitted().map(|admitted| admitted.append))
    }

    /// How many positions each partition needs, in order of id. One that only refused needs none and is named all
    /// the same: a refusal rests on what the owner remembers, so that it has to be shown to own it still.
    #[must_use]
    pub fn demand(&self) -> BTreeMap<PartitionId, u64> {
        let mut demand = BTreeMap::new();
        for verdict in &self.verdicts {
            let (partition, count) = match verdict {
                Verdict::Admitted(admitted) => (admitted.partition, admitted.links.len() as u64),
                Verdict::Refused { partition, .. } => (*partition, 0),
                Verdict::Malformed(_) => continue,
            };
            *demand.entry(partition).or_default() += count;
        }
        demand
    }

    /// The answers where no positions could be had; see [`Plan::withdraw`].
    #[must_use]
    pub fn withdraw(self, error: &AppendError) -> Answers {
        withdraw(self.verdicts, error)
    }

    /// Hands out positions, from the first one that each partition granted. A partition that granted none
    /// has another owner by now: its appends are [`AppendError::Fenced`], and so are its refusals, which
    /// may rest on an append that does not go in after all.
    #[must_use]
    pub fn place(self, granted: &BTreeMap<PartitionId, Position>) -> Plan<'a> {
        let mut next = granted.clone();
        let place = |verdict| match verdict {
            Verdict::Admitted(admitted) => place(admitted, &mut next),
            Verdict::Refused { partition, .. } if !granted.contains_key(&partition) => {
                Verdict::Refused { partition, error: AppendError::Fenced { partition } }
            }
            Verdict::Refused { partition, error } => Verdict::Refused { partition, error },
            Verdict::Malformed(error) => Verdict::Malformed(error),
        };
        Plan { verdicts: self.verdicts.into_iter().map(place).collect() }
    }
}

fn place<'a>(
    admitted: Admitted<'a>,
    next: &mut BTreeMap<PartitionId, Position>,
) -> Verdict<Placed<'a>> {
    let Admitted { append, partition, links } = admitted;
    let Some(next) = next.get_mut(&partition) else {
        return Verdict::Refused { partition, error: AppendError::Fenced { partition } };
    };
    let first = *next;
    *next = first.plus(links.len() as u64);
    Verdict::Admitted(Placed { append, partition, first, links })
}

/// An append as it is written.
#[derive(Debug)]
pub struct Placed<'a> {
    /// What was asked for.
    pub append: &'a Append,
    /// The partition of its account.
    pub partition: PartitionId,
    /// The position of its first entry; the others follow without a gap.
    pub first: Position,
    /// What each entry has beside its content.
    pub links: Vec<Link>,
}

impl<'a> Placed<'a> {
    /// The entries with what they have beside their content, in order.
    pub fn entries(&self) -> impl Iterator<Item = (Position, &'a NewEntry, Link)> {
        let positions = (self.first.0..).map(Position);
        let entries = positions.zip(&self.append.entries).zip(&self.links);
        entries.map(|((position, entry), link)| (position, entry, *link))
    }

    /// The position of the last entry.
    #[must_use]
    pub fn last(&self) -> Position {
        Position(self.first.0 + self.links.len() as u64 - 1)
    }

    /// The keys with what they stand for from now on.
    pub fn keys(&self) -> impl Iterator<Item = (&'a KeyName, KeyRecord)> {
        keys(self.append, &self.links)
    }

    fn appended(self) -> Appended {
        let all = 0..self.links.len();
        let entries = all.map(|index| reference(self.append, &self.links, index)).collect();
        let (partition, first_position) = (self.partition, self.first);
        Appended { partition, first_position, entries, links: self.links }
    }
}

/// What a batch writes and answers.
#[derive(Debug)]
pub struct Plan<'a> {
    verdicts: Vec<Verdict<Placed<'a>>>,
}

/// The last word of a batch about one mark: where it leads, or that it is cleared.
pub type MarkTarget<'a> = Option<(&'a StreamName, Timestamp)>;

/// The last word of a batch about every mark that it touches.
pub type Marks<'a> = BTreeMap<(&'a AccountId, MarkKind, &'a str), MarkTarget<'a>>;

fn last_words<'a>(appends: impl Iterator<Item = &'a Append>) -> Marks<'a> {
    let mut marks = BTreeMap::new();
    for append in appends {
        for change in &append.marks {
            let (kind, key, target) = match change {
                MarkChange::Set { kind, key, stream, due } => (*kind, key, Some((stream, *due))),
                MarkChange::Clear { kind, key } => (*kind, key, None),
            };
            marks.insert((&append.account, kind, key.as_str()), target);
        }
    }
    marks
}

impl<'a> Plan<'a> {
    /// The appends that go in, in order.
    pub fn placed(&self) -> impl Iterator<Item = &Placed<'a>> {
        self.verdicts.iter().filter_map(Verdict::admitted)
    }

    /// How many entries go in.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.placed().map(|placed| placed.links.len() as u64).sum()
    }

    /// The last word about every mark the batch touches: an append may clear what one before it set.
    #[must_use]
    pub fn marks(&self) -> Marks<'a> {
        last_words(self.placed().map(|placed| placed.append))
    }

    /// The answers, in the order of the batch, once the transaction is committed.
    #[must_use]
    pub fn answers(self) -> Answers {
        let answer = |verdict: Verdict<Placed<'a>>| match verdict {
            Verdict::Admitted(placed) => Ok(placed.appended()),
            Verdict::Refused { error, .. } | Verdict::Malformed(error) => Err(error),
        };
        self.verdicts.into_iter().map(answer).collect()
    }

    /// The answers where the transaction was not committed, or not for certain. A refusal is taken back too: it
    /// wrote nothing, but its reason may be an append that went the same way.
    #[must_use]
    pub fn withdraw(self, error: &AppendError) -> Answers {
        withdraw(self.verdicts, error)
    }
}

fn withdraw<T>(verdicts: Vec<Verdict<T>>, error: &AppendError) -> Answers {
    let answer = |verdict| match verdict {
        Verdict::Admitted(_) => Err(error.clone()),
        Verdict::Refused { .. } => {
            let reason = format!("refused beside a batch that did not commit: {error}");
            Err(AppendError::Unavailable { reason })
        }
        Verdict::Malformed(error) => Err(error),
    };
    verdicts.into_iter().map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::MarkChange;
    use crate::testing::{account, append, conversation, ids, keyed};

    fn from_one(demand: &BTreeMap<PartitionId, u64>) -> BTreeMap<PartitionId, Position> {
        demand.keys().map(|partition| (*partition, Position(1))).collect()
    }

    fn plan<'a>(batch: &'a [Append], ground: Ground<'a>) -> Plan<'a> {
        let admission = Intake::new(batch).admit(ground);
        let granted = from_one(&admission.demand());
        admission.place(&granted)
    }

    #[test]
    fn an_append_is_judged_against_those_admitted_before_it() {
        let (ids, acme, stream) = (ids(1), account("acme"), conversation("c"));
        let batch = [
            append(&ids, &acme, &stream, 0, 2),
            append(&ids, &acme, &stream, 0, 1),
            append(&ids, &acme, &stream, 2, 1),
        ];
        let answers = plan(&batch, Ground::default()).answers();
        let first = answers[0].as_ref().expect("admitted");
        assert_eq!((first.first_position, first.entries[1].version), (Position(1), Version(2)));
        let conflict = AppendError::Conflict { stream, expected: Version(0), actual: Version(2) };
        assert_eq!(answers[1], Err(conflict));
        let third = answers[2].as_ref().expect("admitted");
        // The refused append between them took no position.
        assert_eq!((third.first_position, third.entries[0].version), (Position(3), Version(3)));
    }

    #[test]
    fn keys_are_judged_before_versions() {
        let (ids, acme, stream) = (ids(1), account("acme"), conversation("c"));
        let original = keyed(append(&ids, &acme, &stream, 0, 1), "k", "content");
        let batch = [
            original.clone(),
            keyed(append(&ids, &acme, &stream, 0, 1), "k", "content"),
            keyed(append(&ids, &acme, &stream, 9, 1), "k", "other content"),
        ];
        let answers = plan(&batch, Ground::default()).answers();
        for (answer, same) in [(&answers[1], true), (&answers[2], false)] {
            let Err(AppendError::DuplicateKey { original: record, same_content, .. }) = answer
            else {
                panic!("a duplicate key: {answer:?}")
            };
            assert_eq!((record.entry.id, *same_content), (original.entries[0].id, same));
        }
    }

    #[test]
    fn a_loaded_head_is_continued() {
        let (ids, acme, stream) = (ids(1), account("acme"), conversation("c"));
        let batch = [append(&ids, &acme, &stream, 7, 1)];
        let chain = Digest::of("test", &[b"the seventh"]);
        let mut ground = Ground::default();
        ground.heads.insert((&acme, &stream), Head { version: Version(7), chain });
        let plan = plan(&batch, ground);
        let placed = plan.placed().next().expect("admitted");
        let (_, entry, link) = placed.entries().next().expect("entry");
        assert_eq!(link.version, Version(8));
        let header = Header::of_new(&acme, Version(8), entry);
        assert_eq!(link.chain, header.extend(chain, entry.body.commitment()));
    }

    #[test]
    fn a_partition_that_grants_no_positions_fences_all_of_its_answers_and_no_other() {
        let (ids, acme, demo) = (ids(1), account("acme"), account("demo"));
        let stream = conversation("c");
        let batch = [
            append(&ids, &acme, &stream, 0, 1),
            append(&ids, &acme, &stream, 0, 1),
            append(&ids, &demo, &stream, 0, 1),
        ];
        let admission = Intake::new(&batch).admit(Ground::default());
        let (lost, kept) = (PartitionId::of(&acme), PartitionId::of(&demo));
        assert_eq!(admission.demand(), BTreeMap::from([(lost, 1), (kept, 1)]));
        let answers = admission.place(&BTreeMap::from([(kept, Position(5))])).answers();
        assert_eq!(answers[0], Err(AppendError::Fenced { partition: lost }));
        assert_eq!(answers[1], Err(AppendError::Fenced { partition: lost }));
        assert_eq!(answers[2].as_ref().expect("admitted").first_position, Position(5));
    }

    #[test]
    fn the_last_change_of_a_mark_counts_and_a_refused_append_changes_none() {
        let (ids, acme, stream) = (ids(1), account("acme"), conversation("c"));
        let clear = |key: &str| MarkChange::Clear { kind: MarkKind::Turn, key: key.to_owned() };
        let set = |key: &str| MarkChange::Set {
            kind: MarkKind::Turn,
            key: key.to_owned(),
            stream: stream.clone(),
            due: ids.now(),
        };
        let with = |expected, marks| Append { marks, ..append(&ids, &acme, &stream, expected, 1) };
        let batch = [
            with(0, vec![set("a"), clear("b")]),
            with(0, vec![set("c")]),
            with(1, vec![clear("a"), set("b")]),
        ];
        let plan = plan(&batch, Ground::default());
        let marks = plan.marks();
        assert_eq!(marks.len(), 2);
        assert_eq!(marks[&(&acme, MarkKind::Turn, "a")], None);
        assert_eq!(marks[&(&acme, MarkKind::Turn, "b")], Some((&stream, ids.now())));
    }

    #[test]
    fn what_did_not_commit_is_taken_back_together_with_the_refusals_beside_it() {
        let (ids, acme, stream) = (ids(1), account("acme"), conversation("c"));
        let empty = Append { entries: Vec::new(), ..append(&ids, &acme, &stream, 0, 1) };
        let batch = [append(&ids, &acme, &stream, 0, 1), append(&ids, &acme, &stream, 0, 1), empty];
        let unknown = AppendError::OutcomeUnknown { reason: "power".to_owned() };
        let answers = plan(&batch, Ground::default()).withdraw(&unknown);
        assert_eq!(answers[0], Err(unknown));
        assert!(matches!(answers[1], Err(AppendError::Unavailable { .. })));
        assert!(matches!(answers[2], Err(AppendError::Refused(_))));
    }
}
