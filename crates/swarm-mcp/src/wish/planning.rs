//! What tools want of the plan and of the tasks in it.

use serde_json::Value;
use swarm_protocol::api::ApiError;
use swarm_protocol::command::{Command, SaveKind};
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{PlanFile, Status, TaskPatch, TaskSpec};

use super::{What, Wish, bad, needed};
use crate::arguments::{EditArgs, EditDo, PlanArgs, PlanDo, SavePlanArgs, StatusArgs};
use crate::desk::Deed;

pub(super) fn save_plan(args: SavePlanArgs) -> Result<Wish, ApiError> {
    let plan: PlanFile =
        serde_json::from_value(args.plan).map_err(|error| bad(format!("the plan: {error}")))?;
    let command = Command::SavePlan {
        plan,
        kind: SaveKind::Save,
        source: "mcp".into(),
        reset_statuses: args.reset_statuses,
        planning: None,
    };
    Ok(Wish::plain(command, args.id))
}

pub(super) fn update_status(args: StatusArgs) -> Result<Wish, ApiError> {
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

pub(super) fn edit(args: EditArgs) -> Result<Wish, ApiError> {
    let id = args.id.clone();
    let task = |deed: &str| needed(args.task.clone(), "task", deed);
    let command = match args.deed {
        EditDo::Add => return add(args),
        EditDo::Edit => Command::EditTask { task: task("edit")?, patch: patch(&args) },
        EditDo::Move => {
            Command::MoveTask { task: task("move")?, after: args.after.clone(), phase: args.phase }
        }
        EditDo::Remove => Command::RemoveTask { task: task("remove")? },
        EditDo::Split => {
            Command::SplitTask { task: task("split")?, parts: parts(&args.parts)?, planning: None }
        }
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
        reserve: args.reserve.unwrap_or_default(),
        share: args.share.unwrap_or_default(),
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
        reserve: args.reserve.clone(),
        share: args.share.clone(),
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

pub(super) fn plan(args: PlanArgs) -> Wish {
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
