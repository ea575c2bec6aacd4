//! What was committed last that somebody is to carry on: an effect with what became of it, the news of a case.
//!
//! Whoever carries it on comes a moment after the commit, and reading it back costs more than the work itself. Like a
//! nudge this is a hint. What is missing here is read from the ledger; what is out of date, because another process
//! wrote, loses at the version it expects and is forgotten. Only what the ledger has acknowledged is in here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use turnframe_core::id::AccountId;
use turnframe_ledger::{
    Append, Appended, Entry, MarkChange, MarkKind, NewEntry, StreamName, Version,
};

/// Where a run begins: a stream, and the version of its first entry.
type Start = (AccountId, StreamName, Version);

/// Entries of a stream without a gap.
struct Run {
    entries: Arc<Vec<Entry>>,
    bytes: usize,
}

/// Entries that are remembered. Never more than so many bytes, roughly.
pub(crate) struct Fresh {
    generations: Mutex<Generations>,
    bytes_max: usize,
}

/// When the young ones are half of what may be kept, they become the old ones, and those that were old are forgotten.
#[derive(Default)]
struct Generations {
    young: Generation,
    old: Generation,
}

#[derive(Default)]
struct Generation {
    runs: HashMap<Start, Run>,
    bytes: usize,
}

/// The entries of an append that somebody is to carry on, by their index: those of streams that its marks lead to.
pub(crate) fn carried(append: &Append) -> Vec<(usize, NewEntry)> {
    let is_carried = |stream: &StreamName| {
        append.marks.iter().any(|change| match change {
            MarkChange::Set { kind: MarkKind::Effect | MarkKind::Relay, stream: at, .. } => {
                at == stream
            }
            MarkChange::Set { .. } | MarkChange::Clear { .. } => false,
        })
    };
    let entries = append.entries.iter().enumerate();
    let carried = entries.filter(|(_, entry)| is_carried(&entry.stream));
    carried.map(|(index, entry)| (index, entry.clone())).collect()
}

impl Fresh {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { generations: Mutex::default(), bytes_max }
    }

    fn generations(&self) -> MutexGuard<'_, Generations> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what was committed of an append.
    pub(crate) fn note(
        &self,
        account: &AccountId,
        carried: Vec<(usize, NewEntry)>,
        appended: &Appended,
    ) {
        let bytes: usize = carried.iter().map(|(_, new)| new.bytes()).sum();
        if carried.is_empty() || bytes > self.bytes_max / 2 {
            return;
        }
        let mut generations = self.generations();
        generations.make_room(bytes, self.bytes_max);
        let mut runs: HashMap<StreamName, (Vec<Entry>, usize)> = HashMap::new();
        for (index, new) in carried {
            let bytes = new.bytes();
            let Some(entry) = appended.entry(index, account, new) else { continue };
            let run = runs.entry(entry.stream.clone()).or_default();
            run.0.push(entry);
            run.1 += bytes;
        }
        for (stream, (entries, bytes)) in runs {
            generations.add(account, &stream, entries, bytes);
        }
    }

    /// The entries of a stream from a version on, as far as they are known. There may be more.
    pub(crate) fn entries(
        &self,
        account: &AccountId,
        stream: &StreamName,
        from: Version,
    ) -> Option<Arc<Vec<Entry>>> {
        let start = (account.clone(), stream.clone(), from);
        let generations = self.generations();
        let Generations { young, old } = &*generations;
        let run = young.runs.get(&start).or_else(|| old.runs.get(&start));
        run.map(|run| run.entries.clone())
    }

    /// Forgets an effect of which the ledger knows more.
    pub(crate) fn forget(&self, account: &AccountId, stream: &StreamName) {
        let start = (account.clone(), stream.clone(), Version::NONE.plus(1));
        self.generations().take(&start);
    }
}

impl Generation {
    fn insert(&mut self, start: Start, run: Run) {
        self.remove(&start);
        self.bytes += run.bytes;
        self.runs.insert(start, run);
    }

    fn remove(&mut self, start: &Start) -> Option<Run> {
        let run = self.runs.remove(start)?;
        self.bytes -= run.bytes;
        Some(run)
    }
}

impl Generations {
    fn make_room(&mut self, bytes: usize, bytes_max: usize) {
        while self.young.bytes + bytes > bytes_max / 2 || self.kept() + bytes > bytes_max {
            self.old = std::mem::take(&mut self.young);
        }
    }

    fn kept(&self) -> usize {
        self.young.bytes + self.old.bytes
    }

    /// Adds the entries of an append to the run that begins with their stream, where they follow it; else as a run of
    /// their own. What they do not follow is out of date.
    fn add(&mut self, account: &AccountId, stream: &StreamName, entries: Vec<Entry>, bytes: usize) {
        let Some(version) = entries.first().map(|entry| entry.version) else { return };
        let at = |version| (account.clone(), stream.clone(), version);
        let first = Version::NONE.plus(1);
        let is_followed =
            |whole: &Run| whole.entries.last().is_some_and(|it| it.version.plus(1) == version);
        match self.take(&at(first)).filter(is_followed) {
            Some(mut whole) => {
                Arc::make_mut(&mut whole.entries).extend(entries);
                whole.bytes += bytes;
                self.young.insert(at(first), whole);
            }
            None => self.young.insert(at(version), Run { entries: Arc::new(entries), bytes }),
        }
    }

    fn take(&mut self, start: &Start) -> Option<Run> {
        self.young.remove(start).or_else(|| self.old.remove(start))
    }
}

#[cfg(test)]
mod tests {
    use turnframe_core::canonical::Digest;
    use turnframe_core::id::{CaseRef, EntryId, WorkflowKey};
    use turnframe_core::personal::Sealed;
    use turnframe_core::source::Timestamp;
    use turnframe_ledger::admission::Link;
    use turnframe_ledger::{EntryKind, PartitionId, Position};

    use super::*;

    const START: Timestamp = Timestamp::from_micros(0);
    const ENTRY: &str = "00000000-0000-7000-8000-000000000003";

    fn account() -> AccountId {
        AccountId::new("acme").expect("a name")
    }

    fn effect() -> StreamName {
        StreamName::Effect("00000000-0000-7000-8000-000000000001".parse().expect("an id"))
    }

    fn case() -> StreamName {
        let workflow = WorkflowKey::new("tally").expect("a name");
        let case = "00000000-0000-7000-8000-000000000002".parse().expect("an id");
        StreamName::Case(CaseRef { workflow, case })
    }

    fn set(kind: MarkKind, stream: &StreamName) -> MarkChange {
        MarkChange::Set { kind, key: "k".to_owned(), stream: stream.clone(), due: START }
    }

    /// Notes an append to these streams at these versions, which sets these marks.
    fn note(fresh: &Fresh, at: &[(&StreamName, u64)], marks: Vec<MarkChange>) {
        let new = |(stream, _): &(&StreamName, u64)| NewEntry {
            id: ENTRY.parse::<EntryId>().expect("an id"),
            stream: (*stream).clone(),
            kind: EntryKind::EffectNudged,
            schema: 1,
            recorded_at: START,
            turn: None,
            causation: None,
            body: Sealed { facts: b"{}".to_vec(), parts: Vec::new() },
        };
        let (entries, keys) = (at.iter().map(new).collect(), Vec::new());
        let append = Append { account: account(), expected: Vec::new(), entries, keys, marks };
        let (commitment, chain) = (Digest::of("c", &[]), Digest::of("h", &[]));
        let link = |(_, version): &(_, u64)| Link { version: Version(*version), commitment, chain };
        let appended = Appended {
            partition: PartitionId::of(&account()),
            first_position: Position(1),
            entries: Vec::new(),
            links: at.iter().map(link).collect(),
        };
        fresh.note(&account(), carried(&append), &appended);
    }

    fn versions(fresh: &Fresh, stream: &StreamName, from: u64) -> Option<Vec<u64>> {
        let entries = fresh.entries(&account(), stream, Version(from))?;
        Some(entries.iter().map(|entry| entry.version.0).collect())
    }

    #[test]
    fn an_effect_is_known_from_its_request_to_the_last_that_was_appended() {
        let fresh = Fresh::new(1_000_000);
        let due = || vec![set(MarkKind::Effect, &effect())];
        note(&fresh, &[(&case(), 7), (&effect(), 1)], due());
        note(&fresh, &[(&effect(), 2)], due());
        note(&fresh, &[(&effect(), 3)], vec![set(MarkKind::Relay, &effect())]);
        assert_eq!(versions(&fresh, &effect(), 1), Some(vec![1, 2, 3]));
        assert_eq!(versions(&fresh, &case(), 7), None, "nobody carries a turn's command on");
    }

    #[test]
    fn an_effect_that_was_written_to_elsewhere_is_not_known_any_more() {
        let fresh = Fresh::new(1_000_000);
        let due = || vec![set(MarkKind::Effect, &effect())];
        note(&fresh, &[(&effect(), 1)], due());
        note(&fresh, &[(&effect(), 3)], due());
        assert_eq!(versions(&fresh, &effect(), 1), None);
        let other = Fresh::new(1_000_000);
        note(&other, &[(&effect(), 1)], due());
        other.forget(&account(), &effect());
        assert_eq!(versions(&other, &effect(), 1), None);
    }

    #[test]
    fn each_news_of_a_case_is_known_from_its_command_on() {
        let fresh = Fresh::new(1_000_000);
        let news = || vec![set(MarkKind::Relay, &case())];
        note(&fresh, &[(&case(), 4), (&case(), 5)], news());
        note(&fresh, &[(&case(), 6)], news());
        assert_eq!(versions(&fresh, &case(), 4), Some(vec![4, 5]));
        assert_eq!(versions(&fresh, &case(), 6), Some(vec![6]));
        assert_eq!(versions(&fresh, &case(), 5), None);
    }

    #[test]
    fn no_more_is_kept_than_the_limit_and_what_is_in_use_stays() {
        const BYTES: usize = 160 + 2;
        let fresh = Fresh::new(8 * BYTES);
        let due = || vec![set(MarkKind::Effect, &effect())];
        let news = || vec![set(MarkKind::Relay, &case())];
        note(&fresh, &[(&effect(), 1)], due());
        for version in 1..=100 {
            note(&fresh, &[(&effect(), version + 1)], due());
            fresh.forget(&account(), &effect());
            note(&fresh, &[(&effect(), 1)], due());
            note(&fresh, &[(&case(), 10 * version)], news());
            let kept = fresh.generations().kept();
            assert!(kept <= 8 * BYTES, "{kept} bytes after {version}");
            assert_eq!(versions(&fresh, &effect(), 1), Some(vec![1]));
        }
        assert_eq!(versions(&fresh, &case(), 10), None);
    }
}
