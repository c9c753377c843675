//! `swarm metrics`.

use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Print the numbers of the swarm in the text format of Prometheus
///
/// Read from the ledger, so it works without a running coordinator, which serves the same at `/metrics` on its socket.
///
/// Example: swarm metrics
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, cx: &Context) -> Result<(), CliError> {
    let page = Swarm::open(cx)?.metrics()?;
    cx.out.document(&page, Clone::clone)
}
