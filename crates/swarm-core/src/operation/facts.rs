//! Facts by name: read, compared, said in words. What an operation changed is found by reading the
//! facts that its events touch before and after them; no operation writes its facts by hand.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{Fact, FactChange, Left, SavedStage, TaskPart};

use crate::state::saved;
use crate::state::{State, Task};

/// The fact as it is now; none: there is no such thing.
pub fn read(state: &State, fact: &Fact) -> Option<Value> {
    match fact {
        Fact::Task(id) => state.task(id).map(|task| json!({ "worked": task.attempts > 0 || task.worktree })),
        Fact::Part(id, part) => read_part(state, state.task(id)?, *part),
        Fact::Trunk => state.trunk.as_deref().map(|trunk| json!(trunk)),
        // Absent: nobody has chosen one, the configuration's counts.
        Fact::Mode => state.mode.map(|mode| json!(mode.word())),
        Fact::Loss => state.loss.as_ref().map(|text| json!(text)),
        Fact::Seen(id) => state.task(id).map(|task| json!(task.oversteps_seen)),
        Fact::Noticed(id) => {
            let found = state.ops.log.iter().find(|record| record.id == *id);
            found.filter(|record| record.seen).map(|_| json!(true))
        }
        Fact::Pause(reason) => state.paused.get(reason).map(|pause| json!({ "why": pause.why })),
        Fact::Profile => serde_json::to_value(state.plan.as_ref()?.profile).ok(),
        Fact::Header => {
            let plan = state.plan.as_ref()?;
            let phases: Vec<Value> =
                plan.phases.iter().map(|p| json!({ "id": p.id, "name": p.name, "extra": p.extra })).collect();
            Some(json!({ "goal": plan.goal, "phases": phases, "extra": plan.extra }))
        }
        Fact::Phase(id) => state.phase(*id).map(|phase| json!({ "complete": phase.complete })),
        Fact::Approved => serde_json::to_value(state.plan.as_ref()?.approved.as_ref()?).ok(),
        Fact::Agent(id) => {
            let degraded = state.agents.get(id)?.degraded.as_ref();
            degraded.map(|degraded| json!({ "degraded": degraded.why }))
        }
        Fact::Quota(group) => {
            let closed = state.quotas.get(group)?.closed.as_ref()?;
            Some(json!({ "closed": closed }))
        }
        Fact::Budget(None) => serde_json::to_value(state.spent_before).ok(),
        Fact::Budget(Some(id)) => serde_json::to_value(state.task(id)?.spent_before).ok(),
        Fact::Message(id) => {
            let message = state.tasks.values().flat_map(|t| &t.messages).find(|m| m.id == *id)?;
            Some(json!({ "delivered": message.landed.is_some() }))
        }
        Fact::Redirect(to) => serde_json::to_value(state.ops.redirects.get(to)?).ok(),
        Fact::Reservation(number) => serde_json::to_value(state.reservations.get(number)?).ok(),
        Fact::Checkpoint(name) => {
            let checkpoint = state.ops.checkpoints.get(name).filter(|c| c.deleted.is_none())?;
            Some(json!({ "seq": checkpoint.seq }))
        }
        Fact::Ref(_) | Fact::Worktree(_) | Fact::Unknown(_) => None,
    }
}

fn read_part(state: &State, task: &Task, part: TaskPart) -> Option<Value> {
    match part {
        TaskPart::Spec => serde_json::to_value(&task.spec).ok(),
        TaskPart::Place => {
            let order = &state.phase(task.phase)?.tasks;
            let at = order.iter().position(|id| *id == task.spec.id)?;
            let after = at.checked_sub(1).map(|i| order[i].as_str());
            Some(json!({ "phase": task.phase, "after": after, "rank": task.rank }))
        }
        TaskPart::Stage => serde_json::to_value(saved::stage(task)).ok(),
        TaskPart::Waived => serde_json::to_value(&task.waived).ok(),
        TaskPart::Base => task.base.as_ref().map(|base| json!(base.as_str())),
        TaskPart::Left => serde_json::to_value(task.left.as_ref()?).ok(),
        TaskPart::Rounds => Some(json!(task.review_rounds)),
    }
}

/// Whether a recorded value is still so. A place is kept when the task itself did not move: others
/// may have come between it and its neighbour, or the ranks may have been dealt anew. A worktree that
/// was removed since has no base until it is made again.
pub fn holds(fact: &Fact, recorded: Option<&Value>, now: Option<&Value>) -> bool {
    match (fact.part(), recorded, now) {
        (Some(TaskPart::Place), Some(a), Some(b)) => {
            a["phase"] == b["phase"] && (a["rank"] == b["rank"] || a["after"] == b["after"])
        }
        (Some(TaskPart::Base), Some(_), None) => true,
        // What was given up comes back, and goes again, by itself.
        (Some(TaskPart::Left), ..) => true,
        (Some(TaskPart::Stage), Some(a), Some(b)) => a == b || same_work(a, b) || before_was(a, b),
        (_, a, b) => a == b,
    }
}

/// Whether two stages speak of the same merged work. Where it stands since somebody rewrote it, and whether it is on trunk
/// just now, is asked of git again and again: nobody has decided anything.
fn same_work(a: &Value, b: &Value) -> bool {
    let proof = |value: &Value| match serde_json::from_value(value.clone()).ok()? {
        SavedStage::Done { proof: Some(proof), .. } | SavedStage::Gone { proof, .. } => Some(proof),
        _ => None,
    };
    let of = |value| proof(value).map(|proof| (proof.own().to_vec(), proof.found, proof.accepted));
    of(a).is_some_and(|(own, found, accepted)| {
        let is_named = !own.is_empty() || !found.is_empty();
        is_named && of(b) == Some((own, found, accepted))
    })
}

/// Whether it was recorded at a time when what a task goes on in was not, and is so otherwise.
fn before_was(recorded: &Value, now: &Value) -> bool {
    let mut now = now.clone();
    now.as_object_mut().is_some_and(|now| now.remove("was").is_some()) && now == *recorded
}

/// What lies ready to come back with the task, as a change.
pub fn left(id: &TaskId, before: Option<&Left>, after: Option<&Left>) -> FactChange {
    let value = |left: Option<&Left>| serde_json::to_value(left?).ok();
    let fact = Fact::Part(id.clone(), TaskPart::Left);
    FactChange { fact, before: value(before), after: value(after) }
}

/// The facts that these events may change.
pub fn touched(state: &State, events: &[Event]) -> BTreeSet<Fact> {
    let mut facts = BTreeSet::new();
    for event in events {
        touch(state, event, &mut facts);
    }
    facts
}

fn touch(state: &State, event: &Event, facts: &mut BTreeSet<Fact>) {
    use TaskPart::{Base, Left, Place, Rounds, Spec, Stage, Waived};
    let parts = |id: &TaskId, parts: &[TaskPart]| -> Vec<Fact> {
        parts.iter().map(|part| Fact::Part(id.clone(), *part)).collect()
    };
    match event {
        Event::TaskAdded { task, .. } | Event::TaskRemoved { task } => {
            // The first task of a phase makes the phase.
            facts.extend([Fact::Task(task.clone()), Fact::Header]);
            facts.extend(parts(task, &[Spec, Place, Stage, Waived]));
        }
        Event::TaskUpdated { task, .. } => facts.extend(parts(task, &[Spec])),
        Event::TaskReordered { task, .. } => {
            facts.extend(parts(task, &[Place]));
            facts.insert(Fact::Header);
        }
        Event::GateWaived { task, .. } => facts.extend(parts(task, &[Waived])),
        Event::TaskRestored { task, .. } => facts.extend(parts(task, &[Stage, Waived, Base, Left])),
        Event::PlanReset {} => {
            for id in state.tasks.keys() {
                facts.extend(parts(id, &[Stage, Waived]));
            }
            facts.extend(state.plan.iter().flat_map(|p| &p.phases).map(|p| Fact::Phase(p.id)));
            facts.insert(Fact::Profile);
        }
        Event::TaskApproved { task, .. } => facts.extend(parts(task, &[Stage, Base])),
        Event::ChangesRequested { task, .. } => facts.extend(parts(task, &[Stage, Rounds])),
        Event::FactsSet { facts: set } => facts.extend(set.iter().map(|change| change.fact.clone())),
        other => facts.extend(only_fact(other)),
    }
}

/// What an event changes that changes one thing.
fn only_fact(event: &Event) -> Option<Fact> {
    Some(match event {
        Event::PlanCreated { .. } | Event::PlanUpdated { .. } => Fact::Header,
        Event::PhaseCompleted { phase } => Fact::Phase(*phase),
        Event::ExecutionProfileSet { .. } | Event::ExecutionProfileLocked {} => Fact::Profile,
        Event::PlanApproved { .. } => Fact::Approved,
        Event::Paused { reason, .. } | Event::Resumed { reason } => Fact::Pause(*reason),
        Event::TrunkChosen { .. } => Fact::Trunk,
        Event::ModeChanged { .. } => Fact::Mode,
        Event::LossAcknowledged { .. } => Fact::Loss,
        Event::OverstepsSeen { task, .. } => Fact::Seen(task.clone()),
        Event::OperationSeen { id } => Fact::Noticed(id.clone()),
        Event::AgentRevived { agent } | Event::AgentDegraded { agent, .. } => Fact::Agent(agent.clone()),
        Event::QuotaRestored { group, .. } | Event::QuotaHeld { group } => Fact::Quota(group.clone()),
        Event::BudgetExtended { task } => Fact::Budget(task.clone()),
        Event::MessageQueued { id, .. } => Fact::Message(id.clone()),
        Event::AgentRedirected { to, .. } => Fact::Redirect(to.clone()),
        Event::CheckpointDeleted { name, .. } => Fact::Checkpoint(name.clone()),
        Event::ReservationGranted { number, .. } | Event::ReservationReleased { number, .. } => {
            Fact::Reservation(*number)
        }
        other => Fact::Part(other.task()?.clone(), TaskPart::Stage),
    })
}

/// Values of facts at one moment.
pub fn read_all(state: &State, facts: &BTreeSet<Fact>) -> Vec<Option<Value>> {
    facts.iter().map(|fact| read(state, fact)).collect()
}

/// What differs between two readings.
pub fn changes(
    facts: BTreeSet<Fact>,
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
pub fn describe(fact: &Fact, value: Option<&Value>) -> String {
    let text = |other: &'static str| value.and_then(Value::as_str).unwrap_or(other);
    match (fact, value) {
        (Fact::Task(id), None) => format!("task {id} does not exist"),
        (Fact::Task(id), Some(v)) if v["worked"] == true => format!("task {id} was worked on"),
        (Fact::Task(id), Some(_)) => format!("task {id} exists"),
        (Fact::Part(id, part), _) => describe_part(id, *part, value),
        (Fact::Trunk, Some(_)) => format!("trunk is {}", text("another branch")),
        (Fact::Mode, Some(_)) => format!("the mode is {}", text("another")),
        (Fact::Mode, None) => "the mode is the configured one".into(),
        (Fact::Loss, Some(_)) => "lost records wait to be seen".into(),
        (Fact::Loss, None) => "lost records were seen".into(),
        (Fact::Seen(id), Some(v)) => format!("{v} oversteps of agents of task {id} were seen"),
        (Fact::Noticed(id), Some(_)) => format!("the failure of operation {id} was seen"),
        (Fact::Noticed(id), None) => format!("the failure of operation {id} waits to be seen"),
        (Fact::Pause(reason), Some(_)) => format!("the swarm is paused ({})", reason.word()),
        (Fact::Pause(reason), None) => format!("the swarm is not paused ({})", reason.word()),
        (Fact::Profile, _) => "the execution profile changed".into(),
        (Fact::Header, _) => "the goal or the phases changed".into(),
        (Fact::Phase(id), Some(v)) if v["complete"] == true => format!("phase {id} is complete"),
        (Fact::Phase(id), _) => format!("phase {id} is open"),
        (Fact::Approved, _) => "the approval of the plan changed".into(),
        (Fact::Ref(name), _) => format!("{} moved", name.trim_start_matches("refs/heads/")),
        (Fact::Worktree(id), _) => format!("the worktree of task {id} changed"),
        (Fact::Checkpoint(name), None) => format!("the checkpoint {name} is gone"),
        (Fact::Checkpoint(name), Some(_)) => format!("the checkpoint {name} is there"),
        (Fact::Reservation(number), None) => format!("reservation {number} is released"),
        (Fact::Reservation(number), Some(_)) => format!("reservation {number} stands"),
        (Fact::Agent(id), Some(_)) => format!("{id} is out of service"),
        (Fact::Agent(id), None) => format!("{id} is in service"),
        (Fact::Quota(group), Some(_)) => format!("the quota of {group} is closed"),
        (Fact::Quota(group), None) => format!("the quota of {group} is open"),
        (Fact::Budget(_), _) => "the budget was extended".into(),
        (Fact::Message(_), Some(v)) if v["delivered"] == true => "the message was delivered".into(),
        (Fact::Message(_), Some(_)) => "the message is queued".into(),
        (Fact::Message(_), None) => "no message".into(),
        (Fact::Redirect(id), _) => format!("the next agent of task {id} changed"),
        (Fact::Trunk | Fact::Seen(_), None) | (Fact::Unknown(_), _) => format!("{fact} changed"),
    }
}

fn describe_part(id: &TaskId, part: TaskPart, value: Option<&Value>) -> String {
    match (part, value) {
        (TaskPart::Stage, Some(v)) => match serde_json::from_value::<SavedStage>(v.clone()) {
            Ok(stage) => format!("task {id} {}", stage.sentence()),
            Err(_) => format!("the stage of task {id} changed"),
        },
        (TaskPart::Spec, Some(_)) => format!("task {id} was edited"),
        (TaskPart::Place, Some(_)) => format!("task {id} was moved"),
        (TaskPart::Rounds, Some(n)) => format!("the reviews of task {id} that wanted changes are {n}"),
        (TaskPart::Base, _) => format!("the branch of task {id} starts at another commit"),
        (TaskPart::Waived, Some(_)) => format!("gates of task {id} were waived"),
        (TaskPart::Left, _) | (_, None) => format!("the {} of task {id} is gone", part.word()),
    }
}
