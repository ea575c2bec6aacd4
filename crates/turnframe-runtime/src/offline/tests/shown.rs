//! A proposal in one line, for tables of messages.

use turnframe_core::understanding::{
    CancelTarget, Intent, Mood, ProhibitionScope, ProposedTarget, Understanding,
};
use turnframe_core::words::{Message, WordRange};

/// Acts, questions and prohibitions in order, then remarks and what is unread, separated by bars.
///
/// `lend(title=Dune, member=Ada) +` creates; `renew [Emma]`, `renew #0`, `renew -` are on the record that these
/// words name, that act 0 is on, that nothing names; `~` is hypothetical, `<0` corrects act 0.
pub(super) fn shown(message: &Message, understanding: &Understanding) -> String {
    let words = |words: &WordRange| message.slice(*words).unwrap_or("?").to_owned();
    let acts = understanding.acts.iter().map(|act| intent(&act.intent));
    let questions = understanding
        .questions
        .iter()
        .map(|question| format!("{}? {}", question.topic, target(&question.target)));
    let prohibitions = understanding.prohibitions.iter().map(|it| match &it.scope {
        ProhibitionScope::Everything => "!everything".to_owned(),
        ProhibitionScope::Submissions => "!submissions".to_owned(),
        ProhibitionScope::Operations(operations) => {
            let names: Vec<_> = operations.iter().map(|it| it.operation.to_string()).collect();
            format!("!{}", names.join("/"))
        }
    });
    let remarks = understanding.remarks.iter().map(|it| format!("\"{}\"", words(it)));
    let unread = understanding.unread.iter().map(|it| format!("??{}", words(it)));
    let all = acts.chain(questions).chain(prohibitions).chain(remarks).chain(unread);
    all.collect::<Vec<_>>().join(" | ")
}

fn intent(intent: &Intent) -> String {
    match intent {
        Intent::Operate { operation, target, arguments, mood, corrects } => {
            let arguments: Vec<_> =
                arguments.iter().map(|it| format!("{}={}", it.slot, it.pointer.copy)).collect();
            let arguments = if arguments.is_empty() {
                String::new()
            } else {
                format!("({})", arguments.join(", "))
            };
            let mood = if *mood == Mood::Hypothetical { "~" } else { "" };
            let corrects = corrects.map(|it| format!(" <{it}")).unwrap_or_default();
            format!("{mood}{}{arguments} {}{corrects}", operation.operation, self::target(target))
        }
        Intent::Answer { card, option } => {
            let card = card.map(|_| "this ").unwrap_or_default();
            format!("answer {card}{option}")
        }
        Intent::Cancel(CancelTarget::Act(act)) => format!("cancel #{act}"),
        Intent::Cancel(CancelTarget::Card(_)) => "cancel this card".to_owned(),
        Intent::Cancel(CancelTarget::OpenCard) => "cancel card".to_owned(),
    }
}

fn target(target: &ProposedTarget) -> String {
    match target {
        ProposedTarget::Handle(token) => format!("@{token}"),
        ProposedTarget::New(_) => "+".to_owned(),
        ProposedTarget::Act(act) => format!("#{act}"),
        ProposedTarget::Mention(pointer) => format!("[{}]", pointer.copy),
        ProposedTarget::Unstated => "-".to_owned(),
    }
}
