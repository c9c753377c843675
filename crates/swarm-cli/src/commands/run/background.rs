//! `swarm run --detach`: the same command once more, in a session of its own.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output;
use crate::swarm::Swarm;
use crate::watch::Watch;

/// Long enough to replay a large ledger and to end what a dead coordinator left.
const UP_WITHIN: Duration = Duration::from_secs(120);
/// What is told of a start that failed.
const SAID_MAX: u64 = 16 * 1024;

#[derive(Debug, Serialize)]
struct Started {
    pid: u32,
    log: String,
    /// False when it was done before anybody could look.
    running: bool,
}

/// Starts it, waits until it answers or has failed, and says which; that it runs, only if wanted.
pub fn start(cx: &Context, goal: Option<&str>, tells: bool) -> Result<ExitCode, CliError> {
    let swarm = Swarm::open(cx)?;
    if swarm.has_coordinator() || swarm.is_watched() {
        return Err(CliError::owned("A coordinator is already running").run_instead("swarm status --watch"));
    }
    let (path, log) = open_log(&swarm)?;
    let begin = log.metadata().map_or(0, |meta| meta.len());
    let watch = Watch::folder(swarm.run_folder());
    let mut child = spawn(&log, goal)?;
    let (mut ended, mut coordinator) = (None, None);
    watch.until(UP_WITHIN, || {
        ended = child.try_wait().ok().flatten();
        coordinator = swarm.coordinator_pid().filter(|pid| parent_of(*pid) == Some(child.id()));
        ended.is_some() || coordinator.is_some()
    });
    let (pid, running) = (coordinator.unwrap_or(child.id()), ended.is_none());
    let started = Started { pid, log: swarm.relative(&path), running };
    match ended {
        Some(status) => {
            output::note(said_since(&path, begin).trim_end());
            Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70).into())
        }
        None if coordinator.is_none() => Err(hangs(&mut child, &started)),
        None => {
            if tells {
                cx.out.view(&started, text)?;
            }
            Ok(output::done())
        }
    }
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
fn open_log(swarm: &Swarm) -> Result<(PathBuf, File), CliError> {
    let path = swarm.run_folder().join("coordinator.log");
    let opened = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(swarm.run_folder())
        .and_then(|()| File::options().create(true).append(true).read(true).mode(0o600).open(&path));
    let log = opened.map_err(|error| {
        CliError::environment(format!("Cannot write {}", swarm.relative(&path))).because(error)
    })?;
    Ok((path, log))
}

fn spawn(log: &File, goal: Option<&str>) -> Result<Child, CliError> {
    let failed = |error: std::io::Error| CliError::environment("Cannot start the swarm").because(error);
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    // The same words, but for the one that brought us here, and a goal that has become a plan; what it says is for
    // people, whoever asked.
    let is_over =
        |word: &OsString| word == "--json" || word == "--edit" || goal.is_some_and(|goal| word == goal);
    let words = std::env::args_os().skip(1).filter(|word| !is_over(word));
    let brought_us_here = |word: &OsString| word == "--detach" || word == "--tui";
    command.args(words.map(|word| if brought_us_here(&word) { "--detached".into() } else { word }));
    command.stdin(Stdio::inherit());
    command.stdout(log.try_clone().map_err(failed)?).stderr(log.try_clone().map_err(failed)?);
    command.spawn().map_err(failed)
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
