//! `swarm op show OPERATION`.

use swarm_core::show::changes;
use swarm_protocol::ids::CommandId;
use swarm_protocol::oplog::{OperationState, OperationView};

use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::time::moment;
use crate::swarm::Swarm;

/// Show one operation and everything it changed
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Id, or number in `swarm op log`
    #[arg(value_name = "OPERATION")]
    pub operation: String,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let all = swarm.operations(None)?;
    cx.out.view(&swarm.operation_named(&args.operation)?, |view| text(view, &all))
}

/// By the number that `swarm op log` shows; one that is no longer listed has only its id.
fn number(id: &CommandId, all: &[OperationView]) -> String {
    all.iter().find(|view| view.id == *id).map_or_else(|| id.to_string(), |view| format!("#{}", view.seq))
}

fn text(view: &OperationView, all: &[OperationView]) -> String {
    let mut lines = vec![
        format!("#{} {}", view.seq, harmless(&view.text)),
        format!("  {} by {}, {}", harmless(&view.kind), harmless(&view.by), moment(view.at)),
        format!("  id {}", view.id),
    ];
    lines.extend(view.step.as_ref().map(|step| format!("  at its step {}", harmless(step))));
    lines.extend(
        view.checkpoint.as_ref().map(|name| format!("  the state before it: checkpoint {}", harmless(name))),
    );
    lines.extend(view.undoes.as_ref().map(|id| format!("  takes back {}", number(id, all))));
    lines.extend(view.undone_by.as_ref().map(|id| format!("  taken back by {}", number(id, all))));
    if !view.facts.is_empty() {
        lines.push("  changed:".into());
        lines.extend(changes(&view.facts).iter().map(|line| format!("    {}", harmless(line))));
    }
    match (view.state, view.can_be_undone, &view.why_not) {
        (OperationState::Done, true, _) => lines.push(format!("  swarm undo {}", view.seq)),
        (OperationState::Done, false, Some(why)) => {
            lines.push(format!("  cannot be undone now: {}", harmless(why)));
        }
        _ => {}
    }
    lines.extend(view.hint.as_ref().map(|hint| format!("  {}", harmless(hint))));
    lines.join("\n")
}
