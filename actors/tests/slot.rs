//! The slot protocol under a model checker: thousands of schedules of senders, an idle sweep, actors that drain, die or
//! fail to start, and news of an end that comes twice.
//!
//! The transitions are the real ones. Around them stands what the registry puts there: one lock over the slot, a wake-up
//! after it was activated or freed, and a mailbox that takes nothing once it drains. What must hold in every schedule:
//! a name never has two live holders, what was accepted is handled exactly once, and everybody comes to an end (a
//! deadlock fails the run).

use std::collections::{BTreeMap, VecDeque};

use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::thread::{self, JoinHandle};
use turnframe_actors::slot::{Claim, Generation, Slot};

const SCHEDULES: usize = 3_000;
/// How many preemptions a schedule may need: the deepest races known here need three.
const DEPTH: usize = 4;
const SENDERS: u32 = 3;
const MESSAGES_EACH: u32 = 2;

#[test]
fn no_name_has_two_holders_and_no_message_is_lost_between_two_of_them() {
    in_many_schedules(|| deliver(Troubles::default()));
}

#[test]
fn a_start_that_fails_leaves_the_name_to_the_next_sender() {
    in_many_schedules(|| deliver(Troubles { starts_that_fail: 2, ..Troubles::default() }));
}

#[test]
fn an_actor_that_dies_loses_what_it_held_and_nothing_that_comes_later() {
    in_many_schedules(|| deliver(Troubles { deaths: 2, ..Troubles::default() }));
}

#[test]
fn news_of_an_end_that_comes_late_or_twice_frees_nobody_elses_slot() {
    in_many_schedules(|| {
        deliver(Troubles { repeats_news: true, deaths: 1, ..Troubles::default() })
    });
}

#[test]
fn every_transition_is_its_own_generations_and_no_other() {
    let of = |state: usize, generation: Generation| match state {
        0 => None,
        1 => Some(Slot::Starting(generation)),
        2 => Some(Slot::Active(generation, "old")),
        _ => Some(Slot::Draining(generation)),
    };
    let shown = |slot: &Option<Slot<&str>>| format!("{slot:?}");
    for state in 0..4 {
        for own in [true, false] {
            let generation = if own { 7 } else { 8 };
            let changes = |change: &dyn Fn(&mut Option<Slot<&'static str>>) -> bool, to: &str| {
                let mut slot = of(state, 7);
                let before = shown(&slot);
                let changed = change(&mut slot);
                assert_eq!(shown(&slot), if changed { to.to_owned() } else { before });
                changed
            };
            let activated =
                changes(&|it| Slot::activate(it, generation, "new"), r#"Some(Active(7, "new"))"#);
            assert_eq!(activated, own && state == 1, "only what is starting takes messages");
            let drained = changes(&|it| Slot::drain(it, generation), "Some(Draining(7))");
            assert_eq!(drained, own && state == 2, "only what is active drains");
            let freed = changes(&|it| Slot::free(it, generation), "None");
            assert_eq!(freed, own && state != 0, "only what is held is freed");
        }
    }
    let mut slot = of(0, 7);
    assert_eq!(Slot::claim(&mut slot, 9), Claim::Start(9));
    assert_eq!(Slot::claim(&mut slot, 10), Claim::Wait);
    assert_eq!(Slot::claim(&mut of(2, 7), 9), Claim::Active(7, "old"));
    assert_eq!(Slot::claim(&mut of(3, 7), 9), Claim::Wait);
}

/// What goes wrong in a run.
#[derive(Debug, Clone, Copy, Default)]
struct Troubles {
    starts_that_fail: usize,
    deaths: usize,
    repeats_news: bool,
}

type Message = (u32, u32);

/// Half of the schedules at random, half with the few preemptions that most races need.
fn in_many_schedules(run: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(run, SCHEDULES);
    shuttle::check_pct(run, SCHEDULES, DEPTH);
}

/// Several senders deliver their messages while idle actors are asked to rest; then everything is closed.
fn deliver(troubles: Troubles) {
    let registry = Arc::new(Registry::new(troubles));
    let sweeper = {
        let registry = Arc::clone(&registry);
        thread::spawn(move || registry.sweep())
    };
    let sender = |sender| {
        let registry = Arc::clone(&registry);
        thread::spawn(move || {
            for number in 0..MESSAGES_EACH {
                registry.send((sender, number));
            }
        })
    };
    let senders: Vec<_> = (0..SENDERS).map(sender).collect();
    senders.into_iter().for_each(joined);
    joined(sweeper);
    registry.close();
    assert_eq!(registry.live.load(Ordering::SeqCst), 0);
    let handled = registry.handled.lock().expect("whole");
    let lost = registry.lost.lock().expect("whole");
    assert!(handled.values().all(|times| *times == 1), "handled more than once: {handled:?}");
    assert!(lost.iter().all(|it| !handled.contains_key(it)), "lost and handled: {lost:?}");
    let accepted = usize::try_from(SENDERS * MESSAGES_EACH).expect("few");
    assert_eq!(handled.len() + lost.len(), accepted, "{handled:?} and {lost:?}");
    assert!(lost.is_empty() || troubles.deaths > 0, "nothing died, and {lost:?} was lost");
}

/// The slot of one name, and a count of the changes that wake those who wait for it.
struct Held {
    slot: Option<Slot<Arc<Mailbox>>>,
    changes: u64,
}

struct Registry {
    held: Mutex<Held>,
    changed: Condvar,
    generations: AtomicU64,
    /// How many actors of the name are live.
    live: AtomicUsize,
    handled: Mutex<BTreeMap<Message, u32>>,
    lost: Mutex<Vec<Message>>,
    starts_that_fail: AtomicUsize,
    deaths: AtomicUsize,
    repeats_news: AtomicBool,
}

impl Registry {
    fn new(troubles: Troubles) -> Self {
        Self {
            held: Mutex::new(Held { slot: None, changes: 0 }),
            changed: Condvar::new(),
            generations: AtomicU64::new(1),
            live: AtomicUsize::new(0),
            handled: Mutex::default(),
            lost: Mutex::default(),
            starts_that_fail: AtomicUsize::new(troubles.starts_that_fail),
            deaths: AtomicUsize::new(troubles.deaths),
            repeats_news: AtomicBool::new(troubles.repeats_news),
        }
    }

    /// Delivers a message to the actor of the name, started where it is not there.
    fn send(self: &Arc<Self>, message: Message) {
        loop {
            let fresh = self.generations.fetch_add(1, Ordering::SeqCst);
            let (claim, seen) = {
                let mut held = self.held.lock().expect("whole");
                (Slot::claim(&mut held.slot, fresh), held.changes)
            };
            match claim {
                Claim::Active(_, mailbox) if mailbox.accept(Post::Message(message)) => return,
                Claim::Start(generation) => {
                    let registry = Arc::clone(self);
                    drop(thread::spawn(move || registry.start_and_watch(generation)));
                }
                Claim::Active(..) | Claim::Wait => {}
            }
            self.wait(seen);
        }
    }

    /// Waits until the slot has changed since it was looked at.
    fn wait(&self, seen: u64) {
        let held = self.held.lock().expect("whole");
        drop(self.changed.wait_while(held, |held| held.changes == seen).expect("whole"));
    }

    fn start_and_watch(self: Arc<Self>, generation: Generation) {
        if spend(&self.starts_that_fail) {
            self.free(generation);
            return;
        }
        let before = self.live.fetch_add(1, Ordering::SeqCst);
        assert_eq!(before, 0, "a second holder of the name is live");
        let mailbox = Arc::new(Mailbox::default());
        let actor: JoinHandle<()> = {
            let (registry, mailbox) = (Arc::clone(&self), Arc::clone(&mailbox));
            thread::spawn(move || registry.live(generation, &mailbox))
        };
        let own = {
            let mut held = self.held.lock().expect("whole");
            held.changes += 1;
            Slot::activate(&mut held.slot, generation, mailbox)
        };
        self.changed.notify_all();
        assert!(own, "somebody else took the slot of generation {generation}");
        joined(actor);
        self.free(generation);
        if self.repeats_news.load(Ordering::SeqCst) {
            self.free(generation);
        }
    }

    fn free(&self, generation: Generation) {
        let mut held = self.held.lock().expect("whole");
        if Slot::free(&mut held.slot, generation) {
            held.changes += 1;
            self.changed.notify_all();
        }
    }

    fn drain(&self, generation: Generation) -> bool {
        Slot::drain(&mut self.held.lock().expect("whole").slot, generation)
    }

    fn active(&self) -> Option<(Generation, Arc<Mailbox>)> {
        match &self.held.lock().expect("whole").slot {
            Some(Slot::Active(generation, mailbox)) => Some((*generation, Arc::clone(mailbox))),
            Some(Slot::Starting(_) | Slot::Draining(_)) | None => None,
        }
    }

    /// An actor's life: it handles what comes, and rests when it is asked to and its slot lets it.
    fn live(&self, generation: Generation, mailbox: &Mailbox) {
        while let Some(post) = mailbox.next() {
            match post {
                Post::Message(message) if spend(&self.deaths) => {
                    let mut lost = self.lost.lock().expect("whole");
                    lost.push(message);
                    lost.extend(mailbox.flush());
                    break;
                }
                Post::Message(message) => {
                    *self.handled.lock().expect("whole").entry(message).or_default() += 1;
                }
                Post::RestIfIdle if self.drain(generation) => mailbox.drain(),
                Post::RestIfIdle => {}
            }
        }
        self.live.fetch_sub(1, Ordering::SeqCst);
    }

    /// Asks whoever is active to rest, or rests it from outside as a shutdown does, several times.
    fn sweep(&self) {
        const SWEEPS: usize = 3;
        for _ in 0..SWEEPS {
            let Some((generation, mailbox)) = self.active() else {
                thread::yield_now();
                continue;
            };
            if thread_rng().gen_bool(0.5) {
                // One that has just ended needs no asking.
                mailbox.accept(Post::RestIfIdle);
            } else if self.drain(generation) {
                mailbox.drain();
            }
        }
    }

    /// Lets whoever is there handle what it accepted, and ends it.
    fn close(&self) {
        loop {
            let seen = {
                let held = self.held.lock().expect("whole");
                if held.slot.is_none() {
                    return;
                }
                held.changes
            };
            if let Some((generation, mailbox)) = self.active()
                && self.drain(generation)
            {
                mailbox.drain();
            }
            self.wait(seen);
        }
    }
}

enum Post {
    Message(Message),
    RestIfIdle,
}

/// An actor's mailbox: it takes nothing once it drains, and gives a refused message back.
#[derive(Default)]
struct Mailbox {
    posts: Mutex<(VecDeque<Post>, bool)>,
    filled: Condvar,
}

impl Mailbox {
    fn accept(&self, post: Post) -> bool {
        let mut posts = self.posts.lock().expect("whole");
        let (queue, is_draining) = &mut *posts;
        if !*is_draining {
            queue.push_back(post);
            self.filled.notify_all();
        }
        !*is_draining
    }

    fn drain(&self) {
        self.posts.lock().expect("whole").1 = true;
        self.filled.notify_all();
    }

    /// The next post; none once the mailbox is drained.
    fn next(&self) -> Option<Post> {
        let posts = self.posts.lock().expect("whole");
        let rests =
            |(queue, is_draining): &mut (VecDeque<Post>, bool)| queue.is_empty() && !*is_draining;
        self.filled.wait_while(posts, rests).expect("whole").0.pop_front()
    }

    /// What dies with its actor.
    fn flush(&self) -> Vec<Message> {
        let mut posts = self.posts.lock().expect("whole");
        posts.1 = true;
        let message = |post| match post {
            Post::Message(message) => Some(message),
            Post::RestIfIdle => None,
        };
        posts.0.drain(..).filter_map(message).collect()
    }
}

/// Takes one of what is left, or not: both happen while something is left.
fn spend(left: &AtomicUsize) -> bool {
    let take = |left: usize| left.checked_sub(1);
    thread_rng().gen_bool(0.5)
        && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
}

fn joined(handle: JoinHandle<()>) {
    handle.join().expect("no thread of the model fails");
}
