//! `swarm op log`.

use swarm_protocol::oplog::{OperationState, OperationView};

use crate::commands::operate::list;
use crate::context::{At, Context};
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::output::time::moment;
use crate::swarm::Swarm;

/// List operations, newest first
///
/// With --all it also lists automatic ones (merges, automatic checkpoints), which can be undone only by name.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Include automatic operations
    #[arg(long)]
    pub all: bool,
    /// Maximum number to show
    #[arg(long, short = 'n', value_name = "N", default_value = "20")]
    pub number: usize,
    #[command(flatten)]
    pub at: At,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let mut all = Swarm::open(cx)?.operations(args.at.at)?;
    all.retain(|view| args.all || view.by.starts_with("person"));
    all.truncate(args.number);
    list(cx, &all, "No operations yet", text)
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
        (OperationState::Waits, _) => "swarm attention".into(),
        (OperationState::Failed, _) => "failed".into(),
        (OperationState::Undone, _) => "undone".into(),
        (OperationState::Done, true) => format!("swarm undo {}", view.seq),
        // With a word more it can, where only part of it stands or agents have gone on since.
        (OperationState::Done, false) => match &view.hint {
            Some(hint) if hint.starts_with(&format!("swarm undo {} ", view.seq)) => hint.clone(),
            _ => "no".into(),
        },
    }
}
