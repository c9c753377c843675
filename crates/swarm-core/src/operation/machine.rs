//! An operation that moves git, step by step: what follows by itself and what is owed at each step.

use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{AgentId, TaskId};
use swarm_protocol::operation::{Fact, Request, Survey};
use swarm_protocol::time::Timestamp;

use super::{checkpoints, plan};
use crate::effect::Effect;
use crate::state::operations::{Due, Redirect, Running, Step};
use crate::state::{Run, State};

/// Whether new work may be granted, as far as operations and full checkpoints are concerned.
pub fn lets_start(state: &State) -> bool {
    state.ops.running.is_none() && !state.ops.due.iter().any(|due| due.full)
}

/// Tasks whose agents the operation stops; none: everybody's.
pub fn concerned(state: &State, request: &Request) -> Option<Vec<TaskId>> {
    match request {
        Request::Checkpoint { .. } | Request::Trunk { .. } => Some(vec![]),
        Request::Rollback { .. } | Request::Abort { .. } => None,
        Request::RollbackTask { tasks, .. } => Some(tasks.clone()),
        Request::Undo { operation, .. } => {
            let record = state.ops.record(operation)?;
            let facts = record.facts.as_ref()?;
            let of = |fact: &Fact| fact.task().cloned().or_else(|| fact.task_in_git());
            Some(facts.iter().filter_map(|c| of(&c.fact)).collect())
        }
    }
}

/// Nobody it concerns runs any more, and the trunk is free.
fn is_quiet(state: &State, running: &Running) -> bool {
    let tasks = concerned(state, &running.request);
    let touched = |task: &TaskId| tasks.as_ref().is_none_or(|tasks| tasks.contains(task));
    let runs = state.runs.values().any(|run| run.kind != RunKind::Probe && touched(&run.task));
    let moves_trunk = !matches!(running.request, Request::Checkpoint { .. });
    let verifies = || state.runs.values().any(|run| run.kind == RunKind::Verify);
    !runs
        && state.ops.rewinds.keys().all(|id| !touched(id))
        // A worktree that is on its way out or back is seen when it has arrived.
        && !crate::worktrees::on_the_way(state).any(touched)
        && !(moves_trunk && (state.trunk_held_by.is_some() || verifies()))
}

/// The next thing that follows about operations and checkpoints.
pub fn settle(state: &State, now: Timestamp) -> Option<Event> {
    if let Some(running) = &state.ops.running {
        match &running.step {
            Step::Quiescing if is_quiet(state, running) => {
                return Some(Event::OperationQuiet { id: running.id.clone() });
            }
            Step::Surveying if matches!(running.request, Request::Checkpoint { .. }) => {
                // Nothing is to be found out: the checkpoint itself looks at everything.
                let plan = plan::plan(state, &running.request, &Survey::default(), now).ok()?;
                return Some(Event::OperationPlanned { id: running.id.clone(), plan });
            }
            _ => {}
        }
    }
    let name = checkpoints::expired(state, now)?.to_string();
    Some(Event::CheckpointDeleted { name, why: "its time is over".into() })
}

/// What operations, checkpoints and killed iterations owe.
pub fn owed(state: &State) -> Vec<Effect> {
    let full = state.ops.due.iter().filter(|due| due.full);
    let save = |due: &Due| Effect::Save { name: due.name.clone(), at: due.at, op: None };
    let mut effects: Vec<Effect> = full.map(save).collect();
    effects.extend(state.ops.running.as_ref().and_then(|running| for_step(state, running)));
    effects.extend(checkpoints::purgeable(state).map(|name| Effect::Forget { name: name.into() }));
    let stopped = |id: &TaskId| !state.has_run(id);
    effects.extend(state.ops.rewinds.iter().filter(|(id, _)| stopped(id)).map(|(id, rewind)| {
        Effect::Rewind { task: id.clone(), run: rewind.run.clone(), to: rewind.to.clone() }
    }));
    effects
}

/// Light checkpoints that are due. They come before whatever moves the trunk that they mark.
pub fn marks(state: &State) -> impl Iterator<Item = Effect> {
    let light = state.ops.due.iter().filter(|due| !due.full);
    light.map(|due| Effect::Mark { name: due.name.clone(), at: due.at })
}

fn for_step(state: &State, running: &Running) -> Option<Effect> {
    let op = running.id.clone();
    match &running.step {
        Step::Quiescing => None,
        Step::Surveying if matches!(running.request, Request::Checkpoint { .. }) => None,
        // A checkpoint that is gone by now is said by the plan; there is nothing to look at.
        Step::Surveying => {
            Some(Effect::Survey { op, ask: plan::ask(state, &running.request).unwrap_or_default() })
        }
        Step::Saving { plan } => {
            Some(Effect::Save { name: plan.checkpoint.clone(), at: plan.at, op: Some(op) })
        }
        Step::Moving { plan, .. } => Some(Effect::Move { op, plan: plan.clone() }),
        Step::Resolving { plan, asked, .. } => Some(Effect::Resolve {
            op,
            plan: plan.clone(),
            task: asked.task.clone(),
            profile: asked.profile.clone(),
            round: running.asked,
            why: asked.why.clone(),
        }),
    }
}

/// Whether the task's worktree is ready to be taken up: rewound, and left by whom it was taken from.
pub fn may_take_up(state: &State, task: &TaskId) -> bool {
    let is_left = |redirect: &Redirect| {
        // Whoever has taken up the other task since is not waited for, unless its work is to be begun with.
        let there = |run: &Run| run.task == redirect.from && (run.ended || redirect.same_worktree);
        !state.runs.values().any(|run| run.kind != RunKind::Probe && there(run))
    };
    let redirected = state.ops.redirects.get(task);
    let here = state.task(task).is_none_or(|task| task.left.is_none() && !task.leaving);
    here && !state.ops.rewinds.contains_key(task) && redirected.is_none_or(is_left)
}

/// Who goes before the queue: whom a person sent somewhere, then whom a pause stopped.
pub fn first_in_line<'a>(state: &'a State, may: impl FnMut(&&'a TaskId) -> bool) -> Option<&'a TaskId> {
    let line = state.ops.redirects.keys().chain(state.ops.first.iter().map(|first| &first.task));
    line.filter(|id| state.index.queue().any(|ready| ready == *id)).find(may)
}

/// The agent that the task should go to, if it is free.
pub fn agent_for(state: &State, task: &TaskId) -> Option<AgentId> {
    let sent = state.ops.redirects.get(task).map(|r| r.agent.clone());
    let back = || state.ops.first.iter().find(|f| f.task == *task).and_then(|f| f.agent.clone());
    let agent = sent.or_else(back)?;
    state.agents.get(&agent).filter(|a| a.run.is_none() && a.degraded.is_none()).map(|_| agent)
}
