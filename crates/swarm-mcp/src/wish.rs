//! From the arguments of a tool to what is wanted of the swarm. Pure: what has to be looked up is named, not asked.

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use swarm_protocol::api::ApiError;
use swarm_protocol::command::{Command, SaveKind};
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::{PlanFile, Status, TaskPatch, TaskSpec};
use swarm_protocol::review::{ReviewNote, Verdict as Judged};

use crate::arguments::{
    CheckpointArgs, CheckpointDo, CompleteArgs, EditArgs, EditDo, InitArgs, PhaseArgs, PlanArgs, PlanDo,
    ReviewArgs, RollbackArgs, RollbackTo, RunArgs, RunDo, SavePlanArgs, StatusArgs, StopArgs, StopDo,
    UndoArgs, Verdict, WorktreeArgs, WorktreeCreateArgs,
};
use crate::desk::Deed;

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
    match args.isolation.as_deref() {
        None | Some("worktree") => Ok(Wish::of(What::Deed(Deed::Init), None)),
        Some(other) => {
            Err(bad(format!("{other:?} is not an isolation; every task has a worktree of its own")))
        }
    }
}

fn save_plan(args: SavePlanArgs) -> Result<Wish, ApiError> {
    let plan: PlanFile =
        serde_json::from_value(args.plan).map_err(|error| bad(format!("the plan: {error}")))?;
    let command = Command::SavePlan {
        plan,
        kind: SaveKind::Save,
        source: "mcp".into(),
        reset_statuses: args.reset_statuses,
    };
    Ok(Wish::plain(command, args.id))
}

fn update_status(args: StatusArgs) -> Result<Wish, ApiError> {
    let StatusArgs { task, status, reason, id } = args;
    let command = match status {
        Status::Pending => Command::UnblockTask { task },
        Status::Active => Command::StartTasks { tasks: vec![task] },
        Status::Blocked => Command::BlockTask { task, reason: needed(reason, "reason", "blocked")? },
        Status::Deferred => Command::DeferTask { task },
        Status::Cancelled => Command::CancelTask { task },
        Status::Done => return Ok(Wish::of(What::MarkDone { task }, id)),
        other => {
            return Err(bad(format!(
                "{} is found out by the swarm, nobody sets it; possible are pending, active, blocked, deferred, cancelled",
                other.word()
            )));
        }
    };
    Ok(Wish::plain(command, id))
}

fn edit(args: EditArgs) -> Result<Wish, ApiError> {
    let id = args.id.clone();
    let task = |deed: &str| needed(args.task.clone(), "task", deed);
    let command = match args.deed {
        EditDo::Add => return add(args),
        EditDo::Edit => Command::EditTask { task: task("edit")?, patch: patch(&args) },
        EditDo::Move => {
            Command::MoveTask { task: task("move")?, after: args.after.clone(), phase: args.phase }
        }
        EditDo::Remove => Command::RemoveTask { task: task("remove")? },
        EditDo::Split => Command::SplitTask { task: task("split")?, parts: parts(&args.parts)? },
        EditDo::Waive => Command::WaiveGate {
            task: task("waive")?,
            gate: needed(args.gate, "gate", "waive")?,
            reason: needed(args.reason.clone(), "reason", "waive")?,
        },
        EditDo::Accept => Command::AcceptTask {
            task: task("accept")?,
            reason: needed(args.reason.clone(), "reason", "accept")?,
        },
    };
    Ok(Wish::plain(command, id))
}

fn add(args: EditArgs) -> Result<Wish, ApiError> {
    let title = needed(args.title, "title", "add")?;
    // Stands for the number that is free when it is added.
    let numbered = args.task.is_none();
    let id = match args.task {
        Some(id) => id,
        None => TaskId::new("1.1").map_err(|error| bad(error.to_string()))?,
    };
    let task = TaskSpec {
        description: args.description.unwrap_or_default(),
        depends: args.depends.unwrap_or_default(),
        acceptance: args.acceptance.unwrap_or_default(),
        files: args.files.unwrap_or_default(),
        tags: args.tags.unwrap_or_default(),
        size: args.size,
        priority: args.priority,
        profile: args.profile,
        review: args.review,
        allow_empty: args.allow_empty.unwrap_or_default(),
        ..TaskSpec::new(id, title)
    };
    let (phase, after) = (args.phase, args.after);
    let what = match numbered {
        true => What::AddNumbered { phase, after, task },
        false => What::Command(Command::AddTask { phase, after, task }),
    };
    Ok(Wish::of(what, args.id))
}

fn patch(args: &EditArgs) -> TaskPatch {
    TaskPatch {
        title: args.title.clone(),
        description: args.description.clone(),
        depends: args.depends.clone(),
        acceptance: args.acceptance.clone(),
        files: args.files.clone(),
        tags: args.tags.clone(),
        size: args.size.map(Some),
        priority: args.priority.map(Some),
        profile: args.profile.clone().map(Some),
        review: args.review.clone().map(Some),
        allow_empty: args.allow_empty,
        ..TaskPatch::default()
    }
}

fn parts(given: &[Value]) -> Result<Vec<TaskSpec>, ApiError> {
    let read = |part: &Value| serde_json::from_value::<TaskSpec>(part.clone());
    given.iter().map(read).collect::<Result<_, _>>().map_err(|error| bad(format!("a part: {error}")))
}

fn plan(args: PlanArgs) -> Wish {
    match args.deed {
        PlanDo::Approve => Wish::plain(Command::ApprovePlan, args.id),
        PlanDo::Lock => Wish::plain(Command::LockProfile, args.id),
        PlanDo::Profile => {
            let (parallel, at_once) = (args.parallelization_enabled, args.max_concurrent_tasks);
            Wish::of(What::Profile { parallel, at_once, council: args.council_parallel }, args.id)
        }
        PlanDo::Reset => Wish::careful(What::Command(Command::ResetPlan), args.id, args.expect),
        PlanDo::Close => Wish::careful(What::Deed(Deed::ClosePlan { stop: args.stop }), args.id, args.expect),
    }
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
            What::Command(Command::Review { task, verdict: Judged::Approve { tip } })
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
    let force = |force: &Force| {
        let words = [(force.drop_foreign, " --drop-foreign"), (force.save_local, " --save-local")];
        words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect::<String>()
    };
    let named = |name: &Option<CommandId>| name.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    Some(match what {
        What::Command(Command::Rollback { to: Some(name), force: f, .. }) => {
            format!("swarm rollback {name}{}", force(f))
        }
        What::Command(Command::Rollback { to: None, force: f, .. }) => {
            format!("swarm rollback --session{}", force(f))
        }
        What::Command(Command::RollbackTask { task, cascade, force: f, .. }) => {
            let cascade = if *cascade { " --cascade" } else { "" };
            format!("swarm task rollback {task}{cascade}{}", force(f))
        }
        What::Command(Command::Abort { force: f, .. }) => format!("swarm abort{}", force(f)),
        What::Command(Command::Undo { operation, partial, .. }) => {
            format!("swarm undo{}{}", named(operation), if *partial { " --partial" } else { "" })
        }
        What::Command(Command::Redo { operation, .. }) => format!("swarm redo{}", named(operation)),
        What::Command(Command::ResetPlan) => "swarm plan reset".into(),
        What::Deed(Deed::ClosePlan { stop }) => format!("swarm close{}", if *stop { " --stop" } else { "" }),
        _ => return None,
    })
}
