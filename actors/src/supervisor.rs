//! The supervisor: children fail alone.
//!
//! ractor's default stops a supervisor when a child fails; this one stays. A conversation or a case that
//! died is started again by its registry, from the ledger; the outbox and the relay are started again here.

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

/// What the supervisor is told.
pub(crate) enum SupervisorMessage {}

pub(crate) struct Supervisor;

impl Actor for Supervisor {
    type Msg = SupervisorMessage;
    type State = ();
    type Arguments = ();

    async fn pre_start(
        &self,
        _myself: ActorRef<Self::Msg>,
        (): (),
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _myself: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        _state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match event {
            SupervisionEvent::ActorFailed(child, error) => {
                tracing::error!(child = %child.get_id(), %error, "an actor failed");
            }
            SupervisionEvent::ActorStarted(_)
            | SupervisionEvent::ActorTerminated(..)
            | SupervisionEvent::ProcessGroupChanged(_) => {}
        }
        Ok(())
    }
}
