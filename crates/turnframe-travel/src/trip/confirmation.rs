//! What a confirmation card says: the question, and every value the click would act on.

use turnframe_core::id::Locale;
use turnframe_core::personal::Personal;
use turnframe_core::text::Text;
use turnframe_core::workflow::Confirmation;

use super::command::{Opening, TripCommand};
use super::copy::{Field, TripWords, named, words};
use super::state::TripState;
use crate::airline::RebookingOrder;

/// Words the card of a command.
pub(super) fn confirmation(
    state: &TripState,
    command: &TripCommand,
    locale: &Locale,
) -> Confirmation {
    let words = words(locale);
    Confirmation {
        title: words.question(command, &words.label(state)),
        lines: lines(state, command, words),
        confirm: words.confirm(command).into(),
        decline: words.decline().into(),
    }
}

fn lines(state: &TripState, command: &TripCommand, words: &dyn TripWords) -> Vec<Text> {
    let language = words.language();
    let line = |field: Field, value: Text| words.line(field, &value);
    match command {
        TripCommand::Open(opening) => opening_lines(opening, words),
        TripCommand::Rename { name } => vec![line(Field::Name, personal(name))],
        TripCommand::SetDestination { destination } => {
            vec![line(Field::Destination, destination.as_str().into())]
        }
        TripCommand::SetDate { date } => vec![line(Field::Date, language.date(*date).into())],
        TripCommand::SetDeparture { departure } => {
            vec![line(Field::Departure, language.moment(departure.civil).into())]
        }
        TripCommand::AddTraveller { traveller } => {
            vec![line(Field::Traveller, personal(traveller))]
        }
        TripCommand::AddExtra { kind, quantity, payer } => {
            let payer = payer.map_or(words.no_payer(), |payer| words.payer(payer));
            vec![
                line(Field::Kind, words.kind(*kind, *quantity).into()),
                line(Field::Quantity, quantity.to_string().into()),
                line(Field::Payer, payer.into()),
            ]
        }
        TripCommand::SetPayer { extra, payer } => vec![
            line(Field::Extra(*extra), extra_of(state, *extra, words)),
            line(Field::Payer, words.payer(*payer).into()),
        ],
        TripCommand::RemoveExtra { extra } => {
            vec![line(Field::Extra(*extra), extra_of(state, *extra, words))]
        }
        TripCommand::ProtectLeg { leg } => vec![line(Field::ProtectedLeg, leg.as_str().into())],
        TripCommand::RequestRebooking => {
            state.order().map_or_else(Vec::new, |order| order_lines(&order, words))
        }
        TripCommand::Withdraw => {
            let facts = super::project::facts(state, words);
            facts.iter().map(|fact| named(&fact.name, &fact.value)).collect()
        }
        TripCommand::RecordRebookingOutcome { effect, outcome, sequence } => {
            let mut lines = vec![
                line(Field::Rebooking, words.rebooking(&outcome.clone().into()).into()),
                line(Field::Effect, effect.to_string().into()),
            ];
            lines.extend(
                sequence.map(|sequence| line(Field::Sequence, sequence.to_string().into())),
            );
            lines
        }
        TripCommand::RecordRebookingOverdue { rebooking, seconds } => vec![
            line(Field::Rebooking, rebooking.to_string().into()),
            line(Field::Waited, words.span(*seconds).into()),
        ],
    }
}

fn opening_lines(opening: &Opening, words: &dyn TripWords) -> Vec<Text> {
    let Opening { name, destination, date, traveller } = opening;
    let mut lines = Vec::new();
    lines.extend(name.iter().map(|name| words.line(Field::Name, &personal(name))));
    let destination = destination.as_deref();
    lines.extend(destination.map(|it| words.line(Field::Destination, &it.into())));
    let date = date.map(|date| words.language().date(date));
    lines.extend(date.map(|date| words.line(Field::Date, &date.into())));
    lines.extend(traveller.iter().map(|it| words.line(Field::Traveller, &personal(it))));
    lines
}

/// The whole of what the airline would be sent.
fn order_lines(order: &RebookingOrder, words: &dyn TripWords) -> Vec<Text> {
    let RebookingOrder { destination, date, departure, travellers, protected_legs } = order;
    let language = words.language();
    let mut lines = vec![words.line(Field::Destination, &destination.as_str().into())];
    lines.extend(date.map(|date| words.line(Field::Date, &language.date(date).into())));
    let departure = departure.map(|civil| language.moment(civil));
    lines.extend(departure.map(|moment| words.line(Field::Departure, &moment.into())));
    lines.extend(travellers.iter().map(|it| words.line(Field::Traveller, &personal(it))));
    let legs = protected_legs.iter();
    lines.extend(legs.map(|leg| words.line(Field::ProtectedLeg, &leg.as_str().into())));
    lines
}

fn extra_of(state: &TripState, number: u32, words: &dyn TripWords) -> Text {
    state.extra(number).map_or_else(Text::new, |extra| words.extra(extra).into())
}

fn personal(words: &Personal<String>) -> Text {
    Text::new().personal(words)
}
