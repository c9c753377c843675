//! `swarm worktree list`.

use swarm_protocol::deed::WorktreeView;

use crate::context::Context;
use crate::error::CliError;
use crate::output::table::table;
use crate::swarm::Swarm;

/// List worktrees with their agents and uncommitted changes
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: Args, cx: &Context) -> Result<(), CliError> {
    cx.out.view(&Swarm::open(cx)?.worktree_views()?, |lines| text(lines))
}

fn task(line: &WorktreeView) -> String {
    line.task.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn text(lines: &[WorktreeView]) -> String {
    if lines.is_empty() {
        return "No worktrees".into();
    }
    let cells = |line: &WorktreeView| {
        let count = line.uncommitted.map_or(String::new(), |count| count.to_string());
        vec![task(line), line.path.clone(), count, line.state.clone()]
    };
    table(&["task", "worktree", "uncommitted", "state"], lines.iter().map(cells))
}
