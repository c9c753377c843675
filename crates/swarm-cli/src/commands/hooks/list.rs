//! `swarm hooks list`.

use serde::Serialize;
use swarm_protocol::oplog::HookView;
use swarm_work::hooks::Found;

use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::table::table;
use crate::swarm::Swarm;

/// List hooks and their last result
#[derive(Debug, clap::Args)]
pub struct Args {}

/// A hook, and its last end.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    hook: &'static str,
    program: String,
    timeout_secs: Option<u64>,
    blocking: bool,
    /// Why it cannot be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<HookView>,
}

pub fn run(_: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    // Without a plan nothing has run yet.
    let ran = swarm.hooks(None).unwrap_or_default();
    let rows: Vec<Row> =
        swarm.found_hooks()?.into_iter().filter_map(|(name, found)| row(name, found, &ran)).collect();
    for said in swarm.misnamed_hooks() {
        crate::output::note(&harmless(&format!("Note: {said}")));
    }
    let none = "No hooks; put them into .swarm/hooks/NAME.sh (names: docs/reference/hooks.md)";
    crate::commands::operate::list(cx, &rows, none, text)
}

fn row(hook: &'static str, found: Found, ran: &[HookView]) -> Option<Row> {
    let last = ran.iter().find(|view| view.hook == hook).cloned();
    match found {
        Found::Nothing => None,
        Found::Hook(of) => Some(Row {
            hook,
            program: of.shown,
            timeout_secs: Some(of.timeout.as_secs()),
            blocking: of.blocking,
            unfit: None,
            last,
        }),
        Found::Unfit { shown, why, blocking } => {
            Some(Row { hook, program: shown, timeout_secs: None, blocking, unfit: Some(why), last })
        }
    }
}

fn text(rows: &[Row]) -> String {
    let cells = |row: &Row| {
        let last = row.last.as_ref().and_then(|view| view.outcome.as_ref());
        vec![
            row.hook.to_owned(),
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
