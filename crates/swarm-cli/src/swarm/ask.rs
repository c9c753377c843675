//! A command on its way to the ledger.
//!
//! To write: take the locks, or, when a coordinator has them, ask it by its socket. Coordinators come and go
//! while commands are under way, so either way may close in the middle; then the other one is tried, with the
//! same command id. Whoever carried it out, it is carried out once: a repeated id gets its old answer.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use swarm_engine::anchor;
use swarm_engine::coordinator::{free_bytes, is_read_only};
use swarm_engine::store::{Notice, OpenOptions, Opened, Store, StoreError};
use swarm_process::caller::am_i_inside;
use swarm_protocol::channel::Response;
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::config::OnDamage;
use swarm_protocol::ids::CommandId;
use swarm_protocol::refusal::Refusal;
use swarm_server::client::{ClientError, Silence, ping, send_command};

use super::{Swarm, left_alone};
use crate::error::CliError;

/// A coordinator that starts or ends is in between for moments; one that neither answers nor gives the lock
/// back for so long hangs.
const BETWEEN_MAX: Duration = Duration::from_secs(30);
const PAUSE_FIRST: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// The refusal of a command that has to wait for an operation.
const UNDER_WAY: &str = "operation_under_way";

/// Who is at the coordinator's socket.
///
/// Beside one that hangs the answer takes seconds: a command asks once and passes it on.
#[derive(Debug, Clone, Copy)]
pub enum Presence {
    Answers,
    /// Somebody who does not move.
    Silent(Silence),
    Nobody,
}

impl Presence {
    pub fn is_somebody(&self) -> bool {
        !matches!(self, Self::Nobody)
    }
}

fn note_silence(silence: &Silence) {
    crate::output::note(&format!("Note: {silence}. {}", silence.hint()));
}

/// A command that was handed over to somebody who does not move.
pub(super) fn silent(silence: &Silence) -> CliError {
    CliError::no_coordinator("The coordinator does not answer")
        .because(silence)
        .because("it may still carry out the command later; `swarm plan history` then shows it")
        .say(silence.hint())
}

/// How one try ended.
enum Tried {
    Answered(Answer),
    /// The owner of the ledger is just arriving or leaving: try the whole way again.
    Between(String),
}

/// Room for the few records of an end.
const RECORD_BYTES: u64 = 64 * 1024;

/// Said by a run within seconds, and by whoever looks.
pub const READ_ONLY: &str = "Note: the file system of the repository is read-only: nothing is recorded, and agents \
    can neither write nor commit. Remount it writable (`dmesg` may say what happened), then run `swarm run`; `swarm stop` works meanwhile";

impl Swarm {
    /// Whether somebody answers at the coordinator's socket.
    pub fn has_coordinator(&self) -> bool {
        self.presence().is_somebody()
    }

    /// Whether somebody coordinates, or will again in a moment: one that died is started again by whoever watches it, and a
    /// second `swarm run` would be refused.
    pub fn is_coordinated(&self) -> bool {
        self.has_coordinator() || self.is_watched()
    }

    pub fn presence(&self) -> Presence {
        match self.runtime.block_on(ping(&self.paths.socket)) {
            Ok(()) => Presence::Answers,
            Err(ClientError::Silent(silence)) => Presence::Silent(silence),
            // It turned us away, or has not come to us: it is there.
            Err(ClientError::Denied { .. }) => Presence::Answers,
            Err(ClientError::Unreachable { source, .. }) if source.kind() == ErrorKind::WouldBlock => {
                Presence::Answers
            }
            Err(_) => Presence::Nobody,
        }
    }

    /// Why nothing that happens now is recorded, where the file system takes nothing.
    pub fn is_read_only(&self) -> bool {
        is_read_only(&self.paths.root) || is_read_only(&self.paths.run)
    }

    /// Whether not even a record of the end can be written.
    pub fn takes_nothing(&self) -> bool {
        let full = |place: &std::path::Path| free_bytes(place).is_some_and(|free| free < RECORD_BYTES);
        self.is_read_only() || full(&self.paths.root) || full(&self.paths.run)
    }

    /// Told beside a view: what it shows may be long over, and nothing of it can be changed.
    pub fn note_that_nothing_is_recorded(&self) {
        if self.is_read_only() {
            crate::output::note(READ_ONLY);
        }
    }

    /// Told beside a view that does not show whether anybody is at work.
    pub fn note_that_nothing_moves(&self) {
        if let Presence::Silent(silence) = self.presence() {
            note_silence(&silence);
        }
    }

    /// Told beside a view that shows agents at work: what nobody looks after may not be at work any more.
    pub fn note_that_nobody_coordinates(&self, there: &Presence) {
        match there {
            Presence::Answers => return,
            Presence::Silent(silence) => return note_silence(silence),
            Presence::Nobody => {}
        }
        if self.is_watched() {
            let restarted = "Note: the coordinator crashed and is being restarted; live agents continue";
            return crate::output::note(restarted);
        }
        let state = self.state(None);
        let held = state.as_ref().map(|state| self.held(state)).unwrap_or_default();
        if !held.is_empty() {
            return crate::output::note(&left_alone::note_of_held(&held));
        }
        let ((at_work, others), draining) =
            state.map_or(((0, 0), false), |state| (self.runs_at_work(&state), state.draining));
        crate::output::note(&left_alone::note(at_work, others, draining));
    }

    /// With nobody at work it is easily taken for a swarm that is about to start.
    pub fn note_that_nothing_goes_on(&self, there: &Presence) {
        match there {
            Presence::Silent(silence) => note_silence(silence),
            Presence::Nobody if !self.is_watched() => {
                crate::output::note("Note: no coordinator is running; `swarm run` starts the work");
            }
            _ => {}
        }
    }

    /// Carries a command out. When this returns, the disk has it.
    pub fn ask(&self, command: Command) -> Result<Answer, CliError> {
        self.ask_as(self.by, command)
    }

    /// The same in another name.
    pub(super) fn ask_as(&self, by: &str, command: Command) -> Result<Answer, CliError> {
        let id = CommandId::new(ulid::Ulid::generate().to_string()).expect("a ulid is a good id");
        self.ask_with(&Envelope { id, by: by.into(), command })
    }

    /// The same for one that may have been sent before: its id makes that safe.
    pub(super) fn ask_with(&self, envelope: &Envelope) -> Result<Answer, CliError> {
        self.refuse_where_nothing_is(&envelope.command)?;
        let on_damage = self.configuration()?.config.recovery.on_damage;
        let started = Instant::now();
        let mut pause = PAUSE_FIRST;
        let mut interrupted = true;
        loop {
            let between = match self.try_once(envelope, on_damage) {
                Ok(Tried::Answered(answer)) => return Ok(answer),
                Ok(Tried::Between(error)) => error,
                Err(error) if error.kind == UNDER_WAY && std::mem::take(&mut interrupted) => {
                    if !self.finish_interrupted()? {
                        return Err(error);
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            if started.elapsed() > BETWEEN_MAX {
                return Err(CliError::no_coordinator("A coordinator holds the ledger and does not answer")
                    .because(between)
                    .say("It may be suspended or overloaded; `swarm plan history` shows whether the command went through"));
            }
            wait(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    fn try_once(&self, envelope: &Envelope, on_damage: OnDamage) -> Result<Tried, CliError> {
        // An agent is judged by the coordinator, which also tells people; its walls hide the locks anyway.
        let inside = am_i_inside().is_some();
        if !inside && let Some(answer) = self.write_ourselves(envelope, on_damage)? {
            return Ok(Tried::Answered(answer));
        }
        let asked = send_command(&self.paths.socket, envelope.clone());
        match self.runtime.block_on(asked) {
            Ok(Response::Answer(answer)) => Ok(Tried::Answered(answer)),
            // Its plan is closed and it is about to leave: whoever comes next decides.
            Ok(Response::Refused { refusal: Refusal::PlanClosed }) => {
                Ok(Tried::Between("the plan is being archived".into()))
            }
            Ok(Response::Refused { refusal }) => Err(refusal.into()),
            Ok(Response::Failed { text }) => {
                Err(CliError::environment("The coordinator failed to run the command").because(text))
            }
            Err(ClientError::Nobody) if inside => {
                Err(Refusal::NotForAgents { what: envelope.command.kind().into() }.into())
            }
            Err(error @ (ClientError::Nobody | ClientError::Lost { .. })) => {
                Ok(Tried::Between(error.to_string()))
            }
            Err(ClientError::Silent(silence)) => Err(silent(&silence)),
            Err(ClientError::Denied { status: 403, error }) => {
                Err(CliError::not_allowed(error.message).say(error.hint))
            }
            Err(error) => Err(self.not_understood(&error)),
        }
    }

    /// Does it under our own lock; none when a coordinator has the ledger.
    fn write_ourselves(&self, envelope: &Envelope, on_damage: OnDamage) -> Result<Option<Answer>, CliError> {
        let Some(mut store) = self.writer(envelope.command.kind(), on_damage)? else { return Ok(None) };
        self.runtime.block_on(swarm_engine::present::record(&self.git, &mut store, "swarm:cli"))?;
        let now = store.clock().now();
        let due = store.state().ops.due.len();
        let answer = store.submit_blocking(envelope.clone(), now)?;
        let ops = &store.state().ops;
        let owes = ops.due.len() > due || ops.running.as_ref().is_some_and(|running| running.id == answer.id);
        // From here on it is done: what goes wrong with what is only made from the ledger is told, no more.
        let notices = store.finish().unwrap_or_else(|error| vec![told_later(&error)]);
        self.tell(&notices);
        if owes {
            // It is recorded: what cannot be done now is done by whoever coordinates next.
            self.carry_out_ourselves()?;
        }
        Ok(Some(answer))
    }

    /// The ledger open for one command; none when a coordinator has it.
    pub(super) fn writer(&self, role: &str, on_damage: OnDamage) -> Result<Option<Store>, CliError> {
        self.writer_with(OpenOptions::new(role).on_damage(on_damage))
    }

    /// The same for one that repairs: with every record walked and the whole second copy compared.
    pub(super) fn thorough_writer(&self, role: &str, on_damage: OnDamage) -> Result<Option<Store>, CliError> {
        self.writer_with(OpenOptions::new(role).on_damage(on_damage).thorough())
    }

    fn writer_with(&self, options: OpenOptions) -> Result<Option<Store>, CliError> {
        let options = options.anchors(self.runtime.block_on(anchor::witnesses(&self.git))?);
        let role = options.role.clone();
        match Store::open_writer(&self.paths, options)? {
            Opened::Writer(store) => {
                super::inside::refuse_agents(&role)?;
                Ok(Some(store))
            }
            Opened::Busy(_) => Ok(None),
        }
    }
}

fn told_later(error: &StoreError) -> Notice {
    let mut text = format!("Done, but: {error}");
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    Notice::new(text, "The next command retries it")
}

/// Nothing announces that a lock or a socket comes and goes, so this looks again after a while.
#[allow(
    clippy::disallowed_methods,
    reason = "the one place that has to look again and again; bounded by BETWEEN_MAX"
)]
pub(super) fn wait(pause: Duration) {
    std::thread::sleep(pause);
}
