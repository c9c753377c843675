//! `swarm mcp token`.

use clap::ValueEnum;
use swarm_server::peer::Role;

use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Create a token for an MCP client that connects over HTTP
///
/// The client connects to /mcp of the web UI, which `swarm web` or a run serves. The token is shown only once; its hash is
/// stored. A viewer can only look; an operator can do everything that you can do with `swarm mcp`.
///
/// Example: swarm mcp token --role viewer --name laptop
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the client may do
    #[arg(long, value_enum)]
    role: Allowed,
    /// Name of the client, shown in the list of tokens
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
