//! The work channel: frames between daemons and the coordinator.
//!
//! Each direction numbers its frames from 1; a frame is acknowledged after the ledger's sync, and
//! what is not acknowledged is sent again after a reconnect. Orders are not numbered: they say how
//! things *should* be (`Go 3`), so the newest one is always the whole truth.

mod command_line;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attempt::{CallAnswer, ReserveArgs, TaskContext};
use crate::command::Answer;
use crate::failure::{Failure, Usage};
use crate::ids::{Oid, RunId};
use crate::outcome::{Ended, Gate};
use crate::refusal::Refusal;

pub use command_line::CommandLine;

/// Bytes one frame may have.
pub const FRAME_MAX: usize = 1 << 20;

/// What kind of program the daemon runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    Work,
    Verify,
    /// The review commands on the submitted tip, in the task's worktree; or the agent that reviews it.
    Review,
    /// One small question to the service, in an empty folder: is the quota back?
    Probe,
}

/// First frame of a daemon on each connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub run: RunId,
    /// Hex of the secret that the daemon got when it was started.
    pub secret: String,
    pub version: String,
    pub host: String,
    /// The highest epoch it has obeyed.
    pub epoch: u64,
    /// Frames it has numbered so far.
    pub sent: u64,
}

/// Answer to Hello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub enum Greeting {
    /// Go on from here: frames up to `received` are in the ledger.
    Welcome { epoch: u64, received: u64 },
    /// The run is no longer wanted.
    Stop { epoch: u64, why: String },
}

/// How an iteration of the agent program ended, as far as the daemon can tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum IterationOutcome {
    /// `<swarm>COMPLETE</swarm>`: everything is committed at the tip.
    Complete,
    /// Ended in good order without a signal.
    NoSignal,
    /// `BLOCKED: reason`.
    AsksHuman {
        text: String,
    },
    /// `FAILED: reason`: the agent says that it cannot do the task.
    CannotDo {
        text: String,
    },
    Crashed {
        code: Option<i32>,
        signal: Option<i32>,
        text: String,
    },
    /// The program ended without a result, and this is why.
    Failed {
        failure: Failure,
    },
    /// The program was not found or could not be executed.
    NotStarted {
        text: String,
    },
}

impl IterationOutcome {
    fn with_texts(self, words: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Complete | Self::NoSignal => self,
            Self::AsksHuman { text } => Self::AsksHuman { text: words(text) },
            Self::CannotDo { text } => Self::CannotDo { text: words(text) },
            Self::Crashed { code, signal, text } => Self::Crashed { code, signal, text: words(text) },
            Self::Failed { failure } => Self::Failed { failure: failure.with_text(words) },
            Self::NotStarted { text } => Self::NotStarted { text: words(text) },
        }
    }
}

/// What the daemon reports. Each of these becomes a record or changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub enum FromDaemon {
    /// The daemon stands at a boundary: an iteration ended (0: none has run yet) and no new one starts without GO.
    Boundary {
        iteration: u32,
        outcome: IterationOutcome,
        tip: Option<Oid>,
        note: Option<String>,
        /// What the iteration cost.
        #[serde(default, skip_serializing_if = "Usage::is_none")]
        usage: Usage,
        /// By which the next iteration can go on where this one ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// `Go.known`: what the iteration's prompt knew.
        #[serde(default)]
        known: u64,
    },
    /// The check and scan commands ended.
    Checked {
        iteration: u32,
        passed: bool,
        tip: Oid,
        tree: Oid,
        output: String,
        /// Whose command failed, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gate: Option<Gate>,
    },
    /// The commands of a verify or review run ended.
    Verified { passed: bool, output: String },
    /// A signal of the agent on the way.
    Signal { signal: String, text: String },
    /// Worth a line in the history: the same tool call five times, no output for a minute.
    Noted { text: String },
    /// The probe ended; without a failure the service answers again.
    Probed { failure: Option<Failure> },
    /// The program was asked the question of its run: its last message, or why there is none.
    Answered(Answered),
    /// The daemon ends now.
    Ended { how: Ended },
}

/// What came of a question to an agent program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    #[serde(default, skip_serializing_if = "Usage::is_none")]
    pub usage: Usage,
    /// By which the next question can go on where this one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl FromDaemon {
    /// With every text put in other words: what goes up stands in the ledger, and programs say what they like.
    pub fn with_texts(self, words: impl Fn(String) -> String) -> Self {
        match self {
            Self::Boundary { iteration, outcome, tip, note, usage, session, known } => {
                let (outcome, note) = (outcome.with_texts(&words), note.map(words));
                Self::Boundary { iteration, outcome, tip, note, usage, session, known }
            }
            Self::Checked { iteration, passed, tip, tree, output, gate } => {
                Self::Checked { iteration, passed, tip, tree, output: words(output), gate }
            }
            Self::Verified { passed, output } => Self::Verified { passed, output: words(output) },
            Self::Signal { signal, text } => Self::Signal { signal, text: words(text) },
            Self::Noted { text } => Self::Noted { text: words(text) },
            Self::Probed { failure } => Self::Probed { failure: failure.map(|f| f.with_text(words)) },
            Self::Answered(Answered { text, failure, usage, session }) => {
                let (text, failure) = (words(text), failure.map(|f| f.with_text(&words)));
                Self::Answered(Answered { text, failure, usage, session })
            }
            Self::Ended { how } => Self::Ended { how: how.with_texts(words) },
        }
    }
}

/// A frame on the wire, from the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Upward {
    Hello(Hello),
    Report {
        n: u64,
        report: FromDaemon,
    },
    /// Alive; never enters the ledger.
    Heartbeat {
        iteration: u32,
        journal_bytes: u64,
    },
    Progress {
        percent: u8,
    },
    /// What the agent is at, for screens; never enters the ledger.
    Doing {
        text: String,
    },
    /// The agent asks for more files, and waits for the answer to `ask`.
    Reserve {
        ask: u64,
        files: ReserveArgs,
    },
}

/// A frame on the wire, to the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Downward {
    Greeting(Greeting),
    /// Frames up to `received` are in the ledger, which now reaches to `ledger`.
    Ack {
        received: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ledger: Option<LedgerMark>,
    },
    Order {
        epoch: u64,
        order: Order,
        /// The span that what is started for it belongs to, as the variable of this name says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        traceparent: Option<String>,
    },
    /// What became of what the agent asked for. What was granted is in the ledger.
    Answered {
        ask: u64,
        answer: CallAnswer,
    },
}

/// A position of a ledger that is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerMark {
    /// Which ledger.
    pub id: String,
    pub seq: u64,
    pub hash: String,
}

/// How the daemon should be now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// Run this iteration, unless it ran already.
    Go {
        iteration: u32,
        prompt: String,
        /// The program's session to go on with; none: a fresh one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The ledger position that the prompt was written at.
        #[serde(default)]
        known: u64,
        /// What the agent is told of its task when it asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<Box<TaskContext>>,
    },
    /// Ask the service this, unless it was asked already.
    Probe { prompt: String, timeout_secs: u64 },
    /// Ask the program what the run is there to ask, unless it was asked already.
    Ask { timeout_secs: u64 },
    /// Run the check commands for this iteration, unless they ran already.
    Check {
        iteration: u32,
        commands: Vec<CommandLine>,
        timeout_secs: u64,
        /// So many of them, the last ones, are scans.
        #[serde(default)]
        scans: u32,
    },
    /// Run the commands of a verify or review run, unless they ran already.
    Verify { commands: Vec<CommandLine>, timeout_secs: u64 },
    /// Stay at the boundary.
    Hold,
    /// Go to the boundary within so many seconds, else stop; then end. Carried out without further word.
    Drain { within_secs: u64 },
    /// End now: TERM to the tree, grace, KILL.
    Stop { grace_secs: u64 },
}

/// The record a daemon writes about itself: `run/daemons/RUN.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonRecord {
    pub run: RunId,
    pub kind: RunKind,
    pub host: String,
    pub pid: u32,
    pub start_time: u64,
    pub boot_id: String,
    pub nonce: String,
    pub version: String,
    /// The last durable ledger position the daemon was told: a witness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerMark>,
}

/// The daemon's last word: `run/daemons/RUN.exit.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    pub run: RunId,
    pub nonce: String,
    pub how: Ended,
    /// Reports that nobody had acknowledged, in order.
    pub unacknowledged: Vec<(u64, FromDaemon)>,
    /// Where the daemon saved what was not committed; none when there was nothing to save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wip: Option<Oid>,
    /// Nothing that the run started lives, and what was not committed then is in `wip`: nobody need look again.
    #[serde(default)]
    pub settled: bool,
}

/// Bytes one request of a command may have: a plan of 10,000 tasks fits.
pub const REQUEST_MAX: usize = 64 << 20;

/// The coordinator's answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "response", rename_all = "snake_case")]
pub enum Response {
    Answer(Answer),
    Refused {
        refusal: Refusal,
    },
    /// The world failed, not the wish: nothing was recorded.
    Failed {
        text: String,
    },
}
