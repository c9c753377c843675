//! `swarm mcp revoke`.

use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Revoke the token of an MCP client, or all of them
///
/// Its next request is refused.
///
/// Example: swarm mcp revoke --all
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Token, as listed by `swarm mcp tokens`
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// Revoke every token
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Serialize)]
struct Revoked {
    revoked: usize,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let revoked = Swarm::open(cx)?.revoke_tokens(args.id.as_deref())?;
    if let (Some(id), 0) = (&args.id, revoked) {
        return Err(
            CliError::refused_now(format!("There is no token {id:?}")).run_instead("swarm mcp tokens")
        );
    }
    cx.out.view(&Revoked { revoked }, |done| match done.revoked {
        1 => "1 token revoked".into(),
        n => format!("{n} tokens revoked"),
    })
}
