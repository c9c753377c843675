//! Events of recovery: agents nudged, out of service, back; gates of quota; splits; messages; budgets.

use swarm_protocol::channel::RunKind;
use swarm_protocol::event::Event;
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::time::Timestamp;

use super::keep;
use crate::limits::{GREEN_KEPT, MESSAGES_MAX, NOTES_MAX};
use crate::stage::Stage;
use crate::state::{Closed, Degraded, Landed, Message, Nudge, Run, State, Stuck, Suspect};

impl State {
    /// So that a report that comes twice is taken in once.
    pub(super) fn remember_signal(&mut self, run: &RunId, signal: &str, text: &str) {
        let run = self.runs.get_mut(run).filter(|run| run.noted.len() < NOTES_MAX);
        if let Some(run) = run.filter(|_| signal.starts_with("LEARNING")) {
            run.noted.insert(Run::learning(signal, text));
        }
    }

    /// True when the event was one of recovery.
    pub(super) fn apply_recovery(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::AgentNudged { task, run, iteration, class, why } => {
                if let Some(run) = self.runs.get_mut(run) {
                    run.nudged = true;
                }
                let nudge = Nudge { class: *class, why: why.clone(), iteration: *iteration };
                self.change(task, |t| t.nudge = Some(nudge));
            }
            Event::AgentNoted { run, what, .. } => {
                if let Some(run) = self.runs.get_mut(run).filter(|run| run.noted.len() < NOTES_MAX) {
                    run.noted.insert(what.clone());
                    // Of a run that has ended only its stop is heard of.
                    if run.ended {
                        let since = run.stuck.as_ref().map_or(at, |stuck| stuck.since);
                        run.stuck = Some(Stuck { since, why: what.clone() });
                    }
                }
            }
            Event::AgentDegraded { agent, why } => {
                let degraded = Degraded { since: at, why: why.clone() };
                self.agents.entry(agent.clone()).or_default().degraded = Some(degraded);
            }
            Event::AgentRevived { agent } => {
                let agent = self.agents.entry(agent.clone()).or_default();
                (agent.degraded, agent.crashes_in_a_row) = (None, 0);
                agent.crashes.clear();
            }
            Event::ProfileAssigned { task, profile, .. } => self.change(task, |t| {
                (t.assigned, t.session) = (Some(profile.clone()), None);
            }),
            Event::TaskSplit { task, parts, .. } => self.split(task, parts, at),
            Event::MessageQueued { task, id, by, text } => {
                let (id, by, text, seq) = (id.clone(), by.clone(), text.clone(), self.seq);
                let message = Message { id, by, text, at, seq, landed: None, undelivered: None, seen: false };
                self.change(task, |t| keep(&mut t.messages, 2 * MESSAGES_MAX, message));
            }
            Event::MessageLanded { task, id, run, iteration } => {
                let landed = Landed { run: run.clone(), iteration: *iteration, at };
                self.change(task, |t| {
                    for message in t.messages.iter_mut().filter(|m| m.id == *id) {
                        message.landed = Some(landed.clone());
                    }
                });
            }
            Event::MessageUndelivered { task, id, why } => self.change(task, |t| {
                for message in t.messages.iter_mut().filter(|m| m.id == *id) {
                    message.undelivered = Some(why.clone());
                }
            }),
            Event::MessagesSeen { task } => self.change(task, |t| {
                t.messages.iter_mut().filter(|m| m.undelivered.is_some()).for_each(|m| m.seen = true);
            }),
            Event::BudgetExtended { task: Some(task) } => {
                self.change(task, |t| t.spent_before = t.spent);
            }
            Event::BudgetExtended { task: None } => self.spent_before = self.spent,
            _ => return false,
        }
        true
    }

    /// Trials of the checks on the commits that tasks begin with.
    pub(super) fn apply_base(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::BaseSuspected { task, commit } => {
                let suspect = Suspect { task: task.clone(), run: None, lost: 0 };
                self.bases.suspects.insert(commit.clone(), suspect);
            }
            Event::BaseCheckStarted { task, run, nonce, commit } => {
                self.claim_run(RunKind::Verify, task, run, nonce, at);
                if let Some(suspect) = self.bases.suspects.get_mut(commit) {
                    suspect.run = Some(run.clone());
                }
            }
            Event::BaseChecked { run, commit, .. } => {
                self.end(run);
                self.tried(commit);
            }
            Event::BaseCheckLost { run, commit, unknown, .. } => {
                self.end(run);
                if *unknown {
                    self.tried(commit);
                } else if let Some(suspect) = self.bases.suspects.get_mut(commit) {
                    (suspect.run, suspect.lost) = (None, suspect.lost.saturating_add(1));
                }
            }
            _ => return false,
        }
        true
    }

    fn tried(&mut self, commit: &Oid) {
        self.bases.suspects.remove(commit);
        keep(&mut self.bases.tried, GREEN_KEPT, commit.clone());
    }

    pub(super) fn apply_quota(&mut self, event: &Event, at: Timestamp) -> bool {
        match event {
            Event::QuotaExhausted { group, why, resets_at, next_probe, cause, .. } => {
                let gate = self.quotas.entry(group.clone()).or_default();
                let cause = cause.unwrap_or_default();
                match &mut gate.closed {
                    // More is known now than that the service did not answer.
                    Some(closed) if closed.cause != cause => {
                        (closed.cause, closed.why) = (cause, why.clone());
                        (closed.resets_at, closed.next_probe) = (*resets_at, *next_probe);
                    }
                    // One more run that began before the gate closed: at most it knows the time better.
                    Some(closed) => {
                        if resets_at.is_some() {
                            (closed.resets_at, closed.next_probe) = (*resets_at, *next_probe);
                        }
                    }
                    None => {
                        gate.closed = Some(Closed {
                            cause,
                            since: at,
                            why: why.clone(),
                            resets_at: *resets_at,
                            next_probe: *next_probe,
                            held: false,
                            probing: None,
                            probes: 0,
                        });
                    }
                }
            }
            Event::QuotaProbeStarted { task, group, run, nonce, profile } => {
                self.claim_run(RunKind::Probe, task, run, nonce, at);
                if let Some(run) = self.runs.get_mut(run) {
                    (run.profile, run.group) = (Some(profile.clone()), Some(group.clone()));
                }
                if let Some(closed) = self.closed_mut(group) {
                    closed.probing = Some(run.clone());
                    closed.probes = closed.probes.saturating_add(1);
                }
            }
            Event::QuotaProbeFailed { group, run, why, resets_at, next_probe, cause, .. } => {
                self.end(run);
                if let Some(closed) = self.closed_mut(group) {
                    closed.cause = cause.unwrap_or_default();
                    (closed.probing, closed.next_probe, closed.why) = (None, *next_probe, why.clone());
                    closed.resets_at = resets_at.or(closed.resets_at.filter(|known| *known > at));
                }
            }
            Event::QuotaRestored { group, .. } => self.restore_quota(group),
            Event::QuotaHeld { group } => {
                let probing = self.closed_mut(group).and_then(|closed| {
                    closed.held = true;
                    closed.probing.take()
                });
                self.end_probe(probing);
            }
            _ => return false,
        }
        true
    }

    /// A person has begun again: what may have been put right meanwhile is asked for at once.
    pub(super) fn ask_again(&mut self, at: Timestamp) {
        let closed = self.quotas.values_mut().filter_map(|gate| gate.closed.as_mut());
        for closed in closed.filter(|closed| !closed.cause.is_quota()) {
            closed.next_probe = at;
        }
    }

    fn closed_mut(&mut self, group: &str) -> Option<&mut Closed> {
        self.quotas.get_mut(group)?.closed.as_mut()
    }

    fn end_probe(&mut self, probing: Option<RunId>) {
        if let Some(run) = probing {
            self.end(&run);
        }
    }

    /// What waited for the group goes first, once.
    fn restore_quota(&mut self, group: &str) {
        let runs_ever = self.runs_ever;
        let gate = self.quotas.entry(group.into()).or_default();
        gate.opened_after = runs_ever;
        let probing = gate.closed.take().and_then(|closed| closed.probing);
        self.end_probe(probing);
        let waited =
            |id: &&TaskId| self.tasks.get(*id).is_some_and(|t| t.waits_for_quota.as_deref() == Some(group));
        let waiting: Vec<TaskId> = self.tasks.keys().filter(waited).cloned().collect();
        for id in waiting {
            self.change(&id, |t| {
                t.waits_for_quota = None;
                t.first = matches!(t.stage, Stage::Pending { .. });
            });
            self.reindex(&id);
        }
    }

    fn split(&mut self, id: &TaskId, parts: &[TaskId], at: Timestamp) {
        self.change(id, |t| t.parts = parts.to_vec());
        for part in parts {
            self.change(part, |t| t.parent = Some(id.clone()));
        }
        let not_before = Timestamp::ZERO;
        let stage = match parts.is_empty() {
            true => Stage::Pending { since: at, not_before },
            false => Stage::Split { parts: parts.to_vec(), since: at, not_before },
        };
        self.enter(id, stage);
    }
}
