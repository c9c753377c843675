//! `swarm op show OPERATION`.

use swarm_core::show::changes;
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
    cx.out.view(&Swarm::open(cx)?.operation_named(&args.operation)?, text)
}

fn text(view: &OperationView) -> String {
    let mut lines = vec![
        format!("#{} {}", view.seq, harmless(&view.text)),
        format!("  {} by {}, {}", harmless(&view.kind), harmless(&view.by), moment(view.at)),
        format!("  id {}", view.id),
    ];
    lines.extend(view.step.as_ref().map(|step| format!("  at its step {}", harmless(step))));
    lines.extend(
        view.checkpoint.as_ref().map(|name| format!("  the state before it: checkpoint {}", harmless(name))),
    );
    lines.extend(view.undoes.as_ref().map(|id| format!("  takes back {id}")));
    lines.extend(view.undone_by.as_ref().map(|id| format!("  taken back by {id}")));
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
