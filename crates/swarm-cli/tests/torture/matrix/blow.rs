//! One death: who, and when.

use super::life::{Life, RUN, ended};
use super::shim::{self, Moment};
use super::traced::{Call, has_struck, killing};
use crate::arena::holds_within;
use crate::arena::{LIMIT, Running};
use crate::victims::{Party, signal};
use rustix::process::Signal;
use std::time::{Duration, Instant};

#[derive(Debug, Clone)]
pub enum Blow {
    /// The command itself, when it enters a call.
    Syscall {
        command: usize,
        call: Call,
    },
    /// The n-th git of the run.
    Git {
        nth: u32,
        moment: &'static Moment,
        with_parent: bool,
    },
    /// The daemon, so long after the first record of this type.
    Daemon {
        after: &'static str,
        later_ms: u64,
    },
    Agent {
        after: &'static str,
        later_ms: u64,
    },
}

/// The record after which it fell.
pub type Struck = Option<String>;

impl Blow {
    pub fn command(&self) -> usize {
        match self {
            Self::Syscall { command, .. } => *command,
            Self::Git { .. } | Self::Daemon { .. } | Self::Agent { .. } => RUN,
        }
    }

    /// Runs the command and strikes. Exit code (none: killed), words, and where it fell.
    pub fn fall(&self, life: &Life, command: usize) -> (Option<i32>, String, Struck) {
        match self {
            Self::Syscall { call, .. } => {
                let log = life.arena.path("strace.log");
                let root = life.arena.root.canonicalize().expect("it is there");
                let traced = killing(&life.command(command), &log, call, &root);
                let (code, said) = ended(Running::of(traced));
                (code, said, has_struck(&log).then(|| life.arena.last_record()))
            }
            Self::Git { nth, moment, with_parent } => {
                let mut run = life.command(command);
                shim::put_before(&mut run, &life.arena, Some((*nth, moment, *with_parent)));
                let (code, said) = ended(Running::of(run));
                (code, said, shim::struck(&life.arena))
            }
            Self::Daemon { after, later_ms } => strike(life, Party::Daemon, after, *later_ms),
            Self::Agent { after, later_ms } => strike(life, Party::Agent, after, *later_ms),
        }
    }
}

/// Kills one of these as soon as the ledger has the record, or so much later.
fn strike(life: &Life, party: Party, after: &str, later_ms: u64) -> (Option<i32>, String, Struck) {
    let running = Running::of(life.command(RUN));
    let began = Instant::now();
    while life.arena.records(after) == 0 && began.elapsed() < LIMIT {
        std::thread::park_timeout(Duration::from_millis(2));
    }
    holds_within(Duration::from_millis(later_ms), || false);
    let mut struck = None;
    // One that is not there yet is about to be.
    holds_within(Duration::from_millis(300), || {
        let place = life.arena.last_record();
        let hit = life.arena.living(party).first().is_some_and(|pid| signal(*pid, Signal::KILL));
        struck = hit.then(|| format!("{place} ({party:?})"));
        hit || life.arena.records("task_status_changed") > 0
    });
    let (code, said) = ended(running);
    (code, said, struck)
}
