//! `swarm task add TITLE`.

use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::TaskId;
use swarm_protocol::view::TaskRow;

use super::members::Members;
use crate::commands::answered;
use crate::commands::operate::{DryRun, shown};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Add a task to the plan
///
/// It is added at the end of its phase, or after the task named with `--after`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Title, in one line
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// Id (default: the next free number of the phase, like 1.3)
    #[arg(long, value_name = "TASK")]
    pub id: Option<TaskId>,
    /// Phase (default: that of OTHER, else the last one)
    #[arg(long, value_name = "N")]
    pub phase: Option<u32>,
    /// Insert after this task
    #[arg(long, value_name = "OTHER")]
    pub after: Option<TaskId>,
    #[command(flatten)]
    pub members: Members,
    #[command(flatten)]
    pub dry: DryRun,
}

/// How often a number that somebody else was quicker to take is chosen again.
///
/// Each time at least one other command has succeeded, so this many must be at work at once to use it up.
const NUMBERS_TRIED_MAX: u32 = 1_000;

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    if args.dry.dry_run {
        let (phase, id) = match args.id.clone() {
            Some(id) => (args.phase, id),
            None => free_place(&swarm, args.phase, args.after.as_ref())?,
        };
        let task = args.members.spec(id, args.title)?;
        return shown(cx, &swarm.preview(&Command::AddTask { phase, after: args.after, task })?);
    }
    let answer = match args.id.clone() {
        Some(id) => ask(&swarm, args, id)?,
        None => ask_with_a_free_number(&swarm, args)?,
    };
    answered(cx, &answer)
}

fn ask(swarm: &Swarm, args: Args, id: TaskId) -> Result<Answer, CliError> {
    let task = args.members.spec(id, args.title)?;
    swarm.ask(Command::AddTask { phase: args.phase, after: args.after, task })
}

/// The phase that the task goes to and its next number there.
fn free_place(
    swarm: &Swarm,
    phase: Option<u32>,
    after: Option<&TaskId>,
) -> Result<(Option<u32>, TaskId), CliError> {
    let (rows, last_phase) = swarm.rows_and_last_phase()?;
    let phase = phase.or_else(|| phase_of(after, &rows)).unwrap_or(last_phase);
    Ok((Some(phase), free_number(phase, &rows, swarm.highest_number_on_file(phase))))
}

fn ask_with_a_free_number(swarm: &Swarm, args: Args) -> Result<Answer, CliError> {
    let placeholder = TaskId::new("1.1").expect("a good id");
    let task = args.members.spec(placeholder, args.title)?;
    let mut tried = 0;
    loop {
        let (phase, id) = free_place(swarm, args.phase, args.after.as_ref())?;
        let mut task = task.clone();
        task.id = id;
        let command = Command::AddTask { phase, after: args.after.clone(), task };
        match swarm.ask(command) {
            Err(error) if error.kind == "duplicate_task" && tried < NUMBERS_TRIED_MAX => tried += 1,
            answer => return answer,
        }
    }
}

fn phase_of(after: Option<&TaskId>, rows: &[TaskRow]) -> Option<u32> {
    rows.iter().find(|row| Some(&row.id) == after).map(|row| row.phase)
}

/// `2.7` when the highest number of phase 2 is `2.6`. Numbers in gaps are not taken again: somebody may
/// still speak of the task that had it.
fn free_number(phase: u32, rows: &[TaskRow], on_file: u64) -> TaskId {
    let prefix = format!("{phase}.");
    let number = |row: &TaskRow| row.id.as_str().strip_prefix(&prefix)?.parse::<u64>().ok();
    let next = rows.iter().filter_map(number).max().unwrap_or(0).max(on_file).saturating_add(1);
    TaskId::new(format!("{phase}.{next}")).expect("digits and a point are a good id")
}
