//! What a command to a trip may do without a click, and what may be said of its outcome.

use turnframe_core::policy::{ClaimMode, CommandPolicy, ConfirmationPolicy, RiskClass};

use super::command::TripCommand;

/// From how many of one extra on the user's words are not enough: a slip of the tongue gets expensive.
pub const LARGE_ORDER_FROM: u8 = 4;

/// The policy of a command.
pub(super) fn policy(command: &TripCommand) -> CommandPolicy {
    let edit =
        CommandPolicy { claim: ClaimMode::EventReferencedParaphrase, ..CommandPolicy::direct() };
    match command {
        TripCommand::Open(_)
        | TripCommand::Rename { .. }
        | TripCommand::SetDestination { .. }
        | TripCommand::SetDate { .. }
        | TripCommand::SetDeparture { .. }
        | TripCommand::AddTraveller { .. }
        | TripCommand::SetPayer { .. }
        | TripCommand::ProtectLeg { .. } => edit,
        // A removed extra comes back under another number only.
        TripCommand::RemoveExtra { .. } => CommandPolicy { risk: RiskClass::Medium, ..edit },
        TripCommand::AddExtra { quantity, .. } if *quantity >= LARGE_ORDER_FROM => CommandPolicy {
            risk: RiskClass::Medium,
            confirmation: ConfirmationPolicy::Click,
            ..edit
        },
        TripCommand::AddExtra { .. } => edit,
        TripCommand::RequestRebooking => CommandPolicy::external(),
        TripCommand::Withdraw => CommandPolicy {
            risk: RiskClass::High,
            confirmation: ConfirmationPolicy::Click,
            claim: ClaimMode::ServerReceiptOnly,
        },
        // Only the runtime states what the airline said, or did not; nobody's words or clicks do.
        TripCommand::RecordRebookingOutcome { .. } | TripCommand::RecordRebookingOverdue { .. } => {
            CommandPolicy::strictest()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trip::state::{ExtraKind, QUANTITY_MAX};

    fn bags(quantity: u8) -> CommandPolicy {
        policy(&TripCommand::AddExtra { kind: ExtraKind::Bag, quantity, payer: None })
    }

    #[test]
    fn what_leaves_the_house_or_cannot_be_taken_back_needs_a_click() {
        assert!(policy(&TripCommand::RequestRebooking).is_submission());
        assert!(policy(&TripCommand::RequestRebooking).requires_click());
        assert!(policy(&TripCommand::Withdraw).requires_click());
        assert!(!policy(&TripCommand::Withdraw).is_submission());
        for external in [TripCommand::RequestRebooking, TripCommand::Withdraw] {
            assert_eq!(policy(&external).claim, ClaimMode::ServerReceiptOnly);
        }
    }

    #[test]
    fn a_large_order_needs_a_click_and_a_small_one_does_not() {
        assert!(!bags(LARGE_ORDER_FROM - 1).requires_click());
        assert!(bags(LARGE_ORDER_FROM).requires_click());
        assert!(bags(QUANTITY_MAX).requires_click());
    }
}
