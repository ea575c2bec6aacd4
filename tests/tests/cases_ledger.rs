//! Reported failures around keys, snapshots, rebuilding and replay, by their numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use turnframe_core::id::{AccountId, ConversationId, TurnId};
use turnframe_ledger::append::KEY_MAX_BYTES;
use turnframe_ledger::snapshot::{MemorySnapshots, Snapshot, SnapshotStore, SnapshotsUnavailable};
use turnframe_ledger::verify::verify;
use turnframe_ledger::{EntryKind, KeyName, PartitionId, StreamName, Version};
use turnframe_runtime::fold::case::CaseFold;
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::claims;
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, ADD_SEAT, OPEN, OPEN_SECOND, REBOOK, RENAME, WHICH};
use turnframe_tests::reading::{is_applied, kinds, outcome, receipts};
use turnframe_tests::world::{Backend, Process, World, actor, clicked, said};

const RENAME_AGAIN: &str = "call it Summer";

const LISBON_SUMMER: &str = "call Lisbon Summer";
const LISBON_WINTER: &str = "call Lisbon Winter";

fn script() -> ScriptedInterpreter {
    let renames_lisbon = |name: &'static str| {
        means(move |brief| {
            propose(brief).act("call Lisbon", "trip.rename").on("Lisbon").slot("name", name)
        })
    };
    desk::interpreter()
        .on(
            RENAME_AGAIN,
            means(|brief| propose(brief).act("call it", "trip.rename").slot("name", "Summer")),
        )
        .on(LISBON_SUMMER, renames_lisbon("Summer"))
        .on(LISBON_WINTER, renames_lisbon("Winter"))
}

/// A world whose actors go to rest as soon as nobody uses them, so that everything is folded again and again.
fn restless(backend: Backend) -> World {
    let mut world = World::new(backend, Arc::new(script()), desk::airline());
    world.limits.idle = Duration::ZERO;
    world.limits.sweep = Duration::from_millis(2);
    world
}

/// A conversation with records in every state: two trips, an answered card, an effect, an open choice.
async fn eventful(world: &World) -> Process {
    let process = world.start().await;
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", ADD_SEAT).await;
    process.click("t3", &process.card().await, "company").await;
    process.say("t4", REBOOK).await;
    process.click("t5", &process.card().await, "confirm").await;
    process.say("t6", RENAME).await;
    process.say("t7", OPEN_SECOND).await;
    process.say("t8", WHICH).await;
    process
}

#[test]
fn l03_folding_everything_anew_dispatches_nothing_and_appends_nothing() {
    everywhere(|backend| async move {
        let world = World::new(backend, Arc::new(script()), desk::airline());
        let process = eventful(&world).await;
        let (state, chain) = (process.state().await, process.chain().await);
        let deliveries = deliveries(&world);
        process.system.clone().shutdown().await;
        drop(process);
        for _ in 0..3 {
            world.drop_snapshots().await;
            let process = world.start().await;
            process.rest().await;
            assert_eq!(process.state().await, state);
            assert_eq!(process.chain().await, chain);
            assert_eq!(process.remote.enumerated(), [], "nothing is sent");
            assert_eq!(process.faults.enumerated(), [], "nothing is appended");
            process.system.clone().shutdown().await;
        }
        assert_eq!(self::deliveries(&world), deliveries);
    });
}

fn deliveries(world: &World) -> usize {
    world.airline.book().values().map(|entry| entry.deliveries.len()).sum()
}

#[test]
fn l04_what_is_folded_anew_under_load_equals_what_stands_byte_for_byte() {
    const NEIGHBOURS: usize = 4;
    const TURNS: usize = 12;
    everywhere(|backend| async move {
        let world = restless(backend);
        let process = eventful(&world).await;
        let state = process.state().await;
        let neighbours = (0..NEIGHBOURS).map(|number| {
            let somebody = actor("globex", &format!("m{number}"));
            let talking = process.talking(somebody, &format!("n{number}"));
            async move {
                talking.begin().await;
                for turn in 0..TURNS {
                    let message = [OPEN, RENAME, RENAME_AGAIN][turn.min(1 + turn % 2)];
                    talking.post(&format!("t{turn}"), said(message)).await.expect("answered");
                }
            }
        });
        // Beside the load, everything is forgotten and folded from the entries, over and over.
        let forgetting = async {
            for _ in 0..TURNS {
                world.clock.advance(Duration::from_secs(1));
                tokio::time::sleep(2 * world.limits.sweep).await;
                process.snapshots.clear().await.expect("cleared");
                assert_eq!(process.state().await, state);
            }
        };
        tokio::join!(join_all(neighbours), forgetting);
        process.passivate().await;
        assert_eq!(process.state().await, state, "from snapshots");
        let process = world.restart(process).await;
        assert_eq!(process.state().await, state, "after a restart");
    });
}

#[test]
fn l15_an_empty_a_huge_and_an_unprintable_key_are_refused() {
    let huge = "x".repeat(KEY_MAX_BYTES + 1);
    for text in ["", huge.as_str(), "a\0b", "a\nb", "a b", "ä", "\u{7f}"] {
        assert!(KeyName::new(text).is_err(), "{text:?}");
        assert!(text.parse::<TurnId>().is_err(), "{text:?}");
        assert!(text.parse::<ConversationId>().is_err(), "{text:?}");
    }
    assert!(KeyName::new("x".repeat(KEY_MAX_BYTES)).is_ok());
}

#[test]
fn l15_the_longest_names_there_are_still_make_keys() {
    everywhere(|backend| async move {
        let longest = "n".repeat(turnframe_core::id::NAME_MAX_BYTES);
        let world = World::new(backend, Arc::new(script()), desk::airline());
        let process = world.start().await.talking(actor(&longest, "ada"), &longest);
        process.begin().await;
        let answer = process.post(&longest, said(OPEN)).await.expect("answered");
        assert!(!receipts(&answer.blocks).is_empty(), "{answer:#?}");
        process.rest().await;
        let again = process.post(&longest, said(OPEN)).await.expect("answered");
        assert_eq!(again, answer);
    });
}

#[test]
fn l16_the_same_key_again_returns_the_first_receipt() {
    everywhere(|backend| async move {
        let world = World::new(backend, Arc::new(script()), desk::airline());
        let process = world.start().await;
        process.begin().await;
        let (first, second) =
            tokio::join!(process.post("t1", said(OPEN)), process.post("t1", said(OPEN)));
        let first = first.expect("answered");
        assert_eq!(second, Ok(first.clone()), "a turn posted twice at once");
        process.say("t2", REBOOK).await;
        let card = process.card().await;
        let clicked_once = process.click("t3", &card, "confirm").await;
        let process = world.restart(process).await;
        assert_eq!(process.post("t1", said(OPEN)).await, Ok(first), "and once more, later");
        assert_eq!(process.post("t3", clicked(&card, "confirm")).await, Ok(clicked_once.clone()));
        // A click in another turn is the same click.
        let again = process.click("t4", &card, "confirm").await;
        assert_eq!(outcome(&again), outcome(&clicked_once));
        assert_eq!(receipts(&again.blocks), receipts(&clicked_once.blocks));
        assert_eq!(kinds(&process.entries().await, EntryKind::EffectRequested), 1);
        assert_eq!(deliveries(&world), 1);
        claims::check(&process).await;
    });
}

/// A store that keeps the first snapshot of each stream for good, and hands out those of other streams where the
/// test says so.
struct Unreliable {
    kept: MemorySnapshots,
    others: MemorySnapshots,
    hands_out_others: bool,
    handed_out: AtomicUsize,
}

impl Unreliable {
    fn new(hands_out_others: bool) -> Arc<Self> {
        let (kept, others) = (MemorySnapshots::default(), MemorySnapshots::default());
        Arc::new(Self { kept, others, hands_out_others, handed_out: AtomicUsize::new(0) })
    }

    /// The one drawer in which the last snapshot of anything lies.
    fn drawer() -> (AccountId, StreamName) {
        let conversation = turnframe_test::literal("drawer");
        (turnframe_test::literal("drawer"), StreamName::Conversation(conversation))
    }
}

#[async_trait]
impl SnapshotStore for Unreliable {
    async fn load(&self, account: &AccountId, stream: &StreamName) -> Option<Snapshot> {
        let (drawer, name) = Self::drawer();
        let found = match self.hands_out_others {
            true => self.others.load(&drawer, &name).await,
            false => self.kept.load(account, stream).await,
        };
        self.handed_out.fetch_add(usize::from(found.is_some()), Ordering::SeqCst);
        found
    }

    async fn save(&self, account: &AccountId, stream: &StreamName, snapshot: Snapshot) {
        let (drawer, name) = Self::drawer();
        self.others.save(&drawer, &name, snapshot.clone()).await;
        if self.kept.load(account, stream).await.is_none() {
            self.kept.save(account, stream, snapshot).await;
        }
    }

    async fn clear(&self) -> Result<(), SnapshotsUnavailable> {
        Ok(())
    }
}

#[test]
fn l17_an_older_snapshot_is_brought_up_to_date_and_anothers_is_dropped() {
    everywhere(|backend| async move {
        for hands_out_others in [false, true] {
            let store = Unreliable::new(hands_out_others);
            let mut world = restless(backend);
            world.snapshots = Some(store.clone());
            let process = eventful(&world).await;
            for message in [LISBON_SUMMER, LISBON_WINTER] {
                process.passivate().await;
                let answer = process.say(&message.replace(' ', "-"), message).await;
                assert!(is_applied(outcome(&answer)), "{answer:#?}");
                let live = process.state().await;
                process.passivate().await;
                let handed_out = store.handed_out.load(Ordering::SeqCst);
                assert_eq!(process.state().await, live, "another's: {hands_out_others}");
                assert!(store.handed_out.load(Ordering::SeqCst) > handed_out, "it was asked");
            }
        }
    });
}

#[test]
fn l17_damaged_snapshots_in_the_file_are_dropped_and_everything_is_folded_again() {
    let damages = [
        "UPDATE tf_snapshot SET bytes = zeroblob(length(bytes))",
        "UPDATE tf_snapshot SET bytes = substr(bytes, 2)",
        "UPDATE tf_snapshot SET version = version + 1",
        "UPDATE tf_snapshot SET version = 0",
        "UPDATE tf_snapshot SET codec = 'bincode-1'",
        "UPDATE tf_snapshot SET workflow_version = 77",
        "UPDATE tf_snapshot SET fold = randomblob(32)",
        "UPDATE tf_snapshot SET chain = randomblob(32)",
        "UPDATE tf_snapshot SET digest = x'00'",
        "DROP TABLE tf_snapshot",
    ];
    everywhere(|backend| async move {
        if backend != Backend::Sqlite {
            return;
        }
        let world = restless(backend);
        let process = eventful(&world).await;
        let state = process.state().await;
        process.passivate().await;
        process.system.clone().shutdown().await;
        drop(process);
        let file = turnframe_ledger::open::views_path(&world.path().expect("a file"));
        for damage in damages {
            let changed = execute(&file, damage).await;
            assert!(damage.starts_with("DROP") || changed > 0, "there was something to damage");
            let process = world.start().await;
            assert_eq!(process.state().await, state, "{damage}");
            process.passivate().await;
            process.system.clone().shutdown().await;
        }
        for suffix in ["", "-wal"] {
            let mut path = file.clone().into_os_string();
            path.push(suffix);
            std::fs::write(path, b"no database at all").expect("written");
        }
        let process = world.start().await;
        assert_eq!(process.state().await, state, "a file that is none");
    });
}

async fn execute(file: &std::path::Path, statement: &'static str) -> u64 {
    use sqlx::ConnectOptions;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let mut connection = options.connect().await.expect("connected");
    let done = sqlx::query(statement).execute(&mut connection).await.expect("executed");
    drop(connection);
    done.rows_affected()
}

#[test]
fn l18_replayed_twice_everything_is_the_same_bytes_and_the_ledger_is_intact() {
    everywhere(|backend| async move {
        let world = World::new(backend, Arc::new(script()), desk::airline());
        let process = eventful(&world).await;
        let once = replayed(&process, 1_000).await;
        assert_eq!(once.len(), process.cases().await.len());
        for page in [1_000, 1, 7] {
            assert_eq!(replayed(&process, page).await, once, "in pages of {page}");
        }
        let report = verify(process.system.ledger().as_ref(), PartitionId::all(), |_| {}).await;
        assert!(report.is_intact(), "{:?}", report.faults);
        assert_eq!(report.entries, process.entries().await.len() as u64);
    });
}

/// Every case folded from its entries, as the bytes that a snapshot would keep.
async fn replayed(process: &Process, page: usize) -> Vec<String> {
    let mut saved = Vec::new();
    for case in process.cases().await {
        let registry = turnframe_travel::registry();
        let workflow = registry.get(&case.workflow).expect("registered").clone();
        let stream = StreamName::Case(case);
        let mut fold = CaseFold::new(workflow.as_ref());
        loop {
            let ledger = process.system.ledger();
            let account = &process.actor.account;
            let entries = ledger.read_stream(account, &stream, fold.version, page).await;
            let entries = entries.expect("entries");
            for entry in &entries {
                fold = fold.apply(workflow.as_ref(), entry).expect("folded");
            }
            if entries.len() < page {
                break;
            }
        }
        assert!(fold.version > Version::NONE);
        let kept = fold.save(workflow.as_ref()).expect("the state survives");
        saved.push(serde_json::to_string(&(fold.version.0, fold.chain, kept)).expect("JSON"));
    }
    saved
}

#[test]
fn a_process_that_is_killed_leaves_no_long_record_to_fold() {
    everywhere(|backend| async move {
        let mut world = World::desk(backend);
        world.limits.snapshot_entries_min = u64::MAX;
        world.limits.snapshot_entries_max = 8;
        let process = world.start().await;
        process.begin().await;
        process.say("t0", OPEN).await;
        let mut case = None;
        for number in 1..=8 {
            process.say(&format!("t{number}"), desk::RENAME).await;
            case = case.or(process
                .cases()
                .await
                .into_iter()
                .find(|it| it.workflow.as_str() == "trip"));
        }
        let streams = [
            StreamName::Conversation(process.conversation.clone()),
            StreamName::Case(case.expect("a trip")),
        ];
        for stream in streams {
            let kept = process.snapshots.load(&process.actor.account, &stream).await;
            let end =
                process.system.ledger().read_stream_back(&process.actor.account, &stream, None, 1);
            let end = end.await.expect("entries")[0].version;
            let kept = kept.expect("taken while the record was active").version();
            assert!(end.0 - kept.0 < 16, "{stream}: {end:?} is far from {kept:?}");
        }
    });
}
