//! `swarm plan edit`: the plan in the person's editor.

use std::path::Path;

use swarm_protocol::command::{Command, SaveKind};
use swarm_protocol::planfile;

use crate::commands::answered;
use crate::commands::editor::open_editor;
use crate::commands::operate::{DryRun, shown};
use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;

/// Edit the plan in $VISUAL or $EDITOR
///
/// If the edited text is not valid, it is kept and its path is printed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Edit a Markdown checklist instead of JSON
    #[arg(long)]
    pub markdown: bool,
    #[command(flatten)]
    pub dry: DryRun,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let before = swarm.approved(None)?.structure_hash;
    let mut plan = swarm.plan_file(None)?;
    // Statuses are not edited here; showing them would promise otherwise.
    for task in plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
        task.status = None;
    }
    let (text, end) = match args.markdown {
        true => (planfile::to_markdown(&plan), "md"),
        false => (planfile::to_json(&plan), "json"),
    };
    let file = swarm.scratch_file("plan-edit", end)?;
    swarm.write_whole(&file, text.as_bytes())?;
    open_editor(&file, "swarm plan edit")?;
    let (mut edited, _) =
        crate::swarm::plan_file::read(&file, &swarm.known_tasks()).map_err(|error| kept(error, &file))?;
    if edited == planfile::parse("the plan", text.as_bytes())? {
        remove(&file);
        output::note("Nothing was changed");
        return Ok(());
    }
    if swarm.approved(None)?.structure_hash != before {
        let hint = format!(
            "Your text is kept. Run `swarm plan edit` again, or overwrite the other change with `swarm plan save {}`",
            output::word(&file.display().to_string())
        );
        let what = "The plan was changed while you were editing it";
        return Err(CliError::changed_meanwhile(what).say(hint));
    }
    // A locked profile may not even be named, and an equal one says nothing.
    let named = edited.execution_profile.take();
    edited.execution_profile = named.filter(|profile| Some(*profile) != plan.execution_profile);
    let command = Command::SavePlan {
        plan: edited,
        kind: SaveKind::Save,
        source: "editor".into(),
        reset_statuses: false,
        planning: None,
    };
    if args.dry.dry_run {
        let seen = swarm.preview(&command).map_err(|error| kept(error, &file))?;
        remove(&file);
        return shown(cx, &seen);
    }
    let answer = swarm.ask(command).map_err(|error| kept(error, &file))?;
    remove(&file);
    answered(cx, &answer)
}

/// What was typed outlives the error.
fn kept(error: CliError, file: &Path) -> CliError {
    let file = output::word(&file.display().to_string());
    error.say(format!("Your text is kept. Fix it and run `swarm plan save {file}`"))
}

fn remove(file: &Path) {
    // A left-over scratch file does no harm.
    let _ = std::fs::remove_file(file);
}
