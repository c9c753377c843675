//! A model of git that knows just enough: commits whose tree is a set of changes, trunk, branches,
//! worktrees with uncommitted work, refs of checkpoints, a remote, a person.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::ids::{CommandId, Oid, TaskId};
use swarm_protocol::operation::{Left, Saved};

pub type Tree = BTreeSet<String>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub parent: Option<Oid>,
    pub tree: Tree,
    pub subject: String,
    /// The commit that it takes back, as its message says.
    pub reverts: Option<Oid>,
}

#[derive(Debug, Clone, Default)]
pub struct Git {
    made: u64,
    pub commits: BTreeMap<Oid, Commit>,
    pub trunk: Option<Oid>,
    pub branches: BTreeMap<TaskId, Oid>,
    /// Uncommitted work of each worktree there is.
    pub worktrees: BTreeMap<TaskId, Tree>,
    pub checkpoints: BTreeMap<String, Saved>,
    pub pushed: BTreeSet<Oid>,
    /// Files the person has changed and not committed.
    pub local: BTreeSet<String>,
    pub saved_local: BTreeSet<String>,
    /// Commits under refs of their own: saved work of stopped and killed agents.
    pub kept: BTreeSet<Oid>,
    /// What the last removal of each task left, by the name of that removal: for one that is asked for again.
    left: BTreeMap<TaskId, (u64, Left)>,
    /// Where the commits of each task begin, as the note beside its worktree has it: it goes with the worktree, and one
    /// that comes back without being told begins at its tip.
    pub notes: BTreeMap<TaskId, Oid>,
    /// Operations for which it was said what is to become of what does not apply.
    pub resolved: BTreeSet<CommandId>,
}

impl Git {
    fn oid(&mut self, commit: Commit) -> Oid {
        if let Some((oid, _)) = self.commits.iter().find(|(_, known)| **known == commit) {
            return oid.clone(); // the same content on the same parent is the same commit
        }
        self.made += 1;
        let oid = Oid::new(format!("{:040x}", self.made)).expect("forty hex digits");
        self.commits.insert(oid.clone(), commit);
        oid
    }

    pub fn commit(&mut self, parent: Option<&Oid>, change: impl FnOnce(&mut Tree), subject: &str) -> Oid {
        let mut tree = parent.map(|p| self.tree(p)).unwrap_or_default();
        change(&mut tree);
        self.oid(Commit { parent: parent.cloned(), tree, subject: subject.into(), reverts: None })
    }

    pub fn tree(&self, oid: &Oid) -> Tree {
        self.commits.get(oid).map(|c| c.tree.clone()).unwrap_or_default()
    }

    pub fn trunk(&self) -> Oid {
        self.trunk.clone().expect("a repository has a first commit")
    }

    /// The person commits on trunk.
    pub fn person_commits(&mut self, name: &str) -> Oid {
        let name = format!("person:{name}");
        let oid = self.commit(self.trunk.clone().as_ref(), |tree| tree.extend([name.clone()]), &name);
        self.trunk = Some(oid.clone());
        oid
    }

    /// The person rewrites the last commit of trunk, with something of their own in it.
    pub fn person_amends(&mut self, name: &str) {
        let tip = self.trunk();
        let Some(old) = self.commits.get(&tip).cloned() else { return };
        let mut tree = old.tree;
        tree.insert(format!("person:{name}"));
        let subject = format!("{}, amended", old.subject);
        let amended = self.oid(Commit { parent: old.parent, tree, subject, reverts: old.reverts });
        self.trunk = Some(amended);
    }

    /// The person takes the last commit of trunk back by one of their own.
    pub fn person_reverts_last(&mut self) {
        let tip = self.trunk();
        self.trunk = self.revert(&tip, &tip, false).or(Some(tip));
    }

    /// The person resets trunk by so many commits.
    pub fn person_resets(&mut self, commits: usize) {
        for _ in 0..commits {
            let tip = self.trunk();
            self.kept.insert(tip.clone()); // the reflog has it
            self.trunk = self.commits.get(&tip).and_then(|c| c.parent.clone()).or(Some(tip));
        }
    }

    /// Commits reachable from this one, newest first.
    pub fn history(&self, from: &Oid) -> Vec<Oid> {
        let mut all = vec![];
        let mut at = Some(from.clone());
        while let Some(oid) = at {
            at = self.commits.get(&oid).and_then(|c| c.parent.clone());
            all.push(oid);
        }
        all
    }

    /// `base..tip`, newest first.
    pub fn between(&self, base: &Oid, tip: &Oid) -> Vec<Oid> {
        let known: BTreeSet<Oid> = self.history(base).into_iter().collect();
        self.history(tip).into_iter().filter(|oid| !known.contains(oid)).collect()
    }

    /// Where the branch left trunk.
    pub fn fork(&self, tip: &Oid) -> Oid {
        let trunk: BTreeSet<Oid> = self.history(&self.trunk()).into_iter().collect();
        self.history(tip).into_iter().find(|oid| trunk.contains(oid)).unwrap_or_else(|| tip.clone())
    }

    /// What the commit brought.
    pub fn brought(&self, oid: &Oid) -> Tree {
        let before = self.commits.get(oid).and_then(|c| c.parent.clone());
        let before = before.map(|p| self.tree(&p)).unwrap_or_default();
        self.tree(oid).difference(&before).cloned().collect()
    }

    /// A commit that takes another one's change back; none: it does not apply, and nobody has said what is to become of it.
    pub fn revert(&mut self, onto: &Oid, oid: &Oid, resolved: bool) -> Option<Oid> {
        let gone = self.brought(oid);
        let back: Tree = {
            let before = self.commits.get(oid).and_then(|c| c.parent.clone());
            let before = before.map(|p| self.tree(&p)).unwrap_or_default();
            before.difference(&self.tree(oid)).cloned().collect()
        };
        if !resolved && !gone.is_subset(&self.tree(onto)) {
            return None;
        }
        let subject = format!("revert {}", oid.short());
        let mut tree = self.tree(onto);
        tree.retain(|name| !gone.contains(name));
        tree.extend(back);
        Some(self.oid(Commit { parent: Some(onto.clone()), tree, subject, reverts: Some(oid.clone()) }))
    }

    pub fn pick(&mut self, onto: &Oid, oid: &Oid) -> Oid {
        let brought = self.brought(oid);
        let subject = format!("pick {}", oid.short());
        self.commit(Some(onto), |tree| tree.extend(brought), &subject)
    }

    /// Uncommitted work as a commit that nothing names.
    pub fn save_dirty(&mut self, task: &TaskId) -> Option<Oid> {
        let (tip, dirty) = (self.branches.get(task).cloned(), self.worktrees.get(task)?.clone());
        if dirty.is_empty() {
            return None;
        }
        Some(self.commit(tip.as_ref(), |tree| tree.extend(dirty), "uncommitted"))
    }

    /// Branch and worktree go, and stay on refs. Asked again by the same name it says the same.
    pub fn give_up(&mut self, task: &TaskId, base: Option<Oid>, name: Option<u64>) -> Option<Left> {
        let dirty = self.save_dirty(task);
        self.worktrees.remove(task);
        self.notes.remove(task);
        let Some(tip) = self.branches.remove(task) else {
            return self
                .left
                .get(task)
                .filter(|(known, _)| Some(*known) == name)
                .map(|(_, left)| left.clone());
        };
        self.kept.extend(dirty.iter().cloned().chain([tip.clone()]));
        let left = Left { base: base.unwrap_or_else(|| tip.clone()), tip, dirty };
        self.left.insert(task.clone(), (name?, left.clone()));
        Some(left)
    }

    /// Everything that some ref still reaches.
    pub fn reachable(&self) -> Tree {
        let tips = self.trunk.iter().chain(self.branches.values());
        let saved = self.checkpoints.values();
        let saved = saved.flat_map(|s| s.trunk.iter().chain(s.tips.values()).chain(s.dirty.values()));
        let tips = tips.chain(saved).chain(&self.kept);
        let mut seen: BTreeSet<&Oid> = BTreeSet::new();
        let mut all = Tree::default();
        for tip in tips {
            let mut at = Some(tip);
            while let Some(oid) = at.filter(|oid| seen.insert(oid)) {
                let Some(commit) = self.commits.get(oid) else { break };
                all.extend(commit.tree.iter().cloned());
                at = commit.parent.as_ref();
            }
        }
        all
    }
}
