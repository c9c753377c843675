//! `swarm web revoke`.

use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Sign a browser out, or all of them
///
/// Its pages stop at once. `--all` also voids links that nobody has used yet. A new `swarm web` lets them in again.
///
/// Example: swarm web revoke --all
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session, as listed by `swarm web sessions`
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// End every session
    #[arg(long)]
    all: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let revoked = Swarm::open(cx)?.revoke_sessions(args.id.clone())?;
    if let (Some(id), 0) = (&args.id, revoked.ended) {
        return Err(
            CliError::refused_now(format!("There is no session {id:?}")).run_instead("swarm web sessions")
        );
    }
    cx.out.view(&revoked, |revoked| match revoked.ended {
        1 => "1 session ended".into(),
        ended => format!("{ended} sessions ended"),
    })
}
