//! `swarm run --detach`, and the run behind a screen: the same command once more, in a session of its own.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use clap::Parser;
use serde::Serialize;

use crate::cli::Cli;
use crate::commands;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::swarm::Swarm;
use crate::watch::Watch;

/// Long enough to replay a large ledger and to end what a dead coordinator left.
const UP_WITHIN: Duration = Duration::from_secs(120);
/// What is told of a start that failed.
const SAID_MAX: u64 = 16 * 1024;

/// Done by now, or nothing to the one in the background.
const OVER: [&str; 5] = ["--json", "--edit", "--fresh", "--detach", "--tui"];

#[derive(Debug, Serialize)]
struct Started {
    pid: u32,
    log: String,
    /// False when it was done before anybody could look.
    running: bool,
}

/// A run in the background that has begun, and perhaps ended already.
pub struct Begun {
    pub child: Child,
    ended: Option<ExitStatus>,
    started: Started,
    log: PathBuf,
    /// Where in the log it begins.
    from: u64,
    /// What it says at its end, where somebody waits for it; else it is in the log.
    result: Option<PathBuf>,
}

impl Begun {
    /// For who does not wait: that it runs, or how it ended.
    pub fn tell(mut self, cx: &Context) -> Result<ExitCode, CliError> {
        if self.ended.is_some() {
            return self.end(cx);
        }
        cx.out.view(&self.started, text)?;
        Ok(output::done())
    }

    pub fn has_ended(&mut self) -> bool {
        self.ended = self.ended.or_else(|| self.child.try_wait().ok().flatten());
        self.ended.is_some()
    }

    /// Waits for its end; then its last words, and its exit code is ours.
    pub fn end(&mut self, cx: &Context) -> Result<ExitCode, CliError> {
        let failed = |error| CliError::environment("Cannot watch the swarm").because(error);
        let ended = self.ended.map_or_else(|| self.child.wait(), Ok).map_err(failed)?;
        let result = self.result.as_ref().map(|path| said_since(path, 0)).unwrap_or_default();
        if result.is_empty() {
            output::note(said_since(&self.log, self.from).trim_end());
        } else {
            cx.out.text(&result)?;
        }
        Ok(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(Exit::Bug.code()).into())
    }
}

/// Starts it and waits until it answers or has ended. `waits`: somebody stays to hear what it came to.
pub fn start(cx: &Context, goal: Option<&str>, waits: bool) -> Result<Begun, CliError> {
    let swarm = Swarm::open(cx)?;
    if swarm.is_coordinated() {
        return Err(CliError::owned("A coordinator is already running").run_instead("swarm status --watch"));
    }
    let path = swarm.run_folder().join("coordinator.log");
    let log = open_log(&swarm, &path)?;
    let from = log.metadata().map_or(0, |meta| meta.len());
    let result = waits.then(|| swarm.run_folder().join("result.txt"));
    let out = match &result {
        Some(result) => {
            let out = open_log(&swarm, result)?;
            out.set_len(0).map_err(|error| cannot_write(&swarm, result, &error))?;
            out
        }
        None => open_log(&swarm, &path)?,
    };
    let watch = Watch::folder(swarm.run_folder());
    let mut child = spawn(out, log, goal)?;
    let (mut ended, mut coordinator) = (None, None);
    watch.until(UP_WITHIN, || {
        ended = child.try_wait().ok().flatten();
        coordinator = swarm.coordinator_pid().filter(|pid| parent_of(*pid) == Some(child.id()));
        ended.is_some() || coordinator.is_some()
    });
    let (pid, running) = (coordinator.unwrap_or(child.id()), ended.is_none());
    let started = Started { pid, log: swarm.relative(&path), running };
    if running && coordinator.is_none() {
        return Err(hangs(&mut child, &started));
    }
    Ok(Begun { child, ended, started, log: path, from, result })
}

/// Who started this process: the coordinator is a child of the one that watches it.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

fn text(started: &Started) -> String {
    let Started { pid, log, .. } = started;
    format!(
        "The swarm runs in the background (pid {pid}).\n\
         \x20 swarm status --watch      watch it\n\
         \x20 swarm agent logs WHO -f   follow the output of an agent\n\
         \x20 swarm stop                stop it\n\
         Log: {log}"
    )
}

fn hangs(child: &mut Child, started: &Started) -> CliError {
    let alive = if matches!(child.try_wait(), Ok(None)) { "and is still running" } else { "and has ended" };
    CliError::environment("The swarm was started but does not answer")
        .because(format!("process {} had {} s, {alive}", started.pid, UP_WITHIN.as_secs()))
        .say(format!("See {}", started.log))
}

/// Appended to, so that what an earlier one said is still there; readable by nobody else.
fn open_log(swarm: &Swarm, path: &Path) -> Result<File, CliError> {
    let opened = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(swarm.run_folder())
        .and_then(|()| File::options().create(true).append(true).read(true).mode(0o600).open(path));
    opened.map_err(|error| cannot_write(swarm, path, &error))
}

fn cannot_write(swarm: &Swarm, path: &Path, error: &std::io::Error) -> CliError {
    CliError::environment(format!("Cannot write {}", swarm.relative(path))).because(error)
}

fn spawn(out: File, log: File, goal: Option<&str>) -> Result<Child, CliError> {
    let failed = |error: std::io::Error| CliError::environment("Cannot start the swarm").because(error);
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(words(std::env::args_os().skip(1).collect(), goal));
    command.stdin(Stdio::inherit()).stdout(out).stderr(log);
    command.spawn().map_err(failed)
}

/// The same words, but for the one that brought us here, what is done by now (the plan before is closed, the plan is edited), and
/// a goal that has become a plan; what it says is for people, whoever asked.
fn words(mut words: Vec<OsString>, goal: Option<&str>) -> Vec<OsString> {
    let is_over = |word: &OsString| OVER.iter().any(|over| word == *over);
    words.retain(|word| !is_over(word));
    if let Some(goal) = goal {
        words = without_goal(words, goal);
    }
    // Behind a bare `--` it would be no option.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, "--detached".into());
    words
}

/// Takes the goal away, and no other word that reads the same: what is left is a run without a goal.
fn without_goal(words: Vec<OsString>, goal: &str) -> Vec<OsString> {
    let is_goal = |at: &usize| words.get(*at).is_some_and(|word| word == goal);
    let without = |gone: usize| -> Vec<OsString> {
        words.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, word)| word.clone()).collect()
    };
    let found = (0..words.len()).rev().filter(is_goal).map(without).find(|words| has_no_goal(words));
    found.unwrap_or(words)
}

fn has_no_goal(words: &[OsString]) -> bool {
    let all = std::iter::once(OsString::from("swarm")).chain(words.iter().cloned());
    match Cli::try_parse_from(all).map(|cli| cli.command) {
        Ok(commands::Command::Run(args)) => args.goal.is_none(),
        _ => false,
    }
}

/// The end of what it said since it was started.
fn said_since(path: &std::path::Path, begin: u64) -> String {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let from = begin.max(file.metadata()?.len().saturating_sub(SAID_MAX));
        file.seek(SeekFrom::Start(from))?;
        file.take(SAID_MAX).read_to_end(&mut text)
    });
    match read {
        Ok(_) => output::harmless_lines(&String::from_utf8_lossy(&text)),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_in_the_background_gets_the_same_words() {
        let check = |typed: &str, goal, expected: &str| {
            let typed = typed.split(' ').map(OsString::from).collect();
            let expected: Vec<OsString> = expected.split(' ').map(OsString::from).collect();
            assert_eq!(words(typed, goal), expected);
        };
        check("run --tui --agents 2", None, "run --agents 2 --detached");
        check("-C here run --agents 2", None, "-C here run --agents 2 --detached");
        check("--json run --detach", None, "run --detached");
        check("run --fresh --yes --detach", None, "run --yes --detached");
        check("run -- goal", Some("goal"), "run --detached --");
        // A goal may read like another word of the line.
        check("-C here run here", Some("here"), "-C here run --detached");
        check("run run --yes", Some("run"), "run --yes --detached");
        check("run codex --agent codex --detach", Some("codex"), "run --agent codex --detached");
        check("run --fresh --trunk run", Some("run"), "run --trunk run --detached");
    }
}
