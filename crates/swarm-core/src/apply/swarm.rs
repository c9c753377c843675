//! The swarm as a whole: coordinators, trunk, pauses, what people asked for, what happened to the ledger.

use swarm_protocol::event::{Event, loss_words};
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::time::Timestamp;

use super::keep;
use crate::limits::{ANSWERS_KEPT, DECISIONS_KEPT};
use crate::stage::Stage;
use crate::state::operations::Record;
use crate::state::{Audit, PastAnswer, Pause, SetupFailures, State};

impl State {
    pub(super) fn apply_swarm(&mut self, event: &Event, at: Timestamp) -> bool {
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
                if policy.dispatch {
                    self.ask_again(at);
                }
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
            Event::Operation { id, kind, subject, answer, by, facts, undoes, checkpoint, .. } => {
                self.log(Record {
                    id: id.clone(),
                    seq: self.seq,
                    at,
                    by: by.clone().unwrap_or_default(),
                    kind: kind.clone(),
                    subject: subject.clone(),
                    text: answer.clone(),
                    facts: facts.clone(),
                    did: None,
                    checkpoint: checkpoint.clone(),
                    undoes: undoes.clone(),
                    undone_by: None,
                    failed: None,
                    paths: vec![],
                    seen: false,
                    bytes: facts.as_deref().map_or(0, crate::state::operations::size),
                });
                keep(
                    &mut self.answers,
                    ANSWERS_KEPT,
                    PastAnswer { id: id.clone(), seq: self.seq, text: answer.clone() },
                );
                let details = subject.as_deref().map_or_else(|| answer.clone(), |s| format!("{s}: {answer}"));
                keep(&mut self.decisions, DECISIONS_KEPT, Audit { at, event: kind.clone(), details });
            }
            Event::LedgerLoss { .. } => self.loss = loss_words(event),
            Event::LossAcknowledged { .. } => self.loss = None,
            Event::Signal { run, signal, text, .. } => self.remember_signal(run, signal, text),
            Event::LedgerRepaired { .. } | Event::LedgerCut { .. } => {}
            _ => return false,
        }
        true
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
}
