//! One iteration of the agent program: prompt in, what it was and said out, the rest committed.

mod agent;
mod spent;
mod start;

use swarm_protocol::channel::{FromDaemon, IterationOutcome};
use swarm_protocol::failure::{Failure, FailureClass};

use super::program::{How, StopWish};
use super::workshop::{Workshop, Yield};
use crate::agents::signals::AgentSignal;
use crate::agents::{AgentProgram, AgentSetup, Conclusion, Way, install_hint};
use crate::process::ProcessError;
use agent::Heard;
use start::{Run, once};

/// Characters of an explanation.
const TEXT_MAX: usize = 1000;

/// Runs the program once for this iteration; twice where the session it should go on with is gone, or where
/// it cannot be started in the way that is preferred.
pub async fn iterate(
    shop: &Workshop,
    iteration: u32,
    prompt: &str,
    session: Option<&str>,
    stop: &mut StopWish,
) -> Yield {
    let setup = shop.spec.agent_setup.clone().unwrap_or_default();
    let (mut session, mut way) = (session, Way::Preferred);
    let run = loop {
        let run = once(shop, &setup, iteration, prompt, session, way, stop).await;
        if run.how() == Some(How::Stopped) {
            shop.note(&format!("iteration {iteration} stopped"));
            shop.settle_journal();
            return Yield::Stopped;
        }
        let failed = !matches!(run.conclusion, Conclusion::Done { .. });
        if failed && session.is_some() && run.heard.session_unknown {
            shop.note("the program does not know the session of the last iteration: it starts afresh");
            session = None;
        } else if failed && way == Way::Preferred && run.wants_fallback {
            shop.note("the program does not answer as it should: the other way of starting it is tried");
            way = Way::Fallback;
        } else {
            break run;
        }
    };
    report(shop, &setup, iteration, session, run).await
}

async fn report(
    shop: &Workshop,
    setup: &AgentSetup,
    iteration: u32,
    resumed: Option<&str>,
    run: Run,
) -> Yield {
    let moved = shop.right_the_tip().await;
    let mut outcome = outcome(shop, setup, &run);
    let mut notes: Vec<String> = Vec::new();
    let mut tip = None;
    if outcome == IterationOutcome::Complete {
        match shop.commit_rest().await {
            Ok(committed) => tip = Some(committed),
            // Complete means that the tip is all of the work. Without that it is not complete.
            Err(text) => {
                outcome = IterationOutcome::NoSignal;
                notes.push(format!("Complete was said, but what was left could not be committed: {text}"));
            }
        }
    } else {
        match shop.tip().await {
            Ok(found) => tip = found,
            Err(error) => notes.push(format!("The tip of the branch is not known: {error}")),
        }
    }
    if let Conclusion::Done { denied } = &run.conclusion
        && !denied.is_empty()
    {
        notes.push(format!("Denied: {}", denied.join("; ")));
    }
    if let Ok(ran) = &run.ran
        && !ran.left.is_empty()
    {
        notes.push(format!("Processes {:?} could not be ended", ran.left));
    }
    let usage = spent::in_this_iteration(&run.heard, resumed);
    shop.note(&format!("iteration {iteration} ended: {outcome:?}"));
    shop.settle_journal();
    let note = (!notes.is_empty()).then(|| shop.redactor.redact(&notes.join(". ")).into_owned());
    let session = run.heard.session.clone();
    let boundary = FromDaemon::Boundary { iteration, outcome, tip, note, usage, session, known: 0 };
    let mut reports = run.learnings;
    reports.extend(moved);
    reports.push(boundary);
    Yield::Reports(reports)
}

fn outcome(shop: &Workshop, setup: &AgentSetup, run: &Run) -> IterationOutcome {
    let (code, signal) = match &run.ran {
        Ok(ran) => {
            use std::os::unix::process::ExitStatusExt;
            (ran.status.code(), ran.status.signal())
        }
        Err(error) => return not_started(setup, error),
    };
    match (&run.heard.signal, &run.conclusion) {
        // An agent that says why it cannot go on may end as it likes.
        (Some(AgentSignal::Blocked(text) | AgentSignal::NeedsHelp(text)), _) => {
            IterationOutcome::AsksHuman { text: text.clone() }
        }
        (Some(AgentSignal::Failed(text)), _) => IterationOutcome::CannotDo { text: text.clone() },
        (Some(AgentSignal::Complete), Conclusion::Done { .. }) => IterationOutcome::Complete,
        (_, Conclusion::Done { .. }) => IterationOutcome::NoSignal,
        (_, Conclusion::Interrupted) => {
            IterationOutcome::Crashed { code, signal, text: "interrupted from outside".into() }
        }
        (_, Conclusion::Failed(failure)) if failure.class == FailureClass::Crashed => {
            // Of a plain program nobody expects a final event: its exit code says it all.
            let plain = matches!(setup.program, AgentProgram::Exec | AgentProgram::Script);
            let said = if plain { String::new() } else { failure.text.clone() };
            let words = last_words(&run.heard).unwrap_or(said);
            IterationOutcome::Crashed { code, signal, text: shop.redactor.redact(&words).into_owned() }
        }
        (_, Conclusion::Failed(failure)) => {
            let text = shop.redactor.redact(&failure.text).into_owned();
            IterationOutcome::Failed { failure: Failure { text, ..failure.clone() } }
        }
    }
}

fn last_words(heard: &Heard) -> Option<String> {
    let words: String = heard.last_words_text(5).chars().take(TEXT_MAX).collect();
    (!words.trim().is_empty()).then_some(words)
}

fn not_started(setup: &AgentSetup, error: &ProcessError) -> IterationOutcome {
    if let (ProcessError::NotFound { .. }, Some(hint)) = (error, install_hint(setup.program)) {
        let mut failure = Failure::new(FailureClass::Configuration, error.to_string());
        failure.hint = Some(hint);
        return IterationOutcome::Failed { failure };
    }
    let text = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    IterationOutcome::NotStarted { text }
}
