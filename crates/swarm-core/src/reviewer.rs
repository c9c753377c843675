//! Who reviews the work of a task.

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
        // Without commands nobody would have looked at it.
        Reviewer::Command if !policy.reviews && !policy.review_commands => Reviewer::Human,
        Reviewer::Human if planted::is(Bug::ReviewSkipped) => Reviewer::None,
        reviewer => reviewer,
    }
}
