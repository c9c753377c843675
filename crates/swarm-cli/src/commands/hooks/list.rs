//! `swarm hooks list`.

use swarm_protocol::deed::HookProgram;

use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::swarm::Swarm;

/// List hooks and their last result
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let rows = swarm.hook_programs()?;
    for said in swarm.misnamed_hooks() {
        crate::output::note(&harmless(&format!("Note: {said}")));
    }
    let none = "No hooks; put them into .swarm/hooks/NAME.sh (names: docs/reference/hooks.md)";
    crate::commands::operate::list(cx, &rows, none, text)
}

fn text(rows: &[HookProgram]) -> String {
    let cells = |row: &HookProgram| {
        let last = row.last.as_ref().and_then(|view| view.outcome.as_ref());
        vec![
            row.hook.clone(),
            harmless(&row.program),
            row.timeout_secs.map(|secs| format!("{secs} s")).unwrap_or_default(),
            if row.blocking { "yes".into() } else { "no".into() },
            match (&row.unfit, last) {
                (Some(why), _) => format!("cannot be started: {}", harmless(why)),
                (None, Some(outcome)) => outcome.describe(),
                (None, None) => "not run yet".into(),
            },
        ]
    };
    table(&["hook", "program", "time", "blocking", "last"], rows.iter().map(cells))
}
