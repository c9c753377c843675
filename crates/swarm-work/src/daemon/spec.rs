//! What a daemon is told when it is started: a file, so that it survives both sides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use swarm_protocol::channel::{CommandLine, RunKind};
use swarm_protocol::config::{ContainmentKind, Limits, SandboxKind, hidden_by_default};
use swarm_protocol::ids::{AgentId, RunId, TaskId};
use swarm_protocol::judgement::Judgement;
use swarm_protocol::resolution::Resolution;

use super::files::RunFiles;
use crate::rescue::RESCUE_FILE_MAX_BYTES;
use swarm_agents::AgentSetup;
use swarm_agents::script::{ROLE_PLAN, ROLE_RESOLVE, ROLE_REVIEW};
use swarm_git::Repository;
use swarm_process::Containment;

/// `run/daemons/RUN.spec.json`. While it exists the run may be started; whoever ends the run for good removes it first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonSpec {
    pub run: RunId,
    pub kind: RunKind,
    pub nonce: String,
    /// The main checkout: `.swarm` lies in it.
    pub root: PathBuf,
    /// Where the program works: the task's worktree, or the merge worktree of a verify run.
    pub worktree: PathBuf,
    /// Where the agent works instead, together with others: the shared tree. Its work is taken from there to the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<PathBuf>,
    pub task: TaskId,
    /// None for runs without an agent (verify).
    #[serde(default)]
    pub agent: Option<AgentId>,
    /// Counted from 1.
    pub attempt: u32,
    /// How often a program was sent to the task, with this one, whether as an attempt or within one. None: of a time when
    /// each was an attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// Of the task; empty where it has none.
    #[serde(default)]
    pub title: String,
    /// How the agent program is started and read; none for runs of commands.
    #[serde(default)]
    pub agent_setup: Option<AgentSetup>,
    /// What the agent program is asked, where the run is there for one answer.
    #[serde(default)]
    pub question: Option<Question>,
    /// What keeps the run's programs in their place.
    #[serde(default)]
    pub guard: Guard,
    /// What the coordinator has found out, once for all daemons.
    #[serde(default)]
    pub known: Known,
    /// Run before anything else, where it is due.
    #[serde(default)]
    pub set_up: Option<SetUp>,
    /// Variables set for the program, on top of what the daemon itself was given.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Between TERM and KILL where an order does not say.
    pub stop_grace_secs: u64,
    /// Without a coordinator for so long the daemon saves its work and ends.
    pub alone_secs: u64,
    /// Longest wait between two tries to reach the coordinator.
    pub reconnect_max_secs: u64,
    /// Bytes of output kept for the whole run.
    #[serde(default = "journal_max_bytes")]
    pub journal_max_bytes: u64,
    /// A larger file is not committed for the agent.
    #[serde(default = "file_max_bytes")]
    pub file_max_bytes: u64,
}

/// One question to an agent program. It stands here and not in an order, so that whoever takes the run over need not
/// put it together again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub prompt: String,
    /// The conversation that it belongs to.
    #[serde(default)]
    pub session: Option<String>,
    pub form: Form,
    /// As whom of several the agent is asked.
    #[serde(default)]
    pub member: Option<String>,
}

/// What the answer has to look like. An agent that answers otherwise is asked once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A verdict on submitted work.
    Judgement,
    /// A plan: whoever asks looks at it.
    Plan,
    /// What is to become of files in which a revert conflicts.
    Resolution,
}

impl Form {
    /// Why the answer cannot be used.
    pub fn check(self, answer: &str) -> Result<(), String> {
        match self {
            Self::Judgement => Judgement::read(answer).map(drop),
            Self::Plan => Ok(()),
            Self::Resolution => Resolution::read(answer).map(drop),
        }
    }

    /// What the program is told that it is there for.
    pub fn role(self) -> &'static str {
        match self {
            Self::Judgement => ROLE_REVIEW,
            Self::Plan => ROLE_PLAN,
            Self::Resolution => ROLE_RESOLVE,
        }
    }
}

/// What the programs of a run may do, and how they are kept together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    pub containment: ContainmentKind,
    pub sandbox: SandboxKind,
    pub network: bool,
    /// Places that may be written besides the worktree, as the profile says them.
    #[serde(default)]
    pub writable: Vec<String>,
    /// Places that programs do not see; `~/` is the home folder.
    #[serde(default)]
    pub hide: Vec<String>,
    /// How much of the machine they may take.
    #[serde(default)]
    pub limits: Limits,
    /// Names of variables that are handed on.
    #[serde(default)]
    pub env: Vec<String>,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            containment: ContainmentKind::Auto,
            sandbox: SandboxKind::Landlock,
            network: true,
            writable: vec![],
            hide: hidden_by_default(),
            limits: Limits::default(),
            env: vec![],
        }
    }
}

/// What a daemon need not find out again. Without it, it asks itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub repository: Option<Repository>,
    /// The net that was tried out, for what `guard.containment` wants.
    pub containment: Option<Containment>,
}

/// The command that makes a worktree fit to work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUp {
    pub command: CommandLine,
    pub timeout_secs: u64,
    /// Globs of files whose change makes it due again.
    #[serde(default)]
    pub when: Vec<String>,
}

/// 256 MiB: days of an ordinary agent, and a disk survives fifty that run wild.
fn journal_max_bytes() -> u64 {
    256 << 20
}

fn file_max_bytes() -> u64 {
    RESCUE_FILE_MAX_BYTES
}

impl DaemonSpec {
    pub fn swarm_dir(&self) -> PathBuf {
        self.root.join(".swarm")
    }

    pub fn files(&self) -> RunFiles {
        RunFiles::new(&self.swarm_dir(), &self.run)
    }

    /// `agents/<agent>/logs/<run>.jsonl`; runs without an agent are kept under `verify`, `probe` or
    /// `planner` and `resolver`.
    pub fn journal(&self) -> PathBuf {
        let nobody = match (self.kind, self.question.as_ref().map(|question| question.form)) {
            (RunKind::Probe, _) => "probe",
            (_, Some(Form::Plan)) => "planner",
            (_, Some(Form::Resolution)) => "resolver",
            _ => "verify",
        };
        let who = self.agent.as_ref().map_or(nobody, AgentId::as_str);
        self.swarm_dir().join("agents").join(who).join("logs").join(format!("{}.jsonl", self.run))
    }

    /// Beside the journal: what the program was given for this iteration.
    pub fn prompt_of(&self, iteration: u32) -> PathBuf {
        self.journal().with_extension(format!("prompt-{iteration}.json"))
    }

    pub fn stop_grace(&self) -> Duration {
        Duration::from_secs(self.stop_grace_secs)
    }

    /// Reads the file that the supervisor wrote.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        let bytes = std::fs::read(path)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}
