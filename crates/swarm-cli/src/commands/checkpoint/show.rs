//! `swarm checkpoint show NAME`.

use swarm_protocol::oplog::CheckpointView;

use super::list::{kind, since};
use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::time::moment;
use crate::swarm::Swarm;

/// Show the contents of a checkpoint
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name, or number in `swarm checkpoint list`
    #[arg(value_name = "NAME")]
    pub name: String,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    cx.out.view(&Swarm::open(cx)?.checkpoint_named(&args.name)?, text)
}

fn text(view: &CheckpointView) -> String {
    let checkpoint = &view.checkpoint;
    let mut lines = vec![
        format!("{} ({})", harmless(&checkpoint.name), kind(view)),
        format!(
            "  created {} at record {}: {}",
            moment(checkpoint.at),
            checkpoint.seq,
            harmless(&checkpoint.trigger)
        ),
    ];
    lines.extend(checkpoint.trunk.as_ref().map(|trunk| format!("  trunk at {}", trunk.short())));
    for (task, tip) in &checkpoint.tips {
        let dirty = if checkpoint.dirty.contains_key(task) { ", with uncommitted work" } else { "" };
        let moving = if checkpoint.moving.contains(task) { ", its agent was writing" } else { "" };
        lines.push(format!("  task {task} at {}{dirty}{moving}", tip.short()));
    }
    lines.push(format!("  since then: {}", since(view)));
    lines.extend(view.needed.as_ref().map(|why| format!("  cannot be deleted: {}", harmless(why))));
    lines.push(format!("  swarm rollback {} --dry-run", harmless(&checkpoint.name)));
    lines.join("\n")
}
