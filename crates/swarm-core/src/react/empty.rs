//! A branch that brings nothing to trunk: it is there already, or nothing was done.

use swarm_protocol::event::{Event, Proof};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::{Gate, Next};
use swarm_protocol::plan::BlockKind;
use swarm_protocol::review::Reviewer;
use swarm_protocol::time::Timestamp;

use super::merge::{done, merging};
use crate::ready::nonce;
use crate::reviewer::reviewer;
use crate::stage::MergeStep;
use crate::state::{State, Task};

/// What the agent of a branch without a change is told.
pub(super) const TOLD: &str = "you said that the task is complete, but your branch changes nothing (ignored files do not \
    count): commit the work, or say BLOCKED and why no change is needed";

/// Its branch is where it began. Whether its work is on trunk already, or its task needs none, only git or a person know.
pub(super) fn is_untouched(task: &Task, tip: &Oid) -> bool {
    task.base.as_ref() == Some(tip)
        && !task.spec.allow_empty
        && task.landed_before.is_empty()
        && task.parts.is_empty()
}

/// A branch that has nothing for trunk.
pub(super) struct Empty {
    pub trunk: String,
    pub commit: Oid,
    /// Commits upon its base that change something and that trunk has already.
    pub found: Vec<Oid>,
}

/// Trunk has everything the branch has. A branch that changes nothing at all is no work: its agent is told once, and
/// then a person.
pub(super) fn nothing_to_merge(state: &State, id: TaskId, empty: Empty, now: Timestamp) -> Vec<Event> {
    let Some((task, MergeStep::Building)) = merging(state, &id) else { return vec![] };
    let Empty { trunk, commit, mut found } = empty;
    found.retain(|commit| !is_anothers(state, &id, commit));
    let verifies = state.policy.verifies && !task.waived.contains(&Gate::Verify);
    // The parts of a task are on trunk: what they are together is looked at once.
    if verifies && !task.parts.is_empty() && !state.green.contains(&commit) {
        let (run, commits) = (RunId::nth(state.runs_ever + 1), vec![]);
        let (base, result, squashed) = (commit.clone(), commit, false);
        let nonce = nonce(state, &run);
        let (level, resolved, found) = (None, None, None);
        return vec![
            Event::MergeBuilt { task: id.clone(), base, result, commits, squashed, level, resolved, found },
            Event::VerificationStarted { task: id, run, nonce },
        ];
    }
    if !task.parts.is_empty() {
        let commits = super::split::commits_of_parts(state, &task.parts);
        return done(id, Proof::new(trunk, commit, commits));
    }
    // Somebody was to join it with trunk, and now there is nothing of it any more.
    if task.conflicts > 0 && task.last_agent.is_some() {
        let why = "resolving its conflict with trunk left none of its work on its branch: `swarm restore` shows \
            where it is kept";
        let next = Next::Blocked { block: BlockKind::Conflict, why: why.into() };
        return vec![Event::NothingChanged { task: id, status: next.status(), why: why.into(), next }];
    }
    // A person has seen that there is nothing, and called it good.
    let seen = reviewer(state, task) == Reviewer::Human;
    let fine = task.spec.allow_empty || seen || !task.landed_before.is_empty();
    if found.is_empty() && !fine {
        return vec![nothing_changed(id, task, now)];
    }
    done(id, Proof { found, ..Proof::new(trunk, commit, task.landed_before.clone()) })
}

/// A branch that was set to trunk has what others brought there, and nothing of its own.
fn is_anothers(state: &State, id: &TaskId, commit: &Oid) -> bool {
    let others = state.tasks.iter().filter(|(other, _)| *other != id);
    others.filter_map(|(_, task)| task.stage.proof()).any(|proof| proof.own().contains(commit))
}

fn nothing_changed(id: TaskId, task: &Task, now: Timestamp) -> Event {
    let (why, next) = match task.empties {
        0 => (TOLD.to_string(), Next::Pending { not_before: now, counts: false }),
        n => {
            let why = format!("complete {} times without any change", n + 1);
            (why.clone(), Next::Blocked { block: BlockKind::Empty, why })
        }
    };
    Event::NothingChanged { task: id, status: next.status(), why, next }
}
