//! `swarm mcp token`.

use clap::ValueEnum;
use swarm_server::peer::Role;

use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Make a token with which an MCP client comes in by HTTP
///
/// The client asks at /mcp of the web UI, which is open with `swarm web` or beside a run. The token is shown this once and kept as a
/// hash. A viewer looks; an operator may do what you may with `swarm mcp`.
///
/// Example: swarm mcp token --role viewer --name laptop
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What its holder may do
    #[arg(long, value_enum)]
    role: Allowed,
    /// For whom it is, so that you know it again in the list
    #[arg(long, default_value = "", hide_default_value = true)]
    name: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Allowed {
    Viewer,
    Operator,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let role = match args.role {
        Allowed::Viewer => Role::Viewer,
        Allowed::Operator => Role::Operator,
    };
    let made = Swarm::open(cx)?.make_token(role, &args.name)?;
    cx.out.view(&made, |made| {
        format!(
            "{}\nIt is not shown again. Send it to /mcp of the web UI (`swarm web`) as: Authorization: Bearer TOKEN\n  swarm mcp revoke {}",
            made.token, made.id
        )
    })
}
