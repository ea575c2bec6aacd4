//! What the writer remembers between batches: interned ids and the heads of streams.
//!
//! All of it can be read from the database again, so it is bounded and may be forgotten at any time. It is
//! only ever filled with what is committed. The unique index on (stream, version) is the last guard: a head
//! that were wrong would fail a batch, and never write over an entry.

use std::collections::HashMap;
use std::hash::Hash;

use turnframe_core::id::AccountId;

use crate::admission::Head;
use crate::stream::{PartitionId, PartitionSet, StreamName};

/// How many streams the writer remembers at most; about 200 bytes each.
const STREAMS_MAX: usize = 131_072;
/// How many accounts the writer remembers at most.
const ACCOUNTS_MAX: usize = 65_536;

/// A stream as the writer knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamRecord {
    /// Its interned id.
    pub(crate) id: i64,
    /// Its end.
    pub(crate) head: Head,
}

/// The writer's memory.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) accounts: Recent<AccountId, i64>,
    pub(crate) streams: Recent<(AccountId, StreamName), StreamRecord>,
}

impl Default for Known {
    fn default() -> Self {
        Self { accounts: Recent::new(ACCOUNTS_MAX), streams: Recent::new(STREAMS_MAX) }
    }
}

/// A bounded map that forgets what was not used for longest, roughly: two generations, of which the older is
/// dropped when the younger is full. What is found in the older moves to the younger.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    generation_max: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl Known {
    /// Forgets the streams of these partitions: another process may have written to them meanwhile.
    pub(crate) fn forget(&mut self, partitions: PartitionSet) {
        let stays =
            |(account, _): &(AccountId, StreamName)| !partitions.contains(PartitionId::of(account));
        self.streams.retain(stays);
    }
}

impl<K: Eq + Hash, V: Copy> Recent<K, V> {
    fn retain(&mut self, stays: impl Fn(&K) -> bool) {
        self.young.retain(|key, _| stays(key));
        self.old.retain(|key, _| stays(key));
    }

    pub(crate) fn new(max: usize) -> Self {
        Self { generation_max: max / 2, young: HashMap::new(), old: HashMap::new() }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        if let Some(value) = self.young.get(key) {
            return Some(*value);
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.insert(key, value);
        Some(value)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.old.remove(&key);
        self.young.insert(key, value);
        if self.young.len() >= self.generation_max {
            self.old = std::mem::take(&mut self.young);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_and_keeps_what_is_used() {
        let mut recent = Recent::new(8);
        for number in 0..100 {
            recent.insert(number, number * 10);
            assert_eq!(recent.get(&0), Some(0), "used every time");
            assert!(recent.young.len() + recent.old.len() <= 8);
        }
        assert_eq!(recent.get(&99), Some(990));
        assert_eq!(recent.get(&50), None);
    }

    #[test]
    fn a_newer_value_hides_the_older_one() {
        let mut recent = Recent::new(4);
        recent.insert("a", 1);
        recent.insert("b", 1);
        recent.insert("a", 2);
        recent.insert("c", 1);
        assert_eq!(recent.get(&"a"), Some(2));
    }
}
