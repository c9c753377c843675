//! What agents do in this world: they commit, scribble, hand in.

use swarm_core::input::Report;
use swarm_core::stage::Stage;
use swarm_protocol::channel::IterationOutcome;

use super::{OperationWorld, task_id};

impl OperationWorld {
    /// The agent of a task goes on: one commit, and it says that it is complete.
    pub fn finish(&mut self, task: &str) {
        if matches!(self.stage(task), Some(Stage::Checking { .. })) {
            return self.passes_checks(task);
        }
        self.work(task);
        self.hand_in(task);
    }

    /// It says that it is complete with what is there.
    pub fn hand_in(&mut self, task: &str) {
        let id = task_id(task);
        // What is left uncommitted is committed first.
        let left = self.git.worktrees.get_mut(&id).map(std::mem::take).unwrap_or_default();
        if let Some(tip) = self.git.branches.get(&id).cloned().filter(|_| !left.is_empty()) {
            let tip = self.git.commit(Some(&tip), |tree| tree.extend(left), "the rest");
            self.git.branches.insert(id.clone(), tip);
        }
        let Some(Stage::Active { run, iteration }) = self.stage(task).cloned() else { return };
        let tip = self.git.branches.get(&id).cloned();
        let own = |name: &String| name.starts_with(&format!("{task}:"));
        let tree = tip.as_ref().map(|tip| self.git.tree(tip)).unwrap_or_default();
        self.handed.insert(id.clone(), tree.into_iter().filter(own).collect());
        self.boundary(run, iteration, IterationOutcome::Complete, tip);
        self.drive();
        self.passes_checks(task);
    }

    fn passes_checks(&mut self, task: &str) {
        if let Some(Stage::Checking { run, iteration, tip }) = self.stage(task).cloned() {
            let (passed, tree, output) = (true, tip.clone(), String::new());
            self.report(Report::Checked { run, iteration, passed, tip, tree, output, gate: None });
        }
    }

    pub fn boundary(
        &mut self,
        run: swarm_protocol::ids::RunId,
        iteration: u32,
        outcome: IterationOutcome,
        tip: Option<swarm_protocol::ids::Oid>,
    ) {
        let known = self.state.seq;
        let (note, usage) = (None, Default::default());
        self.report(Report::Boundary { run, iteration, outcome, tip, note, usage, session: None, known });
    }

    /// The agent commits, and leaves something uncommitted.
    pub fn work(&mut self, task: &str) {
        let id = task_id(task);
        let Some(tip) = self.git.branches.get(&id).cloned() else { return };
        let n = self.git.commits.len();
        let name = format!("{task}:{n}");
        let tip = self.git.commit(Some(&tip), |tree| tree.extend([name.clone()]), &name);
        self.git.branches.insert(id.clone(), tip);
    }

    pub fn scribble(&mut self, task: &str) {
        let n = self.git.commits.len();
        if let Some(dirty) = self.git.worktrees.get_mut(&task_id(task)) {
            dirty.insert(format!("{task}:dirty{n}"));
        }
    }

    /// An iteration ends without a result; what was scribbled stays.
    pub fn iterate(&mut self, task: &str) {
        if let Some(Stage::Active { run, iteration }) = self.stage(task).cloned() {
            let tip = self.git.branches.get(&task_id(task)).cloned();
            self.boundary(run, iteration, IterationOutcome::NoSignal, tip);
        }
    }
}
