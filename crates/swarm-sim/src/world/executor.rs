//! Executors: each carries out one effect in the world, looking first, and ends in a report.

use std::collections::BTreeMap;

use swarm_core::effect::{Effect, Key, ReviewingAgent, StartsFrom};
use swarm_core::input::{KeyName, Missing, Report};
use swarm_protocol::channel::RunKind;
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::event::Proof;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::outcome::Ended;
use swarm_protocol::time::Timestamp;

use super::agent::AUTHORS_SESSION;
use super::approved::changed_since;
use super::daemon::{Daemon, Doing};
use super::fault::Fault;
use super::oracle::{Broken, broken};
use super::planted::Planted;
use super::reserving;
use super::story::Story;

/// An effect in flight.
#[derive(Debug, Clone)]
pub struct Executor {
    pub n: u64,
    pub key: Key,
    pub effect: Effect,
    pub acted: bool,
    pub cancelled_at: Option<Timestamp>,
    /// What it will say when it ends.
    pub report: Option<Report>,
    /// Has said its last word; the decision about it is not durable yet.
    pub reported: bool,
}

/// The deed of an executor: done with a report, or under way until a daemon speaks.
pub enum Deed {
    Done(Report),
    UnderWay,
}

impl Executor {
    pub fn new(n: u64, effect: Effect) -> Self {
        Self { n, key: effect.key(), effect, acted: false, cancelled_at: None, report: None, reported: false }
    }

    /// What it says when it was told to stop before its deed.
    pub fn gives_up(&self) -> Report {
        match &self.effect {
            Effect::Work { run, .. } => Report::WorkEnded { run: run.clone(), how: Ended::Stopped },
            Effect::Verify { run, task, .. } => {
                Report::VerifyLost { run: run.clone(), task: task.clone(), why: "told to stop".into() }
            }
            Effect::Review { run, task, .. } => {
                Report::ReviewLost { run: run.clone(), task: task.clone(), why: "told to stop".into() }
            }
            other => match other.task() {
                Some(task) => Report::Cancelled { task: task.clone() },
                None => Report::Broke { key: KeyName::from(&self.key), why: "told to stop".into() },
            },
        }
    }

    fn fails(&self) -> Report {
        let why = "the world failed the executor".into();
        let key = KeyName::from(&self.key);
        match self.effect.task() {
            Some(task) => Report::EffectFailed { key, task: task.clone(), why },
            None => Report::Broke { key, why },
        }
    }
}

impl Story {
    /// Carries out the executor's effect. Asked twice it finds the work done and says so again.
    pub fn deed(&mut self, executor: &Executor, epoch: u64) -> Result<Deed, Broken> {
        let report = match &executor.effect {
            Effect::Prepare { run, task, from, .. } => self.prepare(run, task, from.as_ref()),
            Effect::Work { run, task, order, profile, .. } => {
                if self.living_is_taken_for_dead(run, epoch) {
                    let how = Ended::Orphaned { text: "taken for dead".into() };
                    return Ok(Deed::Done(Report::WorkEnded { run: run.clone(), how }));
                }
                if self.daemons.get(run).is_none() {
                    if self.strikes(Fault::ProgramMissing, 4) {
                        let how = Ended::NotStarted { text: "no such program".into() };
                        return Ok(Deed::Done(Report::WorkEnded { run: run.clone(), how }));
                    }
                    self.spawn(run, task, RunKind::Work, epoch)?;
                    let group = self.group_of(profile.as_deref());
                    if let Some(daemon) = self.daemons.get_mut(run) {
                        daemon.group = group;
                    }
                }
                self.attach(executor.n, run);
                self.order(run, order.clone(), epoch);
                return Ok(Deed::UnderWay);
            }
            Effect::Verify { run, task, commit, .. } => {
                self.verify(run, task, commit, epoch)?;
                self.attach(executor.n, run);
                return Ok(Deed::UnderWay);
            }
            Effect::Review { run, task, tip, by, .. } => {
                self.review(run, task, tip, by.as_ref(), epoch)?;
                self.attach(executor.n, run);
                return Ok(Deed::UnderWay);
            }
            Effect::Probe { run, task, group, .. } => {
                if self.daemons.get(run).is_none() {
                    self.spawn(run, task, RunKind::Probe, epoch)?;
                    self.daemon_turns(run, Doing::Probing { group: group.clone() }, (500, 10_000));
                }
                self.attach(executor.n, run);
                return Ok(Deed::UnderWay);
            }
            Effect::WatchTrunk { commit, .. } if self.truth.trunk_tip() == *commit => {
                return Ok(Deed::UnderWay);
            }
            Effect::WatchTrunk { commit, .. } => {
                Report::TrunkChanged { commit: commit.clone(), now: self.truth.trunk_tip() }
            }
            Effect::Stop { run, work: true, .. } if self.cannot_save(run) => executor.fails(),
            _ if self.strikes(Fault::ExecutorFails, 4) => executor.fails(),
            Effect::Prove { tasks } => self.prove(tasks),
            Effect::Stop { run, task, .. } => self.stop(run, task),
            Effect::Build { task, base, tip, reviewed, approval, .. } => {
                let changed = changed_since(&self.truth, task, approval.as_ref());
                changed.unwrap_or_else(|| self.build(task, base, tip, *reviewed))
            }
            Effect::Publish { task, base, result, commits, approval } => {
                match changed_since(&self.truth, task, approval.as_ref()) {
                    Some(changed) if self.truth.trunk_tip() == *base => changed,
                    _ => self.publish(task, base, result, commits)?,
                }
            }
            Effect::Release { task } => Report::Released { task: task.clone() },
            Effect::Watch { .. } if self.truth.checkout_busy => return Ok(Deed::UnderWay),
            Effect::Watch { task, .. } => Report::CheckoutChanged { task: task.clone() },
            Effect::Remove { task, .. } => self.remove(task)?,
            // Its world keeps no work of cancelled tasks: they begin anew.
            Effect::Revive { task, .. } => Report::Revived { task: task.clone(), base: None },
            Effect::Survey { .. }
            | Effect::Save { .. }
            | Effect::Mark { .. }
            | Effect::Move { .. }
            | Effect::Resolve { .. }
            | Effect::Forget { .. }
            | Effect::Rewind { .. }
            | Effect::Hook { .. } => executor.fails(),
        };
        Ok(Deed::Done(report))
    }

    fn verify(&mut self, run: &RunId, task: &TaskId, commit: &Oid, epoch: u64) -> Result<(), Broken> {
        if self.daemons.get(run).is_none() {
            self.spawn(run, task, RunKind::Verify, epoch)?;
            self.daemon_turns(run, Doing::Verifying { commit: commit.clone() }, (5_000, 60_000));
        }
        Ok(())
    }

    fn review(
        &mut self,
        run: &RunId,
        task: &TaskId,
        tip: &Oid,
        by: Option<&ReviewingAgent>,
        epoch: u64,
    ) -> Result<(), Broken> {
        let session = by.and_then(|agent| agent.session.as_deref()).unwrap_or_default();
        if session.starts_with(AUTHORS_SESSION) {
            let rule = "nobody reviews in the conversation in which the work was done";
            return Err(broken(rule, format!("{task}: {session}")));
        }
        if self.daemons.get(run).is_none() {
            let member = by.is_some_and(|agent| agent.member.is_some());
            self.spawn_beside(run, task, RunKind::Review, epoch, member)?;
            let doing = Doing::Reviewing { tip: tip.clone(), agent: by.cloned() };
            self.daemon_turns(run, doing, (1_000, 40_000));
        }
        Ok(())
    }

    fn prepare(&mut self, run: &RunId, task: &TaskId, from: Option<&StartsFrom>) -> Report {
        if self.strikes(Fault::WorkspaceFails, 4) {
            let setup = self.rng.chance(25);
            return Report::PrepareFailed { run: run.clone(), why: "git worktree add failed".into(), setup };
        }
        let worktree = self.truth.worktree(task, from);
        let (base, tip) = (worktree.base.clone(), worktree.tip.clone());
        Report::Prepared { run: run.clone(), branch: task.branch(), base, tip }
    }

    /// Planted bug: whoever takes over takes everybody for dead.
    fn living_is_taken_for_dead(&self, run: &RunId, epoch: u64) -> bool {
        self.planted == Some(Planted::OrphanOfLiving)
            && self.daemons.get(run).is_some_and(|d| d.alive && d.epoch < epoch)
    }

    /// The group that a profile shares its allowance with.
    pub fn group_of(&self, profile: Option<&str>) -> String {
        let name = profile.unwrap_or(&self.policy.profile);
        let rule = self.policy.profiles.iter().find(|rule| rule.name == name);
        let group = rule.map_or(name, |rule| &rule.quota_group);
        if group.is_empty() { "default".into() } else { group.into() }
    }

    fn spawn(&mut self, run: &RunId, task: &TaskId, kind: RunKind, epoch: u64) -> Result<(), Broken> {
        self.spawn_beside(run, task, kind, epoch, false)
    }

    fn spawn_beside(
        &mut self,
        run: &RunId,
        task: &TaskId,
        kind: RunKind,
        epoch: u64,
        beside_others: bool,
    ) -> Result<(), Broken> {
        let has_worktree = matches!(kind, RunKind::Work | RunKind::Review);
        if has_worktree && !self.truth.worktrees.contains_key(task) {
            return Err(broken(
                "an agent works in the worktree of its task",
                format!("{task} has none for {run}"),
            ));
        }
        self.daemons
            .spawn(Daemon { beside_others, ..Daemon::new(run.clone(), task.clone(), kind, epoch) })
            .map_err(|text| broken("never two living daemons for one task", text))
    }

    fn stop(&mut self, run: &RunId, task: &TaskId) -> Report {
        let mut was_work = false;
        if let Some(daemon) = self.daemons.get_mut(run) {
            was_work = daemon.kind == RunKind::Work;
            if daemon.alive {
                daemon.vanishes();
            }
        }
        let wip = match self.truth.worktrees.get_mut(task) {
            Some(worktree) if was_work && worktree.dirty => {
                worktree.dirty = false;
                Some(self.truth.new_oid())
            }
            _ => None,
        };
        Report::Stopped { run: run.clone(), wip, session: None }
    }

    fn build(&mut self, task: &TaskId, base: &Oid, tip: &Oid, reviewed: bool) -> Report {
        let task = task.clone();
        if self.strikes(Fault::Conflict, 5) {
            return Report::BuildConflict { task, paths: vec!["src/a.rs".into()], why: None };
        }
        let trunk = self.truth.trunk_tip();
        let by_rule = !self.truth.missing_on_trunk(base, tip).is_empty() && self.strikes(Fault::Resolved, 5);
        let path = "src/a.rs".to_string();
        let resolved = if by_rule { vec![Resolved { path, way: Way::Imports }] } else { vec![] };
        if by_rule && reviewed {
            let tip = self.truth.join(&task, base, tip);
            return Report::BuildJoined { task, base: trunk, tree: tip.clone(), tip, resolved };
        }
        match self.truth.build(base, tip) {
            Some((result, commits)) => {
                if by_rule {
                    self.truth.by_rule.insert(result.clone());
                }
                let protected = self.truth.protected_in(&result);
                let (squashed, found) = (by_rule, vec![]);
                let changed = self.truth.changed_in(&result).into_iter().map(reserving::path).collect();
                Report::Built {
                    task,
                    base: trunk,
                    result,
                    commits,
                    squashed,
                    resolved,
                    protected,
                    changed,
                    found,
                }
            }
            None => {
                let found = self.truth.range(base, tip);
                Report::BuildEmpty { task, trunk: self.truth.trunk_name().into(), commit: trunk, found }
            }
        }
    }

    /// What is done, looked up on trunk.
    fn prove(&mut self, tasks: &BTreeMap<TaskId, Proof>) -> Report {
        let missing = tasks.iter().filter_map(|(id, proof)| {
            let off = proof.commits.iter().find(|oid| !self.truth.trunk_has(oid));
            let gone = off.or_else(|| proof.found.iter().find(|oid| !self.truth.has_source(oid)))?;
            let work = self.truth.landed(proof);
            Some((id.clone(), Missing { why: format!("{} is not on trunk", gone.short()), work }))
        });
        Report::Proven {
            commit: self.truth.trunk_tip(),
            missing: missing.collect(),
            standing: BTreeMap::new(),
        }
    }

    fn remove(&mut self, task: &TaskId) -> Result<Report, Broken> {
        if let Some(daemon) = self
            .daemons
            .alive()
            .find(|d| d.task == *task && matches!(d.kind, RunKind::Work | RunKind::Review))
        {
            return Err(broken(
                "no worktree goes under a living daemon",
                format!("{task} has {}", daemon.run),
            ));
        }
        if self.rng.chance(3) && !self.calm {
            return Ok(Report::WorktreeKept { task: task.clone(), why: ".env is not on the list".into() });
        }
        self.truth.worktrees.remove(task);
        Ok(Report::WorktreeRemoved { task: task.clone(), left: None })
    }
}
