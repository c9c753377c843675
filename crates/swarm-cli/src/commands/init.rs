//! `swarm init`: a place for the swarm in this repository.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;
use swarm_protocol::planfile::{Care, Source};
use swarm_protocol::reservation::Isolation;

use super::plan::import::said;
use crate::commands::operate::{DryRun, shown_lines};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{counted, harmless};
use crate::swarm::Swarm;
use crate::swarm::files::{Made, proposed_lines};
use crate::swarm::imports::{PeerPlan, Taken};
use crate::swarm::plan_file;

/// Prepare this repository for a swarm
///
/// Creates `.swarm/` with a `config.json` and a `.gitignore`. Proposes setup and check commands based on the files in the
/// repository (package.json, Cargo.toml, .env …): a new configuration contains them, for an existing one they are only shown.
/// Existing files are never changed.
///
/// If `.swarm/` holds a plan of opencode-swarm, nothing is created: `--import` imports that plan and moves its files, unchanged, to
/// `.swarm/imported/`.
///
/// Example: swarm init
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Import the plan of another tool found in the repository
    #[arg(long)]
    pub import: bool,
    /// Where agents work, in a new configuration: each task in its own worktree, or all tasks in a shared one
    #[arg(long, value_enum)]
    pub isolation: Option<IsolationArg>,
    #[command(flatten)]
    pub dry: DryRun,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum IsolationArg {
    Worktree,
    Reservation,
}

impl From<IsolationArg> for Isolation {
    fn from(isolation: IsolationArg) -> Self {
        match isolation {
            IsolationArg::Worktree => Self::Worktree,
            IsolationArg::Reservation => Self::Reservation,
        }
    }
}

/// What was made, and what was taken over.
#[derive(Debug, Serialize)]
struct Done {
    #[serde(flatten)]
    made: Made,
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<Taken>,
    /// Plans of other tools that could be taken over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plans: Vec<PeerPlan>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.dry.dry_run {
        return shown_lines(cx, "init", &would_do(&swarm, &args)?);
    }
    swarm.finish_moving()?;
    let imported = match (args.import, swarm.foreign_plan()) {
        (true, _) => Some(import(&swarm)?),
        (false, Some(theirs)) => return Err(offer(&swarm, &theirs)),
        (false, None) => None,
    };
    if let Some(taken) = &imported {
        said(cx, taken)?;
    }
    let made = swarm.init(args.isolation.map(Isolation::from))?;
    swarm.remember_own();
    let plans = if imported.is_none() { swarm.peer_plans() } else { vec![] };
    cx.out.view(&Done { made, imported, plans }, |done| text(done, &swarm))
}

fn would_do(swarm: &Swarm, args: &Args) -> Result<Vec<String>, CliError> {
    let mut lines = Vec::new();
    match (args.import, swarm.foreign_plan()) {
        (true, _) => {
            let path = swarm.peer_source()?;
            let read = plan_file::read_any(&path, None, Care::Lenient)?;
            lines.push(format!("the plan of {} in {} is imported", read.from, swarm.relative(&path)));
        }
        (false, Some(theirs)) => return Err(offer(swarm, &theirs)),
        (false, None) => {}
    }
    // What another tool has here is moved away before anything of ours is looked at.
    if swarm.foreign_plan().is_none() {
        swarm.may_init(args.isolation.map(Isolation::from))?;
    }
    let made = swarm.would_init();
    lines.extend(made.created.iter().map(|path| format!("{path} is created")));
    if made.created.iter().any(|path| path.ends_with("config.json")) {
        lines.extend(proposed_lines(&made.proposed));
    }
    Ok(lines)
}

fn import(swarm: &Swarm) -> Result<Taken, CliError> {
    let path = swarm.peer_source()?;
    swarm.take_over(&path, plan_file::read_any(&path, None, Care::Lenient)?, "swarm plan import")
}

/// Says whose plan is there; its files are left as they are.
fn offer(swarm: &Swarm, theirs: &Path) -> CliError {
    let place = swarm.relative(theirs);
    let what = match plan_file::read_any(theirs, Some(Source::OpencodeSwarm), Care::Lenient) {
        Ok(read) => {
            let tasks: usize = read.plan.phases.iter().map(|phase| phase.tasks.len()).sum();
            let goal: String = read.plan.goal.chars().take(80).collect();
            format!("{place} holds {goal:?} with {}", counted(tasks, "task", "tasks"))
        }
        Err(error) => {
            error.causes.first().map_or(error.message.clone(), |why| format!("{}: {why}", error.message))
        }
    };
    CliError::foreign_plan(".swarm holds a plan of opencode-swarm; nothing was created")
        .because(what)
        .run_instead("swarm init --import")
}

fn text(done: &Done, swarm: &Swarm) -> String {
    let Done { made, imported, plans } = done;
    let mut text = String::new();
    if let Some(taken) = imported {
        text.push_str(&format!("{}\n", harmless(&taken.answer.text)));
    }
    for path in &made.created {
        text.push_str(&format!("created {path}\n"));
    }
    for path in &made.kept {
        text.push_str(&format!("kept {path}\n"));
    }
    text.push_str(&proposal(made));
    for PeerPlan { tool, path } in plans {
        let path = swarm.pasted(&swarm.root().join(path));
        text.push_str(&format!("Found a plan of {tool}; `swarm plan import {path}` imports it\n"));
    }
    text.push_str(if imported.is_some() { "Next: `swarm status`" } else { "Next: `swarm plan save FILE`" });
    text
}

/// What was put into the configuration, or could be.
fn proposal(made: &Made) -> String {
    let lines = proposed_lines(&made.proposed);
    if lines.is_empty() {
        return String::new();
    }
    let written = made.created.iter().any(|path| path.ends_with("config.json"));
    let head = if written { "Added to the configuration" } else { "Suggested for the configuration" };
    let found = made.proposed.because.iter().chain(&made.proposed.copy).map(|name| harmless(name));
    let found: Vec<String> = found.collect();
    format!("{head}, based on {}:\n{}\n", found.join(", "), lines.join("\n"))
}
