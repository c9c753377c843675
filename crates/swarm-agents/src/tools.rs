//! How a program is told of the tools that the daemon of its run serves: a server of the Model Context Protocol that it
//! starts itself, and which asks the daemon by a socket.

use std::path::Path;

use super::{AgentProgram, AgentSetup};

/// Under this name the program knows the server; not `swarm`, which a project may have given to the one for people.
pub const SERVER: &str = "swarm_task";

/// Names the socket, for programs that are told of no server.
pub const TOOLS_VARIABLE: &str = "SWARM_TOOLS";

/// The server as a program starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolServer<'a> {
    /// Our own executable.
    pub swarm: &'a Path,
    pub socket: &'a Path,
}

impl ToolServer<'_> {
    pub fn program(&self) -> String {
        self.swarm.to_string_lossy().into_owned()
    }

    pub fn args(&self) -> [String; 3] {
        ["mcp".into(), "--agent".into(), self.socket.to_string_lossy().into_owned()]
    }
}

/// Whether the program is told of the server, so that its prompt may speak of the tools.
pub fn has_tools(setup: &AgentSetup) -> bool {
    !matches!(setup.program, AgentProgram::Exec | AgentProgram::Script)
}
