//! What people ask for, by the words of the scripts.

use swarm_protocol::command::{Command, SaveKind};
use swarm_protocol::ids::CommandId;
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::{Gate, Mode, PauseReason};
use swarm_protocol::plan::{ExecutionProfile, PhaseFile, PlanFile, TaskFile, TaskPatch};
use swarm_protocol::review::{ReviewNote, Verdict};

use super::{id, oid, spec};
use crate::words;

pub fn command(words: &[&str]) -> Command {
    if let Some(command) = words::command(words) {
        return command;
    }
    match words {
        ["plan", tasks @ ..] => {
            let tasks: Vec<TaskFile> = tasks.iter().map(|t| TaskFile::from(spec(t))).collect();
            let phase = PhaseFile { id: 1, name: "one".into(), tasks, ..PhaseFile::default() };
            let plan = PlanFile { goal: "goal".into(), phases: vec![phase], ..PlanFile::default() };
            Command::SavePlan {
                plan,
                kind: SaveKind::Save,
                source: "plan.json".into(),
                reset_statuses: false,
                planning: None,
            }
        }
        ["slots", n] => Command::SetProfile { profile: profile(n.parse().expect("a number")) },
        ["together"] => {
            let profile = ExecutionProfile { council_parallel: true, ..profile(1) };
            Command::SetProfile { profile }
        }
        ["lock"] => Command::LockProfile,
        ["reset"] => Command::ResetPlan,
        ["pause"] => Command::Pause { reason: PauseReason::User, why: "lunch".into(), force: false },
        ["resume"] => Command::Resume { reason: PauseReason::User },
        ["resume", "trunk"] => Command::Resume { reason: PauseReason::Trunk },
        ["resume", "budget"] => Command::Resume { reason: PauseReason::Budget },
        ["resume", "errors"] => Command::Resume { reason: PauseReason::Errors },
        ["resume", "setup"] => Command::Resume { reason: PauseReason::Setup },
        ["mode", "auto"] => Command::SetMode { mode: Mode::Autopilot },
        ["mode", "semi"] => Command::SetMode { mode: Mode::SemiAuto },
        ["go", tasks @ ..] => Command::StartTasks { tasks: tasks.iter().map(|t| id(t)).collect() },
        ["submit", task] => {
            Command::SubmitWork { task: id(task), base: oid('a'), tip: oid('b'), tree: oid('d') }
        }
        ["submit", "empty", task] => {
            Command::SubmitWork { task: id(task), base: oid('a'), tip: oid('a'), tree: oid('d') }
        }
        ["seen", entry] => Command::AcknowledgeAttention { entry: (*entry).into() },
        ["drain", "checkpoint"] => Command::CheckpointAndDrain { why: "Ctrl+C".into() },
        ["drain"] => Command::Drain { why: "Ctrl+C".into() },
        ["add", task] => Command::AddTask { phase: None, after: None, task: spec(task) },
        ["depends", task] => {
            let spec = spec(task);
            let patch = TaskPatch { depends: Some(spec.depends), ..TaskPatch::default() };
            Command::EditTask { task: spec.id, patch }
        }
        ["block", task] => Command::BlockTask { task: id(task), reason: "wait for me".into() },
        ["unblock", task] => Command::UnblockTask { task: id(task) },
        ["retry"] => Command::Retry,
        ["accept", task] => Command::AcceptTask { task: id(task), reason: "seen".into() },
        ["reviewer", task, who] => {
            let review = Some(Some((*who).to_owned()));
            Command::EditTask { task: id(task), patch: TaskPatch { review, ..TaskPatch::default() } }
        }
        ["person", "approves", task, tip] => Command::Review {
            task: id(task),
            verdict: Verdict::Approve { tip: oid(tip.chars().next().expect("a digit")), left_out: None },
        },
        ["person", "approves", task, tip, "without", left] => Command::Review {
            task: id(task),
            verdict: Verdict::Approve {
                tip: oid(tip.chars().next().expect("a digit")),
                left_out: Some(oid(left.chars().next().expect("a digit"))),
            },
        },
        ["person", "rejects", task, text @ ..] => {
            let note = ReviewNote { file: Some("a.rs".into()), line: Some(3), text: text.join(" ") };
            Command::Review { task: id(task), verdict: Verdict::NeedsChanges { notes: vec![note] } }
        }
        ["defer", task] => Command::DeferTask { task: id(task) },
        ["cancel", task] => Command::CancelTask { task: id(task) },
        ["remove", task] => Command::RemoveTask { task: id(task) },
        ["stop", task] => Command::StopAgent { task: id(task) },
        ["isolate", task, word] => {
            let patch = TaskPatch { isolation: Some(Some((*word).into())), ..TaskPatch::default() };
            Command::EditTask { task: id(task), patch }
        }
        ["edit", task, title @ ..] => {
            let title = Some(format!("task {task} {}", title.join(" ")));
            Command::EditTask { task: id(task), patch: TaskPatch { title, ..TaskPatch::default() } }
        }
        ["close"] => Command::ClosePlan { archive: "plan-x".into() },
        ["reopen"] => Command::ReopenPlan,
        ["cleaned", task] => Command::RecordRemoval { task: id(task), left: None },
        ["kill", task] => Command::KillAgent { task: id(task) },
        ["redirect", task, to] => Command::Redirect { task: id(task), to: id(to), same_worktree: false },
        ["back", task] => {
            let (force, expect) = (Force::default(), None);
            Command::RollbackTask { task: id(task), cascade: false, force, expect }
        }
        ["force"] => Command::Pause { reason: PauseReason::User, why: "now".into(), force: true },
        ["undo", rest @ ..] | ["redo", rest @ ..] => {
            let operation = rest.first().map(|id| CommandId::new(id).expect("an operation"));
            let (partial, expect) = (rest.contains(&"partial"), None);
            let force = Force { set_aside: rest.contains(&"aside"), ..Force::default() };
            match words[0] {
                "undo" => Command::Undo { operation, partial, force, expect },
                _ => Command::Redo { operation, force, expect },
            }
        }
        ["waive", task, "check"] => {
            Command::WaiveGate { task: id(task), gate: Gate::Check, reason: "seen".into() }
        }
        ["waive", task, "scan"] => {
            Command::WaiveGate { task: id(task), gate: Gate::Scan, reason: "seen".into() }
        }
        ["waive", task, "review"] => {
            Command::WaiveGate { task: id(task), gate: Gate::Review, reason: "seen".into() }
        }
        ["waive", task, "verify"] => {
            Command::WaiveGate { task: id(task), gate: Gate::Verify, reason: "seen".into() }
        }
        ["phase", n] => Command::CompletePhase { phase: n.parse().expect("a number") },
        other => panic!("the step {other:?} is not in the language"),
    }
}

fn profile(slots: u32) -> ExecutionProfile {
    ExecutionProfile {
        parallelization_enabled: slots > 1,
        max_concurrent_tasks: slots,
        ..ExecutionProfile::default()
    }
}
