//! Submitted work, and where the work of a task can be looked at.

use swarm_protocol::ids::TaskId;
use swarm_protocol::review::Reviewer;
use swarm_protocol::view::{MemberView, ReviewView, WorkView};

use super::task::stage_words;
use crate::reviewer::reviewer;
use crate::stage::Stage;
use crate::state::{State, Task};

/// What is or waits to be reviewed, longest waiting first.
pub fn reviews(state: &State) -> Vec<ReviewView> {
    let mut all: Vec<ReviewView> = state.tasks_in_order().filter_map(|task| view(state, task)).collect();
    all.sort_by_key(|review| review.since);
    all
}

/// The review that the task is in.
pub fn review(state: &State, id: &TaskId) -> Option<ReviewView> {
    view(state, state.task(id)?)
}

fn view(state: &State, task: &Task) -> Option<ReviewView> {
    let (tip, tree) = task.submitted()?;
    let (Stage::Review { since, .. } | Stage::Blocked { since, .. }) = &task.stage else { return None };
    let id = &task.spec.id;
    Some(ReviewView {
        task: id.clone(),
        title: task.spec.title.clone(),
        reviewer: reviewer(state, task),
        round: task.review_rounds + 1,
        rounds: state.policy.review_rounds,
        submitted: tip.clone(),
        tree: tree.clone(),
        base: task.base.clone(),
        branch: id.branch(),
        since: *since,
        stage: stage_words(state, task),
        council: council(state, task),
        protected: task.protected.clone(),
        commands: crate::react::commands(state, id, task),
    })
}

fn council(state: &State, task: &Task) -> Vec<MemberView> {
    if reviewer(state, task) != Reviewer::Council {
        return vec![];
    }
    let member = |(name, profile): (&String, &String)| {
        let seat = task.seats().find(|(seated, _)| *seated == name).map(|(_, seat)| seat);
        MemberView {
            member: name.clone(),
            profile: profile.clone(),
            voice: seat.map(|seat| seat.voice),
            said: seat.map_or_else(String::new, |seat| seat.said.clone()),
            notes: seat.map_or_else(Vec::new, |seat| seat.notes.clone()),
        }
    };
    state.policy.council.members.iter().map(member).collect()
}

/// Where the work of the task is to be found; none: there is none yet.
pub fn work(state: &State, id: &TaskId) -> Option<WorkView> {
    let task = state.task(id)?;
    let proof = match &task.stage {
        Stage::Done { proof } => proof.as_ref(),
        Stage::Gone { proof, .. } => Some(proof),
        _ => None,
    };
    if let Some(proof) = proof {
        return Some(WorkView::OnTrunk { commits: proof.own().to_vec() });
    }
    let base = task.base.clone()?;
    if let Some((tip, _)) = task.submitted() {
        return Some(WorkView::Submitted { base, tip: tip.clone() });
    }
    Some(match &task.stage {
        Stage::Approved { tip, .. } | Stage::Merging { tip, .. } => {
            WorkView::Submitted { base, tip: tip.clone() }
        }
        _ => WorkView::OnBranch { base, branch: id.branch() },
    })
}
