//! What can be seen from outside: git's trees and files, and the plan. No id, counter or clock.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use swarm_core::operation::{facts, saved};
use swarm_core::stage::Stage;
use swarm_protocol::ids::TaskId;
use swarm_protocol::operation::{Fact, SavedStage};

use super::git::Tree;
use super::world::OperationWorld;

#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub tasks: BTreeMap<TaskId, (String, Option<Value>, Option<Value>)>,
    pub order: Vec<Vec<TaskId>>,
    pub swarm: BTreeMap<String, Option<Value>>,
    pub trunk: Tree,
    pub branches: BTreeMap<TaskId, Tree>,
    pub dirty: BTreeMap<TaskId, Tree>,
}

/// A stage without ids: who works is as good as who may go on.
pub fn stage_words(stage: &SavedStage) -> String {
    match stage {
        SavedStage::Working | SavedStage::Pending { started: true, .. } => "resumed".into(),
        SavedStage::Pending { withheld: true, .. } => "waits for a word".into(),
        SavedStage::Blocked { why, .. } => format!("blocked: {why}"),
        other => other.word().into(),
    }
}

impl OperationWorld {
    pub fn seen(&self) -> Seen {
        let read = |fact: String| facts::read(&self.state, &Fact::parse(&fact));
        let tasks = self.state.tasks.iter().map(|(id, task)| {
            let stage = stage_words(&saved::stage(task));
            let spec = read(format!("task/{id}/spec"));
            (id.clone(), (stage, spec, read(format!("task/{id}/waived"))))
        });
        let open = |id: &TaskId| self.state.task(id).is_some_and(|t| !t.stage.is_closed());
        let names = ["mode", "pause/user", "pause/abort", "profile", "header", "approved"];
        let (branches, dirty) = (self.git.branches.iter(), self.git.worktrees.iter());
        let plan = self.state.plan.iter().flat_map(|p| &p.phases);
        Seen {
            tasks: tasks.collect(),
            order: plan.map(|phase| phase.tasks.clone()).collect(),
            swarm: names.iter().map(|name| ((*name).to_string(), read((*name).into()))).collect(),
            trunk: self.git.tree(&self.git.trunk()),
            branches: branches
                .filter(|(id, _)| open(id))
                .map(|(id, tip)| (id.clone(), self.git.tree(tip)))
                .collect(),
            dirty: dirty
                .filter(|(id, dirty)| open(id) && !dirty.is_empty())
                .map(|(id, dirty)| (id.clone(), dirty.clone()))
                .collect(),
        }
    }

    /// What must hold whatever was done; the text names what does not.
    pub fn sound(&self) -> Result<(), String> {
        self.state.check_index()?;
        for (id, task) in &self.state.tasks {
            if let Some(run) = task.stage.run()
                && self.state.runs.get(run).is_none_or(|r| r.task != *id || r.ended)
            {
                return Err(format!("an active task has an agent: {id} is {:?}", task.stage));
            }
            if let Stage::Done { proof: Some(proof) } = &task.stage {
                let here: BTreeSet<_> = self.git.history(&self.git.trunk()).into_iter().collect();
                if let Some(gone) = proof.commits.iter().find(|oid| !here.contains(oid)) {
                    return Err(format!("done means on trunk: {gone} of {id} is not"));
                }
            }
        }
        for record in self.state.ops.log.iter().filter(|r| r.can_be_undone()) {
            if let Some(name) = &record.checkpoint
                && !self.git.checkpoints.contains_key(name)
                && !self.state.ops.due.iter().any(|due| due.name == *name)
            {
                let id = record.id.as_str();
                return Err(format!("what an undo needs is kept: {name} of {id} is gone"));
            }
        }
        let mut ran = BTreeSet::new();
        let blocking = |n: &u64| {
            let mut known = self.state.ops.hooks_ended.iter().chain(self.state.ops.hooks.values());
            known.find(|h| h.n == *n).is_some_and(|h| h.blocking)
        };
        match self.hooks_run.iter().find(|n| !ran.insert(**n) && !blocking(n)) {
            Some(n) => Err(format!("a hook runs once: {n} ran twice")),
            None => Ok(()),
        }
    }
}
