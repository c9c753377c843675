//! How an agent program is started for one iteration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::reading::Reading;
use super::tools::{TOOLS_VARIABLE, ToolServer};
use super::{AgentProgram, AgentSetup, acp, claude, codex, gemini, opencode, plain};

/// What one iteration needs.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The prompt as a file; also on standard input where the program reads it from there.
    pub prompt_file: &'a Path,
    pub prompt: &'a str,
    pub worktree: &'a Path,
    /// The program's session of the last iteration, to go on with.
    pub session: Option<&'a str>,
    /// A folder for files of this run.
    pub scratch: &'a Path,
    /// Our own executable.
    pub swarm: &'a Path,
    /// Where the tools of its run are served; none: they are not.
    pub tools: Option<&'a Path>,
    pub way: Way,
}

impl<'a> Launch<'a> {
    pub fn tool_server(&self) -> Option<ToolServer<'a>> {
        self.tools.map(|socket| ToolServer { swarm: self.swarm, socket })
    }
}

/// Codex can be started in two ways; the others in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    #[default]
    Preferred,
    Fallback,
}

/// What is on the program's standard input. Never an open pipe that nobody writes to: codex and opencode
/// would wait for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    Nothing,
    Prompt,
    /// A talk: the reading says what to write.
    Talk,
}

/// A program and what it needs around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Files to be written before it starts.
    pub files: Vec<(PathBuf, String)>,
    pub stdin: Stdin,
}

impl Invocation {
    pub fn new(argv: Vec<String>, stdin: Stdin) -> Self {
        Self { argv, env: Vec::new(), files: Vec::new(), stdin }
    }

    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Switches, all on.
    pub fn switches(mut self, names: &[&str]) -> Self {
        self.env.extend(names.iter().map(|name| ((*name).to_owned(), "1".to_owned())));
        self
    }
}

/// The part of the world that decides how a program is started: variables, among them HOME and PATH.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    pub variables: BTreeMap<String, String>,
    pub root: bool,
}

impl Surroundings {
    pub fn of_this_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            variables: std::env::vars_os().filter_map(text).collect(),
            root: rustix::process::geteuid().is_root(),
        }
    }

    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A folder below the home folder; a relative one when there is no home.
    pub fn home(&self, below: &str) -> PathBuf {
        Path::new(self.variable("HOME").unwrap_or_default()).join(below)
    }

    /// A folder that a variable names, or the usual one below the home folder.
    pub fn folder(&self, variable: &str, below: &str) -> PathBuf {
        self.variable(variable).map_or_else(|| self.home(below), PathBuf::from)
    }

    /// The executable that PATH finds.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            return is_executable(Path::new(program)).then(|| PathBuf::from(program));
        }
        let path = self.variable("PATH")?;
        std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| is_executable(file))
    }
}

fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The start of one iteration, and the reader of what comes.
pub fn begin(setup: &AgentSetup, launch: &Launch<'_>, around: &Surroundings) -> (Invocation, Reading) {
    let (mut invocation, transcript): (Invocation, Box<dyn super::reading::Transcript>) = match setup.program
    {
        AgentProgram::Claude => (claude::invocation(setup, launch, around), Box::<claude::Claude>::default()),
        AgentProgram::Codex if launch.way == Way::Fallback || codex::wants_exec(setup) => {
            (codex::exec_invocation(setup, launch, around), Box::<codex::Codex>::default())
        }
        AgentProgram::Codex => {
            let (invocation, opening) = codex::app_server_invocation(setup, launch, around);
            (invocation, Box::new(codex::Codex::talking(opening)))
        }
        AgentProgram::Gemini => (gemini::invocation(setup, launch, around), Box::<gemini::Gemini>::default()),
        AgentProgram::Opencode => (opencode::invocation(setup, launch), Box::<opencode::Opencode>::default()),
        AgentProgram::Acp => {
            let (invocation, opening) = acp::invocation(setup, launch, around);
            (invocation, Box::new(acp::Acp::talking(opening)))
        }
        AgentProgram::Exec | AgentProgram::Script => {
            (plain::invocation(setup, launch), Box::<plain::Plain>::default())
        }
    };
    if let Some(socket) = launch.tools {
        invocation = invocation.env(TOOLS_VARIABLE, socket.to_string_lossy());
    }
    (invocation, Reading::new(setup, transcript))
}

/// A reader for what a program printed earlier. A recording of an ACP agent is told by its first line,
/// whatever program it is said to be of.
pub fn reading_of(program: AgentProgram, first_line: &str) -> Reading {
    let setup = AgentSetup { max_steps: 0, ..AgentSetup::of(program) };
    let speaks_acp = super::json::event(first_line).is_some_and(|event| event.get("jsonrpc").is_some());
    let transcript: Box<dyn super::reading::Transcript> = match program {
        AgentProgram::Exec | AgentProgram::Script => Box::<plain::Plain>::default(),
        _ if speaks_acp => Box::<acp::Acp>::default(),
        AgentProgram::Claude => Box::<claude::Claude>::default(),
        AgentProgram::Codex => Box::<codex::Codex>::default(),
        AgentProgram::Gemini => Box::<gemini::Gemini>::default(),
        AgentProgram::Opencode => Box::<opencode::Opencode>::default(),
        AgentProgram::Acp => Box::<acp::Acp>::default(),
    };
    Reading::new(&setup, transcript)
}

/// Names of variables that may be handed on to the program: its keys, its endpoints, its folders.
pub fn pass_env(setup: &AgentSetup) -> Vec<&'static str> {
    match setup.program {
        AgentProgram::Claude => claude::pass_env().to_vec(),
        AgentProgram::Codex => codex::pass_env().to_vec(),
        AgentProgram::Gemini => gemini::pass_env().to_vec(),
        AgentProgram::Opencode => opencode::pass_env().to_vec(),
        AgentProgram::Acp => acp::pass_env(setup),
        AgentProgram::Exec | AgentProgram::Script => Vec::new(),
    }
}

/// The program's own folders and files, which it must be able to write. Not all of them exist.
pub fn writable(setup: &AgentSetup, around: &Surroundings) -> Vec<PathBuf> {
    match setup.program {
        AgentProgram::Claude => claude::writable(around),
        AgentProgram::Codex => codex::writable(around),
        AgentProgram::Gemini => gemini::writable(around),
        AgentProgram::Opencode => opencode::writable(around),
        AgentProgram::Acp => acp::writable(setup, around),
        AgentProgram::Exec | AgentProgram::Script => Vec::new(),
    }
}

/// The program itself, or what the profile says instead.
pub fn command_of(setup: &AgentSetup, program: &str) -> Vec<String> {
    if setup.command.is_empty() { vec![program.to_owned()] } else { setup.command.clone() }
}

/// Adds arguments of which some have a value that is not always there.
pub fn with_args(mut argv: Vec<String>, args: &[&str], model: Option<(&str, &str)>) -> Vec<String> {
    argv.extend(args.iter().map(|arg| (*arg).to_owned()));
    if let Some((flag, model)) = model {
        argv.extend([flag.to_owned(), model.to_owned()]);
    }
    argv
}
