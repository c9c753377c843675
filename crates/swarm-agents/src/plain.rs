//! Programs that speak plain text: every line of standard output is the agent's own. `exec` and `script`.

use swarm_protocol::failure::Failure;

use super::heard::Heard;
use super::invocation::{Invocation, Launch, Stdin};
use super::reading::{Conclusion, ExitFacts, Transcript, gone};
use super::told::{Told, told_in};
use super::{AgentProgram, AgentSetup};

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

/// One tool at a time: that is all that lines can tell.
const THE_TOOL: &str = "the tool";

#[derive(Default)]
pub struct Plain {
    /// Why it brought no result, in its own words.
    failure: Option<Failure>,
}

impl Transcript for Plain {
    fn out(&mut self, line: &str, heard: &mut Heard) {
        match told_in(line) {
            None => heard.says(line),
            Some(Told::Tool { name, input }) => {
                heard.tool_ends(THE_TOOL, false);
                heard.tool_starts(THE_TOOL, &name, &input, Some(&input));
            }
            Some(Told::ToolEnded { ok }) => heard.tool_ends(THE_TOOL, ok),
            Some(Told::Denied(what)) => heard.denies(what),
            Some(Told::Usage(usage)) => heard.usage = heard.usage.plus(usage),
            Some(Told::Session(session)) => heard.session = Some(session),
            Some(Told::Failure(failure)) => self.failure = Some(failure),
        }
    }

    fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion {
        if let Some(failure) = &self.failure {
            return Conclusion::Failed(failure.clone());
        }
        match (exit.code, exit.signal) {
            (Some(0), _) => Conclusion::Done { denied: heard.denied.clone() },
            _ => Conclusion::Failed(gone(heard, exit)),
        }
    }
}
