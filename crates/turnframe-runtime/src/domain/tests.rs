use super::*;

fn actor() -> DomainActorKey {
    DomainActorKey::new("deadline").expect("a name")
}

fn timer(name: &str) -> TimerName {
    TimerName::new(name).expect("a name")
}

fn standing(name: &str, about: u64) -> SetTimer {
    let id = format!("0190c9c8-7d1e-7000-8000-{about:012}");
    let entry = id.parse().expect("an id");
    SetTimer {
        actor: actor(),
        case: id.parse().expect("an id"),
        timer: Some(timer(name)),
        about: Version(about),
        set: FactKey { version: Version(about), entry },
    }
}

fn wake(name: &str) -> Reaction {
    Reaction::Wake { timer: timer(name), at: Timestamp::from_micros(9) }
}

fn cancel(name: &str) -> Reaction {
    Reaction::Cancel { timer: timer(name) }
}

/// What is set and what is taken back, for an event of version 5.
fn changes(reactions: &[Reaction], set: &[SetTimer]) -> (Vec<String>, Vec<u64>) {
    let changes = TimerChanges::of(reactions, None, Version(5), set, &[]);
    let name = |(timer, _): (Option<TimerName>, Timestamp)| timer.expect("named").to_string();
    let cancelled = changes.cancelled.iter().map(|it| it.about.0).collect();
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
fn what_was_set_before_for_the_same_event_is_left_alone_and_the_rest_is_done() {
    let both = [wake("answer"), wake("other")];
    let before = [timer("answer")];
    let changes = TimerChanges::of(&both, None, Version(5), &[standing("answer", 5)], &before);
    assert_eq!(changes.set.len(), 1);
    assert!(changes.cancelled.is_empty());
}

#[test]
fn the_same_command_has_one_key_and_another_has_another() {
    let case = |text: &str| -> CaseRef {
        let (workflow, case) = text.split_once('/').expect("a case");
        let case = case.parse().expect("an id");
        CaseRef { workflow: workflow.parse().expect("a name"), case }
    };
    let one = case("loan/0190c9c8-7d1e-7000-8000-000000000001");
    let other = case("loan/0190c9c8-7d1e-7000-8000-000000000002");
    let cause = standing("answer", 1).set.entry;
    let json = |value: &str| Json::of(&value).expect("JSON");
    let key = |case: &CaseRef, command: &str, nth| {
        key::domain(&actor(), cause, (case, &json(command)), nth).expect("a key")
    };
    assert_eq!(key(&one, "approve", 0), key(&one, "approve", 0));
    let all = [
        key(&one, "approve", 0),
        key(&one, "approve", 1),
        key(&one, "refuse", 0),
        key(&other, "approve", 0),
    ];
    let distinct: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
}

#[test]
fn a_timer_that_sets_itself_again_is_over_once() {
    let fired = standing("poll", 5);
    let all = [fired.clone()];
    let changes = TimerChanges::of(&[wake("poll")], Some(fired), Version(5), &all, &[]);
    assert_eq!((changes.set.len(), changes.cancelled.len()), (1, 0));
}

#[test]
fn a_domain_actor_is_never_taken_for_a_person_and_its_name_has_room_for_that() {
    assert_eq!(identity(&actor()).map(|it| it.to_string()), Ok("domain:deadline".to_owned()));
    let long = DomainActorKey::new("x".repeat(90)).expect("a name");
    assert_eq!(identity(&long), Err(IdError::TooLong));
}
