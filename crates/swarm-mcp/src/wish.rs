//! From the arguments of a tool to what is wanted of the swarm. Pure: what has to be looked up is named, not asked.

mod planning;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use swarm_protocol::api::ApiError;
use swarm_protocol::command::Command;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::TaskSpec;
use swarm_protocol::reservation::Isolation;
use swarm_protocol::review::{ReviewNote, Verdict as Judged, check_isolation};

use crate::arguments::{
    CheckpointArgs, CheckpointDo, CompleteArgs, InitArgs, PhaseArgs, ReviewArgs, RollbackArgs, RollbackTo,
    RunArgs, RunDo, StopArgs, StopDo, UndoArgs, Verdict, WorktreeArgs, WorktreeCreateArgs,
};
use crate::desk::Deed;
use planning::{edit, plan, save_plan, update_status};

/// What a call wants.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    pub what: What,
    /// With it, it is done once however often it is asked for.
    pub id: Option<CommandId>,
    /// It takes something back or moves git: looked at first, done with what was shown.
    pub careful: bool,
    pub expect: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum What {
    Command(Command),
    /// A new task without an id: the next free number of its phase.
    AddNumbered {
        phase: Option<u32>,
        after: Option<TaskId>,
        task: TaskSpec,
    },
    /// Whatever was submitted.
    Approve {
        task: TaskId,
    },
    /// What lies in its worktree.
    Submit {
        task: TaskId,
    },
    Deed(Deed),
    /// Members that are not given stay as they are.
    Profile {
        parallel: Option<bool>,
        at_once: Option<u32>,
        council: Option<bool>,
    },
    /// It is never set from outside: says what is missing.
    MarkDone {
        task: TaskId,
    },
}

impl Wish {
    fn plain(command: Command, id: Option<CommandId>) -> Self {
        Self::of(What::Command(command), id)
    }

    fn of(what: What, id: Option<CommandId>) -> Self {
        Self { what, id, careful: false, expect: None }
    }

    fn careful(what: What, id: Option<CommandId>, expect: Option<String>) -> Self {
        Self { what, id, careful: true, expect }
    }
}

/// Reads arguments; a mistake is told to whoever made it.
pub fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ApiError> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let why = error.to_string();
        // As a number 1.10 would be 1.1, which is another task.
        match why.contains("expected a name") {
            true => bad(format!("{why}; ids are texts, also \"1.10\"")),
            false => bad(why),
        }
    })
}

pub fn bad(why: impl Into<String>) -> ApiError {
    ApiError::new("bad_arguments", why, "Look at the schema of the tool and call it again")
}

fn needed<T>(given: Option<T>, name: &str, deed: &str) -> Result<T, ApiError> {
    given.ok_or_else(|| bad(format!("{deed} needs `{name}`")))
}

/// None: the tool only looks, or there is none of this name.
pub fn wish(tool: &str, arguments: Map<String, Value>) -> Result<Option<Wish>, ApiError> {
    Ok(Some(match tool {
        "swarm_init" => init(read(arguments)?)?,
        "save_plan" => save_plan(read(arguments)?)?,
        "update_task_status" => update_status(read(arguments)?)?,
        "phase_complete" => {
            let PhaseArgs { phase, id } = read(arguments)?;
            Wish::plain(Command::CompletePhase { phase }, id)
        }
        "swarm_edit" => edit(read(arguments)?)?,
        "swarm_plan" => plan(read(arguments)?),
        "swarm_run" => run(read(arguments)?)?,
        "swarm_stop" => stop(read(arguments)?)?,
        "swarm_checkpoint" => checkpoint(read(arguments)?)?,
        "swarm_rollback" => rollback(read(arguments)?)?,
        "swarm_undo" => undo(read(arguments)?),
        "swarm_review" => review(read(arguments)?)?,
        "swarm_complete" | "swarm_worktree_merge" => {
            let CompleteArgs { task, id } = read(arguments)?;
            Wish::of(What::Submit { task }, id)
        }
        "swarm_worktree_create" => {
            let WorktreeCreateArgs { task, from } = read(arguments)?;
            Wish::of(What::Deed(Deed::CreateWorktree { task, from }), None)
        }
        "swarm_worktree_cleanup" => {
            let WorktreeArgs { task } = read(arguments)?;
            Wish::of(What::Deed(Deed::CleanUp { task }), None)
        }
        _ => return Ok(None),
    }))
}

fn init(args: InitArgs) -> Result<Wish, ApiError> {
    if let Some(word) = &args.isolation {
        check_isolation(word).map_err(bad)?;
    }
    let isolation = args.isolation.as_deref().and_then(Isolation::of_word);
    Ok(Wish::of(What::Deed(Deed::Init { isolation }), None))
}

fn run(args: RunArgs) -> Result<Wish, ApiError> {
    let command = match args.deed {
        RunDo::Start => Command::StartTasks { tasks: args.tasks },
        RunDo::Resume => Command::Resume { reason: args.reason.unwrap_or(PauseReason::User) },
        RunDo::Mode => Command::SetMode { mode: needed(args.mode, "mode", "mode")? },
        RunDo::Message => Command::MessageAgent {
            task: needed(args.task, "task", "message")?,
            text: needed(args.text, "text", "message")?,
        },
        RunDo::Revive => Command::ReviveAgent { agent: needed(args.agent, "agent", "revive")? },
        RunDo::ExtendBudget => Command::ExtendBudget { task: args.task },
        RunDo::OpenQuota => Command::OpenQuota { group: needed(args.group, "group", "open_quota")? },
        RunDo::Seen => Command::AcknowledgeAttention { entry: needed(args.entry, "entry", "seen")? },
        RunDo::Retry => Command::Retry,
        RunDo::Release => Command::ReleaseReservation { number: needed(args.number, "number", "release")? },
    };
    Ok(Wish::plain(command, args.id))
}

fn stop(args: StopArgs) -> Result<Wish, ApiError> {
    let why = || args.reason.clone().unwrap_or_else(|| "asked for over MCP".into());
    let task = |deed: &str| needed(args.task.clone(), "task", deed);
    let command = match args.deed {
        StopDo::Pause => Command::Pause { reason: PauseReason::User, why: why(), force: args.force },
        StopDo::Stop => Command::StopAgent { task: task("stop")? },
        StopDo::Kill => Command::KillAgent { task: task("kill")? },
        StopDo::Block => Command::BlockTask {
            task: task("block")?,
            reason: needed(args.reason.clone(), "reason", "block")?,
        },
        StopDo::Redirect => Command::Redirect {
            task: task("redirect")?,
            to: needed(args.to.clone(), "to", "redirect")?,
            same_worktree: args.same_worktree,
        },
        StopDo::HoldQuota => Command::HoldQuota { group: needed(args.group.clone(), "group", "hold_quota")? },
        StopDo::Reserve => Command::Reserve {
            files: args.files.clone(),
            shared: args.shared,
            secs: args.seconds,
            reason: args.reason.clone(),
        },
        StopDo::Drain => Command::Drain { why: why() },
    };
    Ok(Wish::plain(command, args.id))
}

fn checkpoint(args: CheckpointArgs) -> Result<Wish, ApiError> {
    let command = match args.deed {
        CheckpointDo::Make => Command::MakeCheckpoint { name: args.name },
        CheckpointDo::Delete => Command::DeleteCheckpoint { name: needed(args.name, "name", "delete")? },
    };
    Ok(Wish::plain(command, args.id))
}

fn rollback(args: RollbackArgs) -> Result<Wish, ApiError> {
    let force = Force { drop_foreign: args.drop_foreign, save_local: args.save_local, set_aside: false };
    let command = match args.to {
        RollbackTo::Checkpoint => {
            Command::Rollback { to: Some(needed(args.name, "name", "to: checkpoint")?), force, expect: None }
        }
        RollbackTo::Session => Command::Rollback { to: None, force, expect: None },
        RollbackTo::Task => Command::RollbackTask {
            task: needed(args.task, "task", "to: task")?,
            cascade: args.cascade,
            force,
            expect: None,
        },
        RollbackTo::Abort => Command::Abort { force, expect: None },
    };
    Ok(Wish::careful(What::Command(command), args.id, args.expect))
}

fn undo(args: UndoArgs) -> Wish {
    let UndoArgs { operation, redo, partial, expect, id } = args;
    let force = Force::default();
    let command = match redo {
        false => Command::Undo { operation, partial, force, expect: None },
        true => Command::Redo { operation, force, expect: None },
    };
    Wish::careful(What::Command(command), id, expect)
}

fn review(args: ReviewArgs) -> Result<Wish, ApiError> {
    let ReviewArgs { task, verdict, issues, commit, id } = args;
    let what = match (verdict, commit) {
        (Verdict::Approve, None) => What::Approve { task },
        (Verdict::Approve, Some(tip)) => {
            What::Command(Command::Review { task, verdict: Judged::Approve { tip, left_out: None } })
        }
        (Verdict::NeedsChanges, _) if issues.is_empty() => {
            return Err(bad("needs_changes needs `issues`: what is to be changed"));
        }
        (Verdict::NeedsChanges, _) => {
            let notes = issues.into_iter();
            let notes = notes.map(|i| ReviewNote { file: i.file, line: i.line, text: i.text }).collect();
            What::Command(Command::Review { task, verdict: Judged::NeedsChanges { notes } })
        }
    };
    Ok(Wish::of(what, id))
}

/// What a person types to do the same.
pub fn typed(what: &What) -> Option<String> {
    match what {
        What::Command(command) => command.typed(),
        What::Deed(Deed::ClosePlan { stop }) => {
            Some(format!("swarm close{}", if *stop { " --stop" } else { "" }))
        }
        _ => None,
    }
}
