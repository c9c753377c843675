//! The executors of the model: each looks first, acts second, and can be asked twice.

use std::collections::{BTreeMap, BTreeSet};

use swarm_core::effect::{Effect, StartsFrom};
use swarm_core::input::{Missing, Report};
use swarm_core::operation::differing;
use swarm_protocol::event::Proof;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{CommandId, Oid, RunId, TaskId};
use swarm_protocol::operation::{
    HookOutcome, Landed, Left, Moved, Plan, Saved, Survey, SurveyAsk, TrunkCommit, TrunkHow, TrunkMove,
    WorktreeTo,
};
use swarm_protocol::outcome::Ended;

use super::world::OperationWorld;

impl OperationWorld {
    /// What the executor says; none: it waits for an agent.
    pub fn deed(&mut self, effect: &Effect) -> Option<Report> {
        Some(match effect {
            Effect::Prepare { run, task, from, base, .. } => {
                self.prepare(run, task, from.as_ref(), base.as_ref())
            }
            Effect::Work { run, .. } => Report::WorkEnded { run: run.clone(), how: Ended::Stopped },
            Effect::Stop { run, task, work, .. } => {
                let wip = if *work { self.git.save_dirty(task) } else { None };
                self.git.kept.extend(wip.clone());
                Report::Stopped { run: run.clone(), wip, session: None }
            }
            Effect::Build { task, base, tip, .. } => self.build(task, base, tip),
            Effect::Publish { task, base, result, commits, .. } => {
                if self.git.trunk() == *base {
                    self.git.trunk = Some(result.clone());
                }
                let (trunk, commit, commits) = ("main", result.clone(), commits.clone());
                Report::Published { task: task.clone(), proof: Proof::new(trunk, commit, commits) }
            }
            Effect::Release { task } => Report::Released { task: task.clone() },
            Effect::Prove { tasks } => self.prove(tasks),
            Effect::Remove { task, remember, .. } => {
                let base = self.state.task(task).and_then(|t| t.base.clone());
                let left = self.git.give_up(task, base, *remember);
                Report::WorktreeRemoved { task: task.clone(), left }
            }
            Effect::Revive { task, left } => {
                let Left { base, tip, dirty } = left.clone();
                self.git.branches.insert(task.clone(), tip);
                self.git.notes.insert(task.clone(), base.clone());
                let dirty = dirty.map(|oid| self.git.brought(&oid)).unwrap_or_default();
                self.git.worktrees.insert(task.clone(), dirty);
                Report::Revived { task: task.clone(), base: Some(base) }
            }
            Effect::Survey { op, ask } => {
                let survey = Box::new(self.survey(ask));
                Report::Surveyed { op: op.clone(), survey }
            }
            Effect::Save { name, .. } => self.save(name, true),
            Effect::Mark { name, .. } => self.save(name, false),
            Effect::Move { op, plan } => self.carry_out(op, plan),
            Effect::Resolve { op, round, .. } => self.resolve(op, *round),
            Effect::Forget { name } => {
                self.git.checkpoints.remove(name);
                Report::Forgotten { name: name.clone() }
            }
            Effect::Rewind { task, to, .. } => {
                let saved = self.git.save_dirty(task);
                self.git.kept.extend(saved.clone());
                self.git.kept.extend(self.git.branches.get(task).cloned());
                if let (Some(to), true) = (to, self.git.branches.contains_key(task)) {
                    self.git.branches.insert(task.clone(), to.clone());
                }
                if let Some(dirty) = self.git.worktrees.get_mut(task) {
                    dirty.clear();
                }
                Report::Rewound { task: task.clone(), saved }
            }
            Effect::Hook { n, .. } => {
                self.hooks_run.push(*n);
                Report::HookEnded { n: *n, outcome: HookOutcome::Ok, output: String::new() }
            }
            Effect::Verify { .. } | Effect::Review { .. } | Effect::Probe { .. } => return None,
            Effect::Watch { .. } | Effect::WatchTrunk { .. } => return None,
        })
    }

    fn prepare(
        &mut self,
        run: &RunId,
        task: &TaskId,
        from: Option<&StartsFrom>,
        base: Option<&Oid>,
    ) -> Report {
        let start = from.and_then(|f| self.git.branches.get(&f.task).cloned());
        let there = self.git.branches.get(task).cloned();
        // The ledger's word counts for a branch that is there; a new one begins where it is made.
        let known =
            base.filter(|base| there.as_ref().is_some_and(|tip| self.git.history(tip).contains(base)));
        let tip = there.clone().or(start).unwrap_or_else(|| self.git.trunk());
        let note = self.git.notes.get(task).cloned();
        let base = from.map(|f| f.base.clone()).or(known.cloned()).or(note).unwrap_or_else(|| tip.clone());
        self.git.branches.insert(task.clone(), tip.clone());
        self.git.worktrees.entry(task.clone()).or_default();
        self.git.notes.insert(task.clone(), base.clone());
        Report::Prepared { run: run.clone(), branch: task.branch(), base, tip }
    }

    fn build(&mut self, task: &TaskId, base: &Oid, tip: &Oid) -> Report {
        let trunk = self.git.trunk();
        let mut commits = Vec::new();
        let mut onto = trunk.clone();
        for oid in self.git.between(base, tip).into_iter().rev() {
            if self.git.brought(&oid).is_subset(&self.git.tree(&onto)) {
                continue;
            }
            onto = self.git.pick(&onto, &oid);
            commits.push(onto.clone());
        }
        let task = task.clone();
        if commits.is_empty() {
            let changes = |oid: &Oid| !self.git.brought(oid).is_empty();
            let found = self.git.between(base, tip).into_iter().filter(changes).collect();
            return Report::BuildEmpty { task, trunk: "main".into(), commit: trunk, found };
        }
        Report::Built {
            task,
            base: trunk,
            result: onto,
            commits,
            squashed: false,
            resolved: vec![],
            protected: vec![],
            changed: vec![],
            found: vec![],
        }
    }

    /// By content: whatever the task brought is in trunk's tree, or it has gone.
    fn prove(&mut self, tasks: &BTreeMap<TaskId, Proof>) -> Report {
        let trunk = self.git.trunk();
        let tree = self.git.tree(&trunk);
        let mut missing = BTreeMap::new();
        for (id, proof) in tasks {
            let commits = proof.commits.iter().chain(&proof.found);
            let Some(gone) = commits.clone().find(|oid| !self.git.brought(oid).is_subset(&tree)) else {
                continue;
            };
            let work = self.landed(id, &proof.commits).map(|(_, landed)| landed);
            missing.insert(id.clone(), Missing { why: format!("{} is not on main", gone.short()), work });
        }
        Report::Proven { commit: trunk, missing, standing: BTreeMap::new() }
    }

    fn save(&mut self, name: &str, full: bool) -> Report {
        let mut saved =
            Saved { trunk: self.git.trunk.clone(), tips: self.git.branches.clone(), ..Saved::default() };
        let tasks: Vec<TaskId> = self.git.worktrees.keys().filter(|_| full).cloned().collect();
        for task in tasks {
            saved.dirty.extend(self.git.save_dirty(&task).map(|oid| (task, oid)));
        }
        // Asked twice it finds its refs.
        let saved = self.git.checkpoints.entry(name.into()).or_insert(saved).clone();
        Report::Saved { name: name.into(), saved }
    }

    pub fn survey(&mut self, ask: &SurveyAsk) -> Survey {
        let now = self.git.trunk();
        let line = |world: &Self, oid: Oid| TrunkCommit {
            subject: world.git.commits.get(&oid).map(|c| c.subject.clone()).unwrap_or_default(),
            pushed: world.git.pushed.contains(&oid),
            reverts: world.git.commits.get(&oid).and_then(|c| c.reverts.clone()).into_iter().collect(),
            oid,
        };
        let listed = |world: &Self, oids: Vec<Oid>| oids.into_iter().map(|oid| line(world, oid)).collect();
        let mut survey = Survey { trunk: "main".into(), now: Some(now.clone()), ..Survey::default() };
        match &ask.trunk {
            Some(then) => {
                survey.since = listed(self, self.git.between(then, &now));
                survey.ahead = listed(self, self.git.between(&now, then).into_iter().rev().collect());
            }
            None if !ask.revert.is_empty() => survey.since = listed(self, self.git.history(&now)),
            None => {}
        }
        let changing: BTreeSet<String> =
            survey.since.iter().chain(&survey.ahead).flat_map(|c| self.git.brought(&c.oid)).collect();
        survey.local = self.git.local.intersection(&changing).cloned().collect();
        let tasks: Vec<TaskId> = self.git.branches.keys().cloned().collect();
        for task in tasks {
            if !ask.tasks.contains(&task) {
                continue;
            }
            survey.dirty.extend(self.git.save_dirty(&task).map(|oid| (task.clone(), oid)));
            survey.tips.extend(self.git.branches.get(&task).map(|tip| (task.clone(), tip.clone())));
        }
        for (id, commits) in &ask.rewritten {
            let rewritten = self.rewritten(commits, &now);
            if !rewritten.is_empty() {
                survey.rewritten.insert(id.clone(), rewritten);
            }
        }
        survey.stay = self.stay(ask, &survey);
        survey.landed = ask.landed.iter().filter_map(|(id, commits)| self.landed(id, commits)).collect();
        if let Some(at) = ask.at {
            survey.tasks = differing(&self.state, &self.replayed(at));
        }
        survey
    }

    fn landed(&self, id: &TaskId, commits: &[Oid]) -> Option<(TaskId, Landed)> {
        let (first, last) = (commits.first()?, commits.last()?);
        let base = self.git.commits.get(first)?.parent.clone()?;
        Some((id.clone(), Landed { base, tip: last.clone(), tree: last.clone(), stands: vec![] }))
    }

    /// Reverts of ours that took back what a person's commit has brought since.
    fn stay(&self, ask: &SurveyAsk, survey: &Survey) -> BTreeSet<Oid> {
        let Some(then) = &ask.trunk else { return BTreeSet::new() };
        let had = self.git.tree(then);
        let theirs = survey.since.iter().filter(|c| !ask.revert.contains(&c.oid));
        let theirs: BTreeSet<String> = theirs.flat_map(|c| self.git.brought(&c.oid)).collect();
        let stays = |oid: &&Oid| {
            let parent = self.git.commits.get(oid).and_then(|commit| commit.parent.clone());
            let gone = parent.map(|parent| &self.git.tree(&parent) - &self.git.tree(oid)).unwrap_or_default();
            !gone.is_empty() && gone.is_subset(&theirs) && gone.is_disjoint(&had)
        };
        survey
            .since
            .iter()
            .map(|c| &c.oid)
            .filter(|oid| ask.revert.contains(oid))
            .filter(stays)
            .cloned()
            .collect()
    }

    /// Commits that are not in the history of trunk, though what they brought is there; newest first.
    fn rewritten(&self, commits: &[Oid], trunk: &Oid) -> Vec<Oid> {
        let (history, tree) = (self.git.history(trunk), self.git.tree(trunk));
        let there = |oid: &&Oid| {
            let brought = self.git.brought(oid);
            !history.contains(oid) && !brought.is_empty() && brought.is_subset(&tree)
        };
        commits.iter().rev().filter(there).cloned().collect()
    }

    /// The agent has something better to say the second time. What it said is kept, so that the move finds it.
    fn resolve(&mut self, op: &CommandId, round: u32) -> Report {
        let why = (round == 1).then(|| "it names b.rs, which does not conflict".to_owned());
        if why.is_none() {
            self.git.resolved.insert(op.clone());
        }
        Report::Resolved { op: op.clone(), why, failure: None, usage: Usage::default(), stopped: false }
    }

    /// Each step looks whether it was done before.
    fn carry_out(&mut self, op: &CommandId, plan: &Plan) -> Report {
        let mut moved = Moved::default();
        if let Some(trunk) = &plan.trunk
            && let Err(report) = self.move_trunk(op, trunk, &mut moved)
        {
            return report;
        }
        if !plan.save_local.is_empty() {
            let gone: BTreeSet<String> = plan.save_local.iter().cloned().collect();
            self.git.saved_local.extend(gone.iter().cloned());
            self.git.local.retain(|name| !gone.contains(name));
            moved.local = Some("refs/swarm/local/1".into());
        }
        let names: BTreeMap<String, TaskId> =
            self.state.tasks.keys().map(|id| (format!("refs/heads/{}", id.branch()), id.clone())).collect();
        for gone in plan.worktrees.iter().filter(|one| one.to == WorktreeTo::Gone) {
            let base = self.state.task(&gone.task).and_then(|t| t.base.clone());
            self.git.give_up(&gone.task, base, None);
        }
        for change in &plan.refs {
            let Some(task) = names.get(&change.name) else { continue };
            match &change.new {
                Some(new) => drop(self.git.branches.insert(task.clone(), new.clone())),
                None => drop(self.git.branches.remove(task)),
            }
        }
        for worktree in &plan.worktrees {
            self.move_worktree(&worktree.task, &worktree.to);
        }
        Report::Moved { op: op.clone(), moved }
    }

    fn move_trunk(&mut self, op: &CommandId, trunk: &TrunkMove, moved: &mut Moved) -> Result<(), Report> {
        let new = match &trunk.how {
            TrunkHow::Set { new } => new.clone(),
            TrunkHow::Rebuild { revert, pick } => {
                let mut onto = trunk.old.clone();
                for oid in revert {
                    let resolved = self.git.resolved.contains(op);
                    match self.git.revert(&onto, oid, resolved) {
                        Some(next) => onto = next,
                        None => {
                            let paths = self.git.brought(oid).into_iter().collect();
                            let (op, asks) = (op.clone(), true);
                            return Err(Report::MoveConflict { op, paths, why: None, asks });
                        }
                    }
                    moved.made.push(onto.clone());
                }
                for oid in pick {
                    onto = self.git.pick(&onto, oid);
                    moved.brought.insert(oid.clone(), onto.clone());
                    moved.made.push(onto.clone());
                }
                onto
            }
        };
        let now = self.git.trunk();
        if now != new && now != trunk.old {
            let (why, hint) = ("trunk moved meanwhile".into(), "swarm status".into());
            return Err(Report::MoveRefused { op: op.clone(), why, hint });
        }
        self.git.trunk = Some(new.clone());
        moved.trunk = Some(new);
        Ok(())
    }

    fn move_worktree(&mut self, task: &TaskId, to: &WorktreeTo) {
        match to {
            WorktreeTo::Gone => {}
            WorktreeTo::Clean { tip } => {
                self.git.notes.entry(task.clone()).or_insert_with(|| tip.clone());
                self.git.branches.insert(task.clone(), tip.clone());
                self.git.worktrees.insert(task.clone(), BTreeSet::new());
            }
            WorktreeTo::Restored { tip, dirty, base } => {
                match base {
                    Some(base) => drop(self.git.notes.insert(task.clone(), base.clone())),
                    None => drop(self.git.notes.entry(task.clone()).or_insert_with(|| tip.clone())),
                }
                self.git.branches.insert(task.clone(), tip.clone());
                let dirty = dirty.as_ref().map(|oid| self.git.brought(oid)).unwrap_or_default();
                self.git.worktrees.insert(task.clone(), dirty);
            }
        }
    }
}
