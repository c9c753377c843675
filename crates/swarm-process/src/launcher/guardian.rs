//! Where there is neither a control group nor a pid namespace, a guardian stands between daemon and program: it
//! is the parent of every orphan below it, and it notices the death of the daemon. So a process that gave itself
//! a session, lost its parents and emptied its environment still has a parent who ends it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, getppid, kill_process, wait as wait_for_any, waitpid};

use super::EXIT_NOT_BOXED;
use super::enter::become_program;
use super::init::{die_with_parent, end_as, let_go_of_pipes};
use super::letter::{Opened, Trouble};
use crate::identity::Pidfd;
use crate::reaper::{become_reaper, children};
use crate::sweep::hold_descendants;

/// Longest the last pass may take against those who fork faster than they are ended.
const KILL_WITHIN: Duration = Duration::from_secs(5);

/// The argument that tells the part of the one below.
pub const INSIDE: &str = "inside";

/// Starts the program, waits for its end or the daemon's, ends everything below, and ends as the program ended.
pub fn guard(letter: &Opened, path: &Path, program: &[OsString]) -> Result<u8, Trouble> {
    let grace = Duration::from_millis(letter.spec.leftover_grace_ms);
    let daemon = getppid().and_then(|pid| Pidfd::open(pid.as_raw_nonzero().get().cast_unsigned()));
    // Looked at after the hold: a daemon that had died before has no letter any more.
    let Some(daemon) = daemon.filter(|_| path.exists()) else { return Ok(EXIT_NOT_BOXED) };
    become_reaper().map_err(|error| Trouble::cannot("take care of orphans", error))?;
    let mut command = Command::new("/proc/self/exe");
    // A group of its own: a signal that it sends to its group must not meet us.
    command.arg("boxed").arg(path).arg(INSIDE).args(program).process_group(0);
    let child = command.spawn().map_err(|error| Trouble::cannot("start below the guardian", error))?;
    let program = Pid::from_child(&child);
    // The program alone is to hold its pipes: their closing tells something.
    let_go_of_pipes();
    // The walls were put up below us, so this thread may still end what is behind them.
    std::thread::spawn(move || {
        wait_for_end_of(&daemon);
        end_all(grace);
        std::process::exit(i32::from(EXIT_NOT_BOXED));
    });
    loop {
        match wait_for_any(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => {
                end_all(grace);
                return end_as(std::os::unix::process::ExitStatusExt::from_raw(status.as_raw()));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // The other thread has taken leave of it: the daemon is dead, and so will we be in a moment.
            Err(_) => std::thread::park(),
        }
    }
}

/// The part of the one below: it goes with the guardian, and becomes the program.
pub fn inside(letter: &mut Opened, program: &[OsString]) -> Result<u8, Trouble> {
    die_with_parent();
    become_program(letter, program)
}

fn wait_for_end_of(daemon: &Pidfd) {
    loop {
        match poll(&mut [PollFd::from_borrowed_fd(daemon.fd(), PollFlags::IN)], None) {
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
}

/// A request to everybody below, then force until nobody is left.
fn end_all(grace: Duration) {
    let below = if grace.is_zero() { vec![] } else { hold_descendants(std::process::id()) };
    for held in below {
        held.signal(Signal::TERM);
    }
    let begun = Instant::now();
    while !nobody_left() && begun.elapsed() < grace {
        wait_for_one(begun + grace);
    }
    // Whoever loses his parent becomes our child, so it is enough to end these, again and again. Without a pause: one
    // that forks is caught only by somebody who is faster.
    let forced = Instant::now();
    while !nobody_left() && forced.elapsed() < KILL_WITHIN {
        for child in children().into_iter().filter_map(number) {
            // Not reaped yet by the only two who could, or gone: the number names a child of ours or nobody.
            let _ = kill_process(child, Signal::KILL);
        }
        std::thread::yield_now();
    }
}

/// Until one of our children ends. Whoever loses his parent meanwhile has another of them above him, or was one.
fn wait_for_one(until: Instant) {
    let held: Vec<Pidfd> = children().into_iter().filter_map(Pidfd::open).collect();
    let mut polled: Vec<PollFd<'_>> =
        held.iter().map(|held| PollFd::from_borrowed_fd(held.fd(), PollFlags::IN)).collect();
    let left = until.saturating_duration_since(Instant::now());
    let limit = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
    // Nobody to wait for: the next look says so.
    if !polled.is_empty() {
        let _ = poll(&mut polled, Some(&limit));
    }
}

/// Takes leave of the dead.
fn nobody_left() -> bool {
    let all = children();
    for child in &all {
        let _ = waitpid(number(*child), WaitOptions::NOHANG);
    }
    all.is_empty()
}

fn number(child: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child).ok()?)
}
