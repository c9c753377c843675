//! The agent programs that a swarm can use, by name.

pub mod script;

use std::path::Path;

/// An agent program by the name that a person gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentProgram {
    /// The built-in scripted agent, for demos and tests.
    Script,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent program {name:?}: use {}", AgentProgram::NAMES.join(", "))]
pub struct UnknownAgent {
    pub name: String,
}

impl AgentProgram {
    pub const NAMES: &'static [&'static str] = &["script"];

    pub fn named(name: &str) -> Result<Self, UnknownAgent> {
        match name {
            "script" => Ok(Self::Script),
            _ => Err(UnknownAgent { name: name.to_owned() }),
        }
    }

    /// The program and its arguments; `swarm` is our own executable.
    pub fn argv(self, swarm: &Path) -> Vec<String> {
        match self {
            Self::Script => vec![swarm.to_string_lossy().into_owned(), "script-agent".into()],
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
        assert_eq!(error.to_string(), "there is no agent program \"scribe\": use script");
        let argv = AgentProgram::resolve("script", Path::new("/opt/swarm")).expect("known");
        assert_eq!(argv, ["/opt/swarm", "script-agent"]);
    }
}
