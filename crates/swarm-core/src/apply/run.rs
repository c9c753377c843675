//! Events of an attempt: claimed, prepared, working, checked, ended, proven gone.

use std::collections::BTreeSet;

use swarm_protocol::aftermath::{Aftermath, Counted, SetupRecord};
use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{AgentId, Oid, RunId, TaskId};
use swarm_protocol::outcome::{Ended, Next};
use swarm_protocol::time::Timestamp;

use super::legacy;
use crate::reservations::wants_the_shared_tree;
use crate::stage::Stage;
use crate::state::{Audit, Run, SetupFailures, State};
use crate::text::tail;

impl State {
    /// True when the event was one of an attempt.
    pub(super) fn apply_run(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::TaskClaimed { task, run, agent, attempt, nonce, profile, restart, .. } => {
                self.claim_run(RunKind::Work, task, run, nonce, at);
                self.claimed(task, run, agent, *attempt, profile);
                if let Some(restarts) = restart {
                    self.change(task, |t| t.restarts = *restarts);
                }
            }
            Event::WorkspaceReady { task, run, base, .. } => self.workspace_ready(task, run, base, at),
            Event::AgentSpawned { run, .. } => {
                if let Some(run) = self.runs.get_mut(run) {
                    run.spawned = true;
                }
            }
            Event::Iteration { task, run, iteration, usage, session, class, .. } => {
                self.spend(task, run, usage.unwrap_or_default());
                if self.setup_failures.commands {
                    self.setup_failures = Default::default();
                }
                self.change(task, |t| {
                    if session.is_some() {
                        t.session = session.clone();
                    }
                    (t.nudge, t.submitted) = (None, None);
                    if class.is_none() {
                        (t.transient_retries, t.once_more, t.failure) = (0, 0, None);
                    }
                });
                self.next_iteration(task, run, *iteration, at);
            }
            other => {
                return self.apply_work(other, at)
                    || self.apply_leave(other, at)
                    || self.apply_end(other, at);
            }
        }
        true
    }

    /// What people and rules let the task do, and what its agent tried without leave.
    fn apply_leave(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::GateWaived { task, gate, .. } => self.change(task, |t| {
                t.waived.insert(*gate);
            }),
            Event::TaskStarted { task } => {
                self.change(task, |t| (t.started, t.withheld) = (true, None));
            }
            Event::StartWithheld { task, why } => {
                self.change(task, |t| (t.started, t.withheld) = (false, Some(why.clone())));
            }
            Event::Overstep { task, what, anybody, .. } => self.change(task, |t| {
                t.oversteps += 1;
                t.by_anybody = *anybody == Some(true);
                t.overstep = Some(Audit { at, event: event.kind().into(), details: what.clone() });
            }),
            Event::OverstepsSeen { task, oversteps } => self.change(task, |t| t.oversteps_seen = *oversteps),
            _ => return false,
        }
        true
    }

    /// How an attempt ended.
    fn apply_end(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::AgentCompleted { run, agent, .. } => {
                self.worked(run, at);
                self.end(run);
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.crashes_in_a_row = 0;
                }
            }
            Event::AgentFailed { task, run, agent, how, next, after, .. } => {
                self.worked(run, at);
                let after = after.clone().unwrap_or_else(|| {
                    legacy::aftermath(self, &legacy::End { task, run, agent, how, next }, at)
                });
                self.end(run);
                self.note_end(task, agent, how, &after, at);
                match next {
                    Next::Restart { not_before, restart } => {
                        let (agent, after, since) = (agent.clone(), run.clone(), at);
                        let (not_before, restart) = (*not_before, *restart);
                        self.enter(task, Stage::Restarting { agent, after, since, not_before, restart });
                    }
                    other => self.follow(task, other, at),
                }
            }
            Event::AgentStopped { task, run, next, goes_on, .. } => {
                self.worked(run, at);
                let goes_on = goes_on.unwrap_or_default();
                self.change(task, |t| (t.last_end, t.goes_on) = (Some(Ended::Stopped), goes_on));
                self.end(run);
                self.follow(task, next, at);
            }
            Event::AttemptStopped { task, run, wip, session } => {
                if let Some(gone) = self.runs.remove(run) {
                    self.set_idle(gone.agent.as_ref(), run);
                    self.reservation_left_alone(task, at);
                }
                if let Some(wip) = wip {
                    self.change(task, |t| t.wip = Some(wip.clone()));
                }
                if session.is_some() {
                    self.change(task, |t| t.session = session.clone());
                }
            }
            _ => return false,
        }
        true
    }

    fn claimed(
        &mut self,
        task: &TaskId,
        run: &RunId,
        agent: &AgentId,
        attempt: u32,
        profile: &Option<String>,
    ) {
        let shares = self.task(task).map(|task| wants_the_shared_tree(self, task));
        if let Some(run) = self.runs.get_mut(run) {
            (run.agent, run.attempt) = (Some(agent.clone()), attempt);
            run.profile = profile.clone();
            run.shares = shares;
        }
        self.agents.entry(agent.clone()).or_default().run = Some(run.clone());
        self.change(task, |t| {
            // A session belongs to the program that began it.
            if t.worked_under.is_some() && t.worked_under != *profile {
                t.session = None;
            }
            t.worked_under.clone_from(profile);
            (t.first, t.waits_for_quota, t.nudge) = (false, None, None);
            (t.attempts, t.goes_on) = (attempt, false);
            (t.worktree, t.leaving) = (true, false);
            (t.started, t.withheld) = (true, None);
            t.kept = None;
            // Whoever takes it up now sees what came of it.
            (t.resolved, t.joined) = (vec![], false);
            t.last_agent = Some(agent.clone());
        });
        self.enter(task, Stage::Preparing { run: run.clone() });
    }

    fn workspace_ready(&mut self, task: &TaskId, run: &RunId, base: &Oid, at: Timestamp) {
        if !self.setup_failures.commands {
            self.setup_failures = Default::default();
        }
        self.change(task, |t| {
            // The branch starts anew: what the session knows is not there any more.
            if t.base.as_ref().is_some_and(|old| old != base) {
                t.session = None;
            }
            t.base = Some(base.clone());
            t.effect_failures = 0;
        });
        self.enter(task, Stage::Active { run: run.clone(), iteration: 1 });
        self.works_on(run, at);
    }

    /// The agent works on after this iteration.
    pub(super) fn next_iteration(&mut self, task: &TaskId, run: &RunId, iteration: u32, at: Timestamp) {
        self.worked(run, at);
        self.enter(task, Stage::Active { run: run.clone(), iteration: iteration.saturating_add(1) });
        self.works_on(run, at);
    }

    pub(super) fn approved(
        &mut self,
        task: &TaskId,
        tip: &Oid,
        tree: &Oid,
        base: &Option<Oid>,
        at: Timestamp,
    ) {
        self.change(task, |t| {
            (t.last_failure, t.failure, t.put_off, t.transient_retries) = (None, None, None, 0);
            (t.crashes, t.overflows, t.nudge, t.changes_wanted) = (0, 0, None, None);
            t.conflicts_in.clear();
            // Which files it changes now is found when it is built.
            t.held_by.clear();
            (t.handed_in, t.kept) = (Some(tip.clone()), None);
            if let Stage::Done { proof: Some(proof) } = &t.stage {
                t.landed_before = proof.own().to_vec();
            }
            // A base of its own: the work is a person's.
            if base.is_some() {
                (t.base, t.last_agent, t.worktree) = (base.clone(), None, true);
            }
        });
        let stage = Stage::Approved {
            tip: tip.clone(),
            tree: tree.clone(),
            since: at,
            not_before: Timestamp::ZERO,
            waits: None,
        };
        self.enter(task, stage);
    }

    /// A run is promised: its processes may exist from now on.
    pub(super) fn claim_run(
        &mut self,
        kind: RunKind,
        task: &TaskId,
        run: &RunId,
        nonce: &str,
        at: Timestamp,
    ) {
        self.runs_ever += 1;
        let claimed = Run {
            kind,
            task: task.clone(),
            agent: None,
            attempt: 0,
            nonce: nonce.into(),
            claimed_at: at,
            spawned: false,
            profile: None,
            member: None,
            usage: Usage::default(),
            ended: false,
            nth: self.runs_ever,
            busy_since: None,
            held_since: None,
            held_ms: 0,
            nudged: false,
            noted: BTreeSet::new(),
            stuck: None,
            group: None,
            shares: None,
        };
        self.runs.insert(run.clone(), claimed);
    }

    /// A run whose iteration ended in this very decision has not been told to go on yet.
    pub(super) fn hold_at_boundary(&mut self, at: Timestamp) {
        for run in self.runs.values_mut().filter(|run| run.busy_since == Some(at)) {
            run.hold(at);
        }
    }

    /// Nothing holds the swarm any more: runs at their boundary go on.
    pub(super) fn held_go_on(&mut self, at: Timestamp) {
        for (id, run) in self.runs.iter_mut().filter(|(_, run)| !run.ended && run.busy_since.is_none()) {
            let stage = self.tasks.get(&run.task).map(|t| &t.stage);
            let works =
                matches!(stage, Some(Stage::Active { run, .. } | Stage::Checking { run, .. }) if run == id);
            if works {
                run.go_on(at);
            }
        }
    }

    /// What is remembered of an attempt that brought no result.
    fn note_end(&mut self, task: &TaskId, agent: &AgentId, how: &Ended, after: &Aftermath, at: Timestamp) {
        if let Some(crash) = after.crash {
            let agent = self.agents.entry(agent.clone()).or_default();
            agent.crashes_in_a_row = crash.in_a_row;
            agent.crashes.push_back(at);
            while agent.crashes.len() > crash.remembered as usize {
                agent.crashes.pop_front();
            }
        }
        if let Some(SetupRecord { text, count, commands }) = &after.setup {
            self.setup_failures = SetupFailures { text: text.clone(), count: *count, commands: *commands };
        }
        self.change(task, |t| {
            t.last_failure = Some(tail(&how.describe()));
            (t.last_end, t.goes_on) = (Some(how.clone()), after.goes_on);
            t.crashes = after.task_crashes;
            match after.counts {
                Some(Counted::Transient) => t.transient_retries = t.transient_retries.saturating_add(1),
                Some(Counted::OnceMore) => t.once_more = t.once_more.saturating_add(1),
                Some(Counted::Overflow) => t.overflows = t.overflows.saturating_add(1),
                None => {}
            }
            if after.fresh_session {
                t.session = None;
            }
            if after.quota.is_some() {
                t.waits_for_quota.clone_from(&after.quota);
            }
            t.denied_under.extend(after.denied.clone());
            if let Ended::Failed { failure } = how {
                t.failure = Some(failure.clone());
            }
        });
    }

    pub(super) fn end(&mut self, run: &RunId) {
        if let Some(run) = self.runs.get_mut(run) {
            run.ended = true;
        }
    }

    fn set_idle(&mut self, agent: Option<&AgentId>, run: &RunId) {
        if let Some(agent) = agent.and_then(|a| self.agents.get_mut(a))
            && agent.run.as_ref() == Some(run)
        {
            agent.run = None;
        }
    }
}
