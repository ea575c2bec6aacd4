//! Words that answer an open card, and words that only look like it.

use super::check;
use super::library::Desk;

fn confirming(tag: &'static str) -> Desk {
    Desk::speaking(tag).with_card(&[("confirm", "Lend it"), ("decline", "Leave it")])
}

#[test]
fn a_yes_or_a_no_alone_answers_the_option_that_means_it() {
    check(
        &confirming("en"),
        &[
            ("yes", "answer confirm"),
            ("Yes, please!", "answer confirm"),
            ("ok", "answer confirm"),
            ("ok 👍", "answer confirm"),
            ("sure, thanks", "answer confirm | \"thanks\""),
            ("no", "answer decline"),
            ("No, thank you", "answer decline | \"thank you\""),
            ("yes, and renew Emma", "answer confirm | renew [Emma]"),
            ("yes, but don't submit anything", "answer confirm | !submissions"),
            ("never mind", "cancel card"),
        ],
    );
    check(
        &confirming("de"),
        &[
            ("Ja", "answer confirm"),
            ("ja bitte", "answer confirm"),
            ("Nein danke", "answer decline"),
        ],
    );
}

#[test]
fn case_18_a_yes_beside_a_question_confirms_nothing() {
    check(
        &confirming("en"),
        &[
            ("ok, what does it do?", "??ok, what does it do"),
            ("yes, what does it do?", "??yes, what does it do"),
            ("yes, when is Emma due?", "due? [Emma] | \"yes\""),
            ("yes if it is free", "??yes if it is free"),
            ("ok, renew Emma", "renew [Emma] | \"ok\""),
            ("yes, could I renew Emma?", "~renew [Emma] | \"yes\""),
            ("yes? no", "??yes? no"),
            ("yes, hmm, blah", "??yes, hmm, blah"),
            ("no, what does it do?", "??no, what does it do"),
            ("yes?", "??yes"),
        ],
    );
}

#[test]
fn case_18_two_cards_leave_it_to_the_reducer_which_is_meant() {
    let two = confirming("en").with_card(&[("confirm", "Renew"), ("decline", "Keep")]);
    check(&two, &[("yes", "answer confirm"), ("no", "answer decline")]);
    let differing = confirming("en").with_card(&[("yes", "Renew"), ("no", "Keep")]);
    check(&differing, &[("yes", "??yes"), ("no", "??no")]);
    let choosing = confirming("en").with_card(&[("1", "Emma · Ada"), ("none", "None of these")]);
    check(&choosing, &[("yes", "answer confirm"), ("None of these", "answer this none")]);
}

#[test]
fn the_words_of_an_option_answer_it() {
    let desk = Desk::speaking("en").with_card(&[("company", "The company"), ("reader", "Ada")]);
    check(
        &desk,
        &[
            ("the company", "answer this company"),
            ("Company, please", "answer this company"),
            ("ADA", "answer this reader"),
            ("Ada and Bob", "??Ada and Bob"),
            ("yes", "??yes"),
        ],
    );
    check(
        &confirming("en"),
        &[("lend it", "answer this confirm"), ("Lend it!", "answer this confirm")],
    );
    let twice = confirming("en").with_card(&[("confirm", "Lend it"), ("decline", "No")]);
    check(&twice, &[("lend it", "answer confirm")]);
    let differing = confirming("en").with_card(&[("yes", "Lend it"), ("no", "No")]);
    check(&differing, &[("lend it", "lend + | ??it")]);
}
