//! The coordinator is asked, or the ledger where nobody coordinates: what front ends do with both.

use std::sync::Arc;

use swarm_protocol::api::ApiError;
use swarm_protocol::channel::Response;
use swarm_protocol::command::{Answer, Envelope};

use crate::client::{Client, ClientError};
use crate::ledger::{Ledger, beside};

/// What the coordinator says; the ledger, where nobody coordinates (any more).
pub async fn or_beside<L: ?Sized + Ledger, T: Send + 'static>(
    ledger: &Arc<L>,
    asked: Result<T, ClientError>,
    otherwise: impl FnOnce(&L) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    match asked {
        Ok(found) => Ok(found),
        // One that does not move has written all that it has acknowledged.
        Err(ClientError::Nobody | ClientError::Lost { .. } | ClientError::Silent(_)) => {
            beside(ledger, otherwise).await
        }
        Err(ClientError::Denied { error, .. }) => Err(error),
        Err(error) => Err(ApiError::new("unreachable", error.to_string(), "swarm doctor")),
    }
}

/// Carried out once, however often it is sent: a lost answer is asked for again with the same id.
pub async fn carried_out<L: ?Sized + Ledger>(
    client: &Client,
    ledger: &Arc<L>,
    envelope: Envelope,
) -> Result<Answer, ApiError> {
    let asked = match client.command(envelope.clone()).await {
        Ok(Response::Answer(answer)) => Ok(answer),
        Ok(Response::Refused { refusal }) => return Err(refusal.into()),
        Ok(Response::Failed { text }) => return Err(ApiError::new("world_failed", text, "swarm doctor")),
        // It has the ledger and the command: nobody else may carry it out.
        Err(ClientError::Silent(silence)) => {
            return Err(ApiError::new("silent", silence.to_string(), silence.hint()));
        }
        Err(error) => Err(error),
    };
    or_beside(ledger, asked, move |ledger| ledger.ask(envelope)).await
}
