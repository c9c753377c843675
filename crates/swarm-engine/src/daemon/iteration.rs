//! One iteration of the agent program: prompt in, signals out, the rest committed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;

use swarm_protocol::channel::{FromDaemon, IterationOutcome};

use super::program::{How, Listener, Ran, StopWish, run};
use super::signals::{AgentSignal, signal_in};
use super::workshop::{Workshop, Yield};
use crate::journal::Stream;
use crate::process::{Input, ProcessError};

/// Lines of stderr that explain a crash, and characters of them.
const LAST_WORDS_LINES: usize = 5;
const LAST_WORDS_MAX: usize = 1000;

/// Runs the program once for this iteration.
pub async fn iterate(shop: &Workshop, iteration: u32, prompt: &str, stop: &mut StopWish) -> Yield {
    shop.note(&format!("iteration {iteration} begins: {}", shop.spec.program.join(" ")));
    let mut agent = Agent { shop, signal: None, last_words: Vec::new(), continued: false };
    let ran = start(shop, iteration, prompt, &mut agent, stop).await;
    let ran = match ran {
        Ok(Ran { how: How::Stopped, .. }) => {
            shop.note(&format!("iteration {iteration} stopped"));
            shop.settle_journal();
            return Yield::Stopped;
        }
        other => other,
    };
    let (mut outcome, mut note) = (agent.outcome(&ran), None);
    let mut tip = None;
    if outcome == IterationOutcome::Complete {
        match shop.commit_rest().await {
            Ok(committed) => tip = Some(committed),
            // Complete means that the tip is all of the work. Without that it is not complete.
            Err(text) => {
                outcome = IterationOutcome::NoSignal;
                note = Some(format!("Complete was said, but what was left could not be committed: {text}"));
            }
        }
    } else {
        match shop.tip().await {
            Ok(found) => tip = found,
            Err(error) => note = Some(format!("The tip of the branch is not known: {error}")),
        }
    }
    if let Ok(Ran { left, .. }) = &ran
        && !left.is_empty()
    {
        note = Some(format!("Processes {left:?} could not be ended"));
    }
    shop.note(&format!("iteration {iteration} ended: {outcome:?}"));
    shop.settle_journal();
    Yield::Report(FromDaemon::Boundary {
        iteration,
        outcome,
        tip,
        note,
        usage: Default::default(),
        session: None,
    })
}

async fn start(
    shop: &Workshop,
    iteration: u32,
    prompt: &str,
    agent: &mut Agent<'_>,
    stop: &mut StopWish,
) -> Result<Ran, ProcessError> {
    let program = shop.spec.program.first().cloned().unwrap_or_default();
    let mut call = shop
        .call(&shop.spec.program)
        .ok_or_else(|| ProcessError::NotFound { program: "no program".into() })?;
    let stdin = prompt_file(shop, prompt).map_err(|source| ProcessError::Spawn { program, source })?;
    call.stdin = Input::File(stdin);
    let call = call.env("SWARM_ITERATION", iteration.to_string());
    // No time limit of its own: how long an attempt may take is the coordinator's decision.
    let bounds = shop.bounds(None).await;
    run(call, &bounds, agent, stop).await
}

/// The prompt as a file: a program that does not read it blocks nobody, and a large one is no argument.
fn prompt_file(shop: &Workshop, prompt: &str) -> std::io::Result<File> {
    let path = shop.spec.files().prompt();
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(prompt.as_bytes())?;
    File::open(&path)
}

/// What the agent says while it works.
struct Agent<'a> {
    shop: &'a Workshop,
    /// The last of its final words counts.
    signal: Option<AgentSignal>,
    last_words: Vec<String>,
    /// The line being heard began earlier: too long for a signal.
    continued: bool,
}

impl Listener for Agent<'_> {
    fn line(&mut self, stream: Stream, text: &str, more: bool) {
        self.shop.print(stream, text, more);
        let whole = !more && !self.continued;
        self.continued = more;
        match (stream, whole.then(|| signal_in(text)).flatten()) {
            (Stream::Out, Some(AgentSignal::Progress(percent))) => {
                self.shop.progress.send_replace(percent);
            }
            (Stream::Out, Some(signal)) => self.signal = Some(signal),
            (Stream::Err, _) if whole && !text.trim().is_empty() => {
                self.last_words.push(text.chars().take(LAST_WORDS_MAX).collect());
                let excess = self.last_words.len().saturating_sub(LAST_WORDS_LINES);
                self.last_words.drain(..excess);
            }
            _ => {}
        }
    }
}

impl Agent<'_> {
    fn outcome(&mut self, ran: &Result<Ran, ProcessError>) -> IterationOutcome {
        let status = match ran {
            Ok(ran) => ran.status,
            Err(error) => return IterationOutcome::NotStarted { text: with_cause(error) },
        };
        match self.signal.take() {
            // An agent that says why it cannot go on may end as it likes.
            Some(AgentSignal::Blocked(text)) => IterationOutcome::AsksHuman { text },
            Some(AgentSignal::Failed(text)) => IterationOutcome::CannotDo { text },
            Some(AgentSignal::Complete) if status.success() => IterationOutcome::Complete,
            _ if status.success() => IterationOutcome::NoSignal,
            _ => {
                let text: String = self.last_words.join("\n").chars().take(LAST_WORDS_MAX).collect();
                IterationOutcome::Crashed { code: status.code(), signal: status.signal(), text }
            }
        }
    }
}

fn with_cause(error: &ProcessError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
