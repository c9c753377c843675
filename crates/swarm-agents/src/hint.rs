//! The command that helps, as it can be pasted, where only a person can end the trouble.

use swarm_protocol::failure::FailureClass;

use super::AgentProgram;

pub fn hint(program: AgentProgram, class: FailureClass) -> Option<String> {
    let command = match (class, program) {
        (FailureClass::Key, AgentProgram::Claude) => "claude /login",
        (FailureClass::Key, AgentProgram::Codex) => "codex login",
        (FailureClass::Key, AgentProgram::Gemini) => "gemini",
        (FailureClass::Key, AgentProgram::Opencode) => "opencode auth login",
        (FailureClass::Configuration, _) => "swarm doctor",
        _ => return None,
    };
    Some(command.to_owned())
}
