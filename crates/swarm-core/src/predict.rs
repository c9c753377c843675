//! Which branches are tried against trunk and against each other before they meet there. Nothing of it is recorded: what
//! came of it is a view, true for as long as nobody commits.

use std::collections::BTreeSet;

use swarm_protocol::ids::{Oid, TaskId};

use crate::stage::Stage;
use crate::state::{State, Task};

/// Branches that are compared; with more of them the first ones of the plan are.
pub const BRANCHES_MAX: usize = 32;

/// A branch whose work is on its way to trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    pub task: TaskId,
    /// Where the task's own commits begin: at this commit there is nothing to try yet.
    pub base: Oid,
}

/// Two commits that will meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub task: TaskId,
    /// None: trunk.
    pub with: Option<TaskId>,
    pub tips: (Oid, Oid),
}

/// Work that is being done, reviewed, or waits for its turn to merge, in the order of the plan.
pub fn branches(state: &State) -> Vec<Branch> {
    let on_its_way = |task: &&Task| {
        matches!(
            task.stage,
            Stage::Active { .. }
                | Stage::Restarting { .. }
                | Stage::Checking { .. }
                | Stage::Review { .. }
                | Stage::Approved { .. }
                | Stage::Merging { .. }
        ) && task.parts.is_empty()
    };
    // Asked after every decision: a plan of many tasks is not gone through for the few that are at work.
    let at_work = state.runs.values().map(|run| &run.task).chain(state.index.restarting());
    let waiting = state.index.reviews().chain(state.index.approved()).chain(&state.trunk_held_by);
    let found: BTreeSet<&TaskId> = at_work.chain(waiting).collect();
    let mut tasks: Vec<&Task> =
        found.into_iter().filter_map(|id| state.task(id)).filter(on_its_way).collect();
    tasks.sort_by_key(|task| (task.phase, task.rank));
    let branch = |task: &Task| Some(Branch { task: task.spec.id.clone(), base: task.base.clone()? });
    tasks.into_iter().filter_map(branch).take(BRANCHES_MAX).collect()
}

/// All pairs that can conflict, those with trunk first: they are nearer.
pub fn pairs(tips: &[(TaskId, Oid)], trunk: &Oid) -> Vec<Pair> {
    let with_trunk = tips.iter().map(|(task, tip)| Pair {
        task: task.clone(),
        with: None,
        tips: (trunk.clone(), tip.clone()),
    });
    let with_each_other = tips.iter().enumerate().flat_map(|(n, (task, tip))| {
        tips[n + 1..].iter().map(|(other, its_tip)| Pair {
            task: task.clone(),
            with: Some(other.clone()),
            tips: (tip.clone(), its_tip.clone()),
        })
    });
    with_trunk.chain(with_each_other).collect()
}

/// The pairs to try in one look: at most so many of those that nothing is known of.
pub fn to_try<'a>(pairs: &'a [Pair], known: &BTreeSet<(Oid, Oid)>, most: usize) -> Vec<&'a Pair> {
    pairs.iter().filter(|pair| !known.contains(&pair.tips)).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: char) -> Oid {
        Oid::new(digit.to_string().repeat(40)).expect("hex digits")
    }

    #[test]
    fn trunk_comes_first_and_what_is_known_is_not_tried_again() {
        let id = |text: &str| TaskId::new(text).expect("a task id");
        let tips = [(id("a"), oid('a')), (id("b"), oid('b')), (id("c"), oid('c'))];
        let pairs = pairs(&tips, &oid('0'));
        let words = |pairs: &[&Pair]| {
            let word = |p: &&Pair| format!("{}-{}", p.task, p.with.as_ref().map_or("trunk", TaskId::as_str));
            pairs.iter().map(word).collect::<Vec<_>>().join(" ")
        };
        let all: Vec<&Pair> = pairs.iter().collect();
        assert_eq!(words(&all), "a-trunk b-trunk c-trunk a-b a-c b-c");
        let known = [(oid('0'), oid('a')), (oid('a'), oid('b'))].into();
        assert_eq!(words(&to_try(&pairs, &known, 3)), "b-trunk c-trunk a-c");
    }
}
