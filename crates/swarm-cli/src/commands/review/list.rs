//! `swarm review list`.

use swarm_protocol::view::ReviewView;

use crate::commands::operate::list;
use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::output::time::moment;
use crate::swarm::Swarm;

/// List submitted work that is in review or waits for it
///
/// Longest waiting first, with the reviewer: a person (human) or the configured commands (command).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let all = Swarm::open(cx)?.reviews(args.at.at)?;
    list(cx, &all, "Nothing waits for a review", text)
}

fn text(all: &[ReviewView]) -> String {
    let cells = |view: &ReviewView| {
        vec![
            view.task.to_string(),
            harmless(&view.title),
            view.reviewer.word().into(),
            format!("{} of {}", view.round, view.rounds),
            view.submitted.short().into(),
            moment(view.since),
        ]
    };
    let mut text = table(&["task", "title", "reviewer", "round", "commit", "since"], all.iter().map(cells));
    text.push_str("\n  swarm review show TASK");
    text
}
