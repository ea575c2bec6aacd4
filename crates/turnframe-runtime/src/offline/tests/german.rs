//! German at the desk.

use super::check;
use super::library::Desk;

#[test]
fn a_verb_stands_first_or_last_and_whole_or_in_two() {
    check(
        &Desk::speaking("de"),
        &[
            ("Verleihe Dune an Ada", "lend(title=Dune, member=Ada) +"),
            (
                "Bitte das Buch Dune an Ada bis 3. Mai verleihen.",
                "lend(title=Dune, member=Ada, due=3. Mai) +",
            ),
            (
                "Kannst du mir bitte Dune bis zum 3.5.2027 an Ada Ferri ausleihen?",
                "lend(title=Dune, due=zum 3.5.2027, member=Ada Ferri) +",
            ),
            ("leih Dune an Ada aus", "lend(title=Dune, member=Ada) +"),
            ("leihe bis Freitag Dune an Ada aus", "lend(due=Freitag, title=Dune, member=Ada) +"),
            ("Ich möchte Dune an Ada ausleihen", "lend(title=Dune, member=Ada) +"),
            ("Es wäre nett, Dune an Ada auszuleihen", "lend(title=Dune, member=Ada) +"),
            ("könnten Sie Emma verlängern?", "renew [Emma]"),
            ("verlaengere Emma um zwei Wochen", "renew(weeks=zwei) [Emma]"),
            ("gib Emma zurück", "return [Emma]"),
            ("Emma bitte zurückgeben", "return [Emma]"),
            (
                "Verleihe Im Westen nichts Neues an Ada",
                "lend(title=Im Westen nichts Neues, member=Ada) +",
            ),
            ("verleihe Dune an Ada 3. Mai", "lend(title=Dune, member=Ada, since=3. Mai) +"),
        ],
    );
}

#[test]
fn case_40_several_acts_questions_and_prohibitions_in_any_order() {
    check(
        &Desk::speaking("de-AT"),
        &[
            (
                "Gib Emma zurück, verlängere Ulysses und ändere meine Adresse auf Hauptstraße 5",
                "return [Emma] | renew [Ulysses] | move(address=Hauptstraße 5) -",
            ),
            (
                "Hallo! Wann ist Emma fällig? Verlängere noch nichts, aber reserviere Dune für Ada. Danke",
                "reserve(title=Dune, member=Ada) + | due? [Emma] | !renew | \"Hallo\" | \"Danke\"",
            ),
            (
                "Verleihe Dune an Ada und verlängere es um 2 Wochen",
                "lend(title=Dune, member=Ada) + | renew(weeks=2) #0",
            ),
            ("Emma und Ulysses verlängern", "renew [Emma] | renew [Ulysses]"),
        ],
    );
}

#[test]
fn prohibitions() {
    check(
        &Desk::speaking("de"),
        &[
            ("verlängere Emma nicht", "!renew"),
            ("Verlängere Emma bitte noch nicht", "!renew"),
            ("Bitte nicht verlängern", "!renew"),
            ("verleihe kein Buch", "!lend"),
            ("verlängere nichts", "!renew"),
            ("nichts absenden", "!submissions"),
            ("schick noch nichts ab", "!submissions"),
            ("Ändere nichts", "!everything"),
            ("mach noch nichts", "!everything"),
            ("keine Verlängerung bitte", "!renew"),
            (
                "reserviere Dune für Ada, ohne Emma zu verlängern",
                "reserve(title=Dune, member=Ada) + | !renew",
            ),
        ],
    );
}

#[test]
fn what_is_wondered_about_depends_or_was_done_is_no_request() {
    check(
        &Desk::speaking("de"),
        &[
            ("Was wäre, wenn ich Emma verlängere?", "~renew [Emma]"),
            ("was passiert wenn ich Emma zurückgebe", "~return [Emma]"),
            ("Kann ich Emma verlängern?", "~renew [Emma]"),
            (
                "Kannst du Emma verlängern und Ulysses zurückgeben?",
                "renew [Emma] | return [Ulysses]",
            ),
            ("Wenn Ada kommt, verlängere Emma", "??Wenn Ada kommt, verlängere Emma"),
            ("Verlängere Emma, falls es geht", "renew [Emma]"),
            ("Verlängere Emma, falls Ada fragt", "??Verlängere Emma, falls Ada fragt"),
            ("Ada hat Emma verlängert", "??Ada hat Emma verlängert"),
            (
                "Verlängere Emma oder gib Ulysses zurück",
                "??Verlängere Emma oder gib Ulysses zurück",
            ),
        ],
    );
}

#[test]
fn corrections_and_cancellations() {
    check(
        &Desk::speaking("de"),
        &[
            (
                "Verleihe Dune an Ada, nein, an Bob",
                "lend(title=Dune, member=Ada) + | lend(title=Dune, member=Bob) + <0",
            ),
            (
                "Verleihe Dune an Ada bis 3. Mai. Entschuldigung, bis 4. Mai",
                "lend(title=Dune, member=Ada, due=3. Mai) + | lend(title=Dune, member=Ada, due=4. Mai) + <0",
            ),
            ("Verlängere Emma, ich meine Ulysses", "renew [Emma] | renew [Ulysses] <0"),
            ("Verlängere Emma. Vergiss es.", "renew [Emma] | cancel #0"),
            ("Vergiss es", "cancel card"),
            ("Verlängere Emma, nein, gib es stattdessen zurück", "renew [Emma] | return [Emma] <0"),
        ],
    );
}

#[test]
fn questions_and_remarks() {
    check(
        &Desk::speaking("de"),
        &[
            ("Wann ist Emma fällig?", "due? [Emma]"),
            ("Sag mir bitte, wann Emma fällig ist", "due? [Emma]"),
            ("Wie ist das Rückgabedatum?", "due? -"),
            ("Wie viel schulde ich?", "fines? -"),
            ("Guten Morgen, was ist mit Emma?", "status? [Emma] | \"Guten Morgen\""),
            ("das Wetter ist schön", "??das Wetter ist schön"),
        ],
    );
}
