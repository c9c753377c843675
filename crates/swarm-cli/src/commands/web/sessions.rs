//! `swarm web sessions`.

use swarm_web::control::SessionView;

use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::swarm::Swarm;

/// List browsers that are signed in
///
/// Example: swarm web sessions
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    let sessions = Swarm::open(cx)?.door_sessions()?;
    cx.out.view(&sessions, |sessions| text(sessions))
}

fn text(sessions: &[SessionView]) -> String {
    if sessions.is_empty() {
        return "Nobody is signed in".into();
    }
    let minutes = |seconds: u64| format!("{} min ago", seconds / 60);
    let row = |session: &SessionView| {
        vec![session.id.clone(), session.role.clone(), minutes(session.age), minutes(session.idle)]
    };
    let mut text = table(&["session", "role", "signed in", "last used"], sessions.iter().map(row));
    text.push_str(&format!("\n  swarm web revoke {}\n  swarm web revoke --all", sessions[0].id));
    text
}
