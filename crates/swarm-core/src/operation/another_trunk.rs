//! Another branch becomes trunk: what that means for work that is done, for work that is not, and for whatever speaks
//! of the branch that was trunk before.

use serde_json::json;
use swarm_protocol::event::Proof;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{
    Checkpoint, Fact, FactChange, Plan, RefMove, Request, SavedStage, SavedTask, Survey, SurveyAsk, TaskPart,
};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::refusal::Refusal;

use super::facts;
use super::plan::{landed, merged};
use crate::stage::Stage;
use crate::state::operations::Record;
use crate::state::saved;
use crate::state::{State, Task};

/// What has to be found out about the branch.
pub fn ask(state: &State, to: &str, start: Option<&Oid>) -> SurveyAsk {
    SurveyAsk {
        landed: landed(state),
        other: Some(to.into()),
        other_from: start.cloned(),
        ..SurveyAsk::default()
    }
}

/// The plan says which finished work the branch has and which not; the rest goes there when it is merged.
pub fn choose(
    state: &State,
    to: &str,
    start: Option<&Oid>,
    survey: &Survey,
    draft: &mut Plan,
) -> Result<(), Refusal> {
    let found = survey.other.clone().unwrap_or_default();
    let from = state.trunk.as_deref().unwrap_or("none");
    match (&found.tip, start) {
        (Some(tip), _) => {
            draft.says.commits.push(format!("work goes to {to} from here on, at {}", tip.short()))
        }
        (None, Some(start)) => {
            draft.says.commits.push(format!("the branch {to} is made at {}", start.short()));
            let (name, new) = (format!("refs/heads/{to}"), Some(start.clone()));
            draft.refs.push(RefMove { name, old: None, new });
        }
        (None, None) => {
            let why = format!("There is no branch {to}");
            return Err(Refusal::CannotMove { why, hint: back_again(state, to) });
        }
    }
    for task in state.tasks_in_order() {
        let id = &task.spec.id;
        let commits = merged(state, id);
        match (commits.is_empty(), found.has.contains(id)) {
            (false, true) => {
                draft.says.commits.push(format!("{id} is done, and on {to} already"));
                proven_on(id, task, to, draft);
            }
            (false, false) => {
                let done =
                    if matches!(task.stage, Stage::Gone { .. }) { "has gone from" } else { "is done on" };
                draft.says.commits.push(format!("{id} {done} {from}, and is not on {to}"));
            }
            (true, _) => draft.says.tasks.extend(goes_on(id, task, from, to)),
        }
    }
    draft.facts.push(FactChange {
        fact: Fact::Trunk,
        before: facts::read(state, &Fact::Trunk),
        after: Some(json!(to)),
    });
    // The red trunk is not the one that counts now.
    let paused = Fact::Pause(PauseReason::Trunk);
    if let Some(before) = facts::read(state, &paused) {
        draft.facts.push(FactChange { fact: paused, before: Some(before), after: None });
    }
    draft.says.stays.push(format!(
        "earlier checkpoints and operations belong to {from}: you cannot go back to them while trunk is {to}"
    ));
    Ok(())
}

/// The command that makes a branch which is to be trunk again: where it was seen last, not where the person happens to
/// stand, since that may have the work of the trunk after it.
fn back_again(state: &State, branch: &str) -> String {
    match last_seen(state, branch, |checkpoint| checkpoint.branch.as_deref() == Some(branch)) {
        Some(seen) => format!("git branch {branch} {}", seen.short()),
        None => format!("git branch {branch}"),
    }
}

/// The new trunk has all commits of the task: its proof says so.
fn proven_on(id: &TaskId, task: &Task, to: &str, draft: &mut Plan) {
    let Stage::Done { proof: Some(proof) } = &task.stage else { return };
    let stage = SavedStage::Done {
        proof: Some(Proof { trunk: to.into(), ..proof.clone() }),
        parts: task.parts.clone(),
    };
    draft.facts.push(FactChange {
        fact: Fact::Part(id.clone(), TaskPart::Stage),
        before: serde_json::to_value(saved::stage(task)).ok(),
        after: serde_json::to_value(&stage).ok(),
    });
    draft.tasks.insert(id.clone(), SavedTask { stage, landed_before: vec![], ..saved::saved(task) });
}

/// What becomes of work that is not on trunk yet.
fn goes_on(id: &TaskId, task: &Task, from: &str, to: &str) -> Option<String> {
    match task.stage {
        Stage::Done { .. } | Stage::Cancelled => None,
        Stage::Approved { .. } | Stage::Merging { .. } | Stage::Review { .. } => {
            Some(format!("{id} is {}: its own commits are merged into {to}", saved::stage(task).word()))
        }
        _ if task.worktree => Some(format!(
            "{id} goes on in its worktree, which began on {from}: its own commits are merged into {to}"
        )),
        _ => None,
    }
}

/// Work that is under way was begun for the present trunk, and would end on another one.
pub fn nobody_works(state: &State) -> Result<(), Refusal> {
    let busy: Vec<&str> = state.runs.values().map(|run| run.task.as_str()).collect();
    if busy.is_empty() && state.trunk_held_by.is_none() {
        return Ok(());
    }
    let trunk = state.trunk.as_deref().unwrap_or("trunk");
    let why = format!("Work for {trunk} is under way: {}", busy.join(", "));
    Err(Refusal::CannotMove { why, hint: "swarm stop".into() })
}

/// The branch that was trunk before this operation, if it chose another one.
pub fn changes_trunk(record: &Record) -> Option<Request> {
    let change = record.facts.iter().flatten().find(|change| change.fact == Fact::Trunk)?;
    Some(Request::Trunk { to: change.before.as_ref()?.as_str()?.into(), start: None })
}

/// Whether trunk is the branch that the checkpoint speaks of.
pub fn on_this_trunk(state: &State, checkpoint: &Checkpoint) -> Result<(), Refusal> {
    let now = state.trunk.as_deref().unwrap_or_default();
    let what = format!("The checkpoint {}", checkpoint.name);
    match checkpoint.branch.as_deref() {
        Some(then) if then != now => Err(of_another(&what, then, now)),
        None if checkpoint.seq < state.trunk_since => {
            let why = format!("{what} is from before {now} became trunk");
            Err(Refusal::CannotMove { why, hint: "swarm op log".into() })
        }
        _ => Ok(()),
    }
}

/// Whether what the operation did to a branch was done to the present trunk.
pub fn moved_another(state: &State, record: &Record) -> Result<(), Refusal> {
    let now = state.trunk.as_deref().unwrap_or_default();
    let branch = |change: &FactChange| {
        let name = change.fact.branch()?;
        (!name.starts_with("swarm/") && name != now).then(|| name.to_owned())
    };
    match record.facts.iter().flatten().find_map(branch) {
        Some(then) => Err(of_another(&format!("`{}`", record.describe()), &then, now)),
        None => Ok(()),
    }
}

/// Whether the task was merged into the present trunk.
pub fn merged_into_another(state: &State, id: &TaskId) -> Result<(), Refusal> {
    let now = state.trunk.as_deref().unwrap_or_default();
    match state.task(id).map(|task| &task.stage) {
        Some(Stage::Done { proof: Some(proof) }) if proof.trunk != now && !proof.commits.is_empty() => {
            Err(of_another(&format!("The merge of task {id}"), &proof.trunk, now))
        }
        _ => Ok(()),
    }
}

fn of_another(what: &str, then: &str, now: &str) -> Refusal {
    let why = format!("{what} belongs to the trunk {then}, but trunk is now {now}");
    Refusal::CannotMove { why, hint: format!("swarm run --trunk {then} --dry-run") }
}

impl State {
    /// Where the swarm has last seen trunk: after a merge or an operation, or in a checkpoint.
    pub fn last_seen_on_trunk(&self) -> Option<Oid> {
        last_seen(self, self.trunk.as_deref()?, |checkpoint| on_this_trunk(self, checkpoint).is_ok())
    }
}

/// The same of any branch that is or was trunk; `of_it`: the checkpoints that speak of it.
fn last_seen(state: &State, branch: &str, of_it: impl Fn(&Checkpoint) -> bool) -> Option<Oid> {
    let fact = Fact::of_branch(branch);
    let moved = state.ops.log.iter().rev().find_map(|record| {
        let change = record.facts.iter().flatten().find(|change| change.fact == fact)?;
        Some((record.seq, super::plan::oid(change.after.as_ref())?))
    });
    let kept = state.ops.checkpoints.values().filter(|checkpoint| of_it(checkpoint));
    let kept = kept.filter_map(|c| Some((c.seq, c.trunk.clone()?)));
    kept.chain(moved).max_by_key(|(seq, _)| *seq).map(|(_, oid)| oid)
}
