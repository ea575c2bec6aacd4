//! The index records that change with the entries they belong to.

use turnframe_core::id::AccountId;
use turnframe_core::source::Timestamp;
use turnframe_ledger::mark::{BACKLOG_COUNT_MAX, BACKLOG_GROUPS_MAX, MARK_PAGE_MAX};
use turnframe_ledger::{
    Append, AppendError, Backlog, Mark, MarkChange, MarkKind, MarkQuery, PartitionId, PartitionSet,
    StreamName,
};

use super::Backend;
use super::build::{Bench, account, clear, conversation, neighbour_of, set};

fn mark(account: &AccountId, kind: MarkKind, key: &str, stream: &StreamName, due: i64) -> Mark {
    let (key, due) = (key.to_owned(), Timestamp::from_micros(due));
    Mark { account: account.clone(), kind, key, stream: stream.clone(), due }
}

async fn marks(bench: &Bench, query: MarkQuery) -> Vec<Mark> {
    bench.ledger.marks(query).await.expect("marks can be read")
}

async fn keys(bench: &Bench, query: MarkQuery) -> Vec<String> {
    marks(bench, query).await.into_iter().map(|mark| mark.key).collect()
}

/// Setting again moves; clearing what is not set does nothing.
pub async fn marks_are_set_moved_and_cleared_with_their_append(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (stream, other) = (conversation("c"), bench.effect());
    let turns = || MarkQuery::of(MarkKind::Turn);
    let setting = vec![set(MarkKind::Turn, "a", &stream, 5), clear(MarkKind::Turn, "b")];
    bench.must_commit(vec![bench.marking(&stream, 0, setting)]).await;
    let set_first = [mark(&bench.acme, MarkKind::Turn, "a", &stream, 5)];
    assert_eq!(marks(&bench, turns()).await, set_first);
    let moving = vec![set(MarkKind::Turn, "a", &other, -7), set(MarkKind::Card, "a", &stream, 1)];
    bench.must_commit(vec![bench.marking(&stream, 1, moving)]).await;
    let moved = [mark(&bench.acme, MarkKind::Turn, "a", &other, -7)];
    assert_eq!(marks(&bench, turns()).await, moved);
    bench.must_commit(vec![bench.marking(&stream, 2, vec![clear(MarkKind::Turn, "a")])]).await;
    assert!(marks(&bench, turns()).await.is_empty());
    // Another kind with the same key is another mark.
    assert_eq!(keys(&bench, MarkQuery::of(MarkKind::Card)).await, ["a"]);
    // The stream that a mark leads to needs no entries, and has none by that.
    assert!(bench.stream(&other).await.is_empty());
    bench.must_commit(vec![bench.append(&other, 0, 1)]).await;
}

/// An append may clear what the one before it set, and the other way round.
pub async fn the_last_change_of_a_batch_counts(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let setting = |key: &str, due| set(MarkKind::Relay, key, &stream, due);
    let clearing = |key: &str| clear(MarkKind::Relay, key);
    let refused = bench.marking(&stream, 7, vec![setting("refused", 1), clearing("kept")]);
    let answers = bench
        .commit(vec![
            bench.marking(&stream, 0, vec![setting("kept", 1), setting("gone", 1)]),
            refused,
            bench.marking(&stream, 1, vec![clearing("gone"), clearing("back")]),
            bench.marking(&stream, 2, vec![setting("back", 1), setting("back", 2)]),
        ])
        .await;
    assert!(matches!(answers[1], Err(AppendError::Conflict { .. })), "{:?}", answers[1]);
    let expected = [("back", 2), ("kept", 1)]
        .map(|(key, due)| mark(&bench.acme, MarkKind::Relay, key, &stream, due));
    assert_eq!(marks(&bench, MarkQuery::of(MarkKind::Relay)).await, expected);
}

/// Marks of three accounts, two of them in one partition.
async fn with_marks(backend: &dyn Backend) -> (Bench, [AccountId; 3]) {
    let bench = Bench::new(backend).await;
    let accounts = [bench.acme.clone(), account("demo"), neighbour_of(&bench.acme)];
    let stream = conversation("c");
    let changes = |name: &str| -> Vec<MarkChange> {
        let effect =
            |number: i64| set(MarkKind::Effect, &format!("{name}/{number}"), &stream, number * 10);
        let card = set(MarkKind::Card, &format!("{name}/card"), &stream, 0);
        (1..=3).map(effect).chain([card]).collect()
    };
    let append = |account: &AccountId| Append {
        marks: changes(account.as_str()),
        ..bench.append_of(account, &stream, 0, 1)
    };
    bench.must_commit(accounts.iter().map(append).collect()).await;
    (bench, accounts)
}

/// Every filter by itself and all together.
pub async fn marks_are_found_by_kind_account_partition_prefix_and_due_time(backend: &dyn Backend) {
    let (bench, [acme, demo, neighbour]) = with_marks(backend).await;
    let effects = || MarkQuery::of(MarkKind::Effect);
    let of = |accounts: &[&AccountId], numbers: &[u8]| -> Vec<String> {
        let mut names: Vec<_> = accounts.iter().map(|account| account.as_str()).collect();
        names.sort_unstable();
        let keys = |name| numbers.iter().map(move |number| format!("{name}/{number}"));
        names.into_iter().flat_map(keys).collect()
    };
    let due = |moment| Some(Timestamp::from_micros(moment));
    let home = PartitionSet::from_iter([PartitionId::of(&acme)]);
    let check = async |query: MarkQuery, expected: Vec<String>| {
        let found = keys(&bench, query.clone()).await;
        assert_eq!(found, expected, "{query:?}");
    };
    check(effects(), of(&[&acme, &demo, &neighbour], &[1, 2, 3])).await;
    check(MarkQuery::of(MarkKind::Turn), Vec::new()).await;
    let query = MarkQuery { account: Some(demo.clone()), ..effects() };
    check(query, of(&[&demo], &[1, 2, 3])).await;
    let query = MarkQuery { partitions: home, ..effects() };
    check(query, of(&[&acme, &neighbour], &[1, 2, 3])).await;
    let query = MarkQuery { due_by: due(20), ..effects() };
    check(query, of(&[&acme, &demo, &neighbour], &[1, 2])).await;
    let query = MarkQuery { due_by: due(9), ..effects() };
    check(query, Vec::new()).await;
    let query = MarkQuery { prefix: "demo/".to_owned(), ..effects() };
    check(query, of(&[&demo], &[1, 2, 3])).await;
    let query = MarkQuery { prefix: "demo/".to_owned(), account: Some(acme.clone()), ..effects() };
    check(query, Vec::new()).await;
    let query = MarkQuery { account: Some(demo.clone()), partitions: home, ..effects() };
    check(query, Vec::new()).await;
    let all = MarkQuery {
        account: Some(neighbour.clone()),
        partitions: home,
        prefix: format!("{neighbour}/"),
        due_by: due(20),
        ..effects()
    };
    check(all, of(&[&neighbour], &[1, 2])).await;
}

/// Pages of one, over all accounts, over a partition and over an account, follow the order of account and key.
pub async fn paging_visits_every_mark_once_in_order(backend: &dyn Backend) {
    let (bench, [acme, demo, _]) = with_marks(backend).await;
    let effects = || MarkQuery::of(MarkKind::Effect);
    let queries = [
        effects(),
        MarkQuery { partitions: PartitionSet::from_iter([PartitionId::of(&acme)]), ..effects() },
        MarkQuery { account: Some(demo.clone()), ..effects() },
        MarkQuery { account: Some(demo.clone()), prefix: "demo/".to_owned(), ..effects() },
        MarkQuery { due_by: Some(Timestamp::from_micros(20)), ..effects() },
    ];
    for query in queries {
        let whole = marks(&bench, query.clone()).await;
        assert!(whole.is_sorted_by_key(|mark| (mark.account.clone(), mark.key.clone())));
        let mut paged: Vec<Mark> = Vec::new();
        loop {
            let after = paged.last().map(|mark| (mark.account.clone(), mark.key.clone()));
            let page = marks(&bench, MarkQuery { after, limit: 1, ..query.clone() }).await;
            assert!(page.len() <= 1 && paged.len() <= whole.len(), "{query:?}");
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole, "{query:?}");
    }
    // An account before or after the one of the last page.
    let after = |name: &str| Some((account(name), String::new()));
    let of_demo = || MarkQuery { account: Some(demo.clone()), ..effects() };
    assert_eq!(keys(&bench, MarkQuery { after: after("a"), ..of_demo() }).await.len(), 3);
    assert!(keys(&bench, MarkQuery { after: after("e"), ..of_demo() }).await.is_empty());
    assert!(keys(&bench, MarkQuery { limit: 0, ..effects() }).await.is_empty());
    let beyond = MarkQuery { limit: MARK_PAGE_MAX + 1, ..effects() };
    assert_eq!(keys(&bench, beyond).await.len(), 9);
}

/// No character of a prefix is a wildcard, and a prefix that no key can have finds nothing.
pub async fn a_prefix_is_taken_literally(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let names = ["a%b", "a_b", "axb", "a", "A", "a~", "a\"b", "a\\b", "a'b", "b", " a"];
    let changes = names.map(|name| set(MarkKind::Member, name, &stream, 0));
    bench.must_commit(vec![bench.marking(&stream, 0, changes.to_vec())]).await;
    for prefix in ["", "a", "a%", "a_", "a~", "a\"", "a\\", "A", " ", "a ", "ab", "aä", "a\0", "~"]
    {
        let mut expected: Vec<_> =
            names.into_iter().filter(|name| name.starts_with(prefix)).collect();
        expected.sort_unstable();
        for account in [None, Some(bench.acme.clone())] {
            let prefix = prefix.to_owned();
            let query = MarkQuery { prefix, account, ..MarkQuery::of(MarkKind::Member) };
            assert_eq!(keys(&bench, query.clone()).await, expected, "{query:?}");
        }
    }
    for name in names {
        let after = Some((bench.acme.clone(), name.to_owned()));
        let mut expected: Vec<_> = names.into_iter().filter(|other| *other > name).collect();
        expected.sort_unstable();
        for account in [None, Some(bench.acme.clone())] {
            let after = after.clone();
            let query = MarkQuery { after, account, ..MarkQuery::of(MarkKind::Member) };
            assert_eq!(keys(&bench, query.clone()).await, expected, "{query:?}");
        }
    }
}

/// Over all accounts and partitions, and without the kinds whose backlog is nobody's question.
pub async fn l8_the_backlog_is_told_by_kind_and_group_with_what_is_due_first(
    backend: &dyn Backend,
) {
    use MarkKind::{Effect, Parked, Turn};
    let bench = Bench::new(backend).await;
    assert_eq!(bench.ledger.backlog().await, Ok(Vec::new()));
    let (stream, demo) = (conversation("c"), account("demo"));
    let of_acme = [
        (Effect, "wire/2", 7),
        (Effect, "wire/1", 9),
        (Effect, "post/b/1/x", 5),
        (Effect, "postal/1", 1),
        (Effect, "plain", 4),
        (Parked, "post/9", 3),
        (Turn, "post/1", 0),
    ];
    let of_demo = [(Effect, "post/a/1/y", -2), (Effect, "wire/3", 8), (Parked, "post/8", 2)];
    let set = |(kind, key, due)| set(kind, key, &stream, due);
    let of = |account, marks: Vec<_>| Append { marks, ..bench.append_of(account, &stream, 0, 1) };
    let appends =
        vec![of(&bench.acme, of_acme.map(set).to_vec()), of(&demo, of_demo.map(set).to_vec())];
    bench.must_commit(appends).await;
    let waits = |account, kind, key, due, count| {
        let first = mark(account, kind, key, &stream, due);
        Backlog { first, count }
    };
    let expected = vec![
        waits(&bench.acme, Effect, "plain", 4, 1),
        waits(&demo, Effect, "post/a/1/y", -2, 2),
        waits(&bench.acme, Effect, "postal/1", 1, 1),
        waits(&bench.acme, Effect, "wire/2", 7, 3),
        waits(&demo, Parked, "post/8", 2, 2),
    ];
    assert_eq!(bench.ledger.backlog().await, Ok(expected));
    let groups = ["plain", "post", "postal", "wire", "post"];
    let told = bench.ledger.backlog().await.expect("a backlog");
    assert_eq!(told.iter().map(|it| it.first.group()).collect::<Vec<_>>(), groups);
    // What is seen to is not waited for any more.
    let cleared = ["post/a/1/y", "wire/3"].map(|key| clear(Effect, key)).to_vec();
    let cleared = Append { marks: cleared, ..bench.append_of(&demo, &stream, 1, 1) };
    bench.must_commit(vec![cleared]).await;
    let told = bench.ledger.backlog().await.expect("a backlog");
    assert_eq!(told[1], waits(&bench.acme, Effect, "post/b/1/x", 5, 1));
    assert_eq!(told[3], waits(&bench.acme, Effect, "wire/2", 7, 2));
}

/// A count ends at its bound, and so does the list of groups; what is due first is told all the same.
pub async fn a_backlog_is_counted_up_to_a_bound(backend: &dyn Backend) {
    const PER_APPEND: usize = 500;
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let many = (0..=BACKLOG_COUNT_MAX).map(|number| (format!("many/{number}"), 9));
    let groups = (0..BACKLOG_GROUPS_MAX).map(|number| (format!("x{number}/1"), 9));
    let marks: Vec<_> = many.chain(groups).chain([("many/first".to_owned(), 3)]).collect();
    for (version, marks) in (0..).zip(marks.chunks(PER_APPEND)) {
        let marks = marks.iter().map(|(key, due)| set(MarkKind::Effect, key, &stream, *due));
        bench.must_commit(vec![bench.marking(&stream, version, marks.collect())]).await;
    }
    let told = bench.ledger.backlog().await.expect("a backlog");
    assert_eq!(told.len(), BACKLOG_GROUPS_MAX);
    let first = mark(&bench.acme, MarkKind::Effect, "many/first", &stream, 3);
    assert_eq!(told[0], Backlog { first, count: BACKLOG_COUNT_MAX });
}
