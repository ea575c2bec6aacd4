use super::*;

fn actor() -> DomainActorKey {
    DomainActorKey::new("deadline").expect("a name")
}

fn timer(name: &str) -> TimerName {
    TimerName::new(name).expect("a name")
}

fn standing(name: &str, command: u64) -> SetTimer {
    let id = format!("0190c9c8-7d1e-7000-8000-{command:012}");
    let entry = id.parse().expect("an id");
    SetTimer {
        actor: actor(),
        case: id.parse().expect("an id"),
        timer: Some(timer(name)),
        command: Version(command),
        set: FactKey { version: Version(command), entry },
    }
}

fn wake(name: &str) -> Reaction {
    Reaction::Wake { timer: timer(name), at: Timestamp::from_micros(9) }
}

fn cancel(name: &str) -> Reaction {
    Reaction::Cancel { timer: timer(name) }
}

/// What is set and what is taken back, for a command of version 5.
fn changes(reactions: &[Reaction], set: &[SetTimer]) -> (Vec<String>, Vec<u64>) {
    let changes = TimerChanges::of(reactions, None, Version(5), set);
    let name = |(timer, _): (Option<TimerName>, Timestamp)| timer.expect("named").to_string();
    let cancelled = changes.cancelled.iter().map(|it| it.command.0).collect();
    (changes.set.into_iter().map(name).collect(), cancelled)
}

#[test]
fn a_timer_reads_back_from_its_mark() {
    let named = standing("answer", 12);
    let again = SetTimer { timer: None, ..named.clone() };
    for timer in [named, again] {
        assert_eq!(timer.to_string().parse(), Ok(timer));
    }
    for text in ["", "deadline", "deadline/x/answer/1/000000000001:x", "a/b/c/d/e/f"] {
        assert!(text.parse::<SetTimer>().is_err(), "{text:?}");
    }
}

#[test]
fn the_longest_names_fit_into_a_mark() {
    let longest = "x".repeat(turnframe_core::id::NAME_MAX_BYTES);
    let timer = SetTimer {
        actor: DomainActorKey::new(&longest).expect("a name"),
        timer: Some(TimerName::new(&longest).expect("a name")),
        ..standing("answer", 1)
    };
    assert!(timer.to_string().len() <= turnframe_ledger::mark::MARK_KEY_MAX_BYTES);
}

#[test]
fn a_timer_of_a_name_takes_the_place_of_an_earlier_one() {
    let set = [standing("answer", 3), standing("other", 3)];
    assert_eq!(changes(&[wake("answer")], &set), (vec!["answer".to_owned()], vec![3]));
    assert_eq!(changes(&[cancel("answer")], &set), (vec![], vec![3]));
    assert_eq!(changes(&[wake("answer"), cancel("answer")], &[]), (vec![], vec![]));
    assert_eq!(changes(&[cancel("answer"), wake("answer")], &set).0, ["answer"]);
}

#[test]
fn what_is_shown_again_undoes_nothing_that_a_later_event_asked_for() {
    let later = [standing("answer", 6)];
    assert_eq!(changes(&[cancel("answer")], &later), (vec![], vec![]));
    assert_eq!(changes(&[wake("answer")], &later), (vec![], vec![]));
}

#[test]
fn a_timer_that_sets_itself_again_is_over_once() {
    let fired = standing("poll", 5);
    let all = [fired.clone()];
    let changes = TimerChanges::of(&[wake("poll")], Some(fired), Version(5), &all);
    assert_eq!((changes.set.len(), changes.cancelled.len()), (1, 0));
}

#[test]
fn a_domain_actor_is_never_taken_for_a_person_and_its_name_has_room_for_that() {
    assert_eq!(identity(&actor()).map(|it| it.to_string()), Ok("domain:deadline".to_owned()));
    let long = DomainActorKey::new("x".repeat(90)).expect("a name");
    assert_eq!(identity(&long), Err(IdError::TooLong));
}
