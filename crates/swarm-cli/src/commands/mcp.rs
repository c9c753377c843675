//! `swarm mcp`: the swarm for clients of the Model Context Protocol.

mod clients;
mod desk;
pub mod install;
pub mod revoke;
pub mod token;
pub mod tokens;
mod json_text;
mod toml_text;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use swarm_mcp::attempt::Attempt;
use swarm_mcp::call::Caller;
use swarm_mcp::server::Server;
use swarm_mcp::source::Source;
use swarm_mcp::tools::Offer;

use crate::commands::editor::open_editor;
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Serve the swarm to an MCP client over stdin and stdout, or register it there
///
/// A client such as Claude Code or Codex starts this program itself; `swarm mcp install` writes its configuration. The server
/// uses the running coordinator, or the ledger if none is running. Calls that take something back are previewed first;
/// `mcp.confirm` sets who confirms them.
///
/// Example: swarm mcp install claude
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Tools to offer: only read-only ones, also those that change the plan, or all
    #[arg(long, value_enum, default_value_t)]
    tools: Tools,
    /// Serve the tools of an attempt to its agent instead; SOCKET is the value of SWARM_TOOLS
    #[arg(long, value_name = "SOCKET", conflicts_with = "tools")]
    agent: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(install::Args),
    Token(token::Args),
    Tokens(tokens::Args),
    Revoke(revoke::Args),
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Tools {
    Read,
    Plan,
    #[default]
    All,
}

impl From<Tools> for Offer {
    fn from(tools: Tools) -> Self {
        match tools {
            Tools::Read => Self::Read,
            Tools::Plan => Self::Plan,
            Tools::All => Self::All,
        }
    }
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    match args.command {
        Some(Command::Install(args)) => install::run(&args, cx),
        Some(Command::Token(args)) => token::run(args, cx),
        Some(Command::Tokens(args)) => tokens::run(args, cx),
        Some(Command::Revoke(args)) => revoke::run(args, cx),
        None => match args.agent {
            Some(socket) => until_the_client_leaves(swarm_mcp::stdio::serve(Attempt { socket })),
            None => serve(args.tools, cx),
        },
    }
}

fn serve(tools: Tools, cx: &Context) -> Result<(), CliError> {
    let swarm = Arc::new(Swarm::open(cx)?.through("person:mcp"));
    let source = Source { client: swarm.client(), desk: Arc::new(swarm.screen(open_editor)) };
    let server = Server { caller: Caller { source, offer: tools.into() } };
    until_the_client_leaves(swarm_mcp::stdio::serve(server))
}

fn until_the_client_leaves(serving: impl Future<Output = ()>) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment("Cannot start").because(error))?;
    // Whoever reads our stderr reads the protocol: notes go to the log.
    output::covered(true);
    runtime.block_on(serving);
    // What was begun when the client left is brought to its end, then the process is.
    Ok(())
}
