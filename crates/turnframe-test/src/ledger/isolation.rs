//! An account sees itself and nothing else.

use turnframe_ledger::{Append, MarkKind, MarkQuery, PartitionId, Position, StreamName, Version};

use super::Backend;
use super::build::{Bench, account, conversation, key, neighbour_of, set};

/// What another account wrote is read exactly like what nobody wrote, also within one partition.
pub async fn another_account_reads_as_if_nothing_existed(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (ledger, stream) = (&bench.ledger, conversation("c"));
    let mut secret = bench.keyed(&stream, 0, "k", "content");
    secret.marks.push(set(MarkKind::Card, "m", &stream, 0));
    bench.must_commit(vec![secret]).await;
    let partition = PartitionId::of(&bench.acme);
    // Two that the ledger knows by other records of their own, and one that it has never heard of.
    let strangers = [account("demo"), neighbour_of(&bench.acme), account("nobody")];
    for stranger in &strangers[..2] {
        let mut own = bench.keyed(&conversation("own"), 0, "own", "content");
        own.marks.push(set(MarkKind::Card, "own", &conversation("own"), 0));
        bench.must_commit(vec![Append { account: stranger.clone(), ..own }]).await;
    }
    for stranger in strangers {
        let read = ledger.read_stream(&stranger, &stream, Version::NONE, 9).await;
        assert!(read.expect("read").is_empty());
        let read = ledger.read_stream_back(&stranger, &stream, None, 9).await;
        assert!(read.expect("read").is_empty());
        let read = ledger.read_partition(partition, Position::START, 9, Some(&stranger)).await;
        assert!(read.expect("read").iter().all(|entry| entry.account == stranger));
        assert_eq!(ledger.find_key(&stranger, &key("k")).await.expect("read"), None);
        let cards = MarkQuery::of(MarkKind::Card);
        let query = MarkQuery { account: Some(stranger), prefix: "m".to_owned(), ..cards };
        assert!(ledger.marks(query).await.expect("read").is_empty());
    }
}

/// Streams, keys and marks of one name in two accounts are two streams, two keys, two marks.
pub async fn two_accounts_use_the_same_names_without_meeting(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (ledger, stream) = (&bench.ledger, conversation("c"));
    let accounts = [bench.acme.clone(), neighbour_of(&bench.acme), account("demo")];
    let append = |account| {
        let mut append = bench.keyed(&stream, 0, "k", "content");
        append.marks.push(set(MarkKind::Card, "m", &stream, 0));
        Append { account, ..append }
    };
    let answers = bench.commit(accounts.clone().map(append).to_vec()).await;
    for (account, answer) in accounts.iter().zip(answers) {
        let appended = answer.expect("a stream and a key of its own");
        let read = ledger.read_stream(account, &stream, Version::NONE, 9).await.expect("read");
        assert_eq!(read.len(), 1);
        assert_eq!((&read[0].account, read[0].reference()), (account, appended.entries[0].clone()));
        let found = ledger.find_key(account, &key("k")).await.expect("read").expect("claimed");
        assert_eq!(found.entry, appended.entries[0]);
        let query = MarkQuery { account: Some(account.clone()), ..MarkQuery::of(MarkKind::Card) };
        assert_eq!(ledger.marks(query).await.expect("read").len(), 1);
    }
    // The same content under another account's name has another chain.
    assert_eq!(bench.verified().await, 3);
}

/// An effect leads to the account that requested it, and what nobody requested to none.
pub async fn an_effect_names_its_account(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let accounts = [bench.acme.clone(), neighbour_of(&bench.acme), account("demo")];
    let effects = accounts.clone().map(|account| (account, bench.ids.effect()));
    for (account, effect) in &effects {
        let append = bench.append_of(account, &StreamName::Effect(*effect), 0, 1);
        bench.must_commit(vec![append]).await;
    }
    // A conversation of an effect's name is no effect.
    let never = bench.ids.effect();
    bench.must_commit(vec![bench.append(&conversation(&never.to_string()), 0, 1)]).await;
    for (account, effect) in effects {
        let found = bench.ledger.account_of_effect(effect).await.expect("read");
        assert_eq!(found, Some(account));
    }
    assert_eq!(bench.ledger.account_of_effect(never).await.expect("read"), None);
}
