//! Messages that a careless reader would act upon.

use super::check;
use super::library::Desk;

#[test]
fn what_is_told_hedged_or_quoted_is_no_request() {
    check(
        &Desk::speaking("en"),
        &[
            ("maybe renew Emma", "??maybe renew Emma"),
            ("we might renew Emma", "??we might renew Emma"),
            ("Bob said to renew Emma", "??Bob said to renew Emma"),
            ("someone should renew Emma", "??someone should renew Emma"),
            ("renewing Emma is a bad idea", "??renewing Emma is a bad idea"),
            ("it would be wrong to renew Emma", "??it would be wrong to renew Emma"),
            ("they renewed it already", "??they renewed it already"),
            ("The sign said \"renew Emma\"", "??The sign said \"renew Emma"),
            ("renew Emma\n> return Ulysses", "renew [Emma] | ??return Ulysses"),
        ],
    );
}

#[test]
fn words_that_may_name_another_record_are_not_passed_over() {
    check(
        &Desk::speaking("en"),
        &[
            ("renew all loans", "renew [all loans]"),
            ("renew the Atlas loan", "renew [Atlas loan]"),
            ("renew the loan for Atlas", "renew [loan for Atlas]"),
            ("renew Emma twice", "renew [Emma twice]"),
            ("add a stamp for Atlas", "??add a stamp for Atlas"),
            (
                "change my address to 5 Hill Road and that's it",
                "move(address=5 Hill Road) - | \"that's it\"",
            ),
        ],
    );
}

#[test]
fn a_denial_beside_a_value_denies_that_value_only() {
    check(
        &Desk::speaking("en"),
        &[
            ("add a stamp, not a card", "extras(count=a, extra=stamp) - | ??not a card"),
            (
                "add a stamp instead of a card",
                "extras(count=a, extra=stamp) - | ??instead of a card",
            ),
            ("renew Emma, not Ulysses", "renew [Emma] | ??not Ulysses"),
            ("don't renew Emma but return Ulysses", "return [Ulysses] | !renew"),
            ("don't send anything to the printer", "!submissions"),
        ],
    );
}

#[test]
fn two_readings_of_equal_weight_are_none() {
    let desk = Desk::speaking("en");
    check(
        &desk,
        &[
            ("add -5 stamps", "??add -5 stamps"),
            ("lend Dune to Ada to Bob", "??lend Dune to Ada to Bob"),
            ("renew Emma or Ulysses", "??renew Emma or Ulysses"),
        ],
    );
}

#[test]
fn a_language_without_a_lexicon_is_read_to_the_letter() {
    check(
        &Desk::speaking("fr"),
        &[
            ("renew Emma", "renew [Emma]"),
            ("please renew Emma", "??please renew Emma"),
            ("ne renew pas Emma", "??ne renew pas Emma"),
        ],
    );
}
