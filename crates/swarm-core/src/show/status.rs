//! The swarm at a glance.

use swarm_protocol::channel::RunKind;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::plan::Status;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::{
    AgentView, ApprovalView, ApprovedPlanView, Counts, NextView, PhaseView, StatusView,
};

use super::attention::attention;
use crate::stage::Stage;
use crate::state::schedule;
use crate::state::{Phase, Run, State, Task};

/// How many of the tasks to come are shown.
const NEXT_SHOWN: usize = 5;

pub fn status(state: &State, now: Timestamp) -> StatusView {
    let plan = state.plan.as_ref();
    StatusView {
        seq: state.seq,
        // Known to whoever has looked for one, and has the configuration.
        coordinator: None,
        without_walls: vec![],
        goal: plan.map(|p| p.goal.clone()).unwrap_or_default(),
        trunk: state.trunk.clone(),
        epoch: state.epoch,
        phases: plan
            .map(|p| p.phases.iter().map(|phase| phase_view(state, phase)).collect())
            .unwrap_or_default(),
        counts: counts(state),
        profile: plan.map(|p| p.profile).unwrap_or_default(),
        agents: agents(state),
        mode: state.mode(),
        paused: state.paused.keys().copied().collect(),
        draining: state.draining,
        usage: state.tasks.values().fold(Usage::default(), |sum, task| sum.plus(task.usage)),
        next: next(state, now),
        attention: attention(state),
        // Known to whoever has looked at the branches.
        conflicts: vec![],
        quotas: super::recovery::quotas(state),
        reservations: super::reservations(state, now),
        degraded: super::recovery::degraded(state),
        budget: super::recovery::budget(state.spent.since(state.spent_before), state.policy.budget),
        loss: state.loss.clone(),
        approved: approval(state),
    }
}

pub(super) fn phase_view(state: &State, phase: &Phase) -> PhaseView {
    let done = |s: Status| {
        phase.tasks.iter().filter(|id| state.task(id).is_some_and(|t| t.stage.status() == s)).count() as u64
    };
    let total = phase.tasks.len() as u64 - done(Status::Cancelled);
    PhaseView {
        id: phase.id,
        name: phase.name.clone(),
        total,
        done: done(Status::Done),
        complete: phase.complete,
    }
}

fn counts(state: &State) -> Counts {
    let mut counts = Counts { total: state.tasks.len() as u64, ..Counts::default() };
    let aborted = state.paused.contains_key(&PauseReason::Abort);
    for task in state.tasks.values() {
        let slot = match task.stage.status() {
            _ if matches!(task.stage, Stage::Split { .. }) => &mut counts.split,
            _ if aborted && matches!(task.stage, Stage::Approved { .. }) => &mut counts.aborted,
            Status::Pending if state.unmet(task).is_empty() => &mut counts.ready,
            Status::Pending => &mut counts.waiting,
            Status::Active => &mut counts.active,
            Status::Review => &mut counts.review,
            Status::Merging => &mut counts.merging,
            Status::Done => &mut counts.done,
            Status::Blocked => &mut counts.blocked,
            Status::Failed => &mut counts.failed,
            Status::Timeout => &mut counts.timeout,
            Status::Deferred => &mut counts.deferred,
            Status::Cancelled => &mut counts.cancelled,
            Status::Gone => &mut counts.gone,
        };
        *slot += 1;
    }
    counts
}

fn agents(state: &State) -> Vec<AgentView> {
    let work = state.runs.iter().filter(|(_, r)| r.kind == RunKind::Work);
    work.filter_map(|(id, run)| {
        let task = state.task(&run.task)?;
        let (doing, iteration) = match &task.stage {
            _ if run.ended => ("stopping", 0),
            Stage::Preparing { .. } => ("preparing", 0),
            Stage::Active { iteration, .. } if is_suspect(state, task) => {
                ("held while its checks run at its base", *iteration)
            }
            Stage::Active { iteration, .. } if held(state, run) => ("held at its boundary", *iteration),
            Stage::Active { iteration, .. } if state.paused.is_empty() => ("working", *iteration),
            Stage::Active { iteration, .. } => ("working, held at its next boundary", *iteration),
            Stage::Checking { iteration, .. } if held(state, run) => ("held before its checks", *iteration),
            Stage::Checking { iteration, .. } => ("checking", *iteration),
            _ => ("stopping", 0),
        };
        Some(AgentView {
            agent: run.agent.clone()?,
            run: id.clone(),
            task: run.task.clone(),
            title: task.spec.title.clone(),
            doing: doing.into(),
            iteration,
            since: run.claimed_at,
            usage: run.usage,
            held: !run.ended && held(state, run),
        })
    })
    .chain(state.index.restarting().filter_map(|id| restarting(state, id)))
    .collect()
}

/// Whether the checks pass where the task began is being found out.
fn is_suspect(state: &State, task: &Task) -> bool {
    task.base.as_ref().is_some_and(|base| state.bases.suspects.contains_key(base))
}

/// Its last iteration has ended, and no word to go on was given.
fn held(state: &State, run: &Run) -> bool {
    !state.paused.is_empty() && run.busy_since.is_none()
}

/// An agent between a crash and its next beginning has no process, but its slot and its task.
fn restarting(state: &State, id: &TaskId) -> Option<AgentView> {
    let task = state.task(id).filter(|_| !state.has_run(id))?;
    let Stage::Restarting { agent, after, since, not_before, .. } = &task.stage else { return None };
    Some(AgentView {
        agent: agent.clone(),
        run: after.clone(),
        task: id.clone(),
        title: task.spec.title.clone(),
        doing: match state.paused.is_empty() {
            true => format!("crashed, restarts at {}", not_before.clock(state.at)),
            false => "crashed, restarts after the pause".into(),
        },
        iteration: 0,
        since: *since,
        usage: Usage::default(),
        held: false,
    })
}

fn next(state: &State, now: Timestamp) -> Vec<NextView> {
    let ids = state.index.queue().take(NEXT_SHOWN);
    ids.filter_map(|id| {
        let task = state.task(id)?;
        let because = match super::reservations::files_of(state, id) {
            Some(waits) => waits,
            None => schedule::because(state, id, now),
        };
        let waits_for_start = state.needs_start(task);
        Some(NextView { task: id.clone(), title: task.spec.title.clone(), because, waits_for_start })
    })
    .collect()
}

pub(super) fn approval(state: &State) -> ApprovalView {
    let structure_hash = crate::hash::structure_hash(state);
    let approved_hash =
        state.plan.as_ref().and_then(|p| p.approved.as_ref()).map(|a| a.structure_hash.clone());
    ApprovalView {
        approved: approved_hash.is_some(),
        drifted: approved_hash.as_ref().is_some_and(|h| *h != structure_hash),
        structure_hash,
        approved_hash,
    }
}

pub fn approved_plan(state: &State) -> ApprovedPlanView {
    let ApprovalView { approved, drifted, structure_hash, approved_hash } = approval(state);
    let plan = state.plan.as_ref();
    ApprovedPlanView {
        approved,
        drifted,
        structure_hash,
        approved_hash,
        execution_profile: plan.map(|p| p.profile).unwrap_or_default(),
        plan: plan.and_then(|p| p.approved.as_ref()).map(|a| a.plan.clone()),
    }
}
