//! What an input that has been taken in before, or comes too late, may lead to.

use swarm_core::input::{Input, Report};
use swarm_core::state::State;
use swarm_protocol::event::Event;
use swarm_protocol::ids::RunId;
use swarm_protocol::time::Timestamp;

use super::Oracle;

/// What follows from an input before it is taken in.
#[derive(Debug)]
pub struct Expected {
    /// Nothing may follow but what the clock alone brings, and the rule that says so.
    pub(super) nothing: Option<(&'static str, Vec<Event>)>,
    pub(super) seq: u64,
}

impl Oracle {
    pub fn expect(&self, state: &State, input: &Input, now: Timestamp) -> Expected {
        let rule = match input {
            Input::Command(envelope) if self.operations.contains(&envelope.id) => {
                Some("the same command id is carried out once")
            }
            Input::Report(report) => match run_of(report) {
                Some(run) if !state.runs.contains_key(run) => Some("reports of old runs change nothing"),
                Some(run) if !matches!(report, Report::Stopped { .. }) && state.runs[run].ended => {
                    Some("reports of ended runs change nothing")
                }
                _ => None,
            },
            _ => None,
        };
        let by_the_clock = || swarm_core::step(&mut state.clone(), Input::Tick, now).unwrap_or_default();
        Expected { nothing: rule.map(|rule| (rule, by_the_clock())), seq: state.seq }
    }
}

/// The run that a report is about, for those that name one.
pub fn run_of(report: &Report) -> Option<&RunId> {
    match report {
        Report::Prepared { run, .. }
        | Report::PrepareFailed { run, .. }
        | Report::Spawned { run, .. }
        | Report::Boundary { run, .. }
        | Report::Checked { run, .. }
        | Report::WorkEnded { run, .. }
        | Report::Stopped { run, .. }
        | Report::Verified { run, .. }
        | Report::VerifyLost { run, .. }
        | Report::Reviewed { run, .. }
        | Report::ReviewAnswered { run, .. }
        | Report::ReviewLost { run, .. }
        | Report::Noted { run, .. }
        | Report::NeedsFiles { run, .. }
        | Report::Learned { run, .. }
        | Report::Probed { run, .. } => Some(run),
        _ => None,
    }
}
