//! `swarm mcp tokens`.

use swarm_web::tokens::TokenView;

use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::output::time::length;
use crate::swarm::Swarm;

/// List the tokens of MCP clients
///
/// Example: swarm mcp tokens
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let tokens = Swarm::open(cx)?.tokens()?;
    cx.out.view(&tokens, |tokens| text(tokens))
}

fn text(tokens: &[TokenView]) -> String {
    let Some(first) = tokens.first() else { return "There is no token".into() };
    let row = |token: &TokenView| {
        let made = format!("{} ago", length(token.age));
        vec![token.id.clone(), token.role.clone(), token.name.clone(), made]
    };
    let mut text = table(&["token", "role", "name", "made"], tokens.iter().map(row));
    text.push_str(&format!("\n  swarm mcp revoke {}\n  swarm mcp revoke --all", first.id));
    text
}
