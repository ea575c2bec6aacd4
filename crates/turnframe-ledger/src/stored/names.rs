//! Names and the small integers that stand for them in a database.

use std::collections::{HashMap, HashSet};

use turnframe_core::id::AccountId;

use super::known::{Known, StreamRecord};
use super::rows::Trouble;
use crate::admission::{Head, Intake, Plan};
use crate::append::{Append, KeyName};
use crate::mark::MarkChange;
use crate::stream::StreamName;

/// A stream as a batch names it.
pub(crate) type StreamKey<'a> = (&'a AccountId, &'a StreamName);

/// The last interned ids that were given out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastIds {
    pub(crate) account: i64,
    pub(crate) stream: i64,
}

/// A stream that the writer did not remember: the account's id, and the stream with its end, where there are
/// such.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) account: Option<i64>,
    pub(crate) stream: Option<StreamRecord>,
}

/// The ids of what a batch names.
#[derive(Debug, Default)]
pub(crate) struct Ids<'a> {
    pub(crate) accounts: HashMap<&'a AccountId, i64>,
    pub(crate) streams: HashMap<StreamKey<'a>, StreamRecord>,
}

impl Ids<'_> {
    pub(crate) fn account(&self, account: &AccountId) -> Result<i64, Trouble> {
        let id = self.accounts.get(account).copied();
        id.ok_or_else(|| Trouble(format!("the account {account} was not interned")))
    }

    pub(crate) fn stream(&self, account: &AccountId, stream: &StreamName) -> Result<i64, Trouble> {
        let record = self.streams.get(&(account, stream));
        record.map(|record| record.id).ok_or_else(|| Trouble(format!("{stream} was not interned")))
    }
}

/// What the writer remembers of a batch's names, and which streams it does not.
pub(crate) fn recall<'a>(known: &mut Known, intake: &Intake<'a>) -> (Ids<'a>, Vec<StreamKey<'a>>) {
    let (mut ids, mut cold) = (Ids::default(), Vec::new());
    let mut asked = HashSet::new();
    for (account, stream) in intake.streams().chain(intake.marked_streams()) {
        if !asked.insert((account, stream)) {
            continue;
        }
        if let Some(id) = known.accounts.get(account) {
            ids.accounts.insert(account, id);
        }
        match known.streams.get(&(account.clone(), stream.clone())) {
            Some(record) => drop(ids.streams.insert((account, stream), record)),
            None => cold.push((account, stream)),
        }
    }
    (ids, cold)
}

/// Takes in what was found of the streams that the writer did not remember.
pub(crate) fn learn<'a>(
    known: &mut Known,
    ids: &mut Ids<'a>,
    cold: Vec<StreamKey<'a>>,
    found: Vec<Looked>,
) {
    for ((account, stream), looked) in cold.into_iter().zip(found) {
        if let Some(id) = looked.account {
            ids.accounts.insert(account, id);
            known.accounts.insert(account.clone(), id);
        }
        if let Some(record) = looked.stream {
            ids.streams.insert((account, stream), record);
            known.streams.insert((account.clone(), stream.clone()), record);
        }
    }
}

/// The ends of the streams that a batch expects.
pub(crate) fn heads<'a>(intake: &Intake<'a>, ids: &Ids<'a>) -> HashMap<StreamKey<'a>, Head> {
    let head = |stream| Some((stream, ids.streams.get(&stream)?.head));
    intake.streams().filter_map(head).collect()
}

/// The keys of a batch that may have been claimed before. An account that is new has none.
pub(crate) fn keys<'a>(
    intake: &Intake<'a>,
    ids: &Ids<'a>,
) -> Vec<(&'a AccountId, i64, &'a KeyName)> {
    let of_known = |(account, key)| Some((account, *ids.accounts.get(account)?, key));
    intake.keys().filter_map(of_known).collect()
}

/// Names that a batch brings into the ledger.
#[derive(Debug, Default)]
pub(crate) struct NewNames<'a> {
    pub(crate) accounts: Vec<(i64, &'a AccountId)>,
    pub(crate) streams: Vec<NewStream<'a>>,
}

/// A stream that a batch brings into the ledger.
#[derive(Debug)]
pub(crate) struct NewStream<'a> {
    pub(crate) id: i64,
    pub(crate) account: &'a AccountId,
    pub(crate) account_id: i64,
    pub(crate) name: &'a StreamName,
}

/// Gives an id to every name that has none yet.
pub(crate) fn intern<'a>(
    appends: impl Iterator<Item = &'a Append>,
    ids: &mut Ids<'a>,
    last: &mut LastIds,
) -> NewNames<'a> {
    let mut new = NewNames::default();
    for append in appends {
        let account_id = *ids.accounts.entry(&append.account).or_insert_with(|| {
            last.account += 1;
            new.accounts.push((last.account, &append.account));
            last.account
        });
        let written = append.entries.iter().map(|entry| &entry.stream);
        let marked = append.marks.iter().filter_map(MarkChange::stream);
        for stream in written.chain(marked) {
            ids.streams.entry((&append.account, stream)).or_insert_with(|| {
                last.stream += 1;
                new.streams.push(NewStream {
                    id: last.stream,
                    account: &append.account,
                    account_id,
                    name: stream,
                });
                StreamRecord { id: last.stream, head: Head::EMPTY }
            });
        }
    }
    new
}

/// Keeps what a committed batch taught. A name that only a fenced append brought was not written, and its id stands
/// for nothing.
pub(crate) fn remember(known: &mut Known, plan: &Plan<'_>, ids: &Ids<'_>) {
    for placed in plan.placed() {
        let account = &placed.append.account;
        if let Some(id) = ids.accounts.get(account) {
            known.accounts.insert(account.clone(), *id);
        }
        for (_, entry, link) in placed.entries() {
            if let Some(record) = ids.streams.get(&(account, &entry.stream)) {
                let head = Head { version: link.version, chain: link.chain };
                let key = (account.clone(), entry.stream.clone());
                known.streams.insert(key, StreamRecord { id: record.id, head });
            }
        }
    }
}
