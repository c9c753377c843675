//! `swarm metrics`.

use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Print the metrics of the swarm in the text format of Prometheus
///
/// The metrics are computed from the ledger, so this works without a running coordinator. A running coordinator serves them
/// at `/metrics` on its socket.
///
/// Example: swarm metrics
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, cx: &Context) -> Result<(), CliError> {
    let page = Swarm::open(cx)?.metrics()?;
    cx.out.document(&page, Clone::clone)
}
