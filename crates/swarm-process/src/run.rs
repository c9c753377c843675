//! One child: started, bounded, ended.

mod reading;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::bound::bound;
use super::limits::{is_shortage, keep_within};
use super::program::found_on_path;
use super::reaper;
use super::stuck::until_stuck;
use reading::{AbortOnDrop, Stop, collect, read_bounded};

/// Of what a child says on stderr the last part is kept: the reason stands at the end.
const STDERR_TAIL_BYTES: usize = 64 * 1024;

/// How long a child that is waited for is tried to be started while the machine has no room for it.
const SHORTAGE_MAX: Duration = Duration::from_secs(10);
const SHORTAGE_PAUSE: Duration = Duration::from_millis(20);
const SHORTAGE_PAUSE_MAX: Duration = Duration::from_secs(1);

/// What the child reads. A pipe only where somebody holds a dialogue: a child that waits for input
/// which never comes would wait for ever.
#[derive(Debug, Default)]
pub enum Input {
    #[default]
    Null,
    File(File),
    /// For [`Call::spawn`] alone: the caller takes the writing end, and closes it.
    Pipe,
    /// Held in memory outside any pipe, so that neither side can block the other.
    Bytes(Vec<u8>),
}

/// What happens when a child prints more than `stdout_max` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// The output is data, half of it would be a lie: end the child, answer with an error.
    Refuse,
    /// The output is for people: keep the end of it.
    KeepTail,
}

/// A program to start. Nothing of our own environment is handed on unless it is put in here.
#[derive(Debug)]
pub struct Call {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: Option<PathBuf>,
    pub env: BTreeMap<OsString, OsString>,
    pub stdin: Input,
    pub stdout_max: usize,
    pub excess: Excess,
    pub timeout: Duration,
    /// Doing nothing for so long is as good as never ending. None: it may wait for whatever it likes.
    pub stuck_after: Option<Duration>,
    /// Memory of its own that it may have, and each of those that it starts: beyond that it is refused.
    pub data_max: Option<u64>,
    /// It is ended by the kernel when we end, however we do.
    pub(super) ends_with_us: bool,
}

/// A child that has ended by itself, however badly.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    /// True when the beginning of `stdout` was dropped ([`Excess::KeepTail`]).
    pub stdout_cut: bool,
    pub stderr_tail: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("{program} is not installed or not in PATH")]
    NotFound { program: String },
    #[error("cannot start {program}: {why}")]
    Spawn { program: String, why: std::io::Error },
    #[error(transparent)]
    NoContainment(#[from] super::containment::NoContainment),
    #[error("{program} did not end within {} s and was stopped", after.as_secs())]
    TimedOut { program: String, after: Duration },
    #[error(
        "{program} did nothing for {} s and was stopped: it may be waiting for a pipe",
        after.as_secs()
    )]
    Stuck { program: String, after: Duration },
    #[error("{program} printed more than {limit} bytes and was stopped")]
    TooMuchOutput { program: String, limit: usize },
    #[error("cannot read what {program} printed")]
    Read {
        program: String,
        #[source]
        source: std::io::Error,
    },
}

impl Call {
    /// A call with an empty environment, no input, and the bounds that suit a short program.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            stdin: Input::Null,
            stdout_max: 4 * 1024 * 1024,
            excess: Excess::Refuse,
            timeout: Duration::from_secs(600),
            stuck_after: None,
            data_max: None,
            ends_with_us: false,
        }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub fn args<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub fn cwd(mut self, dir: impl AsRef<Path>) -> Self {
        self.cwd = Some(dir.as_ref().to_owned());
        self
    }

    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Ended by the kernel when we end, however we do.
    pub fn ends_with_us(mut self) -> Self {
        self.ends_with_us = true;
        self
    }

    /// Starts the child in a process group of its own and leaves waiting to the caller.
    pub fn spawn(self, stdout: Stdio, stderr: Stdio) -> Result<Running, ProcessError> {
        self.start(stdout, stderr)
    }

    /// The same, where the machine may have no room at this moment: others end, and there is.
    async fn start_when_there_is_room(&self) -> Result<Running, ProcessError> {
        let until = Instant::now() + SHORTAGE_MAX.min(self.timeout);
        let mut pause = SHORTAGE_PAUSE;
        loop {
            match self.start(Stdio::piped(), Stdio::piped()) {
                Err(ProcessError::Spawn { why, .. }) if is_shortage(&why) && Instant::now() < until => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(SHORTAGE_PAUSE_MAX);
                }
                other => return other,
            }
        }
    }

    fn start(&self, stdout: Stdio, stderr: Stdio) -> Result<Running, ProcessError> {
        let program = self.program.to_string_lossy().into_owned();
        let failed = |why| ProcessError::Spawn { program: program.clone(), why };
        let stdin = match &self.stdin {
            Input::Null => Stdio::null(),
            Input::File(file) => file.try_clone().map_err(failed)?.into(),
            Input::Pipe => Stdio::piped(),
            Input::Bytes(bytes) => file_in_memory(bytes).map_err(failed)?.into(),
        };
        // Neither a pre_exec nor a name to be searched: with them the standard library forks the whole
        // process instead of using posix_spawn, which is slow for a coordinator with much memory.
        let found = found_on_path(&self.program, &self.env);
        let mut command = match self.ends_with_us.then(|| bound(found.as_deref(), &self.program)).flatten() {
            Some((ourselves, words)) => {
                let mut command = Command::new(ourselves);
                command.args(words);
                command
            }
            None => {
                let mut command = Command::new(found.as_deref().map_or(&*self.program, Path::as_os_str));
                command.arg0(&self.program);
                command
            }
        };
        command.args(&self.args).env_clear().envs(&self.env);
        command.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
        if let Some(dir) = &self.cwd {
            command.current_dir(dir);
        }
        match command.spawn() {
            Ok(child) => {
                // From outside, for the reason above: what it takes before that is what it was started with.
                self.data_max.zip(child.id()).into_iter().for_each(|(bytes, pid)| keep_within(pid, bytes));
                Ok(Running::new(child))
            }
            // A missing working directory gives the same error as a missing program.
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound
                    && self.cwd.as_ref().is_none_or(|d| d.is_dir()) =>
            {
                Err(ProcessError::NotFound { program })
            }
            Err(why) => Err(failed(why)),
        }
    }

    /// Runs the child to its end. Dropping the future ends the whole process group, and so does our own end.
    pub async fn run(self) -> Result<Ended, ProcessError> {
        // In a box: it is at the bottom of deep futures, and each of them would carry all of it.
        Box::pin(self.run_to_its_end()).await
    }

    async fn run_to_its_end(mut self) -> Result<Ended, ProcessError> {
        let program = self.program.to_string_lossy().into_owned();
        let (timeout, limit, excess) = (self.timeout, self.stdout_max, self.excess);
        let stuck_after = self.stuck_after;
        self.ends_with_us = true;
        let mut running = self.start_when_there_is_room().await?;
        drop(running.child.stdin.take());
        let pid = running.child.id();
        let stdout = running.child.stdout.take().expect("stdout was asked to be a pipe");
        let stderr = running.child.stderr.take().expect("stderr was asked to be a pipe");
        let work = async {
            let out = tokio::spawn(read_bounded(stdout, limit, excess));
            let err = tokio::spawn(read_bounded(stderr, STDERR_TAIL_BYTES, Excess::KeepTail));
            let (out, err) = (AbortOnDrop(out), AbortOnDrop(err));
            collect(&mut running, out, err).await
        };
        let stuck = async {
            match (pid, stuck_after) {
                (Some(pid), Some(after)) => {
                    until_stuck(pid, after).await;
                    after
                }
                _ => std::future::pending().await,
            }
        };
        let unended = tokio::select! {
            ended = work => return match ended {
                Ok(ended) => Ok(ended),
                Err(Stop::TooMuch) => Err(ProcessError::TooMuchOutput { program, limit }),
                Err(Stop::Io(source)) => Err(ProcessError::Read { program, source }),
            },
            () = tokio::time::sleep(timeout) => ProcessError::TimedOut { program, after: timeout },
            after = stuck => ProcessError::Stuck { program, after },
        };
        running.end_group().await;
        Err(unended)
    }
}

fn file_in_memory(bytes: &[u8]) -> std::io::Result<File> {
    let fd = rustix::fs::memfd_create("swarm-stdin", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(fd);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// A started child. Dropped before its end was seen, its process group is killed.
#[derive(Debug)]
pub struct Running {
    pub child: Child,
    group: Option<Pid>,
    held: Option<u32>,
}

impl Running {
    fn new(child: Child) -> Self {
        let held = child.id();
        held.into_iter().for_each(reaper::hold);
        let group = held.and_then(|pid| Pid::from_raw(pid as i32));
        Self { child, group, held }
    }

    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.is_reaped();
        Ok(status)
    }

    /// Kills the group and reaps the child.
    pub async fn end_group(&mut self) {
        self.kill_group();
        // A killed child ends at once unless the kernel holds it (dead network disk): do not wait with it.
        if tokio::time::timeout(Duration::from_secs(5), self.child.wait()).await.is_ok() {
            self.is_reaped();
        }
    }

    /// From here on the number may belong to somebody else.
    fn is_reaped(&mut self) {
        self.group = None;
        self.held.take().into_iter().for_each(reaper::release);
    }

    /// Lets the child outlive us: it is not killed when this is dropped (and still reaped if it
    /// ends before we do).
    pub fn leave(mut self) -> Option<u32> {
        self.group = None;
        self.child.id()
    }

    fn kill_group(&self) {
        if let Some(group) = self.group {
            // Not yet reaped, so the number still names our group. It may be empty already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill_group();
        self.held.take().into_iter().for_each(reaper::release);
    }
}
