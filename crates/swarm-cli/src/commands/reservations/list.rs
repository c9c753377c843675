//! `swarm reservations list`.

use swarm_protocol::ids::TaskId;
use swarm_protocol::view::ReservationView;

use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::table::table;
use crate::output::time::moment;
use crate::swarm::Swarm;

/// List who has reserved which files, until when, and who waits for them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let (status, _) = Swarm::open(cx)?.status(args.at.at)?;
    cx.out.view(&status.reservations, |reservations| text(reservations))
}

fn text(reservations: &[ReservationView]) -> String {
    if reservations.is_empty() {
        return "No files are reserved".into();
    }
    let cells = |one: &ReservationView| {
        let shared = one.shared.iter().map(|glob| format!("{glob} (shared)"));
        let files: Vec<String> = one.files.iter().cloned().chain(shared).collect();
        let waiting: Vec<&str> = one.waiting.iter().map(TaskId::as_str).collect();
        vec![
            one.number.to_string(),
            one.holder.clone(),
            files.join(", "),
            one.until.map_or_else(|| "its agent ends".into(), moment),
            waiting.join(", "),
            one.reason.clone().unwrap_or_default(),
        ]
    };
    table(&["number", "holder", "files", "until", "waiting", "why"], reservations.iter().map(cells))
}
