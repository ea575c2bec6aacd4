//! What an append does, to the last of its streams, or does not do at all.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Waker};

use futures::future::join_all;
use serde_json::json;
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, SubjectId};
use turnframe_core::personal::{Personal, SealError, Sealed};
use turnframe_core::source::Timestamp;
use turnframe_ledger::append::{
    APPEND_MAX_ENTRIES, APPEND_MAX_KEYS, APPEND_MAX_MARKS, APPEND_MAX_STREAMS, ENTRY_MAX_BYTES,
};
use turnframe_ledger::mark::MARK_KEY_MAX_BYTES;
use turnframe_ledger::{
    Append, AppendError, EntryKind, Key, MarkKind, MarkQuery, NewEntry, PartitionId, Position,
    StreamName, Version,
};

use super::Backend;
use super::build::{Bench, conversation, key, set};

/// Nothing asked, nothing answered, nothing counted.
pub async fn an_empty_batch_has_no_answers(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    assert!(bench.commit(Vec::new()).await.is_empty());
    assert_eq!(bench.ledger.statistics().entries, 0);
}

/// Every field of an entry comes back, to the byte.
pub async fn what_is_read_is_what_was_written(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let ada = SubjectId::new("s-ada").expect("subject");
    let payload = json!({
        "text": "\u{1f680} Zürich \"q\" \\ \u{7f}",
        "payer": Personal::known(ada.clone(), "Ada \u{1f44d} Ferri"),
        "erased": Personal::<String>::Erased { subject: ada },
    });
    let first = bench.entry(&stream, &json!(null));
    let second = NewEntry {
        kind: EntryKind::EffectConcluded,
        schema: u16::MAX,
        recorded_at: Timestamp::from_micros(i64::MIN),
        turn: None,
        causation: Some(first.id),
        ..bench.entry(&stream, &payload)
    };
    let written = [first, second];
    let append = Append { entries: written.to_vec(), ..bench.append(&stream, 0, 1) };
    let appended = bench.commit_one(append).await.expect("appended");
    let read = bench.stream(&stream).await;
    assert_eq!(read.len(), 2);
    for (index, (entry, new)) in read.iter().zip(&written).enumerate() {
        assert_eq!((&entry.account, &entry.stream), (&bench.acme, &stream));
        assert_eq!((entry.id, entry.kind, entry.schema), (new.id, new.kind, new.schema));
        assert_eq!(entry.recorded_at, new.recorded_at);
        assert_eq!((&entry.turn, entry.causation), (&new.turn, new.causation));
        assert_eq!(entry.body.facts, new.body.facts);
        // The parts have no equality of their own: what they look like is all there is to them.
        assert_eq!(format!("{:?}", entry.body.parts), format!("{:?}", new.body.parts));
        assert_eq!(entry.commitment, new.body.commitment());
        assert_eq!(entry.reference(), appended.entries[index]);
        assert_eq!(entry.version, Version(index as u64 + 1));
        assert_eq!(entry.partition, PartitionId::of(&bench.acme));
        assert_eq!(entry.position, appended.first_position.plus(index as u64));
        let known = appended.entry(index, &bench.acme, new.clone()).expect("an entry");
        assert_eq!(format!("{known:?}"), format!("{entry:?}"), "it is known without reading it");
    }
    assert!(appended.entry(2, &bench.acme, written[0].clone()).is_none());
    assert_eq!(bench.verified().await, 2);
}

/// Positions follow the order of the append, versions that of each stream.
pub async fn an_append_over_two_streams_lands_in_both(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (one, two) = (conversation("one"), bench.effect());
    bench.must_commit(vec![bench.append(&two, 0, 4)]).await;
    let streams = [&one, &two, &one, &two];
    let append = Append {
        expected: vec![(one.clone(), Version(0)), (two.clone(), Version(4))],
        entries: streams.map(|stream| bench.entry(stream, &json!({}))).to_vec(),
        ..bench.append(&one, 0, 1)
    };
    let appended = bench.commit_one(append).await.expect("appended");
    assert_eq!(appended.first_position, Position(5));
    let versions: Vec<_> = appended.entries.iter().map(|entry| entry.version.0).collect();
    assert_eq!(versions, [1, 5, 2, 6]);
    let positions =
        |entries: Vec<turnframe_ledger::Entry>| entries.into_iter().map(|entry| entry.position.0);
    assert!(positions(bench.stream(&one).await).eq([5, 7]));
    assert!(positions(bench.stream(&two).await).eq([1, 2, 3, 4, 6, 8]));
}

/// A conflict on the second stream leaves nothing of the first, no key and no mark.
pub async fn an_append_is_atomic_over_its_streams_keys_and_marks(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (one, two) = (conversation("one"), conversation("two"));
    bench.must_commit(vec![bench.append(&two, 0, 1)]).await;
    let conflicting = Append {
        expected: vec![(one.clone(), Version(0)), (two.clone(), Version(0))],
        entries: vec![bench.entry(&one, &json!({})), bench.entry(&two, &json!({}))],
        marks: vec![set(MarkKind::Turn, "m", &one, 0)],
        ..bench.keyed(&one, 0, "k", "content")
    };
    let conflict =
        AppendError::Conflict { stream: two.clone(), expected: Version(0), actual: Version(1) };
    assert_eq!(bench.commit_one(conflicting).await, Err(conflict));
    assert!(bench.stream(&one).await.is_empty());
    assert_eq!(bench.stream(&two).await.len(), 1);
    let key = bench.ledger.find_key(&bench.acme, &key("k")).await;
    assert_eq!(key.expect("read"), None);
    let marks = bench.ledger.marks(MarkQuery::of(MarkKind::Turn)).await;
    assert!(marks.expect("read").is_empty());
    assert_eq!(bench.verified().await, 1);
}

/// A refused append takes no position away from the appends beside it.
pub async fn a_conflict_spares_its_neighbours(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (one, two) = (conversation("one"), conversation("two"));
    let answers = bench
        .commit(vec![bench.append(&one, 0, 2), bench.append(&two, 7, 3), bench.append(&two, 0, 1)])
        .await;
    assert!(matches!(answers[1], Err(AppendError::Conflict { .. })), "{:?}", answers[1]);
    assert_eq!(answers[0].as_ref().expect("appended").first_position, Position(1));
    assert_eq!(answers[2].as_ref().expect("appended").first_position, Position(3));
    assert_eq!(bench.verified().await, 3);
}

/// Within a batch, the second append sees the first one's version.
pub async fn an_append_is_judged_against_those_before_it(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let answers = bench
        .commit(vec![
            bench.append(&stream, 0, 2),
            bench.append(&stream, 0, 1),
            bench.append(&stream, 2, 1),
        ])
        .await;
    let conflict =
        AppendError::Conflict { stream: stream.clone(), expected: Version(0), actual: Version(2) };
    assert!(answers[0].is_ok());
    assert_eq!(answers[1], Err(conflict));
    assert!(answers[2].is_ok());
    assert_eq!(bench.stream(&stream).await.len(), 3);
}

/// An append may depend on a stream that it does not write to.
pub async fn a_stream_may_be_expected_and_not_written(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (written, watched) = (conversation("written"), conversation("watched"));
    let depending = |expected, watched_at| {
        let mut append = bench.append(&written, expected, 1);
        append.expected.push((watched.clone(), Version(watched_at)));
        append
    };
    bench.must_commit(vec![depending(0, 0), bench.append(&watched, 0, 1)]).await;
    let stale = bench.commit_one(depending(1, 0)).await;
    assert!(
        matches!(&stale, Err(AppendError::Conflict { stream, .. }) if *stream == watched),
        "{stale:?}"
    );
    bench.must_commit(vec![depending(1, 1)]).await;
    assert_eq!(bench.stream(&watched).await.len(), 1);
}

/// Two writers append at version 9: one goes in whole, the other is told, nothing interleaves.
pub async fn case_24_of_two_writers_at_version_9_one_wins_and_nothing_interleaves(
    backend: &dyn Backend,
) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    bench.must_commit(vec![bench.append(&stream, 0, 9)]).await;
    let writers = [bench.append(&stream, 9, 3), bench.append(&stream, 9, 3)];
    let ids: Vec<Vec<_>> = writers
        .iter()
        .map(|append| append.entries.iter().map(|entry| entry.id).collect())
        .collect();
    let answers = join_all(writers.map(|append| bench.ledger.append(vec![append]))).await.concat();
    let winner = answers.iter().position(Result::is_ok).expect("one wins");
    let conflict =
        AppendError::Conflict { stream: stream.clone(), expected: Version(9), actual: Version(12) };
    assert_eq!(answers[1 - winner], Err(conflict));
    let read: Vec<_> = bench.stream(&stream).await.iter().skip(9).map(|entry| entry.id).collect();
    assert_eq!(read, ids[winner]);
}

/// Of several activations of one case one goes on; every other is rejected as often as it tries.
pub async fn l11_of_eight_activations_every_loser_stays_rejected(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let activation = || async {
        let mut version = 0;
        while version < 5 {
            let answer = bench.commit_one(bench.append(&stream, version, 1)).await;
            if answer.is_err() {
                let again = bench.commit_one(bench.append(&stream, version, 1)).await;
                for answer in [answer, again] {
                    let conflict = matches!(answer, Err(AppendError::Conflict { .. }));
                    assert!(conflict, "only a conflict stops an activation: {answer:?}");
                }
                return (version, false);
            }
            version += 1;
        }
        (version, true)
    };
    let ends = join_all((0..8).map(|_| activation())).await;
    let written: u64 = ends.iter().map(|(version, _)| version).sum();
    // Each version was written by exactly one of them, and a loser never came back.
    assert_eq!(bench.stream(&stream).await.len() as u64, written);
    assert_eq!(ends.iter().filter(|(_, finished)| *finished).count(), usize::from(written == 5));
    assert_eq!(bench.verified().await, written);
}

/// Each broken append is refused with a reason, and the sound one beside it goes in.
pub async fn what_breaks_a_limit_is_refused_and_spares_its_neighbours(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let broken = broken_appends(&bench, &stream);
    let count = broken.len();
    let mut batch = broken;
    batch.push(bench.append(&stream, 0, 1));
    let mut answers = bench.commit(batch).await;
    answers.pop().expect("an answer").expect("the sound one goes in");
    for (index, answer) in answers.iter().enumerate() {
        assert!(matches!(answer, Err(AppendError::Refused(_))), "append {index}: {answer:?}");
    }
    assert_eq!(answers.len(), count);
    assert_eq!(bench.verified().await, 1);
}

fn broken_appends(bench: &Bench, stream: &StreamName) -> Vec<Append> {
    let sound = || bench.append(stream, 0, 1);
    let other = conversation("other");
    let key_of = |number: usize, entry| Key {
        name: key(&format!("k-{number}")),
        digest: Digest::ZERO,
        entry,
    };
    let marks = |keys: &[&str]| {
        keys.iter().map(|name| set(MarkKind::Turn, name, stream, 0)).collect::<Vec<_>>()
    };
    let streams =
        |count: usize| (0..count).map(|number| (conversation(&format!("s-{number}")), Version(0)));
    let long = "m".repeat(MARK_KEY_MAX_BYTES + 1);
    let huge = json!("x".repeat(ENTRY_MAX_BYTES));
    vec![
        Append { entries: Vec::new(), ..sound() },
        bench.append(stream, 0, APPEND_MAX_ENTRIES as u64 + 1),
        Append { entries: vec![bench.entry(stream, &huge)], ..sound() },
        Append { entries: vec![bench.entry(&other, &json!({}))], ..sound() },
        Append { expected: Vec::new(), ..sound() },
        Append { expected: vec![(stream.clone(), Version(0)); 2], ..sound() },
        Append {
            expected: sound().expected.into_iter().chain(streams(APPEND_MAX_STREAMS)).collect(),
            ..sound()
        },
        Append { keys: vec![key_of(1, 1)], ..sound() },
        Append { keys: vec![key_of(1, 0), key_of(1, 0)], ..sound() },
        Append { keys: (0..=APPEND_MAX_KEYS).map(|n| key_of(n, 0)).collect(), ..sound() },
        Append { marks: marks(&vec!["m"; APPEND_MAX_MARKS + 1]), ..sound() },
        Append { marks: marks(&[""]), ..sound() },
        Append { marks: marks(&[&long]), ..sound() },
        Append { marks: marks(&["a\nb"]), ..sound() },
        Append { marks: marks(&["ä"]), ..sound() },
    ]
}

/// What just keeps every limit goes in.
pub async fn the_largest_append_fits(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let largest = json!("x".repeat(ENTRY_MAX_BYTES - 2));
    let entries = APPEND_MAX_ENTRIES;
    let streams = (1..APPEND_MAX_STREAMS).map(|n| (conversation(&format!("s-{n}")), Version(0)));
    let mut append = bench.append(&stream, 0, entries as u64);
    append.entries[0] = bench.entry(&stream, &largest);
    append.expected.extend(streams);
    for number in 0..APPEND_MAX_KEYS {
        let name = key(&format!("k-{number}"));
        append.keys.push(Key { name, digest: Digest::ZERO, entry: number % entries });
    }
    for number in 0..APPEND_MAX_MARKS {
        append.marks.push(set(MarkKind::Relay, &format!("m-{number}"), &stream, 0));
    }
    bench.must_commit(vec![append]).await;
    assert_eq!(bench.verified().await, entries as u64);
    let marks = bench.ledger.marks(MarkQuery::of(MarkKind::Relay)).await.expect("read");
    assert_eq!(marks.len(), APPEND_MAX_MARKS);
    let last = key(&format!("k-{}", APPEND_MAX_KEYS - 1));
    let record = bench.ledger.find_key(&bench.acme, &last).await.expect("read").expect("claimed");
    assert_eq!(record.entry.version, Version(entries as u64));
}

/// NUL never reaches a backend: payloads are refused when they are sealed, marks by the append. The next append works.
pub async fn case_36_nul_is_refused_alike_and_the_next_append_works(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let sealed = Sealed::seal(&json!({ "text": "a\0b" }), &bench.ids);
    assert!(matches!(sealed, Err(SealError::Nul)));
    let marking = bench.marking(&stream, 0, vec![set(MarkKind::Turn, "a\0b", &stream, 0)]);
    let answer = bench.commit_one(marking).await;
    assert!(matches!(answer, Err(AppendError::Refused(_))), "{answer:?}");
    for name in ["a\0b", "\0"] {
        assert!(AccountId::new(name).is_err() && name.parse::<StreamName>().is_err());
        let marks = MarkQuery { prefix: name.to_owned(), ..MarkQuery::of(MarkKind::Turn) };
        assert!(bench.ledger.marks(marks).await.expect("read").is_empty());
    }
    bench.must_commit(vec![bench.append(&stream, 0, 1)]).await;
    assert_eq!(bench.verified().await, 1);
}

/// An append whose caller stops waiting is written or not, as a whole, and the next one works.
pub async fn a_caller_that_goes_away_leaves_the_ledger_whole(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    for round in 0..20 {
        let version = bench.stream(&stream).await.len() as u64;
        let abandoned = bench.append(&stream, version, 3);
        let ledger = Arc::clone(&bench.ledger);
        let mut append = Box::pin(async move { ledger.append(vec![abandoned]).await });
        // Polled a few times and dropped wherever that has brought it.
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..=round % 3 {
            if append.as_mut().poll(&mut context).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(append);
        // It may still go in later, but then the one abandoned after it has lost its version.
        bench.must_commit(vec![bench.append(&conversation(&format!("r-{round}")), 0, 1)]).await;
        let after = bench.stream(&stream).await.len() as u64;
        assert!(after == version || after == version + 3, "torn: {version} to {after}");
    }
    bench.verified().await;
}
