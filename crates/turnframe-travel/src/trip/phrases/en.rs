//! English phrases.

use super::{ExtraKind, Operation, Payer, PhraseBook, Topic};

/// English as it is asked in.
pub(super) struct English;

impl PhraseBook for English {
    fn operation(&self, operation: Operation) -> &'static [&'static str] {
        match operation {
            Operation::Open => &[
                "(open|create|start|plan|book|set up) [a|the] [new] trip [to {destination}] [for {traveller}] [on {date}] [called {name}]",
                "(open|create|start|plan|book|set up) [a|the] [new] trip for {traveller} to {destination} [on {date}] [called {name}]",
                "(open|create|start|plan|book|set up) [a|the] [new] trip [to {destination}] on {date} for {traveller} [called {name}]",
                "(open|create|start|plan|book|set up) [a|the] [new] trip called {name} [to {destination}] [for {traveller}] [on {date}]",
                "[a] new trip to {destination} [for {traveller}] [on {date}]",
                "{traveller} (needs|wants) [a] trip to {destination} [on {date}]",
            ],
            Operation::Rename => &[
                "rename {target} to {name}",
                "rename it to {name}",
                "rename [the|this] trip to {name}",
                "call it {name}",
                "(change|set) [the] name [of {target}] to {name}",
                "give {target} the name {name}",
            ],
            Operation::SetDestination => &[
                "(set|change|switch) [the] destination [of {target}] to {destination}",
                "send {target} to {destination}",
                "{target} (goes|should go) to {destination} [instead]",
                "make it {destination} instead",
                "[the] destination is {destination}",
            ],
            Operation::SetDate => &[
                "(set|change|move|postpone|reschedule) [the] date [of {target}] to {date}",
                "(move|postpone|reschedule|shift) {target} to {date}",
                "(move|postpone|reschedule|shift) it to {date}",
                "{target} (is|starts) on {date}",
                "[the] date is {date}",
            ],
            Operation::SetDeparture => &[
                "(set|change|move) [the] departure [of {target}] to {departure}",
                "(set|change|move) [the] departure time [of {target}] to {departure}",
                "{target} (departs|leaves) [at|on] {departure}",
                "it (departs|leaves) [at|on] {departure}",
                "[the] departure is [at|on] {departure}",
            ],
            Operation::AddTraveller => &[
                "add [the] traveller {traveller} [to {target}]",
                "add {traveller} as [a] traveller [to {target}]",
                "add {traveller} to {target}",
                "{traveller} (travels|comes|flies) along [on {target}]",
                "(take|bring) {traveller} along [on {target}]",
            ],
            Operation::AddExtra => &[
                "(add|buy|order|book) [a|an|another|{quantity}] {extra} [to {target}] [paid by {payer}]",
                "(add|buy|order|book) [a|an|another|{quantity}] {extra} [for {target}] [paid by {payer}]",
                "(add|buy|order|book) [a|an|another|{quantity}] {extra} paid by {payer} to {target}",
                "{target} needs [a|an|another|{quantity}] {extra} [paid by {payer}]",
                "with [a|an|another|{quantity}] {extra} [paid by {payer}]",
            ],
            Operation::SetPayer => &[
                "{payer} (pays|will pay|should pay) for extra {number} [of {target}]",
                "{payer} (pays|will pay|should pay) for the {extra} [of {target}]",
                "{payer} (pays|will pay|should pay) for it",
                "extra {number} [of {target}] is paid by {payer}",
                "the {extra} [of {target}] is paid by {payer}",
                "(set|change) [the] payer of extra {number} [of {target}] to {payer}",
                "(set|change) [the] payer of the {extra} [of {target}] to {payer}",
                "let {payer} pay for extra {number}",
                "let {payer} pay for the {extra}",
                "charge extra {number} [of {target}] to {payer}",
                "charge the {extra} [of {target}] to {payer}",
            ],
            Operation::RemoveExtra => &[
                "(remove|drop|cancel|delete) extra {number} [from {target}]",
                "(remove|drop|cancel|delete) extra {number} of {target}",
                "(remove|drop|cancel|delete) the {extra} [from {target}]",
                "take extra {number} off [{target}]",
                "take the {extra} off [{target}]",
                "no {extra} after all",
            ],
            Operation::ProtectLeg => &[
                "protect [the] leg {leg} [of {target}]",
                "protect the {leg} leg [of {target}]",
                "keep [the] leg {leg} [of {target}] as it is",
                "keep the {leg} leg [of {target}] as it is",
                "[the] leg {leg} must stay [as it is]",
            ],
            Operation::RequestRebooking => &[
                "rebook",
                "rebook it",
                "rebook [the|this|my] trip",
                "rebook [the|my] {target}",
                "(request|ask for) [a|the] rebooking",
                "(request|ask for) [a|the] rebooking (of|for) {target}",
                "ask the airline to rebook it",
                "ask the airline to rebook {target}",
                "(get|have) {target} rebooked",
                "try [again] to rebook [{target}]",
                "try again",
                "try it again",
                "(send|submit) it again",
            ],
            Operation::Withdraw => &[
                "(withdraw|cancel|call off|scrap) {target}",
                "(withdraw|scrap) it",
                "(withdraw|cancel|call off|scrap) [the|this|my] trip",
                "call {target} off",
                "call it off",
            ],
        }
    }

    fn names(&self, operation: Operation) -> &'static [&'static str] {
        match operation {
            Operation::Open => &["opening a trip", "open a trip", "new trip", "open"],
            Operation::Rename => &["renaming the trip", "rename"],
            Operation::SetDestination => {
                &["changing the destination", "change the destination", "destination"]
            }
            Operation::SetDate => {
                &["changing the date", "change the date", "date", "postpone", "reschedule"]
            }
            Operation::SetDeparture => {
                &["changing the departure", "change the departure", "departure"]
            }
            Operation::AddTraveller => {
                &["adding a traveller", "add a traveller", "add anyone", "travellers"]
            }
            Operation::AddExtra => &["adding an extra", "add an extra", "add extras", "extras"],
            Operation::SetPayer => &["settling the payer", "change the payer", "payer"],
            Operation::RemoveExtra => {
                &["removing an extra", "remove an extra", "remove extras", "remove anything"]
            }
            Operation::ProtectLeg => &["protecting a leg", "protect a leg", "protect"],
            Operation::RequestRebooking => &[
                "requesting a rebooking",
                "request a rebooking",
                "rebook anything",
                "rebooking",
                "rebook",
            ],
            Operation::Withdraw => &[
                "withdrawing the trip",
                "withdraw the trip",
                "withdraw anything",
                "withdraw",
                "call off",
            ],
        }
    }

    fn topic(&self, topic: Topic) -> &'static [&'static str] {
        match topic {
            Topic::Status => &[
                "(what is|what's) the status [of {target}]",
                "(what is|what's) the state [of {target}]",
                "(what is|what's) up with {target}",
                "how (is|does) {target} [stand|doing|going]",
                "where (do|does) (we|things|it) stand",
                "where does {target} stand",
                "(show|show me|tell me about) {target}",
                "status [of {target}]",
                "(what about|how about) {target}",
                "and {target}",
                "(has|was|is) {target} [been] rebooked [yet]",
                "(has|was|is) it [been] rebooked [yet]",
            ],
            Topic::Payer => &[
                "who (pays|is paying|will pay) [for {target}]",
                "who (pays|is paying|will pay) for the (bag|bags|seat|meal|insurance|extra|extras) [of {target}]",
                "who (pays|is paying|will pay) for the (bag|bags|seat|meal|insurance|extra|extras) on {target}",
                "(what is|what's|which is) the payer [of {target}]",
            ],
        }
    }

    fn kind(&self, kind: ExtraKind) -> &'static [&'static str] {
        match kind {
            ExtraKind::Bag => &[
                "bag",
                "bags",
                "suitcase",
                "suitcases",
                "luggage",
                "baggage",
                "checked bag",
                "checked bags",
                "piece of luggage",
                "pieces of luggage",
            ],
            ExtraKind::Seat => &[
                "seat",
                "seats",
                "seat reservation",
                "seat reservations",
                "window seat",
                "aisle seat",
                "reserved seat",
            ],
            ExtraKind::Meal => &["meal", "meals", "food", "special meal", "special meals"],
            ExtraKind::Insurance => {
                &["insurance", "insurances", "travel insurance", "insurance policy", "cover"]
            }
        }
    }

    fn payer(&self, payer: Payer) -> &'static [&'static str] {
        match payer {
            Payer::Company => &[
                "company",
                "the company",
                "my company",
                "our company",
                "employer",
                "the employer",
                "my employer",
                "the firm",
                "the office",
                "us",
            ],
            Payer::Traveller => &[
                "traveller",
                "the traveller",
                "traveler",
                "the traveler",
                "the passenger",
                "passenger",
                "me",
                "myself",
                "I",
                "themselves",
                "privately",
            ],
        }
    }
}
