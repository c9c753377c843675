//! Who reviews the work of a task.

use swarm_protocol::channel::RunKind;
use swarm_protocol::council::Decision;
use swarm_protocol::outcome::Gate;
use swarm_protocol::review::Reviewer;

use crate::planted::{self, Bug};
use crate::state::{Run, State, Task};

/// A person, where it changes protected files; what the task says; else the strictest of its tags; else the configuration.
pub(crate) fn reviewer(state: &State, task: &Task) -> Reviewer {
    // Whatever was waived before did not mean these.
    if !task.protected.is_empty() {
        return Reviewer::Human;
    }
    if task.waived.contains(&Gate::Review) {
        return Reviewer::None;
    }
    let policy = &state.policy;
    // A ledger of a time when any word was taken: whoever wrote it wanted a review.
    let by_task = task.spec.review.as_deref().map(|word| Reviewer::of_word(word).unwrap_or(Reviewer::Human));
    let by_tag = || task.spec.tags.iter().filter_map(|tag| policy.review_tags.get(tag)).max().copied();
    let by_command = if policy.reviews { Reviewer::Command } else { Reviewer::None };
    match by_task.or_else(by_tag).or(policy.reviewer).unwrap_or(by_command) {
        // Nobody else would have looked at it.
        Reviewer::Command if !policy.reviews && !policy.review_commands => Reviewer::Human,
        Reviewer::Agent if policy.review_profile.is_none() => Reviewer::Human,
        Reviewer::Council if policy.council.is_none() => Reviewer::Human,
        Reviewer::Human if planted::is(Bug::ReviewSkipped) => Reviewer::None,
        reviewer => reviewer,
    }
}

/// The conversation in which whoever is asked in this run goes on reviewing this plan. Nobody reviews what was said and
/// done in their own.
pub(crate) fn session(state: &State, task: &Task, run: &Run) -> Option<String> {
    if planted::is(Bug::AuthorReviews) && task.session.is_some() {
        return task.session.clone();
    }
    let session = state.review_sessions.get(&run.conversation()?)?;
    let authors = state.tasks.values().filter_map(|other| other.session.as_ref());
    authors.into_iter().all(|author| author != session).then(|| session.clone())
}

/// Who reviews in the next run: the commands, the agent of a profile, or as a member of the council.
#[derive(Default)]
pub(crate) struct Judge {
    pub profile: Option<String>,
    pub member: Option<String>,
}

/// By whom a run may review the task now; none: not now, or not by a run.
pub(crate) fn next_judge(state: &State, task: &Task) -> Option<Judge> {
    let id = &task.spec.id;
    let by = reviewer(state, task);
    let parallel = by == Reviewer::Council
        && state.plan.as_ref().is_some_and(|plan| plan.profile.council_parallel)
        && state.runs.values().filter(|run| run.task == *id).all(|run| run.member.is_some());
    if state.has_run(id) && !parallel {
        return None;
    }
    match by {
        Reviewer::Command => Some(Judge::default()),
        Reviewer::Agent => {
            let profile = state.policy.review_profile.clone()?;
            let is_free = speaks_to_nobody(state, None) && is_open(state, &profile);
            is_free.then_some(Judge { profile: Some(profile), member: None })
        }
        Reviewer::Council => next_member(state, task),
        Reviewer::None | Reviewer::Human => None,
    }
}

/// The first of the council who has not spoken about this tree and can be asked now.
fn next_member(state: &State, task: &Task) -> Option<Judge> {
    let rules = &state.policy.council;
    if rules.decide(|name| task.voice(name)) != Decision::Open {
        return None;
    }
    let can_be_asked = |(name, profile): &(&String, &String)| {
        task.voice(name).is_none() && speaks_to_nobody(state, Some(name)) && is_open(state, profile)
    };
    let (name, profile) = rules.members.iter().find(can_be_asked)?;
    Some(Judge { profile: Some(profile.clone()), member: Some(name.clone()) })
}

fn is_open(state: &State, profile: &str) -> bool {
    state.quota_is_open(&state.quota_group(profile))
}

/// One conversation each: the next question waits for the answer to this one.
fn speaks_to_nobody(state: &State, member: Option<&String>) -> bool {
    let speaks = |run: &Run| run.kind == RunKind::Review && run.profile.is_some();
    !state.runs.values().any(|run| speaks(run) && run.member.as_ref() == member)
}
