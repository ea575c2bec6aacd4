//! Reported failures around characters: emoji, NUL, lone surrogates, by their numbers.

use std::sync::Arc;

use turnframe_actors::PostError;
use turnframe_core::canonical::Json;
use turnframe_core::understanding::{Intent, Understanding};
use turnframe_core::words::{Message, MessageError, Pointer};
use turnframe_ledger::{Entry, EntryKind};
use turnframe_runtime::port::Delivery;
use turnframe_runtime::record::{Reading, TurnReduced};
use turnframe_test::script::{Behaviour, ScriptedDestination, ScriptedInterpreter, means, propose};
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, HELLO, OPEN, REBOOK, RENAME};
use turnframe_tests::reading::{events, is_applied, outcome, outcomes};
use turnframe_tests::world::{Backend, Process, World, clicked, notices, said};

fn world(backend: Backend, script: ScriptedInterpreter) -> World {
    World::new(backend, Arc::new(script), desk::airline())
}

async fn begun(world: &World) -> Process {
    let process = world.start().await;
    process.begin().await;
    process
}

fn understandings(entries: &[Entry]) -> Vec<Understanding> {
    let reduced = entries.iter().filter(|entry| entry.kind == EntryKind::TurnReduced);
    let mut understood = Vec::new();
    for entry in reduced {
        let reduced: TurnReduced = entry.body.open().expect("a reduced turn");
        if let Reading::Understood { understanding, .. } = reduced.reading {
            understood.extend(understanding.value().cloned());
        }
    }
    understood
}

#[test]
fn case_34_emoji_shift_no_pointer() {
    const EMOJI: &str = "🚀👍🏿 call it 7️⃣ Spring 👩‍👩‍👧 and remove extra 1 🏳️‍🌈";
    everywhere(|backend| async move {
        let script = desk::interpreter().on(
            EMOJI,
            means(|brief| {
                propose(brief)
                    .act("call it", "trip.rename")
                    .slot("name", "Spring")
                    .act("remove extra 1", "trip.remove_extra")
                    .slot("number", "1")
            }),
        );
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        let answer = process.say("t2", EMOJI).await;

        assert!(outcomes(&answer).into_iter().all(is_applied), "{answer:#?}");
        let message = Message::new(EMOJI).expect("a message");
        let understood = understandings(&process.entries().await).pop().expect("understood");
        let pointers = pointers(&understood);
        assert_eq!(pointers.iter().map(|it| it.copy.as_str()).collect::<Vec<_>>(), ["Spring", "1"]);
        for pointer in pointers {
            assert_eq!(message.slice(pointer.words), Some(pointer.copy.as_str()));
        }
        let view = &process.state().await;
        assert!(view.contains("Spring"), "{view}");
    });
}

fn pointers(understanding: &Understanding) -> Vec<Pointer> {
    let mut pointers = Vec::new();
    for act in &understanding.acts {
        if let Intent::Operate { arguments, .. } = &act.intent {
            pointers.extend(arguments.iter().map(|argument| argument.pointer.clone()));
        }
    }
    pointers
}

#[test]
fn case_34_a_pointer_whose_copy_is_shifted_is_refused_whole_and_nothing_is_done() {
    const EMOJI: &str = "👍🏿 call it Spring";
    everywhere(|backend| async move {
        let script = desk::interpreter().on(
            EMOJI,
            means(|brief| {
                let proposal = propose(brief)
                    .act("call it", "trip.rename")
                    .slot("name", "Spring")
                    .understanding();
                shifted(proposal)
            }),
        );
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        let before = events(&process.entries().await);
        let answer = process.say("t2", EMOJI).await;

        assert!(answer.acts.is_empty(), "{answer:#?}");
        assert_eq!(notices(&answer.blocks), ["not_understood"]);
        assert_eq!(events(&process.entries().await), before);
    });
}

/// What a model sends that counts UTF-16 units where words are counted.
fn shifted(mut understanding: Understanding) -> Understanding {
    for act in &mut understanding.acts {
        if let Intent::Operate { arguments, .. } = &mut act.intent {
            for argument in arguments {
                argument.pointer.copy = argument.pointer.copy.chars().skip(2).collect();
            }
        }
    }
    understanding
}

#[test]
fn case_36_text_with_nul_is_refused_before_anything_is_written_and_the_next_turn_works() {
    const REGISTER: &str = "register somebody";
    everywhere(|backend| async move {
        let script = desk::interpreter().on(
            REGISTER,
            means(|brief| propose(brief).act("register somebody", "traveller.register").creating()),
        );
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", REGISTER).await;
        let card = process.card().await;
        let before = process.chain().await;

        let refused = process.post("t2", said("a\0b")).await;
        assert_eq!(refused, Err(PostError::Message(MessageError::Nul)));
        let mut named = clicked(&card, "save");
        if let Some(response) = &mut named.response {
            response.value = Some("Ada\0Ferri".to_owned());
        }
        assert_eq!(process.post("t3", named.clone()).await, Err(PostError::WrongValue));
        let origin = turnframe_actors::TurnInput { origin: Some("a\0b".to_owned()), ..said(HELLO) };
        assert_eq!(process.post("t4", origin).await, Err(PostError::NotFound));
        assert_eq!(process.chain().await, before);

        if let Some(response) = &mut named.response {
            response.value = Some("Ada Ferri".to_owned());
        }
        let answer = process.post("t3", named).await.expect("answered");
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
    });
}

#[test]
fn case_36_whatever_characters_a_remote_answers_with_its_answer_is_recorded() {
    let answers = [
        serde_json::json!({ "note": "a\u{0}b \u{fffe} \u{10ffff}" }),
        serde_json::json!({ "$personal": 7 }),
        serde_json::json!({ "note": "x".repeat(2 * 1024 * 1024) }),
    ];
    everywhere(|backend| {
        let answers = answers.clone();
        async move {
            for details in answers {
                let details = Json::of(&details).expect("JSON");
                let accepts = move |_: &Delivery| Behaviour::Accepts(details.clone());
                let airline = Arc::new(ScriptedDestination::new("airline", accepts));
                let world = World::new(backend, Arc::new(desk::interpreter()), airline);
                let process = begun(&world).await;
                process.say("t1", OPEN).await;
                process.say("t2", REBOOK).await;
                process.click("t3", &process.card().await, "confirm").await;
                let state = process.state().await;
                assert!(state.contains("\"submitted\""), "{state}");
                assert!(state.contains("under reference airline-1"), "{state}");
                is_the_same_after_a_restart(&world, process, &state).await;
            }
        }
    });
}

async fn is_the_same_after_a_restart(world: &World, process: Process, state: &str) {
    let process = world.restart(process).await;
    assert_eq!(process.state().await, state);
    let answer = process.say("after-restart", RENAME).await;
    assert!(is_applied(outcome(&answer)), "{answer:#?}");
}

#[test]
fn case_36_a_lone_surrogate_is_no_text_and_a_proposal_that_has_one_is_refused_whole() {
    // A string in this system is UTF-8, which has no lone surrogates: JSON that escapes one does not parse.
    let act = |copy: &str| {
        format!(
            r#"{{"acts":[{{"source":{{"start":0,"end":1}},"intent":{{"operate":{{
                "operation":{{"workflow":"trip","operation":"rename"}},"target":"unstated",
                "arguments":[{{"slot":"name","pointer":{{"words":{{"start":0,"end":1}},"copy":"{copy}"}}}}],
                "mood":"requested"}}}}}}]}}"#
        )
    };
    assert!(serde_json::from_str::<Understanding>(&act(r"\ud83d\ude80")).is_ok());
    assert!(serde_json::from_str::<Understanding>(&act(r"\ud800")).is_err());
    assert!(serde_json::from_str::<Understanding>(&act(r"\udc00")).is_err());
}
