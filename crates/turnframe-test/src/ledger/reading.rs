//! Pages: their edges, their limits, and that the same page reads the same every time.

use turnframe_core::id::DomainActorKey;
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::{Append, Entry, PartitionId, Position, Version};

use super::Backend;
use super::build::{Bench, conversation, neighbour_of};

fn versions(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.version.0).collect()
}

fn positions(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.position.0).collect()
}

/// After a version, in order, as many as are asked for.
pub async fn a_stream_is_read_forward_in_pages(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    bench.must_commit(vec![bench.append(&stream, 0, 5), bench.append(&stream, 5, 2)]).await;
    for (after, limit, expected) in [
        (0, 3, vec![1, 2, 3]),
        (3, 3, vec![4, 5, 6]),
        (6, 3, vec![7]),
        (7, 3, vec![]),
        (0, 0, vec![]),
        (99, 3, vec![]),
        (u64::MAX, 3, vec![]),
        (5, usize::MAX, vec![6, 7]),
    ] {
        let read = bench.ledger.read_stream(&bench.acme, &stream, Version(after), limit).await;
        assert_eq!(versions(&read.expect("read")), expected, "{limit} after {after}");
    }
    let missing = bench.ledger.read_stream(&bench.acme, &bench.effect(), Version::NONE, 9).await;
    assert!(missing.expect("read").is_empty());
}

/// The newest before a version, in ascending order.
pub async fn a_stream_is_read_backward_in_pages(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    bench.must_commit(vec![bench.append(&stream, 0, 5), bench.append(&stream, 5, 2)]).await;
    for (before, limit, expected) in [
        (None, 3, vec![5, 6, 7]),
        (Some(5), 3, vec![2, 3, 4]),
        (Some(2), 3, vec![1]),
        (Some(1), 3, vec![]),
        (Some(0), 3, vec![]),
        (None, 0, vec![]),
        (Some(99), 2, vec![6, 7]),
        (Some(u64::MAX), 1, vec![7]),
        (None, usize::MAX, vec![1, 2, 3, 4, 5, 6, 7]),
    ] {
        let (before, account) = (before.map(Version), &bench.acme);
        let read = bench.ledger.read_stream_back(account, &stream, before, limit).await;
        assert_eq!(versions(&read.expect("read")), expected, "{limit} before {before:?}");
    }
    let missing = bench.ledger.read_stream_back(&bench.acme, &bench.effect(), None, 9).await;
    assert!(missing.expect("read").is_empty());
}

/// After a position, in order, of all accounts or of one.
pub async fn a_partition_is_read_in_pages_with_and_without_an_account(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (partition, neighbour) = (PartitionId::of(&bench.acme), neighbour_of(&bench.acme));
    let stream = conversation("c");
    let both = |round: u64| -> Vec<Append> {
        let of = |account| bench.append_of(account, &stream, round * 2, 2);
        vec![of(&bench.acme), of(&neighbour)]
    };
    bench.must_commit(both(0)).await;
    bench.must_commit(both(1)).await;
    // acme has 1, 2, 5 and 6, its neighbour 3, 4, 7 and 8.
    for (after, limit, account, expected) in [
        (0, 3, None, vec![1, 2, 3]),
        (3, 9, None, vec![4, 5, 6, 7, 8]),
        (8, 9, None, vec![]),
        (u64::MAX, 9, None, vec![]),
        (0, 0, None, vec![]),
        (0, 3, Some(&bench.acme), vec![1, 2, 5]),
        (2, 9, Some(&bench.acme), vec![5, 6]),
        (6, 9, Some(&bench.acme), vec![]),
        (0, 1, Some(&neighbour), vec![3]),
        (3, 9, Some(&neighbour), vec![4, 7, 8]),
    ] {
        let read = bench.ledger.read_partition(partition, Position(after), limit, account).await;
        let read = read.expect("read");
        assert_eq!(positions(&read), expected, "{limit} after {after} of {account:?}");
        assert!(read.iter().all(|entry| account.is_none_or(|account| entry.account == *account)));
    }
    let other = PartitionId::all().find(|other| *other != partition).expect("another");
    for account in [None, Some(&bench.acme)] {
        let read = bench.ledger.read_partition(other, Position::START, 9, account).await;
        assert!(read.expect("read").is_empty());
    }
    assert_eq!(bench.ledger.head(other).await.expect("read"), Position::START);
}

/// However much is asked for, a page has an end.
pub async fn no_page_is_longer_than_the_limit(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (stream, partition) = (conversation("c"), PartitionId::of(&bench.acme));
    let batch = (0..6).map(|round| bench.append(&stream, round * 200, 200)).collect();
    bench.must_commit(batch).await;
    let forward = bench.stream(&stream).await;
    assert_eq!((forward.len(), forward[0].version), (PAGE_MAX, Version(1)));
    let back = bench.ledger.read_stream_back(&bench.acme, &stream, None, usize::MAX).await;
    let back = back.expect("read");
    assert_eq!((back.len(), back[PAGE_MAX - 1].version), (PAGE_MAX, Version(1200)));
    for account in [None, Some(&bench.acme)] {
        let page =
            bench.ledger.read_partition(partition, Position::START, usize::MAX, account).await;
        assert_eq!(page.expect("read").len(), PAGE_MAX);
    }
}

/// The whole history read twice, and once more along its streams, is the same to the byte.
pub async fn l18_reading_twice_is_equal_to_the_byte(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let streams = [conversation("a"), conversation("b"), bench.effect()];
    for round in 0..5 {
        let append = |stream| bench.append(stream, round * 3, 3);
        bench.must_commit(streams.iter().map(append).collect()).await;
    }
    let partition = PartitionId::of(&bench.acme);
    let replay = async || {
        let read = bench.ledger.read_partition(partition, Position::START, PAGE_MAX, None).await;
        let read = read.expect("read");
        assert_eq!(read.len(), 45);
        read.iter().map(|entry| format!("{entry:?}")).collect::<Vec<_>>()
    };
    let first = replay().await;
    assert_eq!(replay().await, first);
    for stream in &streams {
        for entry in bench.stream(stream).await {
            let index = usize::try_from(entry.position.0).expect("small") - 1;
            assert_eq!(format!("{entry:?}"), first[index]);
        }
    }
}

/// A cursor starts at the start, follows what is kept last, and stays where it is for one that lags.
pub async fn a_cursor_is_kept_per_follower_and_partition_and_never_goes_back(
    backend: &dyn Backend,
) {
    let bench = Bench::new(backend).await;
    let ledger = &bench.ledger;
    let follower = |name: &str| DomainActorKey::new(name).expect("a name");
    let (one, other) = (follower("one"), follower("other"));
    let [here, there] = [7, 8].map(|number| PartitionId::new(number).expect("a partition"));
    let at = async |follower: &DomainActorKey, partition| {
        ledger.cursor(follower, partition).await.expect("read")
    };
    assert_eq!(at(&one, here).await, Position::START);
    for (position, kept) in [(3, 3), (5, 5), (4, 5), (5, 5), (6, 6)] {
        ledger.keep_cursor(&one, here, Position(position)).await.expect("kept");
        assert_eq!(at(&one, here).await, Position(kept));
    }
    assert_eq!(at(&one, there).await, Position::START);
    assert_eq!(at(&other, here).await, Position::START);
}
