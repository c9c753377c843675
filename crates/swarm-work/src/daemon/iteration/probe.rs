//! One small question to the service behind an agent program: does it answer again?

use std::time::Duration;

use swarm_protocol::channel::FromDaemon;
use swarm_protocol::failure::{Failure, FailureClass};
use tokio::time::Instant;

use super::super::program::{How, StopWish};
use super::super::run_context::{RunContext, Yield};
use super::start::{Run, Start, once};
use super::{last_words, not_started};
use swarm_agents::{Conclusion, Way};
use swarm_protocol::channel::IterationOutcome;

/// Asks in an empty folder, with the walls of the profile around it. Any good end is a yes.
pub async fn probe(context: &RunContext, prompt: &str, timeout_secs: u64, stop: &mut StopWish) -> Yield {
    let setup = context.spec.agent_setup.clone().unwrap_or_default();
    let limit = Duration::from_secs(timeout_secs.max(1));
    let deadline = Some(Instant::now() + limit);
    let mut way = Way::Preferred;
    let run = loop {
        let run = once(
            context,
            &setup,
            Start { iteration: 1, prompt, session: None, way, deadline, told: None },
            stop,
        )
        .await;
        let failed = !matches!(run.conclusion, Conclusion::Done { .. });
        if failed && way == Way::Preferred && run.wants_fallback {
            way = Way::Fallback;
        } else {
            break run;
        }
    };
    context.settle_journal();
    match run.how() {
        Some(How::Stopped) => Yield::Stopped,
        how => {
            let failure = failure_of(&run, how, limit);
            context.note(&failure.as_ref().map_or_else(|| "the service answers".into(), Failure::sentence));
            Yield::Report(FromDaemon::Probed { failure })
        }
    }
}

pub(super) fn failure_of(run: &Run, how: Option<How>, limit: Duration) -> Option<Failure> {
    if let Err(error) = &run.ran {
        return Some(match not_started(&Default::default(), error) {
            IterationOutcome::Failed { failure } => failure,
            _ => Failure::new(FailureClass::Configuration, error.to_string()),
        });
    }
    match &run.conclusion {
        Conclusion::Done { .. } => None,
        Conclusion::Failed(failure) => Some(failure.clone()),
        Conclusion::Interrupted if how == Some(How::TimedOut) => {
            let text = format!("no answer within {} s", limit.as_secs());
            Some(run.heard.last_retry().cloned().unwrap_or(Failure::new(FailureClass::Stalled, text)))
        }
        Conclusion::Interrupted => {
            let text = last_words(&run.heard).unwrap_or_else(|| "interrupted from outside".into());
            Some(Failure::new(FailureClass::Crashed, text))
        }
    }
}
