//! The command that helps, for each kind of trouble that only a person can end.

use swarm_protocol::failure::FailureClass;

use super::AgentProgram;

pub fn hint(program: AgentProgram, class: FailureClass) -> Option<String> {
    let text = match (class, program) {
        (FailureClass::Key, AgentProgram::Claude) => {
            "run `claude` and log in with /login, or set ANTHROPIC_API_KEY"
        }
        (FailureClass::Key, AgentProgram::Codex) => "run `codex login`, or set OPENAI_API_KEY",
        (FailureClass::Key, AgentProgram::Gemini) => "run `gemini` and log in, or set GEMINI_API_KEY",
        (FailureClass::Key, AgentProgram::Opencode) => "run `opencode auth login`",
        (FailureClass::Key, _) => {
            "log in with the program itself, or set its key and name it in the profile's env"
        }
        (FailureClass::Billing, _) => "see the billing page of the account",
        (FailureClass::Configuration, _) => "run `swarm doctor`",
        _ => return None,
    };
    Some(text.to_owned())
}
