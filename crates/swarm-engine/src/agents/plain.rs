//! Programs that speak plain text: every line of standard output is the agent's own. `exec` and `script`.

use swarm_protocol::failure::FailureClass;

use super::failing::failed;
use super::heard::Heard;
use super::invocation::{Invocation, Launch, Stdin};
use super::reading::{Conclusion, ExitFacts, Transcript, gone};
use super::{AgentProgram, AgentSetup};

/// What a shell says when there is no such program, and when it may not be run.
const SHELL_NOT_FOUND: i32 = 127;
const SHELL_NOT_EXECUTABLE: i32 = 126;

/// The variable by which a program finds its prompt; it is on its standard input as well.
const PROMPT_FILE: &str = "SWARM_PROMPT_FILE";

pub fn invocation(setup: &AgentSetup, launch: &Launch<'_>) -> Invocation {
    let mut argv = setup.command.clone();
    if argv.is_empty() && setup.program == AgentProgram::Script {
        argv = setup.program.argv(launch.swarm);
    }
    argv.extend(setup.args.iter().cloned());
    let mut invocation =
        Invocation::new(argv, Stdin::Prompt).env(PROMPT_FILE, launch.prompt_file.to_string_lossy());
    if let Some(session) = launch.session {
        invocation = invocation.env("SWARM_SESSION", session);
    }
    invocation
}

#[derive(Default)]
pub struct Plain;

impl Transcript for Plain {
    fn out(&mut self, line: &str, heard: &mut Heard) {
        heard.says(line);
    }

    fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        match (exit.code, exit.signal) {
            (Some(0), _) => Conclusion::Done { denied: Vec::new() },
            (Some(SHELL_NOT_FOUND | SHELL_NOT_EXECUTABLE), None) if !heard.spoke => {
                Conclusion::Failed(failed(FailureClass::Configuration, &heard.last_words_text(3)))
            }
            _ => Conclusion::Failed(gone(heard, exit)),
        }
    }
}
