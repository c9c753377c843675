//! `swarm hooks run NAME`.

use std::collections::BTreeMap;

use swarm_protocol::deed::HookRan;
use swarm_protocol::operation::HookOutcome;

use crate::commands::operate::{DryRun, shown_lines};
use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless_lines;
use crate::swarm::Swarm;

/// Run a hook by hand
///
/// The hook gets the variables given with `--set`, as the swarm would set them. Nothing is recorded.
///
/// Example: swarm hooks run post-complete --set TASK_ID=1.2 --set STATUS=done
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the hook, like post-complete
    #[arg(value_name = "HOOK")]
    pub hook: String,
    /// Variable without the SWARM_ prefix; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = variable)]
    pub variables: Vec<(String, String)>,
    #[command(flatten)]
    pub dry: DryRun,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value))
            if !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') =>
        {
            Ok((name.into(), value.into()))
        }
        _ => Err("like TASK_ID=1.2, the name in capitals".into()),
    }
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let variables: BTreeMap<String, String> = args.variables.into_iter().collect();
    if args.dry.dry_run {
        return shown_lines(cx, "hooks run", &Swarm::open(cx)?.would_run(&args.hook, &variables)?);
    }
    let ran = Swarm::open(cx)?.run_hook(&args.hook, &variables)?;
    cx.out.view(&ran, text)?;
    match &ran.outcome {
        HookOutcome::Ok => Ok(()),
        // How it ended stands in the view.
        _ if cx.out.json => Err(CliError::already_said(false)),
        failed => {
            Err(CliError::refused_now(format!("The hook {} did not pass: {}", ran.hook, failed.describe()))
                .run_instead("swarm hooks list"))
        }
    }
}

/// What it printed, and below that how it ended.
fn text(ran: &HookRan) -> String {
    let (printed, ended) = (harmless_lines(&ran.output), ran.outcome.describe());
    if printed.is_empty() { ended } else { format!("{printed}\n{ended}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_hook_ended_stands_on_a_line_of_its_own() {
        let ran = |output: &str| HookRan {
            hook: "pre-merge".into(),
            outcome: HookOutcome::Failed { code: Some(7) },
            output: output.into(),
        };
        assert_eq!(text(&ran("one\ntwo\n")), "one\ntwo\nfailed with exit code 7");
        assert_eq!(text(&ran("")), "failed with exit code 7");
    }
}
