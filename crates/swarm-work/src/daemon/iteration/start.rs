//! Starts the program for an iteration and reads it to its end.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use swarm_protocol::api::GivenPrompt;
use swarm_protocol::attempt::TaskContext;
use swarm_protocol::channel::{FromDaemon, RunKind};
use swarm_protocol::failure::{Failure, FailureClass};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::super::files::write_whole;
use super::super::program::{How, Ran, StopWish};
use super::super::run_context::RunContext;
use super::agent::{Agent, Heard};
use super::commits::CommitLog;
use swarm_agents::journal::{Calls, calls_file};
use swarm_agents::{
    self, AgentProgram, AgentSetup, Circles, Conclusion, Ending, ExitFacts, Launch, Moment, Patience, Stdin,
    Surroundings, Way, journal,
};
use swarm_process::complain;
use swarm_process::{Call, Input, ProcessError};

/// Bytes of a prompt that are kept to be read later.
const PROMPT_KEPT: usize = 256 * 1024;

/// One run of the program, and what it was.
pub struct Run {
    pub ran: Result<Ran, ProcessError>,
    pub conclusion: Conclusion,
    pub heard: Heard,
    pub learnings: Vec<FromDaemon>,
    pub wants_fallback: bool,
}

impl Run {
    pub fn how(&self) -> Option<How> {
        self.ran.as_ref().ok().map(|ran| ran.how)
    }
}

/// What the program is to be started for.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    pub iteration: u32,
    pub prompt: &'a str,
    pub session: Option<&'a str>,
    pub way: Way,
    /// None: for as long as it takes.
    pub deadline: Option<Instant>,
    /// What an agent at work is told of its task by a tool.
    pub told: Option<&'a TaskContext>,
}

pub async fn once(context: &RunContext, setup: &AgentSetup, start: Start<'_>, stop: &mut StopWish) -> Run {
    let Start { iteration, prompt, session, way, deadline, told } = start;
    // Not among the swarm's own files: the program reads it inside its sandbox.
    let scratch = context.tmp();
    let prompt_file = scratch.join("prompt.md");
    let place = context.place();
    let swarm = std::env::current_exe().unwrap_or_else(|_| "swarm".into());
    let tools = context.open_tools();
    let launch = Launch {
        prompt_file: &prompt_file,
        prompt,
        worktree: &place,
        session,
        scratch: &scratch,
        swarm: &swarm,
        tools: tools.as_ref().map(|tools| tools.socket.as_path()),
        way,
    };
    let around = Surroundings::of_this_process();
    make_folders(setup, &around);
    let (invocation, reading) = swarm_agents::begin(setup, &launch, &around);
    keep_prompt(context, iteration, prompt);
    context.note(&format!("iteration {iteration} begins: {}", invocation.argv.join(" ")));
    let circles = Circles::new(Patience { note: setup.loop_note, stop: setup.loop_stop });
    let mut agent =
        Agent::new(context, reading, circles, CommitLog::of(context.commit_log().await.as_deref()));
    (agent.tools, agent.told) = (tools, told);
    agent.tool_calls = Calls::of(iteration);
    agent.may_be_silent = setup.program == AgentProgram::Exec;
    let ran = match prepared(context, &invocation, &prompt_file, prompt) {
        Ok(call) => {
            let call = call.env("SWARM_ITERATION", iteration.to_string());
            let (bounds, ended) = (context.bounds(deadline).await, Notify::new());
            let working = async {
                let ran = context.run(call, &bounds, &mut agent, stop).await;
                ended.notify_one();
                ran
            };
            tokio::join!(working, context.hand_in_while_it_works(&ended)).0
        }
        Err(error) => Err(error),
    };
    let conclusion = match &ran {
        // What it said last says nothing about this.
        Ok(Ran { limit: Some(text), .. }) => {
            Conclusion::Failed(Failure::new(FailureClass::Limits, text.clone()))
        }
        Ok(ran) => agent.reading.conclude(&exit_facts(ran)),
        Err(_) => Conclusion::Interrupted,
    };
    if context.spec.kind == RunKind::Work {
        let kept = agent.tool_calls.write(&calls_file(&context.spec.journal()));
        complain("keep which tools the agent called", kept);
    }
    let wants_fallback = ran.as_ref().is_ok_and(|ran| agent.reading.wants_fallback(&exit_facts(ran)));
    Run { ran, conclusion, heard: agent.reading.heard, learnings: agent.learnings, wants_fallback }
}

/// For whoever asks later what the agent had been told. A disk that does not take it costs nobody their work.
fn keep_prompt(context: &RunContext, iteration: u32, prompt: &str) {
    if context.spec.kind == RunKind::Probe {
        return;
    }
    let text = context.redactor.redact(prompt);
    let end = text.floor_char_boundary(PROMPT_KEPT);
    let kept = GivenPrompt {
        run: context.spec.run.clone(),
        iteration,
        at: journal::now(),
        text: text[..end].to_owned(),
        cut: end < text.len(),
    };
    complain("keep the prompt", write_whole(&context.spec.prompt_of(iteration), &kept));
}

/// The program's own folders, before the walls: inside them it may write what is there, and make nothing beside it.
fn make_folders(setup: &AgentSetup, around: &Surroundings) {
    let is_file = |path: &Path| path.to_string_lossy().contains(".json");
    for folder in swarm_agents::writable(setup, around).iter().filter(|path| !is_file(path)) {
        complain("make a folder of the agent program", std::fs::create_dir_all(folder));
    }
}

fn exit_facts(ran: &Ran) -> ExitFacts {
    let ending = match ran.how {
        How::ByItself => Ending::ByItself,
        How::Stopped => Ending::Stopped,
        How::TimedOut => Ending::TimedOut,
        How::Silent => Ending::Silent,
        How::Enough => Ending::Enough,
    };
    ExitFacts { code: ran.status.code(), signal: ran.status.signal(), ending, now: Moment::now() }
}

fn prepared(
    context: &RunContext,
    invocation: &swarm_agents::Invocation,
    prompt_file: &Path,
    prompt: &str,
) -> Result<Call, ProcessError> {
    let program = invocation.argv.first().cloned().unwrap_or_default();
    let failed = |why| ProcessError::Spawn { program: program.clone(), why };
    let mut call = context
        .call(&invocation.argv)
        .ok_or_else(|| ProcessError::NotFound { program: "no program".into() })?;
    let stdin = write(prompt_file, prompt).map_err(failed)?;
    for (path, text) in &invocation.files {
        write(path, text).map_err(failed)?;
    }
    call.stdin = match invocation.stdin {
        Stdin::Nothing => Input::Null,
        // A file: a program that does not read it blocks nobody, and a large prompt is no argument.
        Stdin::Prompt => Input::File(stdin),
        Stdin::Talk => Input::Pipe,
    };
    for (name, value) in &invocation.env {
        call = call.env(name, value);
    }
    Ok(call)
}

/// Written for us and the program alone, and opened for reading. Removed first: what an earlier iteration left
/// in its place is not written through.
fn write(path: &Path, text: &str) -> std::io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    File::open(path)
}
