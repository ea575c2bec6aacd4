//! What the ledger in memory holds. Plain data: the lock is one level up.

use std::collections::{BTreeMap, HashMap};

use turnframe_core::id::{AccountId, DomainActorKey, EffectId};
use turnframe_core::source::Timestamp;

use crate::admission::{Answers, Ground, Head, Intake, NewHeads, Placed, Plan};
use crate::append::{Append, KeyName, KeyRecord};
use crate::entry::Entry;
use crate::ledger::LedgerStatistics;
use crate::mark::{
    BACKLOG_COUNT_MAX, BACKLOG_GROUPS_MAX, BACKLOG_KINDS, Backlog, Mark, MarkKind, MarkQuery,
};
use crate::stream::{PartitionId, Position, StreamName, Version};

#[derive(Debug, Default)]
pub(super) struct State {
    /// The entries of each partition; the n-th stands at position n + 1.
    partitions: HashMap<PartitionId, Vec<Entry>>,
    accounts: BTreeMap<AccountId, Account>,
    effects: HashMap<EffectId, AccountId>,
    cursors: HashMap<(DomainActorKey, PartitionId), Position>,
    pub(super) statistics: LedgerStatistics,
}

#[derive(Debug, Default)]
struct Account {
    /// Where the entries of each stream stand; the n-th has version n + 1.
    streams: HashMap<StreamName, Vec<Position>>,
    keys: HashMap<KeyName, KeyRecord>,
    marks: BTreeMap<MarkKind, BTreeMap<String, (StreamName, Timestamp)>>,
}

impl State {
    /// Judges and writes a batch; answers also with the new end of each partition written to.
    pub(super) fn append(&mut self, batch: &[Append]) -> (Answers, NewHeads) {
        let intake = Intake::new(batch);
        let ground = self.ground(&intake);
        let admission = intake.admit(ground);
        let demand = admission.demand();
        let next = |partition: &PartitionId| (*partition, self.head(*partition).plus(1));
        let plan = admission.place(&demand.keys().map(next).collect());
        self.write(&plan);
        let entries = plan.entries();
        self.statistics.commits += u64::from(entries > 0);
        self.statistics.entries += entries;
        let heads = demand.into_keys().map(|partition| (partition, self.head(partition)));
        (plan.answers(), heads.collect())
    }

    fn ground<'a>(&self, intake: &Intake<'a>) -> Ground<'a> {
        let mut ground = Ground::default();
        for (account, stream) in intake.streams() {
            if let Some(last) = self.last(account, stream) {
                let head = Head { version: last.version, chain: last.chain };
                ground.heads.insert((account, stream), head);
            }
        }
        for (account, key) in intake.keys() {
            if let Some(record) = self.find_key(account, key) {
                ground.keys.insert((account, key), record);
            }
        }
        ground
    }

    fn write(&mut self, plan: &Plan<'_>) {
        for placed in plan.placed() {
            self.write_append(placed);
        }
        for ((account, kind, key), target) in plan.marks() {
            let marks = &mut self.account(account).marks;
            let marks = marks.entry(kind).or_default();
            match target {
                Some((stream, due)) => marks.insert(key.to_owned(), (stream.clone(), due)),
                None => marks.remove(key),
            };
        }
    }

    fn write_append(&mut self, placed: &Placed<'_>) {
        for (position, new, link) in placed.entries() {
            let account = &placed.append.account;
            if let StreamName::Effect(effect) = new.stream {
                self.effects.entry(effect).or_insert_with(|| account.clone());
            }
            let positions = self.account(account).streams.entry(new.stream.clone());
            positions.or_default().push(position);
            let entry = Entry {
                account: account.clone(),
                stream: new.stream.clone(),
                version: link.version,
                partition: placed.partition,
                position,
                id: new.id,
                kind: new.kind,
                schema: new.schema,
                recorded_at: new.recorded_at,
                turn: new.turn.clone(),
                causation: new.causation,
                body: new.body.clone(),
                commitment: link.commitment,
                chain: link.chain,
            };
            self.partitions.entry(placed.partition).or_default().push(entry);
        }
        let keys = placed.keys().map(|(key, record)| (key.clone(), record));
        self.account(&placed.append.account).keys.extend(keys);
    }

    pub(super) fn account_of_effect(&self, effect: EffectId) -> Option<AccountId> {
        self.effects.get(&effect).cloned()
    }

    pub(super) fn cursor(&self, follower: &DomainActorKey, partition: PartitionId) -> Position {
        let kept = self.cursors.get(&(follower.clone(), partition));
        kept.copied().unwrap_or(Position::START)
    }

    pub(super) fn keep_cursor(
        &mut self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) {
        let kept = self.cursors.entry((follower.clone(), partition)).or_default();
        *kept = position.max(*kept);
    }

    fn account(&mut self, account: &AccountId) -> &mut Account {
        // Most accounts are known, and only a new one needs a name of its own.
        if !self.accounts.contains_key(account) {
            self.accounts.insert(account.clone(), Account::default());
        }
        self.accounts.get_mut(account).expect("inserted above")
    }

    fn entries(&self, partition: PartitionId) -> &[Entry] {
        self.partitions.get(&partition).map_or(&[], Vec::as_slice)
    }

    fn positions(&self, account: &AccountId, stream: &StreamName) -> &[Position] {
        let account = self.accounts.get(account);
        account.and_then(|account| account.streams.get(stream)).map_or(&[], Vec::as_slice)
    }

    fn last(&self, account: &AccountId, stream: &StreamName) -> Option<&Entry> {
        let last = self.positions(account, stream).last()?;
        self.entries(PartitionId::of(account)).get(index(last.0)?)
    }

    fn at(&self, account: &AccountId, positions: &[Position]) -> Vec<Entry> {
        let entries = self.entries(PartitionId::of(account));
        positions.iter().filter_map(|at| entries.get(index(at.0)?)).cloned().collect()
    }

    pub(super) fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Vec<Entry> {
        let positions = self.positions(account, stream);
        let start = clamp(after.0, positions.len());
        let end = positions.len().min(start.saturating_add(limit));
        self.at(account, &positions[start..end])
    }

    pub(super) fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Vec<Entry> {
        let positions = self.positions(account, stream);
        let end = before
            .map_or(positions.len(), |before| clamp(before.0.saturating_sub(1), positions.len()));
        self.at(account, &positions[end.saturating_sub(limit)..end])
    }

    pub(super) fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Vec<Entry> {
        let entries = self.entries(partition);
        let after = clamp(after.0, entries.len());
        let wanted = |entry: &&Entry| account.is_none_or(|account| entry.account == *account);
        entries[after..].iter().filter(wanted).take(limit).cloned().collect()
    }

    pub(super) fn head(&self, partition: PartitionId) -> Position {
        Position(self.entries(partition).len() as u64)
    }

    pub(super) fn find_key(&self, account: &AccountId, key: &KeyName) -> Option<KeyRecord> {
        self.accounts.get(account)?.keys.get(key).cloned()
    }

    pub(super) fn marks(&self, query: &MarkQuery) -> Vec<Mark> {
        let Some(end) = query.prefix_end() else { return Vec::new() };
        let accounts = match &query.account {
            Some(account) => self.accounts.range(account..=account),
            None => self.accounts.range::<AccountId, _>(..),
        };
        let accounts =
            accounts.filter(|(account, _)| query.partitions.contains(PartitionId::of(account)));
        let marks = accounts.flat_map(|(account, records)| {
            let marks = records.marks.get(&query.kind).into_iter();
            let marks = marks.flat_map(|marks| marks.range(query.prefix.clone()..end.clone()));
            marks.map(move |(key, (stream, due))| Mark {
                account: account.clone(),
                kind: query.kind,
                key: key.clone(),
                stream: stream.clone(),
                due: *due,
            })
        });
        let due = |mark: &Mark| query.due_by.is_none_or(|moment| mark.due <= moment);
        let after = |mark: &Mark| {
            let after = query.after.as_ref();
            after.is_none_or(|(account, key)| (&mark.account, &mark.key) > (account, key))
        };
        marks.filter(due).filter(after).take(query.page()).collect()
    }

    pub(super) fn backlog(&self) -> Vec<Backlog> {
        BACKLOG_KINDS.into_iter().flat_map(|kind| self.backlog_of(kind)).collect()
    }

    fn backlog_of(&self, kind: MarkKind) -> impl Iterator<Item = Backlog> {
        let mut groups: BTreeMap<String, Backlog> = BTreeMap::new();
        let accounts = self.accounts.iter();
        let of_kind = accounts.filter_map(|(name, held)| Some((name, held.marks.get(&kind)?)));
        for (account, marks) in of_kind {
            for (key, (stream, due)) in marks {
                let (account, key) = (account.clone(), key.clone());
                let mark = Mark { account, kind, key, stream: stream.clone(), due: *due };
                match groups.get_mut(mark.group()) {
                    Some(group) => {
                        group.count = (group.count + 1).min(BACKLOG_COUNT_MAX);
                        if mark.due < group.first.due {
                            group.first = mark;
                        }
                    }
                    None => {
                        groups.insert(mark.group().to_owned(), Backlog { first: mark, count: 1 });
                    }
                }
            }
        }
        groups.into_values().take(BACKLOG_GROUPS_MAX)
    }

    /// Changes a committed entry behind the ledger's back.
    #[cfg(test)]
    pub(super) fn tamper(
        &mut self,
        partition: PartitionId,
        position: Position,
        change: impl FnOnce(&mut Entry),
    ) {
        let entries = self.partitions.get_mut(&partition).expect("partition");
        change(&mut entries[index(position.0).expect("position")]);
    }
}

/// The index of the entry at a position, counted from 1.
fn index(position: u64) -> Option<usize> {
    usize::try_from(position).ok()?.checked_sub(1)
}

fn clamp(number: u64, len: usize) -> usize {
    usize::try_from(number).map_or(len, |number| number.min(len))
}
