//! The entries and keys that were committed last, kept so that a read of what was just written need not ask the database.
//!
//! A turn reads the events that it committed back before it claims them. What is kept here is what that read finds:
//! it comes in after the commit and in no other way. A page is served from here only where all of it is here, so
//! that what is missing is never taken for the end of a stream. Where another process wrote in between, what came
//! before it is dropped: there is never a gap. Whoever erases from the database erases here too.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use turnframe_core::id::AccountId;

use crate::admission::{Placed, Plan};
use crate::append::{KeyName, KeyRecord};
use crate::entry::Entry;
use crate::stream::{PartitionId, PartitionSet, StreamName, Version};

/// The most entries that are kept, over all streams, and the most keys.
pub(crate) const RECENT_MAX: usize = 8_192;

type Key = (AccountId, StreamName);
type OwnedKey = (AccountId, KeyName);

#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    streams: HashMap<Key, VecDeque<Entry>>,
    /// Whose entry is the oldest, and so on.
    order: VecDeque<Key>,
    keys: HashMap<OwnedKey, KeyRecord>,
    /// Which key is the oldest, and so on.
    keys_order: VecDeque<OwnedKey>,
}

impl Recent {
    /// Keeps what a plan committed.
    pub(crate) fn keep(&self, plan: &Plan<'_>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for placed in plan.placed() {
            entries(placed).for_each(|entry| kept.keep(entry));
            let account = &placed.append.account;
            placed.keys().for_each(|(key, record)| kept.keep_key(account, key, record));
        }
    }

    /// Forgets what is of these partitions: another process may have written to them meanwhile.
    pub(crate) fn forget(&self, partitions: PartitionSet) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stays = |(account, _): &Key| !partitions.contains(PartitionId::of(account));
        kept.streams.retain(|key, _| stays(key));
        kept.order.retain(stays);
        kept.keys.retain(|(account, _), _| !partitions.contains(PartitionId::of(account)));
        kept.keys_order.retain(|(account, _)| !partitions.contains(PartitionId::of(account)));
    }

    /// What a key stands for, where it was claimed of late. A key that is not here may be in the database.
    pub(crate) fn find_key(&self, account: &AccountId, key: &KeyName) -> Option<KeyRecord> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.keys.get(&(account.clone(), key.clone())).cloned()
    }

    /// A page of a stream, where all of it is kept.
    pub(crate) fn read(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Option<Vec<Entry>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = kept.streams.get(&(account.clone(), stream.clone()))?;
        let first = entries.front()?.version;
        let skipped = usize::try_from(after.0.checked_sub(first.0.checked_sub(1)?)?).ok()?;
        let end = skipped.checked_add(limit).filter(|end| *end <= entries.len())?;
        Some(entries.range(skipped..end).cloned().collect())
    }
}

impl Kept {
    fn keep(&mut self, entry: Entry) {
        let key = (entry.account.clone(), entry.stream.clone());
        let entries = self.streams.entry(key.clone()).or_default();
        if entries.back().is_some_and(|last| last.version.plus(1) != entry.version) {
            entries.clear();
            self.order.retain(|other| *other != key);
        }
        entries.push_back(entry);
        self.order.push_back(key);
        if self.order.len() > RECENT_MAX {
            self.forget_oldest();
        }
    }

    fn keep_key(&mut self, account: &AccountId, key: &KeyName, record: KeyRecord) {
        let key = (account.clone(), key.clone());
        self.keys_order.push_back(key.clone());
        self.keys.insert(key, record);
        if self.keys_order.len() > RECENT_MAX
            && let Some(oldest) = self.keys_order.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }

    fn forget_oldest(&mut self) {
        let Some(key) = self.order.pop_front() else { return };
        if let Some(entries) = self.streams.get_mut(&key) {
            entries.pop_front();
            if entries.is_empty() {
                self.streams.remove(&key);
            }
        }
    }
}

fn entries<'a>(placed: &'a Placed<'_>) -> impl Iterator<Item = Entry> + 'a {
    placed.entries().map(|(position, entry, link)| Entry {
        account: placed.append.account.clone(),
        stream: entry.stream.clone(),
        version: link.version,
        partition: placed.partition,
        position,
        id: entry.id,
        kind: entry.kind,
        schema: entry.schema,
        recorded_at: entry.recorded_at,
        turn: entry.turn.clone(),
        causation: entry.causation,
        body: entry.body.clone(),
        commitment: link.commitment,
        chain: link.chain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnframe_core::canonical::Digest;

    use crate::entry::EntryRef;
    use crate::ledger::EventLedger;
    use crate::memory::MemoryLedger;
    use crate::stream::Position;
    use crate::testing::{account, append, conversation};
    use turnframe_test::sources;

    /// Entries of a stream, as a ledger gives them.
    async fn written(count: u64) -> Vec<Entry> {
        const AT_ONCE: u64 = 200;
        let (ledger, ids) = (MemoryLedger::new(), sources::ids(1));
        let (account, stream) = (account("a"), conversation("c"));
        let mut entries = Vec::new();
        while (entries.len() as u64) < count {
            let have = entries.len() as u64;
            let more = append(&ids, &account, &stream, have, AT_ONCE.min(count - have));
            let answers = ledger.append(vec![more]).await;
            assert!(answers[0].is_ok(), "{answers:?}");
            let partition = PartitionId::of(&account);
            let page = ledger.read_partition(partition, Position(have), 1_000, None).await;
            entries.extend(page.expect("entries"));
        }
        entries
    }

    #[tokio::test]
    async fn a_page_is_served_only_where_all_of_it_is_kept() {
        let recent = Recent::default();
        for entry in written(5).await.into_iter().skip(2) {
            recent.0.lock().expect("a lock").keep(entry);
        }
        let read = |after, limit| {
            let page = recent.read(&account("a"), &conversation("c"), Version(after), limit);
            page.map(|page| page.iter().map(|entry| entry.version.0).collect::<Vec<_>>())
        };
        assert_eq!(read(2, 2), Some(vec![3, 4]));
        assert_eq!(read(4, 1), Some(vec![5]));
        assert_eq!(read(4, 2), None, "what is not here may be in the file");
        assert_eq!(read(1, 2), None);
        assert_eq!(read(0, 5), None);
        let others = recent.read(&account("b"), &conversation("c"), Version(2), 1);
        assert!(others.is_none(), "another account's stream of that name");
    }

    #[tokio::test]
    async fn an_entry_that_does_not_follow_begins_anew() {
        let recent = Recent::default();
        let entries = written(5).await;
        for index in [0, 1, 4, 3] {
            recent.0.lock().expect("a lock").keep(entries[index].clone());
        }
        let read = |after, limit| {
            recent.read(&account("a"), &conversation("c"), Version(after), limit).is_some()
        };
        assert!(read(3, 1), "the entry that was kept last");
        assert!(!read(4, 1) && !read(0, 1) && !read(0, 3));
        let kept = recent.0.lock().expect("a lock");
        assert_eq!((kept.order.len(), kept.streams.len()), (1, 1));
    }

    #[test]
    fn keys_are_kept_by_account_and_the_oldest_go_first() {
        let (recent, ids) = (Recent::default(), sources::ids(1));
        let entry = |version| EntryRef {
            stream: conversation("c"),
            version: Version(version),
            id: ids.entry(),
        };
        let name = |number| KeyName::new(format!("key-{number}")).expect("a key");
        for number in 0..=RECENT_MAX as u64 {
            let record = KeyRecord { entry: entry(number), digest: Digest::ZERO };
            recent.0.lock().expect("a lock").keep_key(&account("a"), &name(number), record);
        }
        let find = |of: &str, number| recent.find_key(&account(of), &name(number));
        assert!(find("a", 0).is_none(), "the oldest");
        assert_eq!(find("a", 1).expect("kept").entry.version, Version(1));
        assert!(find("b", 1).is_none(), "another account's key of that name");
        recent.forget([PartitionId::of(&account("a"))].into_iter().collect());
        assert!(find("a", 1).is_none() && recent.0.lock().expect("a lock").keys_order.is_empty());
    }

    #[tokio::test]
    async fn the_oldest_go_first() {
        let recent = Recent::default();
        let count = RECENT_MAX as u64 + 3;
        for entry in written(count).await {
            recent.0.lock().expect("a lock").keep(entry);
        }
        let read = |after| recent.read(&account("a"), &conversation("c"), Version(after), 1);
        assert!(read(2).is_none());
        assert_eq!(read(3).expect("kept")[0].version, Version(4));
        assert_eq!(recent.0.lock().expect("a lock").order.len(), RECENT_MAX);
    }
}
