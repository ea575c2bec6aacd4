//! What is done next with an external effect: the whole table, and the life of an effect under receivers that answer
//! anything. What may have been received is sent again only where that is safe (I15), and everything comes to an end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Builder;
use turnframe_core::canonical::{Digest, Json};
use turnframe_core::id::{AccountId, CaseRef, EffectId};
use turnframe_core::receipt::EffectConclusion;
use turnframe_core::source::{IdSource, Timestamp};
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::{
    Append, Entry, EntryKind, EventLedger, MarkChange, MarkKind, MarkQuery, StreamName, Version,
};
use turnframe_runtime::effect::{
    EffectRecord, EffectStep, Heard, OperatorDecision, REASON_MAX_BYTES, SETTLING_MARGIN,
    UnheardError, UnresolvedError, append_of, append_of_callback, append_of_decision, mark_key,
    next, not_sent_while_down, record_of, record_of_lookup,
};
use turnframe_runtime::entry::EntryBuilder;
use turnframe_runtime::fold::effect::{EffectFold, EffectStatus};
use turnframe_runtime::port::{DestinationProfile, Dispatched, Reconciled, Resending, Statement};
use turnframe_runtime::record::{ConclusionSource, DeferReason, EffectParked, EffectRequested};
use turnframe_test::literal;
use turnframe_test::sources::{ManualClock, START, ids_on};

const ATTEMPTS_MAX: u32 = 3;
const LOOKUPS_MAX: u32 = 2;

#[test]
fn i15_every_status_has_its_next_step() {
    use EffectStatus as S;
    use EffectStep as Next;
    let (at, unknown) = (START, S::Unknown { dispatched_at: START });
    let park = |reason| Next::Park { reason };
    let look_up = |attempt| Next::LookUp { attempt, dispatched_at: at };
    let send = |attempt| Next::Dispatch { attempt };
    let (never, by_key) = (Resending::Never, Resending::IdempotentByKey);
    for resending in [never, by_key] {
        let next = |status: S, attempts, lookups| step(resending, status, attempts, lookups);
        assert_eq!(next(S::Requested, 0, 0), send(1));
        assert_eq!(next(S::Dispatched { at }, 2, 0), Next::ConcludeUnknown { attempt: 2 });
        assert_eq!(next(S::NotSent, 1, 0), send(2));
        assert_eq!(next(S::NotSent, ATTEMPTS_MAX - 1, 0), send(ATTEMPTS_MAX));
        assert_eq!(next(S::NotSent, ATTEMPTS_MAX, 0), park(DeferReason::NotSent));
        assert_eq!(next(unknown.clone(), ATTEMPTS_MAX, 0), look_up(ATTEMPTS_MAX));
        assert_eq!(next(unknown.clone(), ATTEMPTS_MAX, LOOKUPS_MAX - 1), look_up(ATTEMPTS_MAX));
        let nobody_knows = park(DeferReason::StillUnknown);
        assert_eq!(next(unknown.clone(), ATTEMPTS_MAX, LOOKUPS_MAX), nobody_knows);
        assert_eq!(next(S::Parked, 2, 1), Next::Rest);
        for conclusion in conclusions() {
            assert_eq!(next(S::Concluded(conclusion), 1, 0), Next::Rest);
        }
    }
    assert_eq!(step(never, unknown.clone(), 1, 0), look_up(1));
    assert_eq!(step(never, unknown.clone(), 1, LOOKUPS_MAX), park(DeferReason::StillUnknown));
    assert_eq!(step(by_key, unknown, 1, 0), send(2));
}

#[test]
fn i15_an_attempt_that_was_not_sent_says_nothing_about_an_unknown_one_before_it() {
    let next = |resending, lookups| {
        let fold = fold(EffectStatus::NotSent, ATTEMPTS_MAX, lookups);
        next(&EffectFold { in_doubt: Some(START), ..fold }, &profile(resending))
    };
    let by_key = Resending::IdempotentByKey;
    let look_up = EffectStep::LookUp { attempt: ATTEMPTS_MAX, dispatched_at: START };
    assert_eq!(next(by_key, 0), look_up);
    let nobody_knows = EffectStep::Park { reason: DeferReason::StillUnknown };
    assert_eq!(next(by_key, LOOKUPS_MAX), nobody_knows);
    // Elsewhere it was sent again because a look-up had not found it.
    assert_eq!(next(Resending::Never, 0), EffectStep::Park { reason: DeferReason::NotSent });
}

#[test]
fn i15_an_answer_is_recorded_as_what_it_says() {
    let concluded = |conclusion| EffectRecord::Concluded {
        attempt: 2,
        conclusion,
        source: ConclusionSource::Answer,
    };
    let accepted = EffectConclusion::Accepted { reference: "R".to_owned(), details: details() };
    let rejected = EffectConclusion::rejected("full");
    assert_eq!(record_of(2, Answer::Accepted.dispatched()), concluded(accepted));
    assert_eq!(record_of(2, Answer::Rejected.dispatched()), concluded(rejected));
    assert_eq!(record_of(2, Answer::Unknown.dispatched()), concluded(EffectConclusion::Unknown));
    let deferred = EffectRecord::Deferred { attempt: 2, reason: DeferReason::NotSent };
    assert_eq!(record_of(2, Answer::NotSent.dispatched()), deferred);
}

#[test]
fn i15_a_look_up_concludes_only_what_was_found_and_sends_again_only_what_cannot_arrive_any_more() {
    let settled = START.plus(profile(Resending::Never).timeout).plus(SETTLING_MARGIN);
    let early = Timestamp::from_micros(settled.as_micros() - 1);
    let unknown = EffectRecord::Deferred { attempt: 1, reason: DeferReason::StillUnknown };
    for resending in [Resending::Never, Resending::IdempotentByKey] {
        let look_up = |found: Reconciled, attempts, now| {
            let fold = fold(EffectStatus::Unknown { dispatched_at: START }, attempts, 0);
            record_of_lookup((1, START), found, &fold, &profile(resending), now)
        };
        for now in [early, settled] {
            for answer in [Answer::Accepted, Answer::Rejected] {
                let found = look_up(Reconciled::Found(answer.dispatched()), 1, now);
                assert_eq!(found, looked_up(record_of(1, answer.dispatched())));
            }
            for answer in [Answer::NotSent, Answer::Unknown] {
                let found = Reconciled::Found(answer.dispatched());
                assert_eq!(look_up(found, 1, now), unknown, "{answer:?} finds nothing out");
            }
            let reason = "busy".to_owned();
            assert_eq!(look_up(Reconciled::StillUnknown { reason }, 1, now), unknown);
        }
        assert_eq!(look_up(Reconciled::NotFound, 1, early), unknown);
        let again = EffectRecord::Dispatched { attempt: 2 };
        assert_eq!(look_up(Reconciled::NotFound, 1, settled), again);
        assert_eq!(look_up(Reconciled::NotFound, ATTEMPTS_MAX, settled), unknown);
    }
}

#[test]
fn an_attempt_at_a_destination_that_is_down_counts_only_once_patience_is_over() {
    let profile = profile(Resending::Never);
    let requested = fold(EffectStatus::Dispatched { at: START }, ATTEMPTS_MAX, 0);
    let over = START.plus(profile.outage_max);
    let before = Timestamp::from_micros(over.as_micros() - 1);
    for (now, reason) in [(before, DeferReason::Unavailable), (over, DeferReason::NotSent)] {
        let record = not_sent_while_down(&requested, &profile, 1, now);
        assert_eq!(record, EffectRecord::Deferred { attempt: 1, reason });
    }
    let fold =
        |uncounted| EffectFold { uncounted, ..self::fold(EffectStatus::NotSent, ATTEMPTS_MAX, 0) };
    let park = EffectStep::Park { reason: DeferReason::NotSent };
    assert_eq!(next(&fold(0), &profile), park);
    let again = EffectStep::Dispatch { attempt: ATTEMPTS_MAX + 1 };
    assert_eq!(next(&fold(1), &profile), again);
}

#[test]
fn an_operator_parks_and_nudges_what_is_open_and_retries_what_is_parked_with_a_reason() {
    use EffectStatus as S;
    let (account, ids) = (literal("acme"), ids_on(Arc::new(ManualClock::new(START)), 3));
    let profile = profile(Resending::Never);
    let accepted =
        OperatorDecision::Accepted { reference: "R".to_owned(), details: Json::default() };
    let rejected = OperatorDecision::Rejected { code: "full".to_owned() };
    let decide = |status: &S, reason: &str, decision: &OperatorDecision| {
        let (fold, operator) = (fold(status.clone(), 1, 0), literal("op"));
        let decided = (&operator, reason, decision);
        append_of_decision(&account, ids.effect(), &fold, &profile, decided, &ids)
    };
    let open = [S::Requested, S::NotSent, S::Unknown { dispatched_at: START }, S::Parked];
    for status in &open {
        for decision in [&accepted, &rejected] {
            assert!(decide(status, "they said so", decision).is_ok(), "{status:?}");
        }
        let retried = decide(status, "it is safe", &OperatorDecision::Retry);
        let of_open = [OperatorDecision::Park, OperatorDecision::Nudge]
            .map(|decision| decide(status, "they are closed today", &decision));
        if *status == S::Parked {
            assert!(retried.is_ok());
            let is_refused = |it: &Result<_, _>| matches!(it, Err(UnresolvedError::Parked));
            assert!(of_open.iter().all(is_refused), "{of_open:?}");
        } else {
            assert!(matches!(retried, Err(UnresolvedError::NotParked)), "{retried:?}");
            assert!(of_open.iter().all(Result::is_ok), "{status:?}: {of_open:?}");
        }
    }
    let (retry, park, nudge) =
        (OperatorDecision::Retry, OperatorDecision::Park, OperatorDecision::Nudge);
    for decision in [&accepted, &rejected, &retry, &park, &nudge] {
        let under_way = decide(&S::Dispatched { at: START }, "why", decision);
        assert!(matches!(under_way, Err(UnresolvedError::UnderWay)), "{under_way:?}");
        let concluded = S::Concluded(EffectConclusion::rejected("full"));
        let concluded = decide(&concluded, "why", decision);
        assert!(matches!(concluded, Err(UnresolvedError::Concluded)), "{concluded:?}");
        for reason in ["", " \n", "a\0b", &"x".repeat(REASON_MAX_BYTES + 1)] {
            let is_of_open = [&park, &nudge].contains(&decision);
            let status = if is_of_open { S::NotSent } else { S::Parked };
            let blank = decide(&status, reason, decision);
            assert!(matches!(blank, Err(UnresolvedError::Reason)), "{reason:?}: {blank:?}");
        }
    }
}

/// What an answer is recorded as that was asked for.
/// As it was written before operators could park: by nobody.
#[test]
fn what_was_parked_before_operators_could_park_reads_and_is_written_as_it_was() {
    let frozen = serde_json::json!({ "attempt": 2, "reason": "still_unknown" });
    let parked: EffectParked = serde_json::from_value(frozen.clone()).expect("readable");
    assert_eq!(parked, EffectParked { attempt: 2, reason: DeferReason::StillUnknown, by: None });
    assert_eq!(serde_json::to_value(&parked).expect("JSON"), frozen);
}

#[test]
fn a_nudge_makes_what_is_open_due_once_and_changes_nothing_else() {
    let (account, clock) = (literal("acme"), Arc::new(ManualClock::new(START)));
    let (ids, profile) = (ids_on(Arc::clone(&clock), 3), profile(Resending::Never));
    let unknown = fold(EffectStatus::Unknown { dispatched_at: START }, 1, LOOKUPS_MAX - 1);
    let operator = literal("op");
    let nudge = |fold: &EffectFold| {
        let decided = (&operator, "they are back", &OperatorDecision::Nudge);
        append_of_decision(&account, ids.effect(), fold, &profile, decided, &ids)
    };
    clock.advance(Duration::from_secs(7));
    let append = nudge(&unknown).expect("nudged");
    let dues: Vec<_> = append.marks.iter().filter_map(set_at).collect();
    assert_eq!(dues, [(MarkKind::Effect, ids.now())]);
    assert_eq!(append.entries.len(), 1);
    let nudged = EffectFold { is_nudged: true, ..unknown.clone() };
    assert!(matches!(nudge(&nudged), Err(UnresolvedError::Due)), "it is due already");
    assert_eq!(next(&nudged, &profile), next(&unknown, &profile), "what comes next is the same");
    let used_up = EffectFold { lookups: LOOKUPS_MAX, ..nudged };
    let park = EffectStep::Park { reason: DeferReason::StillUnknown };
    assert_eq!(next(&used_up, &profile), park, "the number of look-ups stands");
}

fn set_at(change: &MarkChange) -> Option<(MarkKind, Timestamp)> {
    match change {
        MarkChange::Set { kind, due, .. } => Some((*kind, *due)),
        MarkChange::Clear { .. } => None,
    }
}

fn looked_up(record: EffectRecord) -> EffectRecord {
    match record {
        EffectRecord::Concluded { attempt, conclusion, .. } => {
            EffectRecord::Concluded { attempt, conclusion, source: ConclusionSource::LookUp }
        }
        other @ (EffectRecord::Dispatched { .. }
        | EffectRecord::Deferred { .. }
        | EffectRecord::Parked { .. }
        | EffectRecord::Nudged(_)
        | EffectRecord::Released(_)) => other,
    }
}

#[test]
fn a_callback_gives_a_verdict_and_only_of_an_effect_that_was_sent_there() {
    let (account, ids) = (literal("acme"), ids_on(Arc::new(ManualClock::new(START)), 3));
    let profile = profile(Resending::Never);
    let heard = |answer: Answer| Heard {
        id: "w1".to_owned(),
        digest: Digest::ZERO,
        statement: Statement { effect: ids.effect(), key: None, says: answer.dispatched() },
    };
    let record = |destination: &str, attempts, answer| {
        let fold = fold(EffectStatus::Unknown { dispatched_at: START }, attempts, 0);
        let from = (&literal(destination), &heard(answer));
        append_of_callback(&account, &fold, &profile, from, &ids)
    };
    let own = requested().destination.to_string();
    for answer in [Answer::Accepted, Answer::Rejected] {
        assert!(record(&own, 1, answer).is_ok());
        for (destination, attempts) in [(own.as_str(), 0), ("elsewhere", 1)] {
            let refused = record(destination, attempts, answer);
            assert!(matches!(refused, Err(UnheardError::NotSentThere)), "{refused:?}");
        }
    }
    for answer in [Answer::Unknown, Answer::NotSent] {
        let refused = record(&own, 1, answer);
        assert!(matches!(refused, Err(UnheardError::NoVerdict)), "{refused:?}");
    }
}

#[test]
fn i15_whatever_a_receiver_answers_an_effect_ends_and_is_sent_again_only_where_that_is_safe() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let usual = ProptestConfig::default();
    let config = ProptestConfig { cases: usual.cases * 2, failure_persistence: None, ..usual };
    let lives = (any::<bool>(), vec(answers(), 0..40));
    let run = TestRunner::new(config).run(&lives, |(by_key, answers)| {
        let resending = if by_key { Resending::IdempotentByKey } else { Resending::Never };
        runtime.block_on(live(resending, &answers))
    });
    if let Err(error) = run {
        unreachable!("{error}");
    }
}

/// What a receiver says to an attempt or a look-up, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Accepted,
    Rejected,
    NotSent,
    Unknown,
    NotFound,
    /// The process dies before it hears of it.
    Crash,
}

impl Answer {
    fn dispatched(self) -> Dispatched {
        let reason = "a reason".to_owned();
        match self {
            Self::Accepted => {
                Dispatched::Accepted { reference: "R".to_owned(), details: details() }
            }
            Self::Rejected => Dispatched::rejected("full"),
            Self::NotSent => Dispatched::NotSent { reason },
            Self::Unknown | Self::NotFound | Self::Crash => Dispatched::Unknown { reason },
        }
    }

    fn reconciled(self) -> Reconciled {
        match self {
            Self::NotFound => Reconciled::NotFound,
            Self::Crash => Reconciled::StillUnknown { reason: "busy".to_owned() },
            Self::Accepted | Self::Rejected | Self::NotSent | Self::Unknown => {
                Reconciled::Found(self.dispatched())
            }
        }
    }
}

fn answers() -> impl Strategy<Value = (Answer, u8)> {
    let answer = prop_oneof![
        1 => Just(Answer::Accepted),
        1 => Just(Answer::Rejected),
        4 => Just(Answer::NotSent),
        4 => Just(Answer::Unknown),
        4 => Just(Answer::NotFound),
        2 => Just(Answer::Crash),
    ];
    (answer, 0_u8..20)
}

/// An effect from its request to its end, on a ledger. Once the answers run out, the receiver is silent.
async fn live(resending: Resending, answers: &[(Answer, u8)]) -> Result<(), TestCaseError> {
    let mut world = Life::begin(resending).await;
    let mut answers = answers.iter().copied();
    // Each attempt is recorded, concluded and looked up a bounded number of times, and parked.
    let steps_max = ATTEMPTS_MAX * (LOOKUPS_MAX + 3) + 2;
    for _ in 0..steps_max {
        let fold = world.fold().await;
        prop_assert!(fold.attempts <= ATTEMPTS_MAX && fold.lookups <= LOOKUPS_MAX);
        let (answer, seconds) = answers.next().unwrap_or((Answer::Crash, 0));
        world.clock.advance(Duration::from_secs(seconds.into()));
        match next(&fold, &world.profile) {
            EffectStep::Rest => return world.has_ended(&fold).await,
            EffectStep::Dispatch { attempt } => world.dispatch(&fold, attempt, answer).await?,
            EffectStep::ConcludeUnknown { attempt } => {
                let (conclusion, source) = (EffectConclusion::Unknown, ConclusionSource::Answer);
                world.append(&EffectRecord::Concluded { attempt, conclusion, source }).await;
            }
            EffectStep::LookUp { attempt, dispatched_at } => {
                let (found, now) = (answer.reconciled(), world.ids.now());
                let step = (attempt, dispatched_at);
                match record_of_lookup(step, found, &fold, &world.profile, now) {
                    EffectRecord::Dispatched { attempt } => {
                        prop_assert_eq!(answer, Answer::NotFound);
                        let settled = dispatched_at.plus(world.profile.timeout);
                        prop_assert!(now >= settled.plus(SETTLING_MARGIN), "it may still arrive");
                        world.in_doubt.clear();
                        world.dispatch(&fold, attempt, answer).await?;
                    }
                    record @ (EffectRecord::Deferred { .. }
                    | EffectRecord::Concluded { .. }
                    | EffectRecord::Parked { .. }
                    | EffectRecord::Nudged(_)
                    | EffectRecord::Released(_)) => world.append(&record).await,
                }
            }
            EffectStep::Park { reason } => {
                let never_left = reason == DeferReason::NotSent;
                prop_assert!(!never_left || world.in_doubt.is_empty(), "it may have arrived");
                let attempt = fold.attempts;
                world.append(&EffectRecord::Parked { attempt, reason, by: None }).await;
            }
        }
    }
    Err(TestCaseError::fail("it does not come to an end"))
}

struct Life {
    ledger: MemoryLedger,
    clock: Arc<ManualClock>,
    ids: IdSource,
    account: AccountId,
    effect: EffectId,
    profile: DestinationProfile,
    /// Attempts that may have been received, for all that is known.
    in_doubt: BTreeSet<u32>,
}

impl Life {
    async fn begin(resending: Resending) -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let ids = ids_on(Arc::clone(&clock), 3);
        let (ledger, effect) = (MemoryLedger::new(), ids.effect());
        let stream = StreamName::Effect(effect);
        let builder = EntryBuilder { ids: &ids, turn: None, causation: None };
        let entry = builder.build(&stream, EntryKind::EffectRequested, &requested());
        let append = Append {
            account: literal("acme"),
            expected: vec![(stream, Version::NONE)],
            entries: vec![entry.expect("an entry")],
            keys: Vec::new(),
            marks: Vec::new(),
        };
        let account = append.account.clone();
        ledger.append(vec![append]).await.remove(0).expect("a commit");
        let (profile, in_doubt) = (profile(resending), BTreeSet::new());
        Self { ledger, clock, ids, account, effect, profile, in_doubt }
    }

    async fn entries(&self) -> Vec<Entry> {
        let stream = StreamName::Effect(self.effect);
        let read = self.ledger.read_stream(&self.account, &stream, Version::NONE, 1_000);
        read.await.expect("readable")
    }

    async fn fold(&self) -> EffectFold {
        EffectFold::of(&self.entries().await).expect("readable").expect("requested")
    }

    async fn append(&self, record: &EffectRecord) {
        let fold = self.fold().await;
        let (account, profile) = (&self.account, &self.profile);
        let append = append_of(account, self.effect, &fold, profile, record, &self.ids);
        let append = append.expect("a record");
        self.ledger.append(vec![append]).await.remove(0).expect("a commit");
    }

    /// Records an attempt before it is sent, and what came of it afterwards unless the process dies.
    async fn dispatch(
        &mut self,
        fold: &EffectFold,
        attempt: u32,
        answer: Answer,
    ) -> Result<(), TestCaseError> {
        prop_assert_eq!(attempt, fold.attempts + 1);
        let is_safe = self.profile.resending == Resending::IdempotentByKey;
        prop_assert!(is_safe || self.in_doubt.is_empty(), "an attempt may have been received");
        self.append(&EffectRecord::Dispatched { attempt }).await;
        if matches!(answer, Answer::Unknown | Answer::NotFound | Answer::Crash) {
            self.in_doubt.insert(attempt);
        }
        if answer != Answer::Crash {
            self.append(&record_of(attempt, answer.dispatched())).await;
        }
        Ok(())
    }

    /// It is concluded or parked, nothing is due, and the case is told.
    async fn has_ended(&self, fold: &EffectFold) -> Result<(), TestCaseError> {
        let ended = matches!(
            fold.status,
            EffectStatus::Parked
                | EffectStatus::Concluded(
                    EffectConclusion::Accepted { .. } | EffectConclusion::Rejected { .. }
                )
        );
        prop_assert!(ended, "{:?}", fold.status);
        let marks = |kind| self.ledger.marks(MarkQuery::of(kind));
        prop_assert_eq!(marks(MarkKind::Effect).await, Ok(Vec::new()));
        let told = marks(MarkKind::Relay).await.expect("readable");
        let last = self.entries().await.pop().expect("an entry");
        let says_so = |key: &str| key.ends_with(&last.id.to_string());
        prop_assert!(told.iter().any(|mark| says_so(&mark.key)), "nobody is told");
        Ok(())
    }
}

#[test]
fn an_effect_that_waits_is_found_by_its_destination_when_its_time_has_come() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut life = Life::begin(Resending::Never).await;
        let fold = life.fold().await;
        life.dispatch(&fold, 1, Answer::NotSent).await.expect("sent");
        let marks = life.ledger.marks(MarkQuery::of(MarkKind::Effect)).await.expect("readable");
        let [mark] = marks.as_slice() else { unreachable!("one mark: {marks:?}") };
        assert_eq!(mark.key, mark_key(&requested(), life.effect));
        let pause = life.profile.backoff * 2;
        assert!(mark.due >= START.plus(pause) && mark.due < START.plus(pause * 5 / 4));
        let told = life.ledger.marks(MarkQuery::of(MarkKind::Relay)).await.expect("readable");
        assert!(told.is_empty(), "nothing is known yet");
    });
}

fn step(resending: Resending, status: EffectStatus, attempts: u32, lookups: u32) -> EffectStep {
    next(&fold(status, attempts, lookups), &profile(resending))
}

fn fold(status: EffectStatus, attempts: u32, lookups: u32) -> EffectFold {
    let (version, requested, in_doubt) = (Version(9), requested(), None);
    EffectFold {
        version,
        requested,
        requested_at: START,
        attempts,
        uncounted: 0,
        lookups,
        in_doubt,
        is_nudged: false,
        status,
    }
}

fn profile(resending: Resending) -> DestinationProfile {
    DestinationProfile {
        resending,
        attempts_max: ATTEMPTS_MAX,
        lookups_max: LOOKUPS_MAX,
        ..DestinationProfile::default()
    }
}

fn conclusions() -> [EffectConclusion; 3] {
    [
        EffectConclusion::Accepted { reference: "R".to_owned(), details: details() },
        EffectConclusion::rejected("full"),
        EffectConclusion::ReconciliationRequired,
    ]
}

fn details() -> Json {
    Json::of(&serde_json::json!({ "shelf": 7 })).expect("json")
}

fn requested() -> EffectRequested {
    EffectRequested {
        case: CaseRef {
            workflow: literal("desk"),
            case: "00000000-0000-7000-8000-000000000001".parse().expect("a case"),
        },
        conversation: literal("here"),
        locale: literal("en"),
        actor: literal("ada"),
        destination: literal("office"),
        operation: "order".to_owned(),
        payload: details(),
        order: "1.0".to_owned(),
    }
}
