//! A pid namespace has two of us: the first process inside, which starts the program and takes leave
//! of orphans, and the launcher outside, which the daemon knows and which ends as the program ended.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, kill_process, set_dumpable_behavior,
    set_parent_process_death_signal, wait as wait_for_any,
};

use super::EXIT_NOT_BOXED;
use super::enter::{not_begun, put_up_walls};
use super::letter::{Opened, Trouble};
use super::signals::obey_requests;
use crate::identity::{Pidfd, pid_in_proc};
use crate::sweep::hold_descendants;

/// Starts the first process, waits for the word how the program ended, ends what it left, and ends alike.
pub fn outside(letter: &mut Opened, program: &[OsString]) -> Result<u8, Trouble> {
    let grace = Duration::from_millis(letter.spec.leftover_grace_ms);
    let (mut word, pen) = io::pipe().map_err(|error| Trouble::cannot("make a pipe", error))?;
    let pen_path = format!("/proc/{}/fd/{}", pid_in_proc(), pen.as_raw_fd());
    let mut command = Command::new("/proc/self/exe");
    // Our own entry of the letter: from a user namespace the daemon's cannot be reached.
    command.arg("boxed").arg(letter.path()).args(["first", &pen_path]).args(program);
    let mut first = command.spawn().map_err(|error| Trouble::cannot("start in the namespace", error))?;
    let lost = |error| Trouble::cannot("watch the namespace", error);
    let Some(held) = Pidfd::open(first.id()) else { return end_as(first.wait().map_err(lost)?) };
    // The program alone is to hold its pipes: their closing tells something.
    let_go_of_pipes();
    wait_for_word_or_end(&word, &held).map_err(lost)?;
    if held.is_gone() {
        // Nothing was said, or it was said and is in the pipe. Without our own end an empty one is over.
        drop(pen);
        let status = first.wait().map_err(lost)?;
        return end_as(read_word(&mut word).unwrap_or(status));
    }
    let how = read_word(&mut word);
    end_leftovers(&mut first, &held, grace).map_err(lost)?;
    end_as(how.unwrap_or(ExitStatus::from_raw(Signal::KILL.as_raw())))
}

fn wait_for_word_or_end(word: &io::PipeReader, first: &Pidfd) -> io::Result<()> {
    loop {
        let mut polled =
            [PollFd::new(word, PollFlags::IN), PollFd::from_borrowed_fd(first.fd(), PollFlags::IN)];
        match poll(&mut polled, None) {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.map(|_| ()).map_err(Into::into),
        }
    }
}

fn read_word(word: &mut io::PipeReader) -> Option<ExitStatus> {
    let mut bytes = [0; 4];
    word.read_exact(&mut bytes).ok()?;
    Some(ExitStatus::from_raw(i32::from_le_bytes(bytes)))
}

/// A request to those that outlive the program; the end of the first process is the end of the rest.
fn end_leftovers(first: &mut Child, held: &Pidfd, grace: Duration) -> io::Result<()> {
    for left in hold_descendants(first.id()) {
        left.signal(Signal::TERM);
    }
    let until = Instant::now() + grace;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let limit = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut polled = [PollFd::from_borrowed_fd(held.fd(), PollFlags::IN)];
        match poll(&mut polled, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            _ => break,
        }
    }
    held.signal(Signal::KILL);
    first.wait().map(|_| ())
}

/// Ends this process as the program ended, by the same signal if it was one.
pub fn end_as(status: ExitStatus) -> Result<u8, Trouble> {
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        obey_requests();
        let _ = kill_process(rustix::process::getpid(), signal);
    }
    // Still here: the signal is one that we ignore (a broken pipe). Shells say it like this.
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(EXIT_NOT_BOXED))
}

/// Pid 1 of the namespace: `first PEN [PROGRAM [ARG…]]`. It ends when nobody is left, or is killed.
pub fn first_process(letter: &mut Opened, args: &[OsString]) -> Result<u8, Trouble> {
    die_with_parent();
    let Some((pen, program)) = args.split_first() else { return Ok(EXIT_NOT_BOXED) };
    // Opened after that word: if it can be opened, the launcher was alive when the word was given.
    let mut pen = OpenOptions::new()
        .write(true)
        .open(pen)
        .map_err(|error| Trouble::cannot("reach the launcher outside", error))?;
    // The terminal of whoever started the daemon is not the program's.
    let _ = rustix::process::setsid();
    put_up_walls(letter)?;
    let Some((name, args)) = program.split_first() else { return Ok(0) };
    // We stay, behind the same walls as the program: nothing of us is to be opened or traced, the letter and the pen least
    // of all. Whoever is started below is an ordinary process again.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| Trouble::cannot("keep the letter from the program", error.into()))?;
    // A group of its own: a signal that it sends to its group must not meet us.
    let child = Command::new(name).args(args).process_group(0).spawn().map_err(not_begun)?;
    let program = Pid::from_child(&child);
    let_go_of_pipes();
    loop {
        match wait_for_any(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => say(&mut pen, status.as_raw()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // Nobody is left.
            Err(_) => return Ok(0),
        }
    }
}

fn say(pen: &mut File, status: i32) {
    // If the launcher is gone, so are we in a moment.
    let _ = pen.write_all(&status.to_le_bytes());
}

pub fn die_with_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

pub fn let_go_of_pipes() {
    if let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}
