//! One iteration of the agent program: prompt in, what it was and said out, the rest committed.

mod agent;
mod called;
mod ask;
mod commits;
pub(super) mod idle;
mod probe;
mod spent;
mod start;

use std::path::Path;

use swarm_protocol::attempt::TaskContext;
use swarm_protocol::channel::{FromDaemon, IterationOutcome};
use swarm_protocol::failure::{Failure, FailureClass};

use super::context::Write;
use super::program::{How, StopWish};
use super::run_context::{NotCommitted, RunContext, Yield};
use crate::hand_in::HandedIn;
use crate::no_room;
use agent::Heard;
pub use ask::ask;
pub use probe::probe;
use start::{Run, Start, once};
use swarm_agents::signals::AgentSignal;
use swarm_agents::{AgentProgram, AgentSetup, Conclusion, Way, install_hint};
use swarm_git::GitError;
use swarm_process::{ProcessError, is_shortage};

/// With this an agent begins its reason for being blocked when it was not allowed what the work needs.
const SANDBOX_DENIED: &str = "sandbox-denied";

/// Characters of an explanation.
const TEXT_MAX: usize = 1000;

/// The order to run one iteration.
#[derive(Debug, Clone)]
pub struct Go {
    pub iteration: u32,
    pub prompt: String,
    pub session: Option<String>,
    /// What the prompt knew.
    pub known: u64,
    /// What the agent is told when it asks.
    pub context: Option<Box<TaskContext>>,
}

/// Runs the program once for this iteration; twice where the session it should go on with is gone, or where
/// it cannot be started in the way that is preferred.
pub async fn iterate(context: &RunContext, go: &Go, stop: &mut StopWish) -> Yield {
    let Go { iteration, prompt, session, .. } = go;
    let (iteration, session) = (*iteration, session.as_deref());
    let setup = context.spec.agent_setup.clone().unwrap_or_default();
    context.remember(Write::Now, |left| left.iteration_begins(iteration, prompt));
    let (mut session, mut way) = (session, Way::Preferred);
    let run = loop {
        // No time limit of its own: how long an attempt may take is the coordinator's decision.
        let told = go.context.as_deref();
        let start = Start { iteration, prompt, session, way, deadline: None, told };
        let run = once(context, &setup, start, stop).await;
        if run.how() == Some(How::Stopped) {
            context.note(&format!("iteration {iteration} stopped"));
            context.settle_journal();
            return Yield::Stopped;
        }
        let failed = !matches!(run.conclusion, Conclusion::Done { .. });
        if failed && session.is_some() && run.heard.session_unknown {
            context.note("the program does not know the session of the last iteration: it starts afresh");
            session = None;
        } else if failed && way == Way::Preferred && run.wants_fallback {
            context.note("the program does not answer as it should: the other way of starting it is tried");
            way = Way::Fallback;
        } else {
            break run;
        }
    };
    report(context, &setup, go, session, run).await
}

async fn report(context: &RunContext, setup: &AgentSetup, go: &Go, resumed: Option<&str>, run: Run) -> Yield {
    let iteration = go.iteration;
    let handed = context.hand_in().await;
    let moved = context.right_the_tip().await;
    let mut outcome = outcome(&context.place(), setup, &run);
    let mut notes: Vec<String> = Vec::new();
    if let Some((why, instead)) = not_taken(&handed) {
        notes.push(format!("The work was not taken: {why}"));
        // Complete means that the branch holds all of the work.
        if outcome == IterationOutcome::Complete {
            outcome = instead;
        }
    }
    let mut tip = None;
    if outcome == IterationOutcome::Complete {
        match context.commit_rest().await {
            Ok(committed) => tip = Some(committed),
            Err(NotCommitted::ForAPerson(text)) => outcome = IterationOutcome::AsksHuman { text },
            Err(NotCommitted::Broken(error)) => {
                let class = if error.is_shortage() || no_room::met_by(&error) {
                    FailureClass::Shortage
                } else {
                    FailureClass::Unknown
                };
                let text = format!("its work could not be committed: {error}");
                outcome = IterationOutcome::Failed { failure: Failure::new(class, text) };
            }
            // Complete means that the tip is all of the work. Without that it is not complete.
            Err(NotCommitted::Failed(text)) => {
                outcome = IterationOutcome::NoSignal;
                notes.push(format!("Complete was said, but what was left could not be committed: {text}"));
            }
        }
    } else {
        match context.tip().await {
            Ok(found) => tip = found,
            Err(error) => notes.push(format!("The tip of the branch is not known: {error}")),
        }
    }
    let wip = match &outcome {
        IterationOutcome::Complete => Ok(None),
        // What did not come to its end is saved now, before anybody works on.
        _ => context.save_wip().await,
    };
    let saved_all = wip.is_ok();
    let wip = wip.unwrap_or_else(|text| {
        notes.push(format!("What is not committed could not be saved: {text}"));
        None
    });
    let quiet = outcome == IterationOutcome::NoSignal && run.learnings.is_empty() && saved_all;
    if let Some(failure) = context.idle_turn(quiet, setup.loop_note, tip.as_ref(), wip.as_ref()).await {
        outcome = failure;
    }
    notes.extend(denied_and_left(&run, &outcome));
    let usage = spent::in_this_iteration(
        &run.heard,
        resumed.and_then(|session| context.session_cost(session)),
        resumed.is_some(),
    );
    let usage = spent::priced(usage, context.spec.agent_setup.as_ref());
    if let Some(signal) = &run.heard.signal {
        let words = context.redactor.redact(&signal.describe()).into_owned();
        context.remember(Write::Soon, |left| left.signalled(&words));
    }
    if let Some(session) = &run.heard.session {
        context.remember(Write::Soon, |left| left.session_cost(session, run.heard.usage));
    }
    context.hand_over(&outcome, tip.as_ref(), wip.as_ref()).await;
    context.note(&format!("iteration {iteration} ended: {}", super::context::describe(&outcome).0));
    context.settle_journal();
    let note = (!notes.is_empty()).then(|| notes.join(". "));
    let session = run.heard.session.clone();
    let boundary = FromDaemon::Boundary { iteration, outcome, tip, note, usage, session, known: go.known };
    let mut reports = run.learnings;
    reports.extend(moved);
    reports.extend(context.oversteps().await);
    reports.push(boundary);
    Yield::Reports(reports)
}

/// What the program was not allowed, where that is not why it ended, and which of its processes could not be ended.
fn denied_and_left(run: &Run, outcome: &IterationOutcome) -> Vec<String> {
    let mut notes = Vec::new();
    if let Conclusion::Done { denied } = &run.conclusion
        && !denied.is_empty()
        && !matches!(outcome, IterationOutcome::Failed { failure } if failure.class == FailureClass::Denied)
    {
        notes.push(format!("Denied: {}", denied.join("; ")));
    }
    if let Ok(ran) = &run.ran
        && !ran.left.is_empty()
    {
        notes.push(format!("Processes {:?} could not be ended", ran.left));
    }
    notes
}

/// Why the work is not on the branch, and what complete work waits for then.
fn not_taken(handed: &Result<HandedIn, GitError>) -> Option<(String, IterationOutcome)> {
    let why = match handed {
        Ok(HandedIn::Refused { why }) => why.clone(),
        Ok(HandedIn::Nothing | HandedIn::Moved { .. }) => return None,
        Err(error) => error.to_string(),
    };
    let text = format!("its work was not taken: {why}");
    let outcome = match handed {
        Err(error) if error.is_shortage() || no_room::met_by(error) => {
            IterationOutcome::Failed { failure: Failure::new(FailureClass::Shortage, text) }
        }
        // The next iteration would say the same again.
        _ => IterationOutcome::AsksHuman { text },
    };
    Some((why, outcome))
}

/// `place`: where the program was to work.
fn outcome(place: &Path, setup: &AgentSetup, run: &Run) -> IterationOutcome {
    let (code, signal) = match &run.ran {
        Ok(ran) => {
            use std::os::unix::process::ExitStatusExt;
            (ran.status.code(), ran.status.signal())
        }
        // The system says it as of a program that is not there. The next attempt makes it again from the branch.
        Err(_) if !place.is_dir() => {
            return IterationOutcome::Crashed {
                code: None,
                signal: None,
                text: "its worktree is gone".into(),
            };
        }
        Err(error) => return not_started(setup, error),
    };
    if let Some(what) = denied(run) {
        return IterationOutcome::Failed { failure: Failure::new(FailureClass::Denied, what) };
    }
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
            IterationOutcome::Crashed { code, signal, text: last_words(&run.heard).unwrap_or(said) }
        }
        (_, Conclusion::Failed(failure)) => IterationOutcome::Failed { failure: failure.clone() },
    }
}

/// What was not allowed, where that is why the work did not go on: the agent says so, or it was the last thing that it
/// tried. A denial that it found a way around is only a note.
fn denied(run: &Run) -> Option<String> {
    match (&run.heard.signal, &run.conclusion) {
        (Some(AgentSignal::Blocked(text)), _) => {
            let what = text.strip_prefix(SANDBOX_DENIED)?.trim_start_matches([':', ' ']);
            Some(if what.is_empty() { run.heard.denied.join("; ") } else { what.to_owned() })
        }
        (None, Conclusion::Done { denied }) if run.heard.denied_last && !denied.is_empty() => {
            Some(denied.join("; "))
        }
        _ => None,
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
    if let ProcessError::Spawn { why, .. } = error
        && (is_shortage(why) || no_room::met_by(error))
    {
        return IterationOutcome::Failed { failure: Failure::new(FailureClass::Shortage, error.to_string()) };
    }
    let text = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    IterationOutcome::NotStarted { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_for_which_the_machine_has_no_room_is_tried_later_and_one_that_is_broken_waits_for_a_person()
    {
        let started = |code| {
            let why = std::io::Error::from_raw_os_error(code);
            not_started(&AgentSetup::default(), &ProcessError::Spawn { program: "claude".into(), why })
        };
        let IterationOutcome::Failed { failure } = started(11) else { panic!("{:?}", started(11)) };
        assert_eq!(failure.class, FailureClass::Shortage);
        assert!(
            failure.text.starts_with("cannot start claude: Resource temporarily unavailable"),
            "{}",
            failure.text
        );
        assert!(matches!(started(8), IterationOutcome::NotStarted { .. }));
    }

    #[test]
    fn work_for_which_the_machine_has_no_room_is_taken_later_and_what_is_refused_waits_for_a_person() {
        let failed = |code| -> Result<HandedIn, GitError> {
            let why = std::io::Error::from_raw_os_error(code);
            Err(ProcessError::Spawn { program: "git".into(), why }.into())
        };
        let of = |handed: Result<HandedIn, GitError>| not_taken(&handed).map(|(_, outcome)| outcome);
        let full = GitError::Failed {
            command: "update-index".into(),
            how: "exit status: 128".into(),
            said: "fatal: Unable to create '.git/swarm/index/1.2.lock': No space left on device".into(),
        };
        for handed in [failed(11), failed(28), Err(full)] {
            let Some(IterationOutcome::Failed { failure }) = of(handed) else { panic!("it waits") };
            assert_eq!(failure.class, FailureClass::Shortage);
        }
        for handed in [failed(8), Ok(HandedIn::Refused { why: "it is too large".into() })] {
            assert!(matches!(of(handed), Some(IterationOutcome::AsksHuman { .. })));
        }
        assert_eq!(of(Ok(HandedIn::Nothing)), None);
    }

    #[test]
    fn a_program_whose_worktree_was_deleted_is_started_again_and_waits_for_nobody() {
        let dir = tempfile::tempdir().expect("a folder");
        let why = std::io::Error::from(std::io::ErrorKind::NotFound);
        let run = Run {
            ran: Err(ProcessError::Spawn { program: "/proc/self/exe".into(), why }),
            conclusion: Conclusion::Interrupted,
            heard: Heard::default(),
            learnings: Vec::new(),
            wants_fallback: false,
        };
        let of = |place: &Path| outcome(place, &AgentSetup::default(), &run);
        assert!(matches!(of(dir.path()), IterationOutcome::NotStarted { .. }), "the program is not there");
        let text = "its worktree is gone".to_owned();
        let gone = IterationOutcome::Crashed { code: None, signal: None, text };
        assert_eq!(of(&dir.path().join("deleted")), gone);
    }
}
