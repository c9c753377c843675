//! Facts by name: read, compared, said in words. What an operation changed is found by reading the
//! facts that its events touch before and after them; no operation writes its facts by hand.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{AgentId, TaskId};
use swarm_protocol::operation::{FactChange, SavedStage};

use super::saved;
use crate::state::{State, Task};

/// Parts of a task that are facts of their own.
pub const TASK_PARTS: [&str; 4] = ["spec", "place", "stage", "waived"];

/// The task and the part that a fact is about.
pub fn of_task(fact: &str) -> Option<(TaskId, Option<&str>)> {
    let rest = fact.strip_prefix("task/")?;
    let (id, part) = match rest.split_once('/') {
        Some((id, part)) => (id, Some(part)),
        None => (rest, None),
    };
    Some((TaskId::new(id).ok()?, part))
}

/// Whether git holds the fact, not the ledger.
pub fn is_of_git(fact: &str) -> bool {
    fact.starts_with("ref/") || fact.starts_with("worktree/")
}

/// The fact as it is now; none: there is no such thing.
pub fn read(state: &State, fact: &str) -> Option<Value> {
    if let Some((id, part)) = of_task(fact) {
        let task = state.task(&id)?;
        return match part {
            None => Some(json!({ "worked": task.attempts > 0 || task.worktree })),
            Some(part) => read_part(state, task, part),
        };
    }
    let (kind, name) = fact.split_once('/').unwrap_or((fact, ""));
    match kind {
        "trunk" => state.trunk.as_deref().map(|trunk| json!(trunk)),
        // Absent: nobody has chosen one, the configuration's counts.
        "mode" => state.mode.map(|mode| json!(mode.word())),
        "loss" => state.loss.as_ref().map(|text| json!(text)),
        "seen" => state.task(&TaskId::new(name).ok()?).map(|task| json!(task.oversteps_seen)),
        "noticed" => {
            let mut all = state.ops.log.iter();
            all.find(|record| record.id.as_str() == name).filter(|record| record.seen).map(|_| json!(true))
        }
        "pause" => {
            let pause = state.paused.iter().find(|(reason, _)| reason.word() == name)?.1;
            Some(json!({ "why": pause.why }))
        }
        "profile" => serde_json::to_value(state.plan.as_ref()?.profile).ok(),
        "header" => {
            let plan = state.plan.as_ref()?;
            let phases: Vec<Value> =
                plan.phases.iter().map(|p| json!({ "id": p.id, "name": p.name, "extra": p.extra })).collect();
            Some(json!({ "goal": plan.goal, "phases": phases, "extra": plan.extra }))
        }
        "phase" => {
            let id = name.parse().ok()?;
            state.phase(id).map(|phase| json!({ "complete": phase.complete }))
        }
        "approved" => serde_json::to_value(state.plan.as_ref()?.approved.as_ref()?).ok(),
        "agent" => {
            let agent = state.agents.get(&AgentId::new(name).ok()?)?;
            agent.degraded.as_ref().map(|degraded| json!({ "degraded": degraded.why }))
        }
        "quota" => {
            let closed = state.quotas.get(name)?.closed.as_ref()?;
            Some(json!({ "closed": closed }))
        }
        "budget" if name.is_empty() => serde_json::to_value(state.spent_before).ok(),
        "budget" => serde_json::to_value(state.task(&TaskId::new(name).ok()?)?.spent_before).ok(),
        "message" => {
            let mut all = state.tasks.values().flat_map(|t| &t.messages);
            let message = all.find(|m| m.id.as_str() == name)?;
            Some(json!({ "delivered": message.landed.is_some() }))
        }
        "redirect" => {
            let to = TaskId::new(name).ok()?;
            serde_json::to_value(state.ops.redirects.get(&to)?).ok()
        }
        "checkpoint" => {
            let checkpoint = state.ops.checkpoints.get(name).filter(|c| c.deleted.is_none())?;
            Some(json!({ "seq": checkpoint.seq }))
        }
        _ => None,
    }
}

fn read_part(state: &State, task: &Task, part: &str) -> Option<Value> {
    match part {
        "spec" => serde_json::to_value(&task.spec).ok(),
        "place" => {
            let order = &state.phase(task.phase)?.tasks;
            let at = order.iter().position(|id| *id == task.spec.id)?;
            let after = at.checked_sub(1).map(|i| order[i].as_str());
            Some(json!({ "phase": task.phase, "after": after, "rank": task.rank }))
        }
        "stage" => serde_json::to_value(saved::stage(task)).ok(),
        "waived" => serde_json::to_value(&task.waived).ok(),
        "base" => task.base.as_ref().map(|base| json!(base.as_str())),
        "left" => serde_json::to_value(task.left.as_ref()?).ok(),
        _ => None,
    }
}

/// Whether a recorded value is still so. A place is kept when the task itself did not move: others
/// may have come between it and its neighbour, or the ranks may have been dealt anew. A worktree that
/// was removed since has no base until it is made again.
pub fn holds(fact: &str, recorded: Option<&Value>, now: Option<&Value>) -> bool {
    match (recorded, now) {
        (Some(a), Some(b)) if fact.ends_with("/place") => {
            a["phase"] == b["phase"] && (a["rank"] == b["rank"] || a["after"] == b["after"])
        }
        (Some(_), None) if fact.ends_with("/base") => true,
        // What was given up comes back, and goes again, by itself.
        _ if fact.ends_with("/left") => true,
        (a, b) => a == b,
    }
}

/// The facts that these events may change.
pub fn touched(state: &State, events: &[Event]) -> BTreeSet<String> {
    let mut facts = BTreeSet::new();
    for event in events {
        touch(state, event, &mut facts);
    }
    facts
}

fn touch(state: &State, event: &Event, facts: &mut BTreeSet<String>) {
    let part = |id: &TaskId, part: &str| format!("task/{id}/{part}");
    match event {
        Event::TaskAdded { task, .. } | Event::TaskRemoved { task } => {
            // The first task of a phase makes the phase.
            facts.extend([format!("task/{task}"), "header".into()]);
            facts.extend(TASK_PARTS.map(|name| part(task, name)));
        }
        Event::TaskUpdated { task, .. } => {
            facts.insert(part(task, "spec"));
        }
        Event::TaskReordered { task, .. } => {
            facts.extend([part(task, "place"), "header".into()]);
        }
        Event::GateWaived { task, .. } => {
            facts.insert(part(task, "waived"));
        }
        Event::TaskRestored { task, .. } => {
            facts.extend(["stage", "waived", "base", "left"].map(|name| part(task, name)));
        }
        Event::PlanReset {} => {
            for id in state.tasks.keys() {
                facts.extend([part(id, "stage"), part(id, "waived")]);
            }
            facts.extend(state.plan.iter().flat_map(|p| &p.phases).map(|p| format!("phase/{}", p.id)));
            facts.insert("profile".into());
        }
        Event::PlanCreated { .. } | Event::PlanUpdated { .. } => {
            facts.insert("header".into());
        }
        Event::PhaseCompleted { phase } => {
            facts.insert(format!("phase/{phase}"));
        }
        Event::ExecutionProfileSet { .. } | Event::ExecutionProfileLocked {} => {
            facts.insert("profile".into());
        }
        Event::PlanApproved { .. } => {
            facts.insert("approved".into());
        }
        Event::Paused { reason, .. } | Event::Resumed { reason } => {
            facts.insert(format!("pause/{}", reason.word()));
        }
        Event::TrunkChosen { .. } => {
            facts.insert("trunk".into());
        }
        Event::ModeChanged { .. } => {
            facts.insert("mode".into());
        }
        Event::LossAcknowledged { .. } => {
            facts.insert("loss".into());
        }
        Event::OverstepsSeen { task, .. } => {
            facts.insert(format!("seen/{task}"));
        }
        Event::OperationSeen { id } => {
            facts.insert(format!("noticed/{}", id.as_str()));
        }
        Event::TaskApproved { task, .. } => {
            facts.extend(["stage", "base"].map(|name| part(task, name)));
        }
        Event::AgentRevived { agent } | Event::AgentDegraded { agent, .. } => {
            facts.insert(format!("agent/{agent}"));
        }
        Event::QuotaRestored { group, .. } | Event::QuotaHeld { group } => {
            facts.insert(format!("quota/{group}"));
        }
        Event::BudgetExtended { task: None } => {
            facts.insert("budget".into());
        }
        Event::BudgetExtended { task: Some(task) } => {
            facts.insert(format!("budget/{task}"));
        }
        Event::MessageQueued { id, .. } => {
            facts.insert(format!("message/{}", id.as_str()));
        }
        Event::AgentRedirected { to, .. } => {
            facts.insert(format!("redirect/{to}"));
        }
        Event::CheckpointDeleted { name, .. } => {
            facts.insert(format!("checkpoint/{name}"));
        }
        Event::FactsSet { facts: set } => facts.extend(set.iter().map(|change| change.fact.clone())),
        other => facts.extend(other.task().map(|id| part(id, "stage"))),
    }
}

/// Values of facts at one moment.
pub fn read_all(state: &State, facts: &BTreeSet<String>) -> Vec<Option<Value>> {
    facts.iter().map(|fact| read(state, fact)).collect()
}

/// What differs between two readings.
pub fn changes(
    facts: BTreeSet<String>,
    before: Vec<Option<Value>>,
    after: Vec<Option<Value>>,
) -> Vec<FactChange> {
    facts
        .into_iter()
        .zip(before.into_iter().zip(after))
        .filter(|(_, (before, after))| before != after)
        .map(|(fact, (before, after))| FactChange { fact, before, after })
        .collect()
}

/// A value of a fact for people: `task 1.2 is blocked`.
pub fn describe(fact: &str, value: Option<&Value>) -> String {
    if let Some((id, part)) = of_task(fact) {
        return match (part, value) {
            (None, None) => format!("task {id} does not exist"),
            (None, Some(v)) if v["worked"] == true => format!("task {id} was worked on"),
            (None, Some(_)) => format!("task {id} exists"),
            (Some("stage"), Some(v)) => match serde_json::from_value::<SavedStage>(v.clone()) {
                Ok(stage) => format!("task {id} is {}", stage.word()),
                Err(_) => format!("task {id} has another stage"),
            },
            (Some("spec"), Some(_)) => format!("task {id} was edited"),
            (Some("place"), Some(_)) => format!("task {id} was moved"),
            (Some("base"), _) => format!("the branch of task {id} begins elsewhere"),
            (Some("waived"), Some(_)) => format!("gates of task {id} were waived"),
            (Some(part), _) => format!("the {part} of task {id} is gone"),
        };
    }
    let (kind, name) = fact.split_once('/').unwrap_or((fact, ""));
    match (kind, value) {
        ("trunk", Some(v)) => format!("trunk is {}", v.as_str().unwrap_or("another branch")),
        ("mode", Some(v)) => format!("the mode is {}", v.as_str().unwrap_or("another")),
        ("mode", None) => "the mode is the configured one".into(),
        ("loss", Some(_)) => "lost records wait to be seen".into(),
        ("loss", None) => "lost records were seen".into(),
        ("seen", Some(v)) => format!("of what agents of task {name} overstepped, {v} were seen"),
        ("noticed", Some(_)) => format!("the failure of operation {name} was seen"),
        ("noticed", None) => format!("the failure of operation {name} waits to be seen"),
        ("pause", Some(_)) => format!("the swarm is paused ({name})"),
        ("pause", None) => format!("the swarm is not paused ({name})"),
        ("profile", _) => "the execution profile changed".into(),
        ("header", _) => "the goal or the phases changed".into(),
        ("phase", Some(v)) if v["complete"] == true => format!("phase {name} is complete"),
        ("phase", _) => format!("phase {name} is open"),
        ("approved", _) => "the approval of the plan changed".into(),
        ("ref", _) => format!("{} moved", name.trim_start_matches("refs/heads/")),
        ("worktree", _) => format!("the worktree of task {name} changed"),
        ("checkpoint", None) => format!("the checkpoint {name} is gone"),
        ("checkpoint", Some(_)) => format!("the checkpoint {name} is there"),
        ("agent", Some(_)) => format!("{name} is out of service"),
        ("agent", None) => format!("{name} is in service"),
        ("quota", Some(_)) => format!("the quota of {name} is closed"),
        ("quota", None) => format!("the quota of {name} is open"),
        ("budget", _) => "the budget was extended".into(),
        ("message", Some(v)) if v["delivered"] == true => "the message was delivered".into(),
        ("message", _) => "the message is gone".into(),
        ("redirect", _) => format!("who takes up task {name} next changed"),
        _ => format!("{fact} changed"),
    }
}
