//! `swarm op log`.

use swarm_protocol::oplog::{OperationState, OperationView};

use crate::cli::{At, Context};
use crate::commands::operate::list;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::output::time::moment;
use crate::swarm::Swarm;

/// Show operations, newest first
///
/// With --all also what the swarm did by itself (merges, automatic checkpoints), which is undone only by name.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also what the swarm did by itself
    #[arg(long)]
    pub all: bool,
    /// Show at most so many
    #[arg(long, short = 'n', value_name = "N", default_value = "20")]
    pub number: usize,
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let mut all = Swarm::open(cx)?.operations(args.at.at)?;
    all.retain(|view| args.all || view.by.starts_with("person"));
    all.truncate(args.number);
    list(cx, &all, "Nobody has done anything yet", text)
}

fn text(all: &[OperationView]) -> String {
    let cells = |view: &OperationView| {
        vec![
            view.seq.to_string(),
            moment(view.at),
            view.by.clone(),
            harmless(view.text.lines().next().unwrap_or_default()),
            undo(view),
        ]
    };
    table(&["#", "time", "by", "what", "undo"], all.iter().map(cells))
}

/// Whether it can be taken back, in a few words.
fn undo(view: &OperationView) -> String {
    match (view.state, view.can_be_undone) {
        (OperationState::UnderWay, _) => view.step.clone().unwrap_or_else(|| "under way".into()),
        (OperationState::Failed, _) => "failed".into(),
        (OperationState::Undone, _) => "undone".into(),
        (OperationState::Done, true) => format!("swarm undo {}", view.seq),
        (OperationState::Done, false) => "no".into(),
    }
}
