//! What to do next with an external effect: pure decisions over its fold (design rules of section 6).
//!
//! An attempt is recorded before it is sent. Only what provably was not sent is tried again by itself; an
//! attempt of unknown fate is looked up, or sent again under the same key where the receiver honours it; what
//! nobody can find out is parked for an operator. Killed after an attempt was recorded and before it was
//! concluded, the next start concludes it as unknown (I15).

mod decision;

use std::time::Duration;

use turnframe_core::canonical::{Digest, Json};
use turnframe_core::id::{AccountId, DestinationKey, EffectId};
use turnframe_core::personal::SealError;
use turnframe_core::receipt::EffectConclusion;
use turnframe_core::source::{IdSource, Timestamp};
use turnframe_ledger::append::NotAKey;
use turnframe_ledger::{Append, EntryKind, Key, MarkChange, MarkKind, NewEntry, StreamName};

pub use decision::{
    OperatorDecision, REASON_MAX_BYTES, UnresolvedError, append_of_decision, operator_subject,
};

use crate::entry::EntryBuilder;
use crate::fold::effect::{EffectFold, EffectStatus};
use crate::key;
use crate::port::{DestinationProfile, Dispatched, Reconciled, Resending, Statement};
use crate::record::{
    ByOperator, ConclusionSource, DeferReason, EffectConcluded, EffectDeferred, EffectDispatched,
    EffectNudged, EffectParked, EffectReleased, EffectRequested, FactKey,
};

/// How long after an attempt's timeout a receiver may still be working on it. Until then "not found" means
/// "not yet".
pub const SETTLING_MARGIN: Duration = Duration::from_secs(5);

/// The most bytes of what a remote said that are stored with a conclusion.
pub const STATEMENT_MAX_BYTES: usize = 64 * 1024;
/// The most characters of a remote's reference or code where its answer cannot be stored as it is.
pub const REFERENCE_MAX_CHARS: usize = 256;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectStep {
    /// Record this attempt, then send it.
    Dispatch {
        /// From 1.
        attempt: u32,
    },
    /// The process died after it recorded the attempt: nobody knows what became of it.
    ConcludeUnknown {
        /// Which attempt.
        attempt: u32,
    },
    /// Ask the receiver what became of the attempt.
    LookUp {
        /// Which attempt.
        attempt: u32,
        /// When it was recorded.
        dispatched_at: Timestamp,
    },
    /// Give it to an operator.
    Park {
        /// Why nobody here can go on.
        reason: DeferReason,
    },
    /// Nothing.
    Rest,
}

/// Decides what to do next with an effect that no attempt of this process is on its way for.
#[must_use]
pub fn next(fold: &EffectFold, profile: &DestinationProfile) -> EffectStep {
    let attempt = fold.attempts;
    let attempts_left = fold.has_attempts_left(profile.attempts_max);
    match &fold.status {
        EffectStatus::Requested => EffectStep::Dispatch { attempt: 1 },
        EffectStatus::NotSent if attempts_left => EffectStep::Dispatch { attempt: attempt + 1 },
        // Where an unknown attempt is sent again without a look-up, it is still unknown.
        EffectStatus::NotSent => match (profile.resending, fold.in_doubt) {
            (Resending::IdempotentByKey, Some(dispatched_at)) => {
                find_out(fold, profile, dispatched_at)
            }
            (Resending::IdempotentByKey | Resending::Never, _) => {
                EffectStep::Park { reason: DeferReason::NotSent }
            }
        },
        EffectStatus::Dispatched { .. } => EffectStep::ConcludeUnknown { attempt },
        EffectStatus::Unknown { dispatched_at } => match profile.resending {
            Resending::IdempotentByKey if attempts_left => {
                EffectStep::Dispatch { attempt: attempt + 1 }
            }
            Resending::IdempotentByKey | Resending::Never => {
                find_out(fold, profile, *dispatched_at)
            }
        },
        EffectStatus::Concluded(_) | EffectStatus::Parked => EffectStep::Rest,
    }
}

/// Asks the receiver, as often as the profile says, and then an operator.
fn find_out(
    fold: &EffectFold,
    profile: &DestinationProfile,
    dispatched_at: Timestamp,
) -> EffectStep {
    if fold.lookups < profile.lookups_max {
        EffectStep::LookUp { attempt: fold.attempts, dispatched_at }
    } else {
        EffectStep::Park { reason: DeferReason::StillUnknown }
    }
}

/// What happened to an effect, before it is appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectRecord {
    /// An attempt is about to be sent.
    Dispatched {
        /// From 1.
        attempt: u32,
    },
    /// It has to wait.
    Deferred {
        /// Which attempt.
        attempt: u32,
        /// Why.
        reason: DeferReason,
    },
    /// Something is known of it, or known to be unknown.
    Concluded {
        /// Which attempt.
        attempt: u32,
        /// What became of it.
        conclusion: EffectConclusion,
        /// Who says so.
        source: ConclusionSource,
    },
    /// An operator has to decide.
    Parked {
        /// Which attempt was the last.
        attempt: u32,
        /// Why.
        reason: DeferReason,
        /// The operator who has decided so, where one has.
        by: Option<ByOperator>,
    },
    /// An operator has what comes next done now.
    Nudged(ByOperator),
    /// An operator gave it another round of attempts.
    Released(ByOperator),
}

impl EffectRecord {
    /// The attempt that is about to be sent, where it is one.
    #[must_use]
    pub const fn dispatched(&self) -> Option<u32> {
        if let Self::Dispatched { attempt } = self { Some(*attempt) } else { None }
    }
}

/// What an attempt's answer is recorded as.
#[must_use]
pub fn record_of(attempt: u32, dispatched: Dispatched) -> EffectRecord {
    if let Dispatched::NotSent { .. } = dispatched {
        return EffectRecord::Deferred { attempt, reason: DeferReason::NotSent };
    }
    let conclusion = verdict(dispatched).unwrap_or(EffectConclusion::Unknown);
    EffectRecord::Concluded { attempt, conclusion, source: ConclusionSource::Answer }
}

/// What a receiver says, where it has spoken: it took it, or refused it.
fn verdict(said: Dispatched) -> Option<EffectConclusion> {
    match said {
        Dispatched::Accepted { reference, details } => {
            Some(EffectConclusion::Accepted { reference, details })
        }
        Dispatched::Rejected { code, details } => {
            Some(EffectConclusion::Rejected { code, details })
        }
        Dispatched::NotSent { .. } | Dispatched::Unknown { .. } => None,
    }
}

/// What an attempt is recorded as that was not sent to a destination that nothing reaches. It does not count, for as long
/// as the profile has patience with an outage.
#[must_use]
pub fn not_sent_while_down(
    fold: &EffectFold,
    profile: &DestinationProfile,
    attempt: u32,
    now: Timestamp,
) -> EffectRecord {
    let is_patient = now < fold.requested_at.plus(profile.outage_max);
    let reason = if is_patient { DeferReason::Unavailable } else { DeferReason::NotSent };
    EffectRecord::Deferred { attempt, reason }
}

/// What a look-up's answer comes to. "Not found" counts only once the receiver cannot be working on the
/// attempt any more; then it goes out again under the same key.
#[must_use]
pub fn record_of_lookup(
    step: (u32, Timestamp),
    found: Reconciled,
    fold: &EffectFold,
    profile: &DestinationProfile,
    now: Timestamp,
) -> EffectRecord {
    let (attempt, dispatched_at) = step;
    let still_unknown = EffectRecord::Deferred { attempt, reason: DeferReason::StillUnknown };
    match found {
        Reconciled::Found(said) => match verdict(said) {
            Some(conclusion) => {
                EffectRecord::Concluded { attempt, conclusion, source: ConclusionSource::LookUp }
            }
            None => still_unknown,
        },
        Reconciled::NotFound => {
            let settled = dispatched_at.plus(profile.timeout).plus(SETTLING_MARGIN);
            if now >= settled && fold.has_attempts_left(profile.attempts_max) {
                EffectRecord::Dispatched { attempt: attempt + 1 }
            } else {
                still_unknown
            }
        }
        Reconciled::StillUnknown { .. } => still_unknown,
    }
}

/// Whether what a look-up found stands beside what has happened meanwhile: an operator's nudge changes nothing about it,
/// and a receiver's word is one also where an operator has parked the effect.
#[must_use]
pub fn stands_beside(found: &EffectRecord, fold: &EffectFold) -> bool {
    let is_word = matches!(found, EffectRecord::Concluded { .. });
    fold.is_nudged || is_word && fold.status == EffectStatus::Parked
}

/// How long to wait before the next try: doubling from the profile's backoff, and up to a quarter more, so
/// that many do not try in step.
#[must_use]
pub fn pause(profile: &DestinationProfile, tries: u32, random: u8) -> Duration {
    let doubled = profile.backoff.saturating_mul(1_u32 << tries.min(16));
    let base = doubled.min(profile.backoff_max);
    base + base.mul_f64(f64::from(random) / 1_024.0)
}

/// The mark of an effect that is not over: each destination finds its own, those of a case in their order.
#[must_use]
pub fn mark_key(requested: &EffectRequested, effect: EffectId) -> String {
    if requested.order.is_empty() {
        return format!("{}/{effect}", requested.destination);
    }
    format!("{}{}/{effect}", mark_prefix(requested), requested.order)
}

/// What the marks of a case's effects to one destination begin with.
#[must_use]
pub fn mark_prefix(requested: &EffectRequested) -> String {
    format!("{}/{}/", requested.destination, requested.case)
}

/// Builds the append of what happened to an effect: the entry, the effect's next due time, and the mark by
/// which the relay carries a conclusion on.
///
/// # Errors
/// [`SealError`] when the record cannot be stored.
pub fn append_of(
    account: &AccountId,
    effect: EffectId,
    fold: &EffectFold,
    profile: &DestinationProfile,
    record: &EffectRecord,
    ids: &IdSource,
) -> Result<Append, SealError> {
    let stream = StreamName::Effect(effect);
    let builder = EntryBuilder { ids, turn: None, causation: None };
    let now = ids.now();
    let [random] = ids.bytes::<1>();
    let retry = |tries| Some(now.plus(pause(profile, tries, random)));
    let (entry, due, tells) = match record {
        EffectRecord::Dispatched { attempt } => {
            let payload = EffectDispatched { attempt: *attempt };
            let entry = builder.build(&stream, EntryKind::EffectDispatched, &payload)?;
            // Should this process die, another one finds the attempt once it cannot be under way any more.
            (entry, Some(now.plus(profile.timeout).plus(SETTLING_MARGIN)), false)
        }
        EffectRecord::Deferred { attempt, reason } => {
            let payload = EffectDeferred { attempt: *attempt, reason: *reason };
            let entry = builder.build(&stream, EntryKind::EffectDeferred, &payload)?;
            let due = match reason {
                DeferReason::NotSent => retry(*attempt),
                DeferReason::StillUnknown => retry(fold.lookups + 1),
                // What showed that the destination is down shows it again only after the others that wait.
                DeferReason::Unavailable => {
                    retry(*attempt).map(|due| due.plus(profile.failures_pause))
                }
            };
            (entry, due, false)
        }
        EffectRecord::Concluded { attempt, conclusion, source } => {
            let entry = concluded(&builder, &stream, *attempt, conclusion, source)?;
            let due = match conclusion {
                EffectConclusion::Unknown => retry(0),
                EffectConclusion::Accepted { .. }
                | EffectConclusion::Rejected { .. }
                | EffectConclusion::ReconciliationRequired => None,
            };
            (entry, due, true)
        }
        EffectRecord::Nudged(ByOperator { operator, reason }) => {
            let payload = EffectNudged { operator: operator.clone(), reason: reason.clone() };
            (builder.build(&stream, EntryKind::EffectNudged, &payload)?, Some(now), false)
        }
        EffectRecord::Parked { attempt, reason, by } => {
            let payload = EffectParked { attempt: *attempt, reason: *reason, by: by.clone() };
            (builder.build(&stream, EntryKind::EffectParked, &payload)?, None, true)
        }
        EffectRecord::Released(ByOperator { operator, reason }) => {
            let payload = EffectReleased { operator: operator.clone(), reason: reason.clone() };
            (builder.build(&stream, EntryKind::EffectReleased, &payload)?, Some(now), false)
        }
    };
    let mark = mark_key(&fold.requested, effect);
    let (kind, key) = (MarkKind::Effect, mark.clone());
    let mut marks = vec![match due {
        Some(due) => MarkChange::Set { kind, key, stream: stream.clone(), due },
        None => MarkChange::Clear { kind, key },
    }];
    let (kind, key) = (MarkKind::Parked, mark);
    if matches!(record, EffectRecord::Parked { .. }) {
        marks.push(MarkChange::Set { kind, key, stream: stream.clone(), due: now });
    } else if fold.status == EffectStatus::Parked {
        marks.push(MarkChange::Clear { kind, key });
    }
    if tells {
        let fact = FactKey { version: fold.version.plus(1), entry: entry.id };
        let (kind, key, stream) = (MarkKind::Relay, fact.to_string(), stream.clone());
        marks.push(MarkChange::Set { kind, key, stream, due: now });
    }
    let expected = vec![(stream, fold.version)];
    Ok(Append { account: account.clone(), expected, entries: vec![entry], keys: Vec::new(), marks })
}

/// A callback that was verified and read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// What its destination calls it.
    pub id: String,
    /// Its body's.
    pub digest: Digest,
    /// What it says.
    pub statement: Statement,
}

/// Why what a destination called back to say cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnheardError {
    /// It says neither that the destination took the effect nor that it refused it.
    #[error("the callback says nothing that an effect can come to")]
    NoVerdict,
    /// No attempt at the effect was made at this destination.
    #[error("the callback is of an effect that was not sent there")]
    NotSentThere,
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] NotAKey),
    /// It cannot be stored.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Builds the append of what a destination called back to say: whatever is known already, for the case to judge. It is
/// recorded once, by the callback's id and by the statement's own name.
///
/// # Errors
/// [`UnheardError`]; then nothing is to be written.
pub fn append_of_callback(
    account: &AccountId,
    fold: &EffectFold,
    profile: &DestinationProfile,
    (destination, heard): (&DestinationKey, &Heard),
    ids: &IdSource,
) -> Result<Append, UnheardError> {
    let Heard { id, digest, statement } = heard;
    if fold.requested.destination != *destination || fold.attempts == 0 {
        return Err(UnheardError::NotSentThere);
    }
    let conclusion = verdict(statement.says.clone()).ok_or(UnheardError::NoVerdict)?;
    let source = ConclusionSource::Callback { id: id.clone() };
    let record = EffectRecord::Concluded { attempt: fold.attempts, conclusion, source };
    let mut append = append_of(account, statement.effect, fold, profile, &record, ids)?;
    let names = [
        Some(key::callback(destination, id)?),
        statement.key.as_ref().map(|name| key::statement(destination, name)).transpose()?,
    ];
    let claim = |name| Key { name, digest: *digest, entry: 0 };
    append.keys.extend(names.into_iter().flatten().map(claim));
    Ok(append)
}

/// The entry of a conclusion. What a remote said is stored as it said it. Where it cannot be stored (NUL, a key that
/// is reserved, too much of it), its essence is: an effect is not left open because of how its answer is written.
fn concluded(
    builder: &EntryBuilder<'_>,
    stream: &StreamName,
    attempt: u32,
    conclusion: &EffectConclusion,
    source: &ConclusionSource,
) -> Result<NewEntry, SealError> {
    let build = |conclusion| {
        let payload = EffectConcluded { attempt, conclusion, source: source.clone() };
        builder.build(stream, EntryKind::EffectConcluded, &payload)
    };
    let said = match conclusion {
        EffectConclusion::Accepted { reference, details } => {
            reference.len() + details.as_str().len()
        }
        EffectConclusion::Rejected { code, details } => code.len() + details.as_str().len(),
        EffectConclusion::Unknown | EffectConclusion::ReconciliationRequired => 0,
    };
    match build(conclusion.clone()) {
        Ok(entry) if said <= STATEMENT_MAX_BYTES => Ok(entry),
        Ok(_) | Err(_) => build(essence(conclusion)),
    }
}

/// Whether the remote took it, and what it calls that, in characters that every store keeps.
fn essence(conclusion: &EffectConclusion) -> EffectConclusion {
    let plain = |text: &str| {
        text.chars().filter(|it| !it.is_control()).take(REFERENCE_MAX_CHARS).collect::<String>()
    };
    match conclusion {
        EffectConclusion::Accepted { reference, .. } => {
            EffectConclusion::Accepted { reference: plain(reference), details: Json::default() }
        }
        EffectConclusion::Rejected { code, .. } => EffectConclusion::rejected(plain(code)),
        EffectConclusion::Unknown => EffectConclusion::Unknown,
        EffectConclusion::ReconciliationRequired => EffectConclusion::ReconciliationRequired,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> DestinationProfile {
        DestinationProfile::default()
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let profile = profile();
        assert_eq!(pause(&profile, 0, 0), profile.backoff);
        assert_eq!(pause(&profile, 3, 0), profile.backoff * 8);
        assert_eq!(pause(&profile, 60, 0), profile.backoff_max);
        assert!(pause(&profile, 60, 255) < profile.backoff_max * 5 / 4);
    }

    #[test]
    fn i15_only_what_provably_was_not_sent_is_deferred_as_such() {
        let unknown = Dispatched::Unknown { reason: "timeout".to_owned() };
        let (conclusion, source) = (EffectConclusion::Unknown, ConclusionSource::Answer);
        let concluded = EffectRecord::Concluded { attempt: 1, conclusion, source };
        assert_eq!(record_of(1, unknown), concluded);
        let not_sent = Dispatched::NotSent { reason: "refused".to_owned() };
        let deferred = EffectRecord::Deferred { attempt: 1, reason: DeferReason::NotSent };
        assert_eq!(record_of(1, not_sent), deferred);
    }
}
