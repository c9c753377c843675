//! What the coordinator says: welcomes, orders, silence.

use std::sync::Arc;
use std::time::Duration;

use swarm_process::complain;
use swarm_protocol::channel::{Order, RunKind};
use swarm_protocol::outcome::Ended;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::{Ending, RunLoop, Work};
use crate::daemon::files::write_durable;
use crate::daemon::iteration::{Go, ask, iterate, probe};
use crate::daemon::line::Heard;
use crate::daemon::run_context::Yield;
use crate::daemon::set_up::set_up;
use crate::daemon::traced;

impl RunLoop {
    pub(super) fn heard(&mut self, heard: Heard) {
        traced::heard(&heard);
        match heard {
            Heard::Welcome { received } => {
                self.outbox.acknowledge(received);
                self.call_off();
                self.beat();
                self.outbox.say_again();
                self.send_waiting();
            }
            Heard::Acknowledged { received, ledger } => {
                self.outbox.acknowledge(received);
                self.remember(ledger);
                self.send_waiting();
            }
            Heard::InVain { tries } => self.call_for_help(tries),
            Heard::Unwanted => self.stop(self.context.spec.stop_grace()),
            Heard::Order(order, traceparent) => self.ordered(order, traceparent),
            // The loop looks at its clocks again: from now on the daemon may be alone for too long.
            Heard::Silence => self.asking.lost(),
            Heard::Answered { ask, answer } => self.asking.answered(ask, answer),
        }
    }

    /// Nobody answers: left where the supervisor of this machine looks, which may start us anew.
    fn call_for_help(&self, tries: u32) {
        self.context.note(&format!("the coordinator was not reached in {tries} tries"));
        let call = serde_json::json!({ "run": self.context.spec.run, "tries": tries, "since": swarm_agents::handover::now() });
        complain(
            "leave word that nobody answers",
            write_durable(&self.context.spec.files().reconnect_failed(), &call),
        );
    }

    fn call_off(&self) {
        match std::fs::remove_file(self.context.spec.files().reconnect_failed()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                complain::<(), _>("take back that nobody answers", Err(error));
            }
            _ => {}
        }
    }

    fn ordered(&mut self, order: Order, traceparent: Option<String>) {
        match order {
            Order::Stop { grace_secs } => self.stop(Duration::from_secs(grace_secs)),
            Order::Drain { within_secs } => {
                let until = Some(Instant::now() + Duration::from_secs(within_secs));
                self.wanted = None;
                self.ending.get_or_insert(Ending { how: Ended::Stopped, until });
            }
            // Given once, the way out stands whatever is said later.
            _ if self.ending.is_some() => {}
            Order::Hold => self.wanted = None,
            order if self.is_new(&order) => {
                (self.wanted, self.traceparent) = (Some(order), traceparent);
                self.begin_wanted();
            }
            // Asked for something that was done: the answer again, unless it is known already.
            _ if self.work.is_none() => {
                self.outbox.say_again();
                self.send_waiting();
            }
            _ => {}
        }
    }

    fn is_new(&self, order: &Order) -> bool {
        match (order, self.context.spec.kind) {
            (Order::Go { iteration, .. }, RunKind::Work) => *iteration > self.iteration,
            (Order::Check { iteration, .. }, RunKind::Work) => {
                self.checked.is_none_or(|last| *iteration > last)
            }
            (Order::Verify { .. }, RunKind::Verify | RunKind::Review)
            | (Order::Ask { .. }, RunKind::Review)
            | (Order::Probe { .. }, RunKind::Probe) => !self.verified,
            _ => false,
        }
    }

    pub(super) fn begin_wanted(&mut self) {
        if self.work.is_some() || self.ending.is_some() {
            return;
        }
        let Some(order) = self.wanted.take().filter(|order| self.is_new(order)) else { return };
        let (stop, mut wish) = watch::channel(None);
        let context = Arc::clone(&self.context);
        context.belongs_to(self.traceparent.take());
        match &order {
            Order::Go { iteration, .. } => self.iteration = *iteration,
            Order::Check { iteration, .. } => self.checked = Some(*iteration),
            _ => self.verified = true,
        }
        let work = async move {
            if let Some(end) = set_up(&context, &mut wish).await {
                return end;
            }
            match order {
                Order::Go { iteration, prompt, session, known, context: told } => {
                    let go = Go { iteration, prompt, session, known, context: told };
                    iterate(&context, &go, &mut wish).await
                }
                Order::Probe { prompt, timeout_secs } => {
                    probe(&context, &prompt, timeout_secs, &mut wish).await
                }
                Order::Ask { timeout_secs } => ask(&context, timeout_secs, &mut wish).await,
                Order::Check { iteration, commands, timeout_secs, scans } => {
                    context.check(iteration, (&commands, scans), timeout_secs, &mut wish).await
                }
                Order::Verify { commands, timeout_secs } => {
                    context.verify(&commands, timeout_secs, &mut wish).await
                }
                Order::Hold | Order::Drain { .. } | Order::Stop { .. } => Yield::Stopped,
            }
        };
        let handle = tokio::spawn(work.in_current_span());
        self.work = Some(Work { handle, stop });
    }
}
