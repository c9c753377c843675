//! What is owed, read off the state. Recovery needs nothing else: replay, ask, carry on.

use swarm_protocol::channel::RunKind;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::{Gate, PauseReason};
use swarm_protocol::review::Reviewer;

use crate::effect::{Approval, Effect, ReviewingAgent, StartsFrom, WorkOrder};
use crate::planted::{self, Bug};
use crate::reservations::held_in_the_shared_tree;
use crate::reviewer::reviewer;
use crate::stage::{MergeStep, Stage};
use crate::state::{Run, State, Suspect, Task};
use crate::worktrees;

/// All effects owed now. Stops come first: they free what others wait for.
pub fn owed(state: &State) -> Vec<Effect> {
    let mut effects: Vec<Effect> = state
        .runs
        .iter()
        .filter(|(_, run)| run.ended)
        .map(|(id, run)| Effect::Stop {
            run: id.clone(),
            task: run.task.clone(),
            nonce: run.nonce.clone(),
            work: run.kind == RunKind::Work,
        })
        .collect();
    effects.extend(
        state.runs.iter().filter(|(_, run)| !run.ended).filter_map(|(id, run)| for_run(state, id, run)),
    );
    // A checkpoint before a merge is one only if trunk has not moved yet: in one lane, the first is carried out first.
    effects.extend(prove(state));
    effects.extend(crate::operation::machine::marks(state));
    effects.extend(state.trunk_held_by.as_ref().and_then(|task| for_trunk(state, task)));
    effects.extend(watch_on_trunk(state));
    effects.extend(crate::operation::machine::owed(state));
    effects.extend(crate::hooks::owed(state));
    effects.extend(state.index.loose().filter_map(|id| worktrees::owed(state, id, state.task(id)?)));
    effects
}

fn for_run(state: &State, id: &RunId, run: &Run) -> Option<Effect> {
    if run.kind == RunKind::Probe {
        return probe(id, run);
    }
    let task = state.task(&run.task)?;
    let tries = |(_, suspect): &(_, &Suspect)| suspect.run.as_ref() == Some(id);
    if let Some((commit, _)) = state.bases.suspects.iter().find(tries) {
        let (run_id, task, nonce) = (id.clone(), run.task.clone(), run.nonce.clone());
        return Some(Effect::Verify { run: run_id, task, nonce, commit: commit.clone(), checks: true });
    }
    if run.kind != RunKind::Work {
        let judges = task.stage.judging_runs().any(|judging| judging == id);
        return judges.then(|| judging(state, id, run, task)).flatten();
    }
    let order = match &task.stage {
        Stage::Preparing { run: current } if current == id => {
            let from = starts_from(state, task);
            let base = task.base.clone().filter(|_| !planted::is(Bug::BaseNotRestored));
            let shared = held_in_the_shared_tree(state, task);
            return Some(Effect::Prepare { run: id.clone(), task: run.task.clone(), from, base, shared });
        }
        // The hook before it may refuse.
        Stage::Active { .. } | Stage::Checking { iteration: 0, .. }
            if crate::hooks::before(state, "pre-start", &run.task) =>
        {
            return None;
        }
        // Nobody is paid for work that may not be able to pass.
        Stage::Active { run: current, .. }
            if current == id
                && task.base.as_ref().is_some_and(|base| state.bases.suspects.contains_key(base)) =>
        {
            order(state, WorkOrder::Hold)
        }
        Stage::Active { run: current, iteration } if current == id => {
            let session = task.session.clone().filter(|_| state.policy.resumes_sessions);
            order(state, WorkOrder::Go { iteration: *iteration, session })
        }
        Stage::Checking { run: current, iteration, .. } if current == id => {
            let waived = task.waived.contains(&Gate::Check);
            let scan_waived = task.waived.contains(&Gate::Scan);
            order(state, WorkOrder::Check { iteration: *iteration, waived, scan_waived })
        }
        _ => return None,
    };
    Some(Effect::Work {
        run: id.clone(),
        task: run.task.clone(),
        agent: run.agent.clone()?,
        attempt: run.attempt,
        start: task.starts(),
        nonce: run.nonce.clone(),
        profile: run.profile.clone(),
        order,
    })
}

fn probe(id: &RunId, run: &Run) -> Option<Effect> {
    Some(Effect::Probe {
        run: id.clone(),
        task: run.task.clone(),
        nonce: run.nonce.clone(),
        group: run.group.clone()?,
        profile: run.profile.clone().unwrap_or_default(),
    })
}

/// The first part of a split task goes on where the whole was left.
fn starts_from(state: &State, task: &Task) -> Option<StartsFrom> {
    if let Some(redirect) = state.ops.redirects.get(&task.spec.id).filter(|r| r.same_worktree) {
        let left = state.task(&redirect.from)?;
        return Some(StartsFrom {
            task: redirect.from.clone(),
            base: left.base.clone()?,
            wip: left.wip.clone(),
        });
    }
    let id = task.parent.as_ref()?;
    let whole = state.task(id).filter(|whole| whole.parts.first() == Some(&task.spec.id))?;
    Some(StartsFrom { task: id.clone(), base: whole.base.clone()?, wip: whole.wip.clone() })
}

/// The review or verification that the stage promises.
fn judging(state: &State, id: &RunId, run: &Run, judged: &Task) -> Option<Effect> {
    let (run_id, task, nonce) = (id.clone(), run.task.clone(), run.nonce.clone());
    match &judged.stage {
        Stage::Review { tip, .. } => {
            let by = run.profile.as_ref().map(|profile| ReviewingAgent {
                profile: profile.clone(),
                member: run.member.clone(),
                session: crate::reviewer::session(state, judged, run),
                round: judged.review_rounds + 1,
            });
            Some(Effect::Review { run: run_id, task, nonce, tip: tip.clone(), by })
        }
        Stage::Merging {
            step: MergeStep::Verifying { result: commit, .. } | MergeStep::Trial { base: commit, .. },
            ..
        } => Some(Effect::Verify { run: run_id, task, nonce, commit: commit.clone(), checks: false }),
        _ => None,
    }
}

fn watch_on_trunk(state: &State) -> Option<Effect> {
    if !state.running || state.draining {
        return None;
    }
    if let Some(red) = state.red_trunk.as_ref().filter(|_| state.paused.contains_key(&PauseReason::Trunk)) {
        return Some(Effect::WatchTrunk { task: Some(red.task.clone()), commit: red.commit.clone() });
    }
    // While we move it ourselves there is nothing to see.
    let still = state.trunk_held_by.is_none() && state.ops.running.is_none() && state.has_provable();
    let commit = state.proven.clone().filter(|_| still)?;
    Some(Effect::WatchTrunk { task: None, commit })
}

/// What is done is looked up on trunk: at each start, after each operation, and whenever trunk has moved.
fn prove(state: &State) -> Option<Effect> {
    if state.proves_nothing_now() || planted::is(Bug::DoneNotAsked) {
        return None;
    }
    let proof = |id: &TaskId| Some((id.clone(), crate::state::provable(state.task(id)?)?.clone()));
    Some(Effect::Prove { tasks: state.index.provable().filter_map(proof).collect() })
}

fn order(state: &State, wanted: WorkOrder) -> WorkOrder {
    if state.draining {
        WorkOrder::Drain
    } else if state.paused.is_empty() {
        wanted
    } else {
        WorkOrder::Hold
    }
}

/// Its approval is about what was reviewed: a rule that decides about lines makes something else of it.
fn is_reviewed(state: &State, task: &Task) -> bool {
    reviewer(state, task) != Reviewer::None && !planted::is(Bug::ApprovalKept)
}

/// What a later change of the branch makes void. Work that is merged once more has been approved long ago, and may have no
/// branch any more.
fn approval(state: &State, task: &Task, tip: &Oid) -> Option<Approval> {
    let of_its_branch = task.handed_in.as_ref() == Some(tip) && task.worktree && !task.bare;
    let holds = of_its_branch && reviewer(state, task) != Reviewer::None && !planted::is(Bug::ChangeUnseen);
    holds.then(|| Approval { tip: tip.clone(), base: task.base.clone(), left_out: task.left_out.clone() })
}

fn for_trunk(state: &State, id: &TaskId) -> Option<Effect> {
    let task = state.task(id);
    let Some(Stage::Merging { tip, step, since, .. }) = task.map(|t| &t.stage) else {
        return Some(Effect::Release { task: id.clone() });
    };
    match step {
        MergeStep::Building if crate::hooks::before(state, "pre-merge", id) => None,
        // Its branch may have to move, and commands may work in the merge worktree: whoever works there still comes to an
        // end first.
        MergeStep::Building if is_reviewed(state, task?) && state.has_run(id) => None,
        MergeStep::Building if state.runs.values().any(|run| run.kind == RunKind::Verify) => None,
        MergeStep::Building => Some(Effect::Build {
            task: id.clone(),
            agent: task?.last_agent.clone(),
            // What was split has nothing of its own to bring: its parts did.
            base: if task?.parts.is_empty() { task?.base.clone()? } else { tip.clone() },
            tip: tip.clone(),
            at: *since,
            reviewed: is_reviewed(state, task?),
            approval: approval(state, task?, tip),
        }),
        MergeStep::Publishing { base, result, commits } => Some(Effect::Publish {
            task: id.clone(),
            base: base.clone(),
            result: result.clone(),
            commits: commits.clone(),
            approval: approval(state, task?, tip),
        }),
        MergeStep::Verifying { .. } | MergeStep::Suspect { .. } | MergeStep::Trial { .. } => None,
    }
}
