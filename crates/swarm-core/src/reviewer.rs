//! Who reviews the work of a task.

use swarm_protocol::channel::RunKind;
use swarm_protocol::outcome::Gate;
use swarm_protocol::review::Reviewer;

use crate::planted::{self, Bug};
use crate::state::{State, Task};

/// What the task says; else the strictest of its tags; else the configuration.
pub(crate) fn reviewer(state: &State, task: &Task) -> Reviewer {
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
        Reviewer::Human if planted::is(Bug::ReviewSkipped) => Reviewer::None,
        reviewer => reviewer,
    }
}

/// The conversation in which the agent goes on reviewing this plan. Nobody reviews what was said and done in their own.
pub(crate) fn session(state: &State, task: &Task, profile: &str) -> Option<String> {
    if planted::is(Bug::AuthorReviews) && task.session.is_some() {
        return task.session.clone();
    }
    let session = state.review_sessions.get(profile)?;
    let authors = state.tasks.values().filter_map(|other| other.session.as_ref());
    authors.into_iter().all(|author| author != session).then(|| session.clone())
}

/// The profile under which a run may review the task now; none: not now, or not by a run.
pub(crate) fn by_run(state: &State, task: &Task) -> Option<Option<String>> {
    match reviewer(state, task) {
        Reviewer::Command => Some(None),
        Reviewer::Agent => {
            let profile = state.policy.review_profile.clone()?;
            // One conversation: the next question waits for the answer to this one.
            let speaks = state.runs.values().any(|run| run.kind == RunKind::Review && run.profile.is_some());
            let open = state.quota_is_open(&state.quota_group(&profile));
            (open && !speaks).then_some(Some(profile))
        }
        Reviewer::None | Reviewer::Human => None,
    }
}
