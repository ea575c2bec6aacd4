//! The server's own words for what is not a committed effect, in English and German.
//!
//! One total table: a code without words in a language does not compile. `{it}` stands for what the user
//! calls the operation, `{case}` for the record.

use turnframe_core::id::Locale;
use turnframe_core::text::{Run, Text};

macro_rules! notices {
    ($($code:ident = $name:literal : $en:literal | $de:literal),+ $(,)?) => {
        /// What a notice says. The name is stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the words beside each code say what it means")]
        pub enum NoticeCode {
            $($code),+
        }

        impl NoticeCode {
            /// The stable name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name),+ }
            }

            fn template(self, language: &str) -> &'static str {
                match (self, language) {
                    $((Self::$code, "de") => $de,)+
                    $((Self::$code, _) => $en,)+
                }
            }
        }
    };
}

notices! {
    Rejected = "rejected": "{it} was not carried out: " | "{it} wurde nicht ausgeführt: ",
    RevisionConflict = "revision_conflict":
        "{it} was not carried out: {case} changed in the meantime. Please say again what you want. This is how it stands now: " |
        "{it} wurde nicht ausgeführt: {case} hat sich inzwischen geändert. Bitte sagen Sie noch einmal, was Sie möchten. So steht es jetzt: ",
    AwaitingConfirmation = "awaiting_confirmation":
        "{it} needs your confirmation. Nothing has been sent or changed for it yet." |
        "{it} braucht Ihre Bestätigung. Dafür wurde noch nichts gesendet oder geändert.",
    Waiting = "waiting":
        "{it} was not carried out: another question about {case} has to be answered first. Please ask for it again after that." |
        "{it} wurde nicht ausgeführt: Zu {case} muss zuerst eine andere Frage beantwortet werden. Bitte verlangen Sie es danach noch einmal.",
    WaitingElsewhere = "waiting_elsewhere":
        "{it} was not carried out: a question about {case} is open in another conversation. Please ask for it again after that." |
        "{it} wurde nicht ausgeführt: Zu {case} ist in einem anderen Gespräch eine Frage offen. Bitte verlangen Sie es danach noch einmal.",
    CardDeclined = "card_declined":
        "You declined. Nothing was carried out." | "Sie haben abgelehnt. Es wurde nichts ausgeführt.",
    CardResolved = "card_resolved":
        "Your choice was taken." | "Ihre Auswahl wurde übernommen.",
    CardDismissed = "card_dismissed":
        "The question was put away. Nothing was carried out." |
        "Die Frage wurde zurückgezogen. Es wurde nichts ausgeführt.",
    AlreadyResolved = "already_resolved":
        "This question was answered before; the first answer stands." |
        "Diese Frage wurde schon beantwortet; die erste Antwort gilt.",
    AlreadyDeclined = "already_declined":
        "This question was declined before; that stands, and nothing was carried out." |
        "Diese Frage wurde schon abgelehnt; dabei bleibt es, und es wurde nichts ausgeführt.",
    StaleCard = "stale_card":
        "The question is out of date: {case} changed since it was asked. Nothing was carried out." |
        "Die Frage ist überholt: {case} hat sich seither geändert. Es wurde nichts ausgeführt.",
    NeedsClick = "needs_click":
        "This can only be answered on the card itself. Nothing was carried out." |
        "Das kann nur auf der Karte selbst beantwortet werden. Es wurde nichts ausgeführt.",
    AmbiguousCard = "ambiguous_card":
        "Several questions are open; please answer on the card you mean. Nothing was carried out." |
        "Mehrere Fragen sind offen; bitte antworten Sie auf der Karte, die Sie meinen. Es wurde nichts ausgeführt.",
    NoCard = "no_card":
        "No question is open that this could answer." | "Es ist keine Frage offen, die das beantworten könnte.",
    Prohibited = "prohibited":
        "{it} was not carried out, because you said so in the same message." |
        "{it} wurde nicht ausgeführt, weil Sie es in derselben Nachricht so gesagt haben.",
    ProhibitionHeard = "prohibition_heard":
        "Understood: nothing of that kind is done in this turn." |
        "Verstanden: In diesem Schritt wird nichts dergleichen ausgeführt.",
    WordsUnread = "words_unread":
        "{it} was not carried out: the words beside your click could not be read, and they may have forbidden it. The question stays open." |
        "{it} wurde nicht ausgeführt: Die Worte neben Ihrem Klick konnten nicht gelesen werden und hätten es verbieten können. Die Frage bleibt offen.",
    Unreported = "unreported":
        "What became of {it} could not be told; the record shows it." |
        "Was aus {it} wurde, konnte nicht gemeldet werden; es steht beim Vorgang.",
    Cancelled = "cancelled":
        "{it} was not carried out: you called it off." | "{it} wurde nicht ausgeführt: Sie haben es zurückgenommen.",
    Superseded = "superseded":
        "{it} was replaced by what you said or clicked instead." |
        "{it} wurde durch das ersetzt, was Sie stattdessen gesagt oder angeklickt haben.",
    AmbiguousTarget = "ambiguous_target":
        "Several records may be meant. Please choose one; nothing was changed." |
        "Es können mehrere gemeint sein. Bitte wählen Sie aus; es wurde nichts geändert.",
    TargetMissing = "target_missing":
        "{it} was not carried out: I do not know which record you mean." |
        "{it} wurde nicht ausgeführt: Ich weiß nicht, welcher Vorgang gemeint ist.",
    NotExecuted = "not_executed":
        "{it} was not carried out, because what it builds on was not." |
        "{it} wurde nicht ausgeführt, weil die Voraussetzung dafür nicht ausgeführt wurde.",
    Hypothetical = "hypothetical":
        "You asked what would be; {it} was not carried out." |
        "Sie haben gefragt, was wäre; {it} wurde nicht ausgeführt.",
    NotOnOffer = "not_on_offer":
        "{it} is not possible for {case} as it stands." | "{it} ist für {case} in diesem Stand nicht möglich.",
    Incomplete = "incomplete":
        "{it} was not carried out: please say the {slot}." | "{it} wurde nicht ausgeführt: Bitte nennen Sie {slot}.",
    Unreadable = "unreadable_value":
        "{it} was not carried out: I could not read the {slot}." |
        "{it} wurde nicht ausgeführt: {slot} konnte ich nicht lesen.",
    AmbiguousValue = "ambiguous_value":
        "{it} was not carried out: the {slot} may mean several things: " |
        "{it} wurde nicht ausgeführt: {slot} kann mehreres bedeuten: ",
    TimeGap = "time_gap":
        "{it} was not carried out: at that time the clock jumps forward, so it does not exist. Please name another {slot}." |
        "{it} wurde nicht ausgeführt: Zu dieser Zeit wird die Uhr vorgestellt, es gibt sie nicht. Bitte nennen Sie {slot} anders.",
    TimeOverlap = "time_overlap":
        "{it} was not carried out: that time happens twice, because the clock is set back. Please name another {slot}." |
        "{it} wurde nicht ausgeführt: Diese Zeit gibt es zweimal, weil die Uhr zurückgestellt wird. Bitte nennen Sie {slot} anders.",
    Failed = "failed":
        "{it} was not carried out: something went wrong on our side. Please try again." |
        "{it} wurde nicht ausgeführt: Auf unserer Seite ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.",
    NotAnsweredAmbiguous = "not_answered_ambiguous":
        "I did not answer yet: several records may be meant. Please choose one." |
        "Ich habe noch nicht geantwortet: Es können mehrere gemeint sein. Bitte wählen Sie aus.",
    NotAnsweredMissing = "not_answered_missing":
        "I did not answer: I do not know which record you mean." |
        "Ich habe nicht geantwortet: Ich weiß nicht, welcher Vorgang gemeint ist.",
    NotAnsweredDepends = "not_answered_depends":
        "I did not answer, because what the question is about was not carried out." |
        "Ich habe nicht geantwortet, weil das, worum es geht, nicht ausgeführt wurde.",
    NotAnsweredUnknown = "not_answered_unknown":
        "I did not answer: I know nothing about that." | "Ich habe nicht geantwortet: Dazu weiß ich nichts.",
    Unread = "unread": "I could not read this and did nothing for it: " | "Das konnte ich nicht lesen, und dafür wurde nichts getan: ",
    NotUnderstood = "not_understood":
        "Your words could not be read just now, so nothing was done for them. Please try again." |
        "Ihre Worte konnten gerade nicht gelesen werden, für sie wurde nichts getan. Bitte versuchen Sie es noch einmal.",
    TurnGivenUp = "turn_given_up":
        "Something went wrong on our side before this was finished. What was recorded until then stands and is shown with the record; nothing more is done for this message." |
        "Auf unserer Seite ist etwas schiefgegangen, bevor dies fertig war. Was bis dahin vermerkt wurde, gilt und steht beim Vorgang; für diese Nachricht wird nichts weiter getan.",
    NothingAsked = "nothing_asked":
        "Nothing was asked for, so nothing was done." | "Es wurde um nichts gebeten, also wurde nichts getan.",
}

/// What a template's placeholders stand for.
#[derive(Debug, Clone, Default)]
pub struct NoticeDetails {
    /// What the user calls the operation.
    pub it: Option<String>,
    /// The record.
    pub case: Option<Text>,
    /// The slot.
    pub slot: Option<String>,
    /// What follows the words.
    pub tail: Text,
}

/// Words a notice in a language.
#[must_use]
pub fn notice(code: NoticeCode, details: &NoticeDetails, locale: &Locale) -> Text {
    let language = locale.language();
    let mut text = Text::new();
    let mut rest = code.template(language);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        text = text.plain(before);
        text = match (name, &details.case) {
            ("case", Some(case)) => text.text(case),
            ("case", None) => text.plain(it(language)),
            ("slot", _) => text.plain(details.slot.as_deref().unwrap_or(value(language))),
            _ => text.plain(details.it.as_deref().unwrap_or(this(language))),
        };
        rest = after;
    }
    capitalised(text.plain(rest)).text(&details.tail)
}

/// A sentence begins with a capital, whatever the operation is called.
fn capitalised(text: Text) -> Text {
    let mut runs = text.runs().iter();
    let Some(Run::Plain(first)) = runs.next() else { return text };
    let mut chars = first.chars();
    let Some(letter) = chars.next() else { return text };
    let begun = Text::from(letter.to_uppercase().chain(chars).collect::<String>());
    runs.fold(begun, |text, run| match run {
        Run::Plain(words) => text.plain(words),
        Run::Personal(words) => text.personal(words),
    })
}

fn it(language: &str) -> &'static str {
    if language == "de" { "der Vorgang" } else { "the record" }
}

fn this(language: &str) -> &'static str {
    if language == "de" { "Das" } else { "This" }
}

fn value(language: &str) -> &'static str {
    if language == "de" { "den Wert" } else { "value" }
}

/// The words of a choice between records.
#[must_use]
pub fn choice(locale: &Locale) -> turnframe_core::reduce::ChoiceWords {
    let (title, none) = match locale.language() {
        "de" => ("Was ist gemeint?", "Nichts davon"),
        _ => ("Which one do you mean?", "None of these"),
    };
    turnframe_core::reduce::ChoiceWords { title: title.into(), none: none.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_a_person_stays_erasable() {
        let english = Locale::new("en").expect("locale");
        let details = NoticeDetails {
            it: Some("the loan".to_owned()),
            case: Some("book 7".into()),
            ..NoticeDetails::default()
        };
        let text = notice(NoticeCode::NotOnOffer, &details, &english).to_string();
        assert_eq!(text, "The loan is not possible for book 7 as it stands.");
    }

    #[test]
    fn a_notice_without_an_operation_still_reads_as_a_sentence() {
        let german = Locale::new("de-AT").expect("locale");
        let text = notice(NoticeCode::NeedsClick, &NoticeDetails::default(), &german).to_string();
        assert!(text.starts_with("Das kann nur auf der Karte"), "{text}");
    }
}
