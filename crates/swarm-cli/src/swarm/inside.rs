//! A command that is run by an agent, inside its attempt.

use swarm_process::caller::am_i_inside;
use swarm_protocol::refusal::Refusal;

use crate::error::CliError;

/// Where a coordinator runs, it decides what an agent may do. Where none does, an agent may look and nothing more:
/// whoever writes the ledger decides about everybody's work.
pub fn refuse_agents(what: &str) -> Result<(), CliError> {
    match am_i_inside() {
        Some(_) => Err(Refusal::NotForAgents { what: what.into() }.into()),
        None => Ok(()),
    }
}
