//! A program in its net: what it uses, and its end with all that it started.

use std::time::Duration;

use rustix::process::Signal;
use tokio::time::Instant;

use super::cgroup::{Leaf, leaves_of};
use crate::identity::{Pidfd, cpu_time_of, parent_of, pid_in_proc, starved_time_of};
use crate::limits::Limits;
use crate::sweep::{
    Sweep, descendants_of, end_tree_by_nonce, hold_descendants, hold_launchers, processes_with_nonce,
};
use crate::usage::Usage;

/// After the first process of a namespace was killed, the kernel ends the others before it is gone.
const KILL_WITHIN: Duration = Duration::from_secs(2);
const PASS: Duration = Duration::from_millis(50);

/// What a guardian needs after the death of its daemon: its grace (a second) and a moment for force.
const LAUNCHERS_WITHIN: Duration = Duration::from_secs(3);

/// The net of one started program.
#[derive(Debug, Clone)]
pub enum Held {
    Leaf(Leaf),
    /// By the pid of the launcher outside the namespace, a child of ours.
    Namespace {
        launcher: Option<u32>,
    },
    /// By the pid of the guardian, a child of ours.
    Guarded {
        launcher: Option<u32>,
    },
}

impl Held {
    /// Processor time used by the program and all it started.
    pub fn cpu_used(&self, nonce: &str) -> Duration {
        let sum = |pids: Vec<u32>| pids.into_iter().filter_map(cpu_time_of).sum();
        match self {
            Self::Leaf(leaf) => leaf.cpu_used().unwrap_or_else(|| sum(processes_with_nonce(nonce))),
            Self::Namespace { launcher } | Self::Guarded { launcher } => {
                sum(launcher.map(descendants_of).unwrap_or_default())
            }
        }
    }

    /// Time for which they could have worked and had no processor: the machine has more to do than it can.
    pub fn starved(&self) -> Duration {
        self.members().into_iter().map(starved_time_of).sum()
    }

    fn members(&self) -> Vec<u32> {
        match self {
            Self::Leaf(leaf) => leaf.members(),
            Self::Namespace { launcher } | Self::Guarded { launcher } => {
                launcher.map(descendants_of).unwrap_or_default()
            }
        }
    }

    /// The limit that the program and all it started have passed, for people.
    pub fn passed(&self, limits: &Limits) -> Option<String> {
        let pids = self.members();
        limits.passed(Usage::of(&pids)).and_then(|_| limits.passed(Usage::of_all_together(&pids)))
    }

    /// The limit that the kernel itself has enforced, for people. To be asked before the end of everything.
    pub fn enforced(&self) -> Option<&'static str> {
        match self {
            Self::Leaf(leaf) => leaf.enforced(),
            Self::Namespace { .. } | Self::Guarded { .. } => None,
        }
    }

    /// Ends everything: a request, force after `grace`. Answers who could not be ended.
    pub async fn end(self, nonce: String, grace: Duration) -> Vec<u32> {
        match self {
            // Whoever may write to the tree of groups can leave his leaf, but not his ancestors: he comes home to
            // the daemon, which ends him there. So nobody has to look through all processes of the machine.
            Self::Leaf(leaf) => {
                let left = leaf.end(grace).await;
                leaf.remove().await;
                left
            }
            Self::Namespace { launcher } => end_below(launcher, grace).await,
            Self::Guarded { launcher } => {
                let mut left = end_below(launcher, grace).await;
                left.extend(swept(&nonce, Duration::ZERO).await);
                left
            }
        }
    }
}

async fn swept(nonce: &str, grace: Duration) -> Vec<u32> {
    match end_tree_by_nonce(nonce, grace).await {
        Sweep::Empty { .. } => Vec::new(),
        Sweep::Left { pids } => pids,
    }
}

/// Ends what is below the launcher, which then goes by itself. Answers who could not be ended.
async fn end_below(launcher: Option<u32>, grace: Duration) -> Vec<u32> {
    // A child of ours, held before it is looked at: if it is gone, so is everything below it.
    let Some((launcher, pid)) = launcher.and_then(|pid| Some((Pidfd::open(pid)?, pid))) else {
        return Vec::new();
    };
    if parent_of(pid) != Some(pid_in_proc()) || launcher.is_gone() {
        return Vec::new();
    }
    if !grace.is_zero() {
        for held in hold_descendants(pid) {
            held.signal(Signal::TERM);
        }
        if launcher.wait_gone(grace).await {
            return Vec::new();
        }
    }
    // Not the launcher first: it tells how the program ended, and it leaves when nobody is left below. Again and again,
    // because those below a guardian may be starting others.
    let until = Instant::now() + KILL_WITHIN;
    while Instant::now() < until {
        for inside in hold_descendants(pid) {
            inside.signal(Signal::KILL);
        }
        if launcher.wait_gone(PASS).await {
            return Vec::new();
        }
    }
    launcher.signal(Signal::KILL);
    launcher.wait_gone(KILL_WITHIN).await;
    descendants_of(pid)
}

/// Ends everything of a run whose daemon is gone, in whatever net it was.
pub async fn end_run(nonce: &str, grace: Duration) -> Sweep {
    // Those that stand between the daemon and the programs have seen its death, and are at it.
    for launcher in hold_launchers(nonce) {
        launcher.wait_gone(LAUNCHERS_WITHIN).await;
    }
    let leaves = leaves_of(nonce);
    let mut left = Vec::new();
    for leaf in &leaves {
        left.extend(leaf.end(grace).await);
    }
    // Whoever was in a leaf has had his time.
    let swept = end_tree_by_nonce(nonce, if leaves.is_empty() { grace } else { Duration::ZERO }).await;
    for leaf in &leaves {
        leaf.remove().await;
    }
    match swept {
        Sweep::Left { pids } => Sweep::Left { pids: left.into_iter().chain(pids).collect() },
        empty if left.is_empty() => empty,
        Sweep::Empty { .. } => Sweep::Left { pids: left },
    }
}
