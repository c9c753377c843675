//! What commands share that change something: a look before, and a question where much is at stake.

use std::io::{BufRead, IsTerminal, Write};

use serde::Serialize;
use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::Force;
use swarm_protocol::oplog::{OperationView, PreviewView};

use super::answered;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::harmless;
use crate::output::preview;
use crate::swarm::Swarm;

/// For commands that are carried out at once.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct DryRun {
    /// Show what would change, without changing anything
    #[arg(long)]
    pub dry_run: bool,
}

/// The same for those that stop an agent or end a task: whoever confirms every such command in a script is not refused.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct Unasked {
    #[command(flatten)]
    pub dry: DryRun,
    /// Accepted, and changes nothing: this command does not ask.
    #[arg(long, short = 'y', hide = true)]
    pub yes: bool,
}

/// For commands that a person confirms.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Confirm {
    /// Show what would happen, without doing it
    #[arg(long)]
    pub dry_run: bool,
    /// Skip the confirmation
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// What would be refused otherwise.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Forced {
    /// Also remove your own commits from trunk; they are kept under a ref that the preview names
    #[arg(long)]
    pub drop_foreign: bool,
    /// Save local changes that are in the way to a ref that the preview names
    #[arg(long)]
    pub save_local: bool,
}

impl From<Forced> for Force {
    fn from(forced: Forced) -> Self {
        Self { drop_foreign: forced.drop_foreign, save_local: forced.save_local, set_aside: false }
    }
}

/// For what takes something back.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct TakeBack {
    #[command(flatten)]
    pub forced: Forced,
    /// Stop agents that have started on the same tasks since; their work is kept in a checkpoint that the preview names
    #[arg(long)]
    pub set_aside: bool,
}

impl From<TakeBack> for Force {
    fn from(back: TakeBack) -> Self {
        Self { set_aside: back.set_aside, ..back.forced.into() }
    }
}

/// Carries out what needs no question, or shows what it would change.
pub fn intervene(cx: &Context, swarm: &Swarm, command: Command, dry: DryRun) -> Result<(), CliError> {
    if dry.dry_run {
        return shown(cx, &swarm.preview(&command)?);
    }
    answered(cx, &swarm.ask(command)?)
}

/// The same for what lets work begin or go on: that nobody is there to do so is said.
pub fn goes_on(cx: &Context, command: Command, dry: DryRun) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    intervene(cx, &swarm, command, dry)?;
    if !dry.dry_run {
        swarm.note_that_nothing_goes_on(&swarm.presence());
    }
    Ok(())
}

/// What would happen, and nothing else.
pub fn shown(cx: &Context, view: &PreviewView) -> Result<(), CliError> {
    cx.out.view(view, preview::text)
}

/// The same for what the ledger is not asked for: a line for each thing that would be done; none: nothing.
pub fn shown_lines(cx: &Context, kind: &str, lines: &[String]) -> Result<(), CliError> {
    shown(cx, &PreviewView::of_lines(kind, lines))
}

/// Shows what would happen, asks, carries out exactly that, and stays until it is over.
pub fn carefully(cx: &Context, swarm: &Swarm, command: Command, sure: Confirm) -> Result<(), CliError> {
    match confirmed(cx, swarm, command, sure)? {
        Some(command) => over(cx, &swarm.operate(command)?),
        None => Ok(()),
    }
}

/// Shows what would happen and asks. None: it was only to be looked at, or the person does not want it.
pub fn confirmed(
    cx: &Context,
    swarm: &Swarm,
    command: Command,
    sure: Confirm,
) -> Result<Option<Command>, CliError> {
    if let Some(seen) = &cx.seen {
        return Ok(Some(command.expecting(Some(seen.clone()))));
    }
    if !sure.dry_run {
        swarm.finish_interrupted()?;
    }
    let seen = swarm.preview(&command)?;
    if !agreed(cx, &seen, sure)? {
        return Ok(None);
    }
    // Whoever did not look is not held to what was to be seen: agents at work change it all the time.
    Ok(Some(if sure.yes { command } else { command.expecting(seen.expect) }))
}

/// Whether to go on: shows what would happen where only that was asked for, else asks.
pub fn agreed(cx: &Context, seen: &PreviewView, sure: Confirm) -> Result<bool, CliError> {
    if sure.dry_run {
        shown(cx, seen)?;
        return Ok(false);
    }
    if !sure.yes && !wanted(cx, seen)? {
        cx.out.prose("Nothing was done")?;
        return Ok(false);
    }
    Ok(true)
}

/// The end of an operation.
pub fn over(cx: &Context, view: &OperationView) -> Result<(), CliError> {
    cx.out.view(view, |view| harmless(&view.text))
}

fn wanted(cx: &Context, seen: &PreviewView) -> Result<bool, CliError> {
    says_yes(cx, &format!("{}\n\nContinue?", preview::text(seen)))
}

/// Nobody can be asked, for this reason.
pub fn unconfirmed(why: &str) -> CliError {
    CliError::usage(format!("Confirmation needed: {why}")).say("Use --yes, or preview with --dry-run")
}

/// A question to the person at the terminal.
pub fn says_yes(cx: &Context, question: &str) -> Result<bool, CliError> {
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    // A person may well sit at a terminal: then that is not the reason.
    if cx.out.json {
        return Err(unconfirmed("--json asks nothing"));
    }
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return Err(unconfirmed("not a terminal"));
    }
    let broken = |error| CliError::environment("Cannot ask").because(error);
    write!(stderr, "{question} [y/N] ").map_err(broken)?;
    stderr.flush().map_err(broken)?;
    let mut line = String::new();
    stdin.lock().read_line(&mut line).map_err(broken)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Each task on its own: one that is refused does not keep the others. One error names all that were.
pub fn each<T>(tasks: &[TaskId], one: impl Fn(&TaskId) -> Result<T, CliError>) -> (Vec<T>, Option<CliError>) {
    let (mut done, mut failed): (Vec<T>, Option<CliError>) = (Vec::new(), None);
    for task in tasks {
        let error = match one(task) {
            Ok(view) => {
                done.push(view);
                continue;
            }
            Err(error) => error,
        };
        // A full disk is as full for the next one.
        let is_for_all = error.exit != Exit::Refused;
        failed = Some(match failed {
            None => error,
            Some(first) => CliError { message: format!("{}; {}", first.message, error.message), ..first },
        });
        if is_for_all {
            break;
        }
    }
    (done, failed)
}

/// What was done, and then the error of what was not: as JSON one document.
pub fn told_beside<V: Serialize + ?Sized>(
    cx: &Context,
    done: &V,
    failed: Option<CliError>,
    text: impl FnOnce(&V) -> String,
) -> Result<(), CliError> {
    match failed {
        Some(error) if cx.out.json => Err(error.beside(done)),
        failed => {
            cx.out.view(&done, |_| text(done))?;
            failed.map_or(Ok(()), Err)
        }
    }
}

/// Something to print where a list may be empty.
pub fn list<V: Serialize>(
    cx: &Context,
    all: &[V],
    none: &str,
    text: impl FnOnce(&[V]) -> String,
) -> Result<(), CliError> {
    cx.out.view(&all, |all| if all.is_empty() { none.to_owned() } else { text(all) })
}
