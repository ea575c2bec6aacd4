//! The interpreter as the turn sees it.

use std::sync::Arc;

use turnframe_core::operation::Phrase;
use turnframe_core::understanding::{Brief, OfferedOperation, Understanding};
use turnframe_core::words::WordRange;

use super::library::{self, Desk};
use super::shown::shown;
use crate::offline::{OfflineInterpreter, PhraseFault};
use crate::port::Interpreter;

fn interpreter() -> OfflineInterpreter {
    let (operations, topics) = library::offer();
    OfflineInterpreter::new(operations, topics).expect("grammar")
}

/// The desk's offer, where an operation is asked for with this phrase only.
fn offer_with(phrase: &str) -> Arc<[OfferedOperation]> {
    let mut operations = library::offer().0.to_vec();
    operations[1].spec.phrases = vec![Phrase::new(&library::locale("en"), phrase)];
    operations.into()
}

#[tokio::test]
async fn a_reading_that_was_refused_is_followed_by_one_that_claims_nothing() {
    let brief = Desk::speaking("en").brief("renew Emma now");
    let first = interpreter().understand(&brief, None).await.expect("reading");
    assert_eq!(first.acts.len(), 1);
    let second = interpreter().understand(&brief, Some("act 0 …")).await.expect("reading");
    let unread = vec![WordRange { start: 0, end: 3 }];
    assert_eq!(second, Understanding { unread, ..Understanding::default() });
    assert_eq!(second.check(&brief), Ok(()));
}

#[test]
fn a_phrase_that_cannot_be_read_is_found_when_the_interpreter_is_built() {
    let faults = [
        ("renew [{target}", PhraseFault::Brackets),
        ("renew ()", PhraseFault::Empty),
        ("renew {colour}", PhraseFault::Slot("colour".to_owned())),
        ("{target}", PhraseFault::NoWord),
    ];
    for (phrase, fault) in faults {
        let built = OfflineInterpreter::new(offer_with(phrase), library::offer().1);
        let error = built.expect_err(phrase);
        assert_eq!((error.of.as_str(), error.phrase.as_str()), ("loan.renew", phrase));
        assert_eq!(error.fault, fault, "{phrase}");
    }
    let adjacent = OfflineInterpreter::new(
        {
            let mut operations = library::offer().0.to_vec();
            let phrase = Phrase::new(&library::locale("en"), "lend {title} {member}");
            operations[0].spec.phrases = vec![phrase];
            operations.into()
        },
        library::offer().1,
    );
    assert_eq!(adjacent.expect_err("adjacent").fault, PhraseFault::Adjacent("member".to_owned()));
}

#[test]
fn another_offer_is_read_as_it_declares_itself() {
    let interpreter = interpreter();
    let mut brief = Desk::speaking("en").brief("prolong Emma");
    let read = |brief: &Brief| shown(&brief.message, &interpreter.read(brief));
    assert_eq!(read(&brief), "??prolong Emma");
    let known = brief.operations.clone();
    brief.operations = offer_with("prolong {target}");
    assert_eq!(read(&brief), "renew [Emma]");
    brief.operations = known;
    assert_eq!(read(&brief), "??prolong Emma");
}

#[test]
fn an_offer_without_an_operation_cannot_be_asked_for_it() {
    let mut brief = Desk::speaking("en").brief("renew Emma");
    brief.operations = Arc::new([]);
    let understanding = interpreter().read(&brief);
    assert_eq!(shown(&brief.message, &understanding), "??renew Emma");
    assert_eq!(understanding.check(&brief), Ok(()));
}
