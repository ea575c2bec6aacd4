//! Where a dialogue ended, and what is said of it.

use serde_json::{Value, json};
use tokio::net::TcpListener;
use turnframe_core::canonical::Json;
use turnframe_core::id::SubjectId;
use turnframe_core::personal::Personal;
use turnframe_runtime::port::{Delivery, Destination, Dispatched, Reconciled, Resending};

use crate::wire::At::{Content, Data, Greeting, Hello, Recipient, Sender};
use crate::wire::Says::{Leaves, Line, Stalls};
use crate::wire::{At, Says, Scripted};
use crate::{delivery, destination, effect, mail};

const TO: [&str; 2] = ["ada@ferri.example", "ben@ferri.example"];

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Accepted,
    Rejected(String),
    NotSent,
    Unknown,
}

/// What a mail to two comes to, and what the server heard.
async fn sent(script: &[(At, Says)]) -> (Dispatched, Vec<String>) {
    let server = Scripted::new(script.iter().copied()).await;
    let dispatched = destination(server.address).dispatch(&delivery(&mail(&TO))).await;
    (dispatched, server.heard())
}

async fn outcome(at: At, says: Says) -> Outcome {
    let (dispatched, heard) = sent(&[(at, says)]).await;
    let hellos = heard.iter().filter(|line| line.starts_with("EHLO")).count();
    assert!(hellos <= 1, "one dispatch is one connection: {heard:?}");
    match dispatched {
        Dispatched::Accepted { .. } => Outcome::Accepted,
        Dispatched::Rejected { code, .. } => Outcome::Rejected(code),
        Dispatched::NotSent { .. } => Outcome::NotSent,
        Dispatched::Unknown { .. } => Outcome::Unknown,
    }
}

#[tokio::test]
async fn what_the_server_takes_is_accepted_under_its_words_and_the_effects_message_id() {
    let (dispatched, heard) = sent(&[]).await;
    let id = format!("<{}@shop.example>", effect(1));
    let details = Json::of(&json!({"message_id": id})).expect("JSON");
    let reference = "2.0.0 Ok: queued as 4XYZ".to_owned();
    assert_eq!(dispatched, Dispatched::Accepted { reference, details });
    for line in [
        "EHLO shop.example".to_owned(),
        "MAIL FROM:<shop@shop.example>".to_owned(),
        "RCPT TO:<ada@ferri.example>".to_owned(),
        "RCPT TO:<ben@ferri.example>".to_owned(),
        format!("Message-ID: {id}"),
        // A dot alone is a line of the text.
        ".".to_owned(),
        "Two".to_owned(),
    ] {
        assert!(heard.contains(&line), "{line:?} in {heard:#?}");
    }
}

#[tokio::test]
async fn what_is_not_about_the_message_is_not_sent_even_where_it_is_for_good() {
    for at in [Greeting, Hello] {
        for says in [
            Line("554 5.3.2 No service"),
            Line("421 4.3.2 Not now"),
            Line("hello"),
            Line("354 Go on"),
            Leaves,
        ] {
            let outcome = outcome(at, says).await;
            // A greeting of another positive kind is a greeting.
            let expected =
                if says == Line("354 Go on") { Outcome::Accepted } else { Outcome::NotSent };
            assert_eq!(outcome, expected, "{at:?} {says:?}");
        }
    }
}

#[tokio::test]
async fn before_the_content_a_refusal_for_good_is_one_and_everything_else_was_not_sent() {
    for at in [Sender, Recipient(1), Recipient(2), Data] {
        let refused = Outcome::Rejected("550".to_owned());
        assert_eq!(outcome(at, Line("550 5.1.1 No such user")).await, refused, "{at:?}");
        for says in [Line("451 4.7.1 Greylisted"), Line("hello"), Leaves] {
            assert_eq!(outcome(at, says).await, Outcome::NotSent, "{at:?} {says:?}");
        }
    }
    // An answer of the wrong kind permits nothing.
    assert_eq!(outcome(Data, Line("250 Ok")).await, Outcome::NotSent);
    assert_eq!(outcome(Sender, Line("354 Go on")).await, Outcome::NotSent);
}

#[tokio::test]
async fn i15_once_the_content_was_begun_only_the_servers_word_settles_it() {
    let refused = Outcome::Rejected("554".to_owned());
    assert_eq!(outcome(Content, Line("554 5.7.1 Spam")).await, refused);
    for says in
        [Line("451 4.3.0 Try again"), Line("354 Go on"), Line("hello"), Line("250"), Leaves, Stalls]
    {
        assert_eq!(outcome(Content, says).await, Outcome::Unknown, "{says:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_ready_in_time_was_sent_nothing() {
    let stalling = [Greeting, Hello, Sender, Recipient(2), Data].map(|at| async move {
        assert_eq!(outcome(at, Stalls).await, Outcome::NotSent, "{at:?}");
    });
    futures::future::join_all(stalling).await;
}

#[tokio::test]
async fn a_refusal_names_the_step_and_the_code_and_nobody() {
    let refusal = "550 5.1.1 <ben@ferri.example>: no such user";
    let (dispatched, heard) = sent(&[(Recipient(2), Line(refusal))]).await;
    let details = Json::of(&json!({"at": "recipient 2", "enhanced": "5.1.1"})).expect("JSON");
    assert_eq!(dispatched, Dispatched::Rejected { code: "550".to_owned(), details });
    assert!(!heard.contains(&"DATA".to_owned()), "who is left gets nothing either: {heard:?}");
    let (dispatched, _) = sent(&[(Sender, Line("553 Not you, shop@shop.example"))]).await;
    let details = Json::of(&json!({"at": "sender"})).expect("JSON");
    assert_eq!(dispatched, Dispatched::Rejected { code: "553".to_owned(), details });
    for at in [Recipient(1), Content] {
        let later = "450 4.2.1 <ada@ferri.example>: later";
        let (dispatched, _) = sent(&[(at, Line(later))]).await;
        let (Dispatched::NotSent { reason } | Dispatched::Unknown { reason }) = dispatched else {
            unreachable!("{dispatched:?}")
        };
        assert!(reason.contains("450 4.2.1") && !reason.contains("ferri"), "{reason}");
    }
}

#[tokio::test]
async fn words_that_name_a_recipient_or_cannot_be_kept_are_no_reference() {
    let id = format!("<{}@shop.example>", effect(1));
    for words in ["250 Queued for Ada@Ferri.example", "250 ", "250 a\u{7}b"] {
        let (dispatched, _) = sent(&[(Content, Line(words))]).await;
        let Dispatched::Accepted { reference, .. } = dispatched else {
            unreachable!("{words}: {dispatched:?}")
        };
        assert_eq!(reference, id, "{words}");
    }
}

#[tokio::test]
async fn what_cannot_be_a_mail_is_not_sent() {
    let server = Scripted::new([]).await;
    let destination = destination(server.address);
    let of = |payload: Value| delivery(&payload);
    let subject = SubjectId::new("s-1").expect("a subject");
    let erased = serde_json::to_value(Personal::<String>::Erased { subject }).expect("JSON");
    for (delivery, why) in [
        (Delivery { operation: "fax".to_owned(), ..of(mail(&TO)) }, "no operation \"fax\""),
        (of(json!({"to": TO})), "the expected shape"),
        (of(json!({"to": [erased], "subject": "a", "text": "b"})), "was erased"),
        (of(mail(&["ada"])), "recipient 1 is not an address"),
        (of(json!({"to": TO, "subject": "a\r\nBcc: eve@x.example", "text": "b"})), "a subject is"),
    ] {
        let dispatched = destination.dispatch(&delivery).await;
        let says_why =
            matches!(&dispatched, Dispatched::NotSent { reason } if reason.contains(why));
        assert!(says_why, "{dispatched:?}");
    }
    assert_eq!(server.heard(), [""; 0]);
}

#[tokio::test]
async fn nobody_can_be_asked_what_became_of_a_mail() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let destination = destination(listener.local_addr().expect("an address"));
    let answer = destination.reconcile(&delivery(&mail(&TO))).await;
    assert!(matches!(answer, Reconciled::StillUnknown { .. }), "{answer:?}");
    assert_eq!(destination.profile().resending, Resending::Never);
}
