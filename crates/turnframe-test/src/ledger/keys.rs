//! What an idempotency key promises: one outcome, whoever asks and however often.

use futures::future::join_all;
use turnframe_core::canonical::Digest;
use turnframe_ledger::append::KEY_MAX_BYTES;
use turnframe_ledger::{Append, AppendError, Key, KeyName, KeyRecord, Version};

use super::Backend;
use super::build::{Answer, Bench, conversation, key};

fn original(answer: &Answer) -> (&KeyRecord, bool) {
    let duplicate = match answer {
        Err(AppendError::DuplicateKey { original, same_content, .. }) => {
            Some((original, *same_content))
        }
        Ok(_) | Err(_) => None,
    };
    assert!(duplicate.is_some(), "a duplicate key was expected: {answer:?}");
    duplicate.expect("asserted above")
}

/// A repeat is told which entry the key named, also when the key named a later one of its append.
pub async fn l16_the_same_key_again_names_the_first_entry(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let digest = Digest::of("contract", &[b"content"]);
    let claims = |expected| {
        let key = |name: &str, entry| Key { name: key(name), digest, entry };
        Append { keys: vec![key("a", 2), key("b", 0)], ..bench.append(&stream, expected, 3) }
    };
    let appended = bench.commit_one(claims(0)).await.expect("appended");
    for _ in 0..2 {
        let repeat = bench.commit_one(claims(3)).await;
        let (record, same_content) = original(&repeat);
        assert_eq!(*record, KeyRecord { entry: appended.entries[2].clone(), digest });
        assert!(same_content);
    }
    for (name, entry) in [("a", 2), ("b", 0)] {
        let found = bench.ledger.find_key(&bench.acme, &key(name)).await.expect("read");
        assert_eq!(found, Some(KeyRecord { entry: appended.entries[entry].clone(), digest }));
    }
    assert_eq!(bench.verified().await, 3);
}

/// A repeat at the version of the first time is a repeat and not a lost race.
pub async fn keys_are_checked_before_versions(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    bench.must_commit(vec![bench.keyed(&stream, 0, "k", "content")]).await;
    for expected in [0, 1, 9] {
        let repeat = bench.commit_one(bench.keyed(&stream, expected, "k", "content")).await;
        assert_eq!(original(&repeat).0.entry.version, Version(1));
    }
    assert_eq!(bench.stream(&stream).await.len(), 1);
}

/// The same key with another digest names the original and says that the content differs.
pub async fn a_key_with_other_content_is_told_apart(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    bench.must_commit(vec![bench.keyed(&stream, 0, "k", "content")]).await;
    let other = bench.commit_one(bench.keyed(&stream, 1, "k", "other content")).await;
    let (record, same_content) = original(&other);
    assert_eq!(record.entry.version, Version(1));
    assert!(!same_content);
    // Another stream does not make it another key.
    let elsewhere = bench.commit_one(bench.keyed(&conversation("d"), 0, "k", "content")).await;
    let (record, same_content) = original(&elsewhere);
    assert_eq!(record.entry.stream, stream);
    assert!(same_content);
}

/// Within a batch, the first append claims the key and the second is its repeat.
pub async fn a_key_twice_in_a_batch_counts_once(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let answers = bench
        .commit(vec![
            bench.keyed(&stream, 0, "k", "content"),
            bench.keyed(&stream, 0, "k", "content"),
            bench.keyed(&stream, 1, "k", "other content"),
            bench.keyed(&stream, 1, "free", "content"),
        ])
        .await;
    let first = answers[0].as_ref().expect("appended");
    assert_eq!(original(&answers[1]).0.entry, first.entries[0]);
    assert!(original(&answers[1]).1);
    assert!(!original(&answers[2]).1);
    assert!(answers[3].is_ok());
    assert_eq!(bench.stream(&stream).await.len(), 2);
}

/// The key of an append that lost its race is free.
pub async fn a_refused_append_claims_no_key(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let answers = bench
        .commit(vec![
            bench.keyed(&stream, 7, "k", "content"),
            bench.keyed(&stream, 0, "k", "other content"),
        ])
        .await;
    assert!(matches!(answers[0], Err(AppendError::Conflict { .. })), "{:?}", answers[0]);
    let appended = answers[1].as_ref().expect("the key was free");
    let found = bench.ledger.find_key(&bench.acme, &key("k")).await.expect("read");
    assert_eq!(found.expect("claimed").entry, appended.entries[0]);
}

/// However many recover the same turn at once, one writes and all read the same outcome.
pub async fn l13_of_eight_recoverers_all_share_one_outcome(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let recoverers = (0..8).map(|_| bench.commit_one(bench.keyed(&stream, 0, "k", "content")));
    let answers = join_all(recoverers).await;
    let winner = answers.iter().find_map(|answer| answer.as_ref().ok()).expect("one writes");
    for answer in answers.iter().filter(|answer| answer.is_err()) {
        assert_eq!(original(answer).0.entry, winner.entries[0]);
        assert!(original(answer).1);
    }
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert_eq!(bench.stream(&stream).await.len(), 1);
}

/// Empty, huge and unprintable keys cannot be made; the oddest that can are kept apart.
pub async fn l15_only_a_sound_key_can_be_claimed(backend: &dyn Backend) {
    let too_long = "k".repeat(KEY_MAX_BYTES + 1);
    for name in ["", " ", "a b", "a\tb", "a\nb", "a\0b", "ä", "\u{7f}", &too_long] {
        assert!(KeyName::new(name).is_err(), "{name:?}");
    }
    let bench = Bench::new(backend).await;
    let (stream, longest) = (conversation("c"), "k".repeat(KEY_MAX_BYTES));
    let odd = ["\"", "\\", "'", "%", "_", "k", "K", "1", "01", "null", "[]", "k\"'--;", &longest];
    for (version, name) in odd.iter().enumerate() {
        let append = bench.keyed(&stream, version as u64, name, "content");
        bench.commit_one(append).await.expect("a key of its own");
        let found = bench.ledger.find_key(&bench.acme, &key(name)).await.expect("read");
        assert_eq!(found.expect("claimed").entry.version, Version(version as u64 + 1));
        // Looked up together with a batch it reads the same.
        let repeat = bench.commit_one(bench.keyed(&stream, 0, name, "content")).await;
        assert_eq!(original(&repeat).0.entry.version, Version(version as u64 + 1));
    }
    let free = bench.ledger.find_key(&bench.acme, &key("free")).await;
    assert_eq!(free.expect("read"), None);
}
