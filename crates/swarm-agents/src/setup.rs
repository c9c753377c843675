//! What a daemon is told about the agent program it runs.

use serde::{Deserialize, Serialize};
use swarm_protocol::config::{Loops, Rates};

use super::AgentProgram;

/// No output for so long while no tool runs, and the program is taken for stalled. Every program has a
/// clock of its own at 300 s and then silently asks again: ours must be the first to speak.
pub const STALL_SECS: u64 = 120;

/// Calls of the model in one iteration. Loops of identical calls are not stopped by codex and opencode.
pub const STEPS_MAX: u32 = 200;

/// The profile of an agent, as far as its program is concerned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSetup {
    pub program: AgentProgram,
    /// Instead of the program found on PATH; all of the command line for acp and exec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// After our own arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// True: the program's own sandbox is used instead of ours.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_sandbox: bool,
    #[serde(default = "stall_secs")]
    pub stall_secs: u64,
    #[serde(default = "max_steps")]
    pub max_steps: u32,
    /// Equal tool calls after which the history gets a line; 0: nobody looks.
    #[serde(default = "loop_note")]
    pub loop_note: u32,
    /// Equal tool calls after which the iteration is ended.
    #[serde(default = "loop_stop")]
    pub loop_stop: u32,
    /// What its tokens cost, where it does not say it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Rates>,
}

fn stall_secs() -> u64 {
    STALL_SECS
}

fn max_steps() -> u32 {
    STEPS_MAX
}

fn loop_note() -> u32 {
    Loops::default().note
}

fn loop_stop() -> u32 {
    Loops::default().stop
}

impl Default for AgentSetup {
    fn default() -> Self {
        Self::of(AgentProgram::Script)
    }
}

impl AgentSetup {
    /// A program as it is found on PATH, with our own defaults.
    pub fn of(program: AgentProgram) -> Self {
        Self {
            program,
            command: Vec::new(),
            model: None,
            args: Vec::new(),
            own_sandbox: false,
            stall_secs: STALL_SECS,
            max_steps: STEPS_MAX,
            loop_note: loop_note(),
            loop_stop: loop_stop(),
            rates: None,
        }
    }
}
