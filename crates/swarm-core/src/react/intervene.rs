//! Kill, redirect, force, delete, and undo of what was one batch.

use swarm_protocol::event::Event;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::{Next, PauseReason};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::command::Outcome;
use super::{operate, start, task, validate};
use crate::operation::{Record, checkpoints, restore, undo};
use crate::stage::Stage;
use crate::state::{State, Task};

/// Stopped at once; the iteration's changes go to a ref and the worktree back to where it began.
pub(super) fn kill(state: &State, id: TaskId, now: Timestamp) -> Result<Outcome, Refusal> {
    let found = validate::known(state, &id)?;
    let Some(run) = found.stage.run().cloned() else { return Err(Refusal::NoAgent { task: id }) };
    let next = Next::Pending { not_before: now, counts: false };
    let stops = task::leave(state, &id, found, next, "killed by a person");
    let answer = format!(
        "Agent of task {id} killed; changes of its iteration are kept on a ref, the task waits for `swarm task start {id}`"
    );
    let mut events = vec![stops, Event::AgentKilled { task: id.clone(), run }];
    events.extend(task::withheld(&id, "a person killed its agent"));
    Ok(Outcome::new(events, answer))
}

/// The agent leaves its task and takes up another one that is ready.
pub(super) fn redirect(
    state: &State,
    id: TaskId,
    to: TaskId,
    same_worktree: bool,
    now: Timestamp,
) -> Result<Outcome, Refusal> {
    let found = validate::known(state, &id)?;
    let agent = found.stage.run().and_then(|run| state.runs.get(run)?.agent.clone());
    let Some(agent) = agent else { return Err(Refusal::NoAgent { task: id }) };
    let other = validate::known(state, &to)?;
    let ready = state.index.queue().any(|ready| *ready == to) && !state.has_run(&to);
    if to == id {
        return Err(Refusal::NothingToChange { what: format!("{agent} works on task {to} already") });
    }
    if !ready {
        let why = start::waits_for(state, other).map(|why| format!(": {why}")).unwrap_or_default();
        return Err(task::wrong(state, &to, other, &format!("taken up now{why}")));
    }
    if same_worktree && other.worktree {
        let what = format!("Task {to}");
        return Err(Refusal::BadValue { what, why: "it already has work of its own".into() });
    }
    let next = Next::Pending { not_before: now, counts: false };
    let mut events = vec![task::leave(state, &id, found, next, &format!("redirected to {to}"))];
    events.extend(state.needs_start(other).then(|| Event::TaskStarted { task: to.clone() }));
    let answer = format!("{agent} leaves task {id} and works on {to} next");
    events.push(Event::AgentRedirected { task: id, agent, to, same_worktree });
    Ok(Outcome::new(events, answer))
}

/// A pause that does not wait for the boundary.
pub(super) fn force_pause(
    state: &State,
    reason: PauseReason,
    why: String,
    now: Timestamp,
) -> Result<Outcome, Refusal> {
    validate::reason(&why)?;
    // A plan is closed when nothing of it runs any more: reviews and merges are broken off as well.
    let everything = reason == PauseReason::Close;
    let at_work = state.tasks.iter().filter(|(_, t)| everything || t.stage.run().is_some());
    let stops: Vec<Event> =
        at_work.flat_map(|(id, t)| operate::stopped(state, id, t, "paused by force", now)).collect();
    let trials = if everything { super::base::broken_off(state, &why) } else { vec![] };
    let stops: Vec<Event> = stops.into_iter().chain(trials).collect();
    let paused = state.paused.contains_key(&reason);
    if paused && stops.is_empty() {
        return Err(Refusal::NothingToChange { what: "All agents are held already".into() });
    }
    let stopped = stops.iter().filter(|e| matches!(e, Event::WorkHeld { .. })).count();
    let answer = match stopped {
        0 => "Paused; nothing new starts".to_string(),
        1 => "Paused; 1 agent is stopped and goes first at `swarm resume`".to_string(),
        n => format!("Paused; {n} agents are stopped and go first at `swarm resume`"),
    };
    let mut events = Vec::new();
    events.extend((!paused).then_some(Event::Paused { reason, why }));
    events.extend(stops);
    Ok(Outcome::new(events, answer))
}

pub(super) fn delete_checkpoint(state: &State, name: String) -> Result<Outcome, Refusal> {
    checkpoints::known(state, &name)?;
    if checkpoints::needed(state).contains(name.as_str()) {
        let why = match state.ops.session_start.as_deref() == Some(name.as_str()) {
            true => "the session began with it".into(),
            false => "an operation that can still be undone refers to it".into(),
        };
        return Err(Refusal::CheckpointNeeded { name, why });
    }
    let answer = format!("Checkpoint {name} deleted");
    let why = "deleted by a person".into();
    Ok(Outcome::new(vec![Event::CheckpointDeleted { name, why }], answer))
}

/// Facts of the plan and the swarm set back, in one batch.
pub(super) fn undo_now(state: &State, record: &Record, partial: bool) -> Result<Outcome, Refusal> {
    let back = undo::settled(state, record, partial, Force::default())?;
    let all = record.facts.iter().flatten().count();
    let events = restore::events(state, &restore::befores(&back), &record.kind);
    let answer = match all - back.len() {
        0 => undo::told(state, record),
        left => format!("{}; {left} facts have changed since and stay", undo::told(state, record)),
    };
    Ok(Outcome::new(events, answer))
}

/// Commands that are better not without a checkpoint before them. A plan that is closed takes no record
/// any more: the one before it is asked for by whoever closes it.
pub(super) fn risky(state: &State, kind: &str) -> bool {
    let over_live = || state.tasks.values().any(|t| !matches!(t.stage, Stage::Pending { .. }));
    let wanted = state.running && state.policy.checkpoints.before_risky;
    wanted && matches!(kind, "plan reset" | "plan import") && over_live()
}

/// The name of the checkpoint before a command.
pub(super) fn checkpoint_before(state: &State, kind: &str) -> String {
    checkpoints::unused(state, &format!("before-{}", kind.replace(' ', "-")))
}

/// The task leaves its stage, and its attempt is not over: whoever takes it up next goes on with it.
pub(crate) fn broken_off(state: &State, id: &TaskId, found: &Task, next: Next, why: &str) -> Event {
    let mut event = task::leave(state, id, found, next, why);
    if let Event::AgentStopped { goes_on, .. } = &mut event {
        *goes_on = Some(true);
    }
    event
}
