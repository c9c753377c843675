//! What the log says of a daemon: what it hears, what it reports, what it starts. Names only: prompts, output and command
//! lines stay out, because keys stand in them.

use std::process::ExitStatus;

use swarm_protocol::channel::{FromDaemon, Order};
use tracing::info;

use super::line::Heard;
use super::program::How;

pub fn heard(heard: &Heard) {
    match heard {
        Heard::Welcome { received } => info!(received, "connected"),
        Heard::Acknowledged { received, .. } => info!(received, "acknowledged"),
        Heard::InVain { tries } => info!(tries, "the coordinator is not reached"),
        Heard::Unwanted => info!("no longer wanted"),
        Heard::Order(Order::Go { iteration, .. }, _) => info!(order = "go", iteration, "told"),
        Heard::Order(order, _) => info!(order = name_of_order(order), "told"),
        Heard::Answered { ask, answer } => info!(ask, ok = answer.ok, "answered"),
        Heard::Silence => info!("the connection is lost"),
    }
}

pub fn reports(n: u64, report: &FromDaemon) {
    match report {
        FromDaemon::Boundary { iteration, .. } => info!(n, iteration, "reports a boundary"),
        FromDaemon::Checked { iteration, passed, .. } => info!(n, iteration, passed, "reports the checks"),
        FromDaemon::Verified { passed, .. } => info!(n, passed, "reports the verification"),
        FromDaemon::Signal { signal, .. } => info!(n, signal, "reports a signal"),
        FromDaemon::Noted { .. } => info!(n, "reports a note"),
        FromDaemon::Probed { failure } => info!(n, answered = failure.is_none(), "reports the probe"),
        FromDaemon::Answered(answered) => {
            info!(
                n,
                answered = answered.failure.is_none(),
                bytes = answered.text.len(),
                "reports the answer"
            );
        }
        FromDaemon::Ended { how } => info!(n, how = how.describe(), "reports the end"),
    }
}

/// Only the file's name.
pub fn starts(program: &str) {
    info!(program = name_of(program), "a program is started");
}

pub fn ended(program: &str, status: ExitStatus, how: How, left: &[u32]) {
    info!(program = name_of(program), %status, ?how, left = left.len(), "it has ended");
}

fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn name_of_order(order: &Order) -> &'static str {
    match order {
        Order::Go { .. } => "go",
        Order::Probe { .. } => "probe",
        Order::Ask { .. } => "ask",
        Order::Check { .. } => "check",
        Order::Verify { .. } => "verify",
        Order::Hold => "hold",
        Order::Drain { .. } => "drain",
        Order::Stop { .. } => "stop",
    }
}
