//! The end of a running swarm, asked for from outside.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::Signal;
use serde::Serialize;
use swarm_engine::unsaved::{Unsaved, unsaved};
use swarm_process::is_stopped;
use swarm_protocol::channel::Response;
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::ids::CommandId;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::refusal::Refusal;
use swarm_server::client::{ClientError, send_command};

use super::ask::Presence;
use super::{Swarm, watchers};
use crate::error::CliError;
use crate::output;
use crate::watch::Watch;

/// Agents have their time to the boundary, their grace, and the saving of their work; what takes longer hangs.
const END_WITHIN: Duration = Duration::from_secs(180);

/// What a stop leaves on a file system that takes nothing.
const UNRECORDED: &str = "Stopped, but nothing could be recorded: the file system is read-only. Uncommitted work is \
    still in the worktrees; `swarm run` continues when the file system is writable again";

#[derive(Debug, Serialize)]
pub struct Stopped {
    /// False when it was only asked.
    pub ended: bool,
    pub text: String,
    /// What agents had not committed and nobody could save.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsaved: Vec<Unsaved>,
}

impl Stopped {
    fn said(ended: bool, text: &str) -> Self {
        Self { ended, text: text.into(), unsaved: vec![] }
    }
}

/// Where work lies that could not be saved, for people.
pub fn unsaved_words(unsaved: &[Unsaved]) -> Vec<String> {
    let title = "Not saved, as the agents left it (the next `swarm run` saves it):";
    let line = |one: &Unsaved| {
        output::harmless(&format!(
            "  {}: {} ({})",
            one.task,
            one.worktree,
            one.why.lines().next().unwrap_or_default()
        ))
    };
    let lines = unsaved.iter().map(line);
    (!unsaved.is_empty()).then(|| title.to_owned()).into_iter().chain(lines).collect()
}

impl Swarm {
    /// Ends the coordinator and whoever would start it again, and waits until both are gone.
    pub fn stop(&self, wait: bool, checkpoint: bool) -> Result<Stopped, CliError> {
        // Watched before they are asked, so that a quick end is not missed.
        let watch = Watch::folder(&self.paths.run);
        let mut asked = Asked { checkpoint, ..Asked::default() };
        if !self.ask_to_stop(&mut asked)? {
            return self.stop_the_abandoned();
        }
        if !wait {
            return Ok(Stopped::said(false, "Stop requested; `swarm status` shows the progress"));
        }
        // Asked again each time: one that died meanwhile has been followed by another, perhaps.
        let mut failed = None;
        let gone = watch.until(END_WITHIN, || match self.ask_to_stop(&mut asked) {
            Ok(anybody) => !anybody,
            Err(error) => {
                failed = Some(error);
                true
            }
        });
        match failed {
            Some(error) => Err(error),
            None if !gone => Err(CliError::environment("The swarm did not stop in time")
                .because(format!("waited {} s", END_WITHIN.as_secs()))
                .run_instead("swarm agent list")),
            None if asked.checkpoint => {
                Err(CliError::environment("Stopped, but the checkpoint was not created")
                    .because("the coordinator ended before the request reached it")
                    .run_instead("swarm checkpoint create"))
            }
            None if self.is_read_only() => Ok(Stopped::said(true, UNRECORDED)),
            None => Ok(self.stopped("Stopped; `swarm run` continues from here")),
        }
    }

    /// With what the last coordinator could not save.
    fn stopped(&self, text: &str) -> Stopped {
        let Ok(state) = self.state(None) else { return Stopped::said(true, text) };
        let unsaved = unsaved(&state, &self.paths, state.paused.contains_key(&PauseReason::Disk));
        let lines = unsaved_words(&unsaved);
        Stopped {
            ended: true,
            text: std::iter::once(text.into()).chain(lines).collect::<Vec<_>>().join("\n"),
            unsaved,
        }
    }

    /// Tells everybody who has not been told. False when nobody is there.
    fn ask_to_stop(&self, asked: &mut Asked) -> Result<bool, CliError> {
        // Those who watch first: whatever becomes of the coordinator from here on, it is not started to go on.
        let watchers = self.watchers();
        for watcher in &watchers {
            if asked.watchers.insert(watcher.pid) {
                watcher.signal(watchers::STOP);
            }
            // Whoever stands still (Ctrl+Z) hears nothing, and would stand there for ever.
            if is_stopped(watcher.pid) {
                watcher.signal(Signal::CONT);
            }
        }
        self.wake_coordinator();
        let there = self.presence();
        if !there.is_somebody() {
            return Ok(!watchers.is_empty());
        }
        // Its number only tells it from the one before.
        let coordinator = self.last_coordinator_pid().unwrap_or_default();
        if asked.coordinator == Some(coordinator) {
            return Ok(true);
        }
        if let Presence::Silent(silence) = there {
            let error = CliError::no_coordinator("The coordinator does not answer").because(silence);
            return Err(error.say(silence.hint()));
        }
        if self.ask_to_drain(asked)? {
            asked.coordinator = Some(coordinator);
        }
        Ok(true)
    }

    /// By the socket alone: without a coordinator there is nobody to drain. False when it was gone.
    fn ask_to_drain(&self, asked: &mut Asked) -> Result<bool, CliError> {
        let id = CommandId::new(ulid::Ulid::generate().to_string()).expect("a ulid is a good id");
        let why = "swarm stop".into();
        let command = match asked.checkpoint {
            true => Command::CheckpointAndDrain { why },
            false => Command::Drain { why },
        };
        let envelope = Envelope { id, by: self.by.into(), command };
        match self.runtime.block_on(send_command(&self.paths.socket, envelope)) {
            Ok(Response::Answer(answer)) => {
                if std::mem::take(&mut asked.checkpoint) {
                    output::note(&output::harmless(&answer.text));
                }
                Ok(true)
            }
            // It stops already; all that is left is to wait.
            Ok(Response::Refused { refusal: Refusal::Draining | Refusal::PlanClosed })
                if !asked.checkpoint =>
            {
                Ok(true)
            }
            Ok(Response::Refused { refusal }) => Err(refusal.into()),
            // It ends without a record, within a bound of its own.
            Ok(Response::Failed { .. }) if self.takes_nothing() => Ok(true),
            Ok(Response::Failed { text }) => {
                Err(CliError::environment("The coordinator could not be asked to stop").because(text))
            }
            Err(ClientError::Nobody | ClientError::Lost { .. }) => Ok(false),
            Err(ClientError::Silent(silence)) => Err(super::ask::silent(&silence)),
            Err(ClientError::Denied { status: 403, error }) => {
                Err(CliError::not_allowed(error.message).say(error.hint))
            }
            Err(error) => Err(self.not_understood(&error)),
        }
    }

    /// Whether there is anything to stop: a coordinator, one that is started again in a moment, or agents of dead ones.
    pub fn something_runs(&self) -> Result<(), CliError> {
        if self.is_coordinated() { Ok(()) } else { self.something_was_abandoned() }
    }

    fn something_was_abandoned(&self) -> Result<(), CliError> {
        let abandoned = self.state(None).is_ok_and(|state| state.running && !state.runs.is_empty());
        match abandoned {
            true => Ok(()),
            false => Err(CliError::no_coordinator("No swarm is running here").run_instead("swarm status")),
        }
    }

    /// Nobody coordinates and nobody watches. What they left when they were killed works on; it is brought to rest here.
    fn stop_the_abandoned(&self) -> Result<Stopped, CliError> {
        self.something_was_abandoned()?;
        self.bring_to_rest()?;
        let stopped = self.stopped("No coordinator was running; remaining agents are stopped");
        let saved = stopped.unsaved.is_empty();
        let text =
            if saved { format!("{}, their work is saved", stopped.text) } else { stopped.text.clone() };
        Ok(Stopped { text, ..stopped })
    }
}

/// Who was told to stop.
#[derive(Debug, Default)]
struct Asked {
    watchers: BTreeSet<u32>,
    coordinator: Option<u32>,
    /// A checkpoint is wanted, and nobody has been asked for it yet.
    checkpoint: bool,
}
