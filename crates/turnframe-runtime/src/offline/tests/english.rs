//! English at the desk.

use super::check;
use super::library::Desk;

#[test]
fn a_phrase_is_read_whatever_surrounds_it_and_in_whatever_order_its_parts_stand() {
    check(
        &Desk::speaking("en"),
        &[
            ("lend Dune to Ada", "lend(title=Dune, member=Ada) +"),
            ("Lend the book Dune to Ada until 3 May.", "lend(title=Dune, member=Ada, due=3 May) +"),
            (
                "could you please lend Dune until 3 May to Ada Ferri?",
                "lend(title=Dune, due=3 May, member=Ada Ferri) +",
            ),
            ("For me it is urgent", "??For me it is urgent"),
            ("until 3 May, lend Dune to Ada", "lend(due=3 May, title=Dune, member=Ada) +"),
            (
                "I would like to check out a new book Dune to Ada please",
                "lend(title=Dune, member=Ada) +",
            ),
            ("check Dune out to Ada", "lend(title=Dune, member=Ada) +"),
            ("LEND DUNE TO ADA NOW!!!", "lend(title=DUNE, member=ADA) +"),
            ("lend Dune to Ada for me if possible", "lend(title=Dune, member=Ada) +"),
            ("can't you lend Dune to Ada?", "lend(title=Dune, member=Ada) +"),
            ("Let's lend Dune to Ada then", "lend(title=Dune, member=Ada) +"),
            ("don't forget to lend Dune to Ada", "lend(title=Dune, member=Ada) +"),
            ("lend Dune to Ada on Friday", "lend(title=Dune, member=Ada, since=Friday) +"),
            ("lend Dune to Ada tomorrow", "lend(title=Dune, member=Ada, since=tomorrow) +"),
            ("lend Dune to Ada 3 May 2027", "lend(title=Dune, member=Ada, since=3 May 2027) +"),
            ("lend Dune", "lend(title=Dune) +"),
            ("lend to Ada", "lend(member=Ada) +"),
        ],
    );
}

#[test]
fn a_value_is_neither_broken_nor_stretched() {
    check(
        &Desk::speaking("en"),
        &[
            ("lend Pride and Prejudice to Ada", "lend(title=Pride and Prejudice, member=Ada) +"),
            ("lend Dune to Ada and Bob", "lend(title=Dune, member=Ada and Bob) +"),
            (
                "lend Dune, Emma and Ulysses to Ada",
                "lend(title=Dune, Emma and Ulysses, member=Ada) +",
            ),
            ("lend Never Let Me Go to Ada", "lend(title=Never Let Me Go, member=Ada) +"),
            ("lend Please Kill Me to Ada", "lend(title=Please Kill Me, member=Ada) +"),
            ("lend \"Letter to the King\" to Ada", "lend(title=Letter to the King, member=Ada) +"),
            ("lend the book “Renew, or don't” to Ada", "lend(title=Renew, or don't, member=Ada) +"),
            ("lend Letter to the King to Ada", "??lend Letter to the King to Ada"),
            (
                "lend Dune to Dr. Ferri until 3. May",
                "lend(title=Dune, member=Dr. Ferri, due=3. May) +",
            ),
            ("lend Dune to Ada until Foosday", "lend(title=Dune, member=Ada, due=Foosday) +"),
            (
                "lend Dune to Ada until 3 May with confetti",
                "lend(title=Dune, member=Ada, due=3 May) + | ??with confetti",
            ),
            ("lend Dune to Ada and to Bob", "lend(title=Dune, member=Ada) + | ??and to Bob"),
        ],
    );
}

#[test]
fn words_name_a_record_or_stand_for_one() {
    check(
        &Desk::speaking("en"),
        &[
            ("renew Emma", "renew [Emma]"),
            ("renew the Emma loan", "renew [Emma]"),
            ("extend the loan of Emma until 2026-05-03", "renew(due=2026-05-03) [Emma]"),
            ("renew that weird atlas", "renew [weird atlas]"),
            ("renew it", "renew -"),
            ("renew the loan", "renew -"),
            ("renew", "renew -"),
            ("please renew everything", "renew [everything]"),
            ("renew Emma by two weeks", "renew(weeks=two) [Emma]"),
            ("renew Emma by -2 weeks", "??renew Emma by -2 weeks"),
            ("lend Dune to Ada and renew it", "lend(title=Dune, member=Ada) + | renew #0"),
            (
                "lend Dune to Ada, then reserve it for Bob",
                "lend(title=Dune, member=Ada) + | reserve(title=Dune, member=Bob) +",
            ),
            ("reserve it for Bob", "reserve(member=Bob) + | ??it"),
            ("renew Emma and return Ulysses", "renew [Emma] | return [Ulysses]"),
            ("renew Emma and Ulysses", "renew [Emma] | renew [Ulysses]"),
            ("renew Emma and Atlas", "renew [Emma and Atlas]"),
            (
                "bring Ulysses back. Also extend it by 3 weeks",
                "return [Ulysses] | renew(weeks=3) #0",
            ),
        ],
    );
}

#[test]
fn case_40_several_acts_questions_and_prohibitions_in_any_order() {
    check(
        &Desk::speaking("en"),
        &[
            (
                "return Emma, renew Ulysses, change my address to 5 Hill Road",
                "return [Emma] | renew [Ulysses] | move(address=5 Hill Road) -",
            ),
            (
                "When is Emma due? Don't submit anything yet, and lend Dune to Ada.",
                "lend(title=Dune, member=Ada) + | due? [Emma] | !submissions",
            ),
            (
                "Hi Ada! Renew Ulysses by 2 weeks but don't return anything yet, thanks a lot",
                "renew(weeks=2) [Ulysses] | !return | \"Hi Ada\" | \"thanks a lot\"",
            ),
            (
                "lend Dune to Ada and don't change anything and what's the due date of Emma",
                "lend(title=Dune, member=Ada) + | due? [Emma] | !everything",
            ),
            ("lend Dune to Ada when is Emma due", "lend(title=Dune, member=Ada) + | due? [Emma]"),
            (
                "1. renew Emma\n2. return Ulysses\n3. reserve Dune for Bob",
                "renew [Emma] | return [Ulysses] | reserve(title=Dune, member=Bob) +",
            ),
            (
                "lend Dune to Ada and Emma to Bob",
                "lend(title=Dune, member=Ada) + | lend(title=Emma, member=Bob) +",
            ),
            (
                "add a card and two stamps to Emma",
                "extras(count=a, extra=card) [Emma] | extras(count=two, extra=stamps) [Emma]",
            ),
            (
                "lend Dune to Ada with 2 stamps",
                "lend(title=Dune, member=Ada) + | extras(count=2, extra=stamps) #0",
            ),
            ("add another stamp to the Emma loan", "extras(count=another, extra=stamp) [Emma]"),
        ],
    );
}

#[test]
fn prohibitions_forbid_what_they_name_and_without_an_object_all_that_their_verb_means() {
    check(
        &Desk::speaking("en"),
        &[
            ("don't renew anything yet", "!renew"),
            ("do not renew Emma", "!renew"),
            ("please never ever renew Emma", "!renew"),
            (
                "lend Dune to Ada without renewing anything",
                "lend(title=Dune, member=Ada) + | !renew",
            ),
            ("don't renew or return Emma", "!renew | !return"),
            ("renew nothing", "!renew"),
            ("lend no books", "!lend"),
            ("no renewal please", "!renew"),
            ("do not submit", "!submissions"),
            ("don't send anything", "!submissions"),
            ("don't send the parcel", "!submissions"),
            ("Don't do anything", "!everything"),
            ("change nothing", "!everything"),
            ("don't release the hold on Dune", "!release"),
            ("I don't know how to renew it", "??I don't know how to renew it"),
        ],
    );
}

#[test]
fn what_is_wondered_about_is_no_request() {
    check(
        &Desk::speaking("en"),
        &[
            ("what if I renew Emma", "~renew [Emma]"),
            ("What would happen if I renewed Emma?", "~renew [Emma]"),
            ("could I renew Emma?", "~renew [Emma]"),
            ("could you renew Emma?", "renew [Emma]"),
            ("could you renew Emma and return Ulysses?", "renew [Emma] | return [Ulysses]"),
            ("should I renew Emma and return Ulysses?", "~renew [Emma] | ~return [Ulysses]"),
            ("renew Emma?", "~renew [Emma]"),
            ("would it help to renew Emma", "~renew [Emma]"),
            ("is it possible to renew Emma by 3 weeks?", "~renew(weeks=3) [Emma]"),
            ("would you mind renewing Emma?", "renew [Emma]"),
            ("I renewed Emma", "??renewed Emma"),
            ("did you renew Emma?", "??did you renew Emma"),
            ("Bob wants to renew Emma", "??Bob wants to renew Emma"),
            ("refuse to renew Emma", "??refuse to renew Emma"),
        ],
    );
}

#[test]
fn a_condition_undoes_the_request_beside_it() {
    check(
        &Desk::speaking("en"),
        &[
            ("if Ada returns Dune, lend it to Bob", "??if Ada returns Dune, lend it to Bob"),
            ("lend Dune to Bob if Ada agrees", "??lend Dune to Bob if Ada agrees"),
            ("renew Emma unless it is reserved", "??renew Emma unless it is reserved"),
            (
                "renew Emma. If it works, return Ulysses.",
                "renew [Emma] | ??If it works, return Ulysses",
            ),
            ("if I renew Emma, when is it due?", "~renew [Emma] | due? #0"),
            ("renew Emma or return Ulysses", "??renew Emma or return Ulysses"),
            ("renew Emma if possible", "renew [Emma]"),
        ],
    );
}

#[test]
fn cancellations_call_off_the_act_before_or_the_open_card() {
    check(
        &Desk::speaking("en"),
        &[
            ("renew Emma. Never mind.", "renew [Emma] | cancel #0"),
            (
                "renew Emma, return Ulysses, scratch that",
                "renew [Emma] | return [Ulysses] | cancel #1",
            ),
            ("never mind", "cancel card"),
            ("cancel that please", "cancel card"),
            ("renew Emma. Cancel it", "renew [Emma] | cancel #0"),
            ("cancel Dune", "release [Dune]"),
            ("renew Emma. No.", "renew [Emma] | cancel #0"),
            (
                "lend Dune to Ada, no, to Bob. forget it",
                "lend(title=Dune, member=Ada) + | lend(title=Dune, member=Bob) + <0 | cancel #1 | cancel #0",
            ),
        ],
    );
}

#[test]
fn corrections_keep_what_they_do_not_replace() {
    check(
        &Desk::speaking("en"),
        &[
            (
                "lend Dune to Ada, no, to Bob",
                "lend(title=Dune, member=Ada) + | lend(title=Dune, member=Bob) + <0",
            ),
            (
                "lend Dune to Ada until 3 May, no wait, make that until 4 May",
                "lend(title=Dune, member=Ada, due=3 May) + | lend(title=Dune, member=Ada, due=4 May) + <0",
            ),
            (
                "lend Dune to Ada until 3 May. Sorry, 4 May.",
                "lend(title=Dune, member=Ada, due=3 May) + | lend(title=Dune, member=Ada, due=4 May) + <0",
            ),
            ("renew Emma, I mean Ulysses", "renew [Emma] | renew [Ulysses] <0"),
            (
                "lend Dune to Ada. Actually, lend Emma to Bob.",
                "lend(title=Dune, member=Ada) + | lend(title=Emma, member=Bob) + <0",
            ),
            (
                "lend Dune to Ada. Actually, lend it to Bob.",
                "lend(title=Dune, member=Ada) + | lend(title=Dune, member=Bob) + <0",
            ),
            ("renew Emma, no, return it instead", "renew [Emma] | return [Emma] <0"),
            ("renew Emma and actually return Ulysses too", "renew [Emma] | return [Ulysses]"),
            ("lend Dune to Ada, no, Bob", "lend(title=Dune, member=Ada) + | cancel #0 | ??Bob"),
            ("renew Emma, no, the other thing", "renew [Emma] | renew [other thing] <0"),
            ("renew Emma, no rush", "renew [Emma] | \"no rush\""),
            ("Actually, renew Emma", "renew [Emma]"),
            ("make it 4 May", "??make it 4 May"),
        ],
    );
}

#[test]
fn questions_are_read_with_and_without_a_question_mark() {
    check(
        &Desk::speaking("en"),
        &[
            ("when is Emma due?", "due? [Emma]"),
            ("when's Emma due", "due? [Emma]"),
            ("could you tell me what the due date of Emma is?", "due? [Emma]"),
            ("What is the due date?", "due? -"),
            ("renew Emma and tell me when it is due", "renew [Emma] | due? #0"),
            ("renew Emma. When is it due?", "renew [Emma] | due? #0"),
            ("what about Emma", "status? [Emma]"),
            ("what about the weather", "??what about the weather"),
            ("How much do I owe?", "fines? -"),
            ("where is Emma and when is Ulysses due?", "status? [Emma] | due? [Ulysses]"),
        ],
    );
}

#[test]
fn what_is_not_understood_is_said_to_be_so() {
    check(
        &Desk::speaking("en"),
        &[
            ("the weather is lovely", "??the weather is lovely"),
            ("renew Emma and feed the cat", "renew [Emma and feed the cat]"),
            ("hello there", "\"hello there\""),
            ("Thanks!", "\"Thanks\""),
            ("please", ""),
            ("yes", "??yes"),
            ("ok, renew Emma", "renew [Emma] | \"ok\""),
        ],
    );
}

#[test]
fn case_34_emoji_shift_no_words() {
    check(
        &Desk::speaking("en"),
        &[
            ("🚀👍🏿 renew Emma 🙏", "renew [Emma]"),
            ("renew 👩‍👩‍👧 Emma", "renew [Emma]"),
            (
                "lend Dune 🚀 to Ada 🎉🎉 and renew Emma 👍🏿",
                "lend(title=Dune, member=Ada) + | renew [Emma]",
            ),
        ],
    );
    let empty = Desk::speaking("en").read("👍🏿");
    assert_eq!(empty, Default::default());
}

#[test]
fn what_was_said_once_holds_for_what_is_joined_to_it() {
    check(
        &Desk::speaking("en"),
        &[
            (
                "change my address to 5 Hill Road and my name to Ada Hill",
                "move(address=5 Hill Road) - | rename(name=Ada Hill) #0",
            ),
            (
                "change the address to 5 Hill Road for Ada Ferri",
                "move(address=5 Hill Road) [Ada Ferri]",
            ),
            ("add 2 stamps for Emma", "extras(count=2, extra=stamps) [Emma]"),
            (
                "lend Dune to Ada and one to Bob",
                "lend(title=Dune, member=Ada) + | lend(member=Bob) +",
            ),
            (
                "order a card, 2 stamps",
                "extras(count=a, extra=card) - | extras(count=2, extra=stamps) -",
            ),
        ],
    );
}

#[test]
fn whoever_says_wait_or_no_after_a_request_has_taken_it_back() {
    check(
        &Desk::speaking("en"),
        &[
            ("renew Emma. Don't.", "renew [Emma] | cancel #0"),
            ("renew Emma. Not yet.", "renew [Emma] | cancel #0"),
            ("renew Emma. Wait!", "renew [Emma] | cancel #0"),
            ("lend Dune to Ada, sorry, Bob", "lend(title=Dune, member=Ada) + | cancel #0 | ??Bob"),
            ("renew Emma, no?", "renew [Emma] | \"no\""),
            ("renew Emma, ok?", "renew [Emma] | \"ok\""),
            ("wait", "\"wait\""),
            ("I don't want to renew Emma", "!renew"),
            ("I'd rather not renew Emma", "!renew"),
            ("hold off on renewing Emma", "!renew"),
            ("no renew Emma", "!renew"),
        ],
    );
}
