//! What waits of effects is told, also by a process that owns nothing, and alarms whoever operates.

use std::sync::Arc;
use std::time::Duration;

use tracing::Level;
use turnframe_ledger::open::Opened;
use turnframe_ledger::{EntryKind, EventLedger, PartitionSet};
use turnframe_runtime::port::{DestinationProfile, Reconciled};
use turnframe_test::script::{Behaviour, Lookup, ScriptedDestination};
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, OPEN, REBOOK};
use turnframe_tests::heard::Heard;
use turnframe_tests::owned::Owned;
use turnframe_tests::world::{Backend, Process, World, clicked};

const STALLED: &str = "counter.turnframe.outbox.stalled";
const UNDECIDED: &str = "counter.turnframe.outbox.undecided";
const OVERDUE: &str = "gauge.turnframe.outbox.overdue_seconds";
const OPEN_EFFECTS: &str = "gauge.turnframe.outbox.open";
const PARKED_EFFECTS: &str = "gauge.turnframe.outbox.parked";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const NINE_DAYS: Duration = Duration::from_secs(9 * 24 * 60 * 60);

/// A world that looks at its backlog all the time.
fn watchful(mut world: World) -> World {
    world.limits.backlog_look = Duration::from_millis(5);
    world
}

/// Another process on a ledger, which owns nothing yet.
async fn on(
    world: &mut World,
    ledger: &Arc<dyn EventLedger>,
    ends_with: Option<EntryKind>,
) -> (Process, Arc<Owned>) {
    let mut owned = Owned::new(ledger.clone());
    owned.ends_with = ends_with;
    let owned = Arc::new(owned);
    world.ledger = Some(owned.clone());
    (world.start().await, owned)
}

async fn confirm(process: &Process) {
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    let card = process.card().await;
    // Its owner may be gone before it is answered.
    let _ = process.post("t3", clicked(&card, "confirm")).await;
}

#[test]
fn l8_a_backlog_that_no_process_owns_alarms_a_process_that_owns_nothing() {
    everywhere(|backend| async move {
        let ledger = World::desk(backend);
        let Opened { ledger: shared, .. } = ledger.open().await;
        let mut world = watchful(World::desk(Backend::Memory));
        let (first, owned) = on(&mut world, &shared, Some(EntryKind::EffectRequested)).await;
        owned.ownership().hold(PartitionSet::ALL);
        while first.system.partitions() != PartitionSet::ALL {
            tokio::task::yield_now().await;
        }
        confirm(&first).await;
        first.system.clone().shutdown().await;
        assert!(world.airline.book().is_empty(), "nobody sent it");

        let heard = Heard::listen();
        let (second, owned) = on(&mut world, &shared, None).await;
        assert_eq!(heard.next(OPEN_EFFECTS).await.number(OPEN_EFFECTS), 1);
        assert!(heard.take(STALLED).is_empty(), "it waits no longer than it may");
        world.clock.advance(NINE_DAYS);
        let alarm = heard.next(STALLED).await;
        let effect = first.effects().await[0];
        assert_eq!(alarm.level, Level::ERROR);
        assert_eq!(alarm.fields["destination"], "airline");
        assert_eq!(alarm.fields["effect"], effect.to_string());
        assert!(alarm.number("overdue_seconds") >= NINE_DAYS.as_secs());
        assert!(heard.next(OVERDUE).await.number(OVERDUE) >= NINE_DAYS.as_secs());
        let told = second.system.backlog().await.expect("a backlog");
        let waiting = told.destinations["airline"].open.clone().expect("an open effect");
        assert_eq!((waiting.count, waiting.effect), (1, effect));
        assert_eq!(waiting.account, first.actor.account);

        // Somebody owns it again: it is sent, and the alarm ends.
        owned.ownership().hold(PartitionSet::ALL);
        second.rest().await;
        while heard.next(OPEN_EFFECTS).await.number(OPEN_EFFECTS) > 0 {}
        let _ = heard.take(STALLED);
        assert_eq!(heard.next(OVERDUE).await.number(OVERDUE), 0);
        assert!(heard.take(STALLED).is_empty());
        assert_eq!(world.airline.book().len(), 1);
        second.system.shutdown().await;
        shared.close().await;
    });
}

#[test]
fn one_that_waits_for_an_operator_for_too_long_alarms() {
    everywhere(|backend| async move {
        let nobody_knows = || Reconciled::StillUnknown { reason: "nobody knows".to_owned() };
        let profile = DestinationProfile { lookups_max: 1, ..DestinationProfile::default() };
        let airline = ScriptedDestination::new("airline", |_| Behaviour::LosesTheAnswer)
            .looking_up(move |_, _| Lookup::Answer(nobody_knows()))
            .with_profile(profile);
        let interpreter = Arc::new(desk::interpreter());
        let world = watchful(World::new(backend, interpreter, Arc::new(airline)));
        let process = world.start().await;
        let heard = Heard::listen();
        confirm(&process).await;
        while heard.next(PARKED_EFFECTS).await.number(PARKED_EFFECTS) == 0 {
            world.clock.advance(Duration::from_secs(60));
        }
        assert!(heard.take(UNDECIDED).is_empty(), "it was parked just now");
        world.clock.advance(DAY + Duration::from_secs(1));
        let alarm = heard.next(UNDECIDED).await;
        assert_eq!(alarm.fields["effect"], process.effects().await[0].to_string());
        assert!(alarm.number("parked_seconds") > DAY.as_secs());
        assert!(heard.take(STALLED).is_empty(), "nothing is to be sent");
        process.system.shutdown().await;
    });
}
