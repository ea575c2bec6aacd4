//! Case 13: a card that is declined runs no command, whatever kind it is.

use std::sync::Arc;

use turnframe_actors::PostError;
use turnframe_core::interaction::{InteractionKind, InteractionStatus};
use turnframe_core::plan::ActOutcome;
use turnframe_core::understanding::CancelTarget;
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, ADD_SEAT, OPEN, OPEN_SECOND, REBOOK, WHICH};
use turnframe_tests::reading::{commands, events, outcome};
use turnframe_tests::world::{Backend, Process, World, clicked, notices, shown};

const REGISTER: &str = "register somebody";
const NEVER_MIND: &str = "never mind";

fn script() -> ScriptedInterpreter {
    desk::interpreter()
        .on(
            REGISTER,
            means(|brief| propose(brief).act("register somebody", "traveller.register").creating()),
        )
        .on(NEVER_MIND, means(|brief| propose(brief).cancel("never mind", CancelTarget::OpenCard)))
}

fn world(backend: Backend) -> World {
    World::new(backend, Arc::new(script()), desk::airline())
}

async fn begun(world: &World) -> Process {
    let process = world.start().await;
    process.begin().await;
    process
}

#[test]
fn case_13_a_declined_confirmation_runs_no_command() {
    everywhere(|backend| async move {
        let world = world(backend);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", REBOOK).await;
        let ran = commands(&process.entries().await).len();
        let card = process.card().await;
        assert_eq!(card.kind, InteractionKind::ConfirmCommand);
        let answer = process.click("t3", &card, "decline").await;

        let status = InteractionStatus::Declined;
        assert_eq!(outcome(&answer), &ActOutcome::CardClosed { card: card.id, status });
        assert_eq!(notices(&answer.blocks), ["card_declined"]);
        assert_eq!(commands(&process.entries().await).len(), ran);
        assert!(world.airline.book().is_empty());
    });
}

#[test]
fn case_13_a_declined_choice_between_records_runs_no_command() {
    const RENAME_FERRI: &str = "call the Ferri trip Spring";
    everywhere(|backend| async move {
        let script = script().on(
            RENAME_FERRI,
            means(|brief| {
                propose(brief)
                    .act("call the Ferri trip", "trip.rename")
                    .mention("Ferri trip")
                    .slot("name", "Spring")
            }),
        );
        let world = World::new(backend, Arc::new(script), desk::airline());
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", OPEN_SECOND).await;
        let ran = commands(&process.entries().await).len();
        for (turn, request) in [("t3", RENAME_FERRI), ("t4", WHICH)] {
            process.say(turn, request).await;
            let card = process.card().await;
            assert_eq!(card.kind, InteractionKind::SelectTarget);
            let answer = process.click(&format!("{turn}-none"), &card, "none").await;
            let status = InteractionStatus::Declined;
            assert_eq!(outcome(&answer), &ActOutcome::CardClosed { card: card.id, status });
            assert_eq!(process.cards().await, []);
        }
        assert_eq!(commands(&process.entries().await).len(), ran);
    });
}

#[test]
fn case_13_a_question_that_the_record_needs_answered_cannot_be_declined_and_comes_back() {
    let kinds_and_requests = [
        (InteractionKind::SingleSelect, ADD_SEAT, "company"),
        (InteractionKind::Freeform, REGISTER, "save"),
    ];
    everywhere(|backend| async move {
        for (kind, request, _) in kinds_and_requests {
            let world = world(backend);
            let process = begun(&world).await;
            process.say("t1", OPEN).await;
            process.say("t2", request).await;
            let card = process.card().await;
            assert_eq!(card.kind, kind);
            let (before, chain) = (process.entries().await, process.chain().await);
            let refused = process.post("t3", clicked(&card, "decline")).await;
            assert_eq!(refused, Err(PostError::NoSuchOption));
            assert_eq!(process.chain().await, chain);

            let answer = process.say("t4", NEVER_MIND).await;
            let status = InteractionStatus::Dismissed;
            assert_eq!(outcome(&answer), &ActOutcome::CardClosed { card: card.id, status });
            let entries = process.entries().await;
            assert_eq!(events(&entries), events(&before));
            assert_eq!(commands(&entries).len(), commands(&before).len());
            // It is still the user's move, so something still asks (I6).
            let again = process.card().await;
            assert_ne!(again.id, card.id);
            assert_eq!(again.title, card.title);
            assert_eq!(shown(&answer.blocks), [again.id]);
        }
    });
}
