//! `swarm plan import [FILE|DIR]`.

use std::path::PathBuf;

use serde::Serialize;
use swarm_protocol::plan::PlanFile;
use swarm_protocol::planfile::{self, Care, Source};

use crate::context::Context;
use crate::error::CliError;
use crate::output::{self, harmless, harmless_lines};
use crate::swarm::Swarm;
use crate::swarm::imports::Taken;
use crate::swarm::plan_file;

/// Import a plan with its statuses, also from another tool
///
/// Like `swarm plan save`, but done, blocked, deferred and cancelled tasks keep their status. Reads plans of Swarm (JSON,
/// Markdown), opencode-swarm (.swarm/plan.json), beads (.beads/issues.jsonl) and hive (.hive/issues.jsonl); the format is detected.
/// Anything that cannot be imported as it is, is reported. A file with an invalid line is refused as a whole.
/// docs/reference/imports.md has the full mapping.
///
/// Example: swarm plan import .beads/issues.jsonl --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Plan file, `-` for stdin, or a folder to search (default: .swarm/SWARM_PLAN.json, else SWARM_PLAN.json at the
    /// root, else the only plan of another tool in the repository)
    #[arg(value_name = "FILE|DIR")]
    pub file: Option<PathBuf>,
    /// Format: opencode-swarm, beads, hive, json or markdown (default: detected)
    #[arg(long, value_name = "TOOL", hide_possible_values = true, value_parser = clap::builder::PossibleValuesParser::new(Source::ALL.map(Source::word)))]
    pub from: Option<String>,
    /// Refuse the file if something in it cannot be imported as it is (unknown statuses, missing dependencies)
    #[arg(long)]
    pub strict: bool,
    /// Goal of the plan (default: from the file; files of beads and hive do not always have one)
    #[arg(long, value_name = "TEXT")]
    pub goal: Option<String>,
    /// Print the resulting plan, without changing anything
    #[arg(long)]
    pub dry_run: bool,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let from = args.from.as_deref().and_then(|word| word.parse().ok());
    if !args.dry_run {
        swarm.finish_moving()?;
    }
    let path = swarm.plan_source(args.file.as_deref(), from)?;
    if args.file.is_none() {
        output::note(&format!("Importing {}", harmless(&swarm.relative(&path))));
    }
    let mut imported =
        plan_file::read_any(&path, from, if args.strict { Care::Strict } else { Care::Lenient })?;
    if let Some(goal) = args.goal {
        imported.plan.goal = goal;
    }
    if args.dry_run {
        return preview(cx, &Preview { plan: imported.plan, from: imported.from, notes: imported.notes });
    }
    let taken = swarm.take_over(&path, imported, "swarm plan import")?;
    said(cx, &taken)?;
    cx.out.view(&taken, |taken| harmless(&taken.answer.text))
}

/// What a person should know beside the answer.
pub fn said(cx: &Context, taken: &Taken) -> Result<(), CliError> {
    if cx.out.json {
        return Ok(());
    }
    if let Some(place) = &taken.moved_to {
        output::note(&format!("The files of {} were moved to {}", taken.from, harmless(place)));
    }
    taken.notes.iter().for_each(|note| output::note(&format!("Note: {}", harmless(note))));
    Ok(())
}

#[derive(Debug, Serialize)]
struct Preview {
    from: Source,
    notes: Vec<String>,
    plan: PlanFile,
}

fn preview(cx: &Context, preview: &Preview) -> Result<(), CliError> {
    if !cx.out.json {
        preview.notes.iter().for_each(|note| output::note(&format!("Note: {}", harmless(note))));
    }
    cx.out.document(preview, |preview| harmless_lines(&planfile::to_markdown(&preview.plan)))
}
