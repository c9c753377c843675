//! What changes with vendors: the agent programs, what they are told and what they leave.
//!
//! The agent programs that a swarm can use: how each is started, what it says while it works, and what
//! its end means. Readers are pure: a line in, a state out. What was observed of the real programs is in
//! `agents/BEHAVIOUR.md`, with recordings.

mod setup;
pub mod signals;
mod json;
mod call;
mod circles;
mod failing;
mod resets;
mod heard;
mod hint;
mod reading;
mod rpc;
mod invocation;
mod claude;
mod codex;
mod gemini;
mod opencode;
mod acp;
mod told;
mod plain;
pub mod tools;
pub mod script;
mod probe;
pub mod journal;
pub mod said;
pub mod redact;
pub mod secrets;
pub mod prompts;
pub mod handover;
pub mod learnings;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use circles::{Circles, Patience, Seen};
pub use heard::{AgentEvent, Heard};
pub use invocation::{Invocation, Launch, Stdin, Surroundings, Way, begin, pass_env, reading_of, writable};
pub use probe::{KNOWN, LoggedIn, ProgramReport, install_hint, probe, ready};
pub use reading::{Conclusion, Ending, ExitFacts, Outgoing, Reading};
pub use resets::Moment;
pub use setup::{AgentSetup, STALL_SECS, STEPS_MAX};

/// An agent program by the name that a person gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentProgram {
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// Any agent that speaks the Agent Client Protocol.
    Acp,
    /// Any program that reads a prompt.
    Exec,
    /// The built-in scripted agent, for demos and tests.
    Script,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent program {name:?}: use {}", AgentProgram::NAMES.join(", "))]
pub struct UnknownAgent {
    pub name: String,
}

impl AgentProgram {
    pub const ALL: [Self; 7] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Acp, Self::Exec, Self::Script];

    pub const NAMES: &'static [&'static str] =
        &["claude", "codex", "gemini", "opencode", "acp", "exec", "script"];

    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Acp => "acp",
            Self::Exec => "exec",
            Self::Script => "script",
        }
    }

    pub fn named(name: &str) -> Result<Self, UnknownAgent> {
        let known = Self::ALL.into_iter().find(|program| program.name() == name);
        known.ok_or_else(|| UnknownAgent { name: name.to_owned() })
    }

    /// The program and its arguments where it is started as it is; `swarm` is our own executable.
    pub fn argv(self, swarm: &Path) -> Vec<String> {
        match self {
            Self::Script => vec![swarm.to_string_lossy().into_owned(), "script-agent".into()],
            other => vec![other.name().to_owned()],
        }
    }

    /// The command line for a name, or an error that lists what there is.
    pub fn resolve(name: &str, swarm: &Path) -> Result<Vec<String>, UnknownAgent> {
        Ok(Self::named(name)?.argv(swarm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_program_is_refused_with_what_there_is() {
        let error = AgentProgram::resolve("scribe", Path::new("swarm")).expect_err("unknown");
        let names = "claude, codex, gemini, opencode, acp, exec, script";
        assert_eq!(error.to_string(), format!("there is no agent program \"scribe\": use {names}"));
        let argv = AgentProgram::resolve("script", Path::new("/opt/swarm")).expect("known");
        assert_eq!(argv, ["/opt/swarm", "script-agent"]);
        assert_eq!(AgentProgram::ALL.map(AgentProgram::name), *AgentProgram::NAMES);
    }
}
