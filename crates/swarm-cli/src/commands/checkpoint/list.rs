//! `swarm checkpoint list`.

use swarm_protocol::oplog::CheckpointView;

use crate::commands::operate::list;
use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::table::table;
use crate::output::time::moment;
use crate::swarm::Swarm;

/// List checkpoints, newest first
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let all = Swarm::open(cx)?.checkpoints(args.at.at)?;
    list(cx, &all, "No checkpoints; `swarm checkpoint create` makes one", text)
}

fn text(all: &[CheckpointView]) -> String {
    let cells = |(at, view): (usize, &CheckpointView)| {
        let checkpoint = &view.checkpoint;
        vec![
            (at + 1).to_string(),
            moment(checkpoint.at),
            kind(view).into(),
            checkpoint.name.clone(),
            since(view),
        ]
    };
    let head = ["#", "time", "type", "name", "changes since"];
    let mut text = table(&head, all.iter().enumerate().map(cells));
    text.push_str("\n  swarm rollback NAME --dry-run");
    text
}

pub(super) fn kind(view: &CheckpointView) -> &'static str {
    match (view.checkpoint.auto, view.checkpoint.full) {
        (false, _) => "manual",
        (true, true) => "auto",
        (true, false) => "auto, light",
    }
}

pub(super) fn since(view: &CheckpointView) -> String {
    match view.merged_since.len() {
        0 => "nothing merged".into(),
        1 => "1 task merged".into(),
        n => format!("{n} tasks merged"),
    }
}
