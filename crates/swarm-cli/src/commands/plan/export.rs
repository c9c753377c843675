//! `swarm plan export [FILE]`.

use std::path::{Path, PathBuf};

use swarm_protocol::command::Command;
use swarm_protocol::planfile;

use crate::commands::answered;
use crate::commands::operate::{DryRun, shown_lines};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Write the plan to a file, with statuses
///
/// JSON, or Markdown if the name ends in .md. Without FILE both are written, as .swarm/SWARM_PLAN.json and .swarm/SWARM_PLAN.md.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File to write, or `-` for stdout
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.dry.dry_run && args.file.as_deref() != Some(Path::new("-")) {
        swarm.plan_file(None)?;
        let places = match &args.file {
            Some(file) => vec![file.display().to_string()],
            None => swarm.export_places(),
        };
        let lines: Vec<String> = places.iter().map(|place| format!("{place} is written")).collect();
        return shown_lines(cx, "plan export", &lines);
    }
    let path = match args.file.as_deref() {
        // Nothing is left behind by it, so there is nothing to record either.
        Some(file) if file == Path::new("-") => {
            return cx.out.text(&planfile::to_json(&swarm.plan_file(None)?));
        }
        Some(file) => {
            let plan = swarm.plan_file(None)?;
            let markdown = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
            let text = if markdown { planfile::to_markdown(&plan) } else { planfile::to_json(&plan) };
            swarm.write_whole(file, text.as_bytes())?;
            crate::swarm::plan_file::recorded_name(file)
        }
        None => swarm.export_artifacts()?,
    };
    answered(cx, &swarm.ask(Command::RecordExport { path })?)
}
