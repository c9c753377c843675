//! The only writer of `State`. Total: whatever a ledger holds, it is taken in without failing;
//! whether it *should* have happened was decided before it was written.

mod legacy;
mod merge;
mod operation;
pub(crate) mod plan;
mod proof;
mod recovery;
mod review;
mod run;
mod observe;
mod worktree;

pub(crate) use plan::patch_spec;
use swarm_protocol::event::Event;
use swarm_protocol::gist::gist;
use swarm_protocol::ids::TaskId;
use swarm_protocol::outcome::{Ended, Next, PauseReason};
use swarm_protocol::time::Timestamp;

use crate::limits::{ANSWERS_KEPT, AUDIT_KEPT, DECISIONS_KEPT, OUTPUT_KEPT};
use crate::operation::state::Record;
use crate::stage::Stage;
use crate::state::{Audit, PastAnswer, Pause, SetupFailures, State, Task};

impl State {
    /// Takes one record in. `at` is the record's time.
    pub fn apply(&mut self, event: &Event, at: Timestamp) {
        self.seq += 1;
        self.at = self.at.max(at);
        if event.is_plan_event() {
            self.plan_events_since_snapshot += 1;
        }
        self.note(event, at);
        self.count_claims(event);
        let before = observe::Before::of(self, event);
        match event {
            Event::CoordinatorStarted { epoch, trunk, policy, explicit, .. } => {
                self.epoch = *epoch;
                self.explicit = explicit.unwrap_or(false);
                self.trunk = Some(trunk.clone());
                self.trunk_pinned |= policy.dispatch;
                self.policy = policy.clone();
                self.draining = !policy.dispatch;
                self.running = true;
                self.proven = None;
                // Other commands may be configured now.
                self.bases.tried.clear();
            }
            Event::TrunkChosen { branch } => self.choose_trunk(branch),
            Event::CoordinatorStopped { .. } => {
                self.running = false;
                self.draining = false;
            }
            Event::Paused { reason, why } => {
                self.paused.insert(*reason, Pause { since: at, why: why.clone() });
                self.hold_at_boundary(at);
            }
            Event::Resumed { reason } => self.resume(*reason, at),
            Event::ModeChanged { mode } => self.mode = Some(*mode),
            Event::DrainStarted { .. } => self.draining = true,
            Event::Operation { id, kind, subject, answer, by, facts, undoes, checkpoint } => {
                self.log(Record {
                    id: id.clone(),
                    seq: self.seq,
                    at,
                    by: by.clone().unwrap_or_default(),
                    kind: kind.clone(),
                    subject: subject.clone(),
                    text: answer.clone(),
                    facts: facts.clone(),
                    checkpoint: checkpoint.clone(),
                    undoes: undoes.clone(),
                    undone_by: None,
                    failed: None,
                    paths: vec![],
                    seen: false,
                    bytes: facts.as_deref().map_or(0, crate::operation::written::size),
                });
                keep(
                    &mut self.answers,
                    ANSWERS_KEPT,
                    PastAnswer { id: id.clone(), seq: self.seq, text: answer.clone() },
                );
                let details = subject.as_deref().map_or_else(|| answer.clone(), |s| format!("{s}: {answer}"));
                keep(&mut self.decisions, DECISIONS_KEPT, Audit { at, event: kind.clone(), details });
            }
            Event::LedgerLoss { last_good_seq, quarantine, .. } => {
                self.loss =
                    Some(format!("records after {last_good_seq} were damaged and lie in {quarantine}"));
            }
            Event::LossAcknowledged { .. } => self.loss = None,
            Event::Signal { run, signal, text, .. } => self.remember_signal(run, signal, text),
            Event::LedgerRepaired { .. } | Event::LedgerCut { .. } => {}
            other => {
                let taken = self.apply_plan(other, at)
                    || self.apply_run(other, at)
                    || self.apply_review(other, at)
                    || self.apply_recovery(other, at)
                    || self.apply_proof(other, at);
                if !taken && !self.apply_operation(other, at) && !self.apply_worktree(other) {
                    self.apply_merge(other, at);
                }
            }
        }
        self.watched(event, before, at);
        if let Some(task) = event.task() {
            self.reindex(&task.clone());
        }
    }

    /// What waited for a checkout of the old trunk waits for it no longer. What is done is another matter: it has to be
    /// looked up on the new one.
    fn choose_trunk(&mut self, branch: &str) {
        (self.trunk, self.trunk_pinned, self.trunk_since) = (Some(branch.into()), true, self.seq);
        self.proven = None;
        for task in self.tasks.values_mut() {
            if let Stage::Approved { not_before, waits, .. } = &mut task.stage
                && waits.take().is_some()
            {
                *not_before = Timestamp::ZERO;
            }
        }
    }

    /// What the pause was about is forgotten with it: it may have been put right.
    fn resume(&mut self, reason: PauseReason, at: Timestamp) {
        self.paused.remove(&reason);
        if self.paused.is_empty() {
            self.held_go_on(at);
        }
        match reason {
            PauseReason::Trunk => self.red_trunk = None,
            PauseReason::Setup => self.setup_failures = SetupFailures::default(),
            PauseReason::User
            | PauseReason::Disk
            | PauseReason::Budget
            | PauseReason::Errors
            | PauseReason::Abort
            | PauseReason::Close
            | PauseReason::Checks => {}
        }
    }

    /// Changes a task if it exists; a ledger that names others is taken in all the same.
    fn change(&mut self, id: &TaskId, how: impl FnOnce(&mut Task)) {
        if let Some(task) = self.tasks.get_mut(id) {
            how(task);
        }
    }

    /// Puts a task into another stage and lets go of what only the old stage used.
    fn enter(&mut self, id: &TaskId, stage: Stage) {
        let seq = self.seq;
        let Some(task) = self.tasks.get_mut(id) else { return };
        if stage == Stage::Cancelled {
            task.cancelled = seq;
        }
        let old = std::mem::replace(&mut task.stage, stage);
        let (still, still_judging) = (task.stage.run() == old.run(), task.stage.judging_run().cloned());
        for run in old.run().filter(|_| !still).into_iter().chain(old.judging_run()) {
            if still_judging.as_ref() != Some(run)
                && let Some(run) = self.runs.get_mut(run)
            {
                run.ended = true;
            }
        }
        if let Some(proof) = old.proof()
            && !matches!(self.tasks.get(id).map(|t| &t.stage), Some(Stage::Done { .. }))
        {
            self.ops.made.extend(proof.own().iter().cloned());
        }
    }

    fn follow(&mut self, id: &TaskId, next: &Next, at: Timestamp) {
        let stage = match next {
            Next::Pending { not_before, counts } => {
                if *counts {
                    self.change(id, |task| task.retries += 1);
                }
                Stage::Pending { since: at, not_before: *not_before }
            }
            // Who begins again, and after which run, is known to the event only.
            Next::Restart { not_before, .. } => Stage::Pending { since: at, not_before: *not_before },
            Next::Blocked { block, why } => Stage::Blocked { block: *block, why: why.clone(), since: at },
            Next::Failed { why } => Stage::Failed { why: why.clone(), since: at },
            Next::Timeout { why } => Stage::Timeout { why: why.clone(), since: at },
            Next::Deferred => Stage::Deferred,
            Next::Cancelled => Stage::Cancelled,
            Next::Approved { not_before } => return self.approve_again(id, *not_before, None),
            Next::Review { not_before } => match self.tasks.get(id).map(|t| &t.stage) {
                Some(Stage::Review { tip, tree, since, .. }) => Stage::Review {
                    tip: tip.clone(),
                    tree: tree.clone(),
                    since: *since,
                    not_before: *not_before,
                    run: None,
                },
                _ => return,
            },
        };
        self.enter(id, stage);
    }

    fn note(&mut self, event: &Event, at: Timestamp) {
        let Some((id, details)) = details(event) else { return };
        self.change(id, |task| {
            keep(&mut task.audit, AUDIT_KEPT, Audit { at, event: name(event).into(), details });
        });
    }
}

/// Appends to a list that keeps only the newest.
fn keep<T>(list: &mut std::collections::VecDeque<T>, most: usize, item: T) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(item);
}

/// The end of a text, at a character boundary: errors stand last.
pub(crate) fn tail(text: &str) -> String {
    if text.len() <= OUTPUT_KEPT {
        return text.into();
    }
    let mut from = text.len() - OUTPUT_KEPT;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].into()
}

/// The word in the audit log: a task that lost its owner is named by what is done about it.
fn name(event: &Event) -> &'static str {
    match event {
        Event::AgentFailed { how: Ended::Orphaned { .. }, .. } => "crash_recovery",
        other => other.kind(),
    }
}

/// What the audit log of a task says about an event; silent about the plan's own bookkeeping.
fn details(event: &Event) -> Option<(&TaskId, String)> {
    let text = match event {
        Event::TaskClaimed { agent, run, attempt, .. } => format!("attempt {attempt} by {agent} ({run})"),
        Event::WorkspaceReady { branch, tip, .. } => format!("{branch} at {}", tip.short()),
        Event::AgentSpawned { agent, host, .. } => format!("{agent} on {host}"),
        Event::Iteration { iteration, note, class, .. } => {
            let said = note.as_deref().or(class.map(|c| c.describe()));
            said.map_or_else(|| format!("iteration {iteration}"), |s| format!("iteration {iteration}: {s}"))
        }
        Event::Signal { signal, text, .. } => format!("{signal} {text}").trim_end().into(),
        Event::WorkSubmitted { tip, .. } => format!("at {}", tip.short()),
        Event::ChecksPassed { tree, .. } => format!("tree {}", tree.short()),
        Event::ChecksFailed { output, .. } => gist(output),
        Event::CheckingResumed { tip, .. } => format!("checked again at {}", tip.short()),
        Event::WorkReopened { why, .. } => format!("one more iteration: {why}"),
        Event::BaseSuspected { commit, .. } => format!("are the checks red at {} too?", commit.short()),
        Event::BaseCheckStarted { commit, run, .. } => format!("the checks at {} ({run})", commit.short()),
        Event::BaseChecked { commit, green, .. } => {
            format!("the checks are {} at {}", if *green { "green" } else { "red" }, commit.short())
        }
        Event::BaseCheckLost { why, .. } => why.clone(),
        Event::MessageUndelivered { why, .. } => format!("not delivered: {why}"),
        Event::GateWaived { gate, reason, .. } => format!("{}: {reason}", gate.word()),
        Event::TaskApproved { policy, .. } => format!("review: {policy}"),
        Event::ReviewStarted { run, round, .. } => format!("round {round} ({run})"),
        Event::ReviewFailed { output, .. } => gist(output),
        Event::ReviewLost { why, .. } | Event::ReviewInterrupted { why, .. } => why.clone(),
        Event::Overstep { what, .. } => what.clone(),
        Event::OverstepsSeen { .. } => "seen by a person".into(),
        Event::RewindFailed { why, .. } | Event::RevivalFailed { why, .. } => why.clone(),
        Event::TaskStarted { .. } => "started by a person".into(),
        Event::StartWithheld { why, .. } => format!("{why}; waits for a person's word"),
        Event::AgentCompleted { agent, .. } => agent.to_string(),
        Event::AgentFailed { agent, how, next, .. } => match next {
            Next::Restart { not_before, restart } => {
                format!(
                    "{agent} {}; restart {restart} at {}",
                    how.describe(),
                    &not_before.to_string()[11..19]
                )
            }
            _ => format!("{agent} {}", how.describe()),
        },
        Event::AgentNudged { class, .. } => format!("told that {}", class.describe()),
        Event::AgentNoted { what, .. } => what.clone(),
        Event::ProfileAssigned { profile, why, .. } => format!("{profile}: {why}"),
        Event::QuotaExhausted { group, why, .. } => format!("{group}: {why}"),
        Event::QuotaProbeStarted { group, run, .. } => format!("{group} ({run})"),
        Event::QuotaProbeFailed { group, why, .. } => format!("{group}: {why}"),
        Event::TaskSplit { parts, .. } => parts.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "),
        Event::MessageQueued { by, .. } => format!("from {by}"),
        Event::MessageLanded { iteration, run, .. } => format!("in iteration {iteration} of {run}"),
        Event::AgentStopped { agent, why, .. } => format!("{agent}: {why}"),
        Event::MergeBuilt { result, commits, .. } => format!("{} commits, {}", commits.len(), result.short()),
        Event::VerificationFailed { output, .. } | Event::VerificationRed { output, .. } => gist(output),
        Event::TrunkTrialStarted { commit, .. } => format!("trunk alone at {}", commit.short()),
        Event::TrunkJudged { commit, green, .. } => {
            format!("trunk alone at {} is {}", commit.short(), if *green { "green" } else { "red" })
        }
        Event::MergeInterrupted { why, .. } => why.clone(),
        Event::PublishWaits { why, .. } => why.clone(),
        Event::RaceLost { trunk_now, .. } => format!("trunk is now at {}", trunk_now.short()),
        Event::MergeFailed { why, .. } => why.clone(),
        Event::MergeCompleted { proof, .. } => format!("{} at {}", proof.trunk, proof.commit.short()),
        Event::WorktreeKept { why, .. } => why.clone(),
        Event::NothingChanged { why, .. } | Event::WorkGone { why, .. } => why.clone(),
        Event::WorkBack { proof, .. } | Event::WorkRewritten { proof, .. } => {
            format!("{} at {}", proof.trunk, proof.commit.short())
        }
        Event::TaskStatusChanged { status, why, .. } => match why {
            Some(why) => format!("{}: {why}", status.word()),
            None => status.word().into(),
        },
        _ => return None,
    };
    event.task().map(|id| (id, text))
}
