//! How a daemon whose lock is free came to its end.

use std::time::Duration;

use swarm_protocol::channel::{ExitRecord, FromDaemon};

use crate::daemon::{DaemonSpec, RunFiles, unacknowledged_on_disk};
use swarm_process::containment::end_run;
use swarm_process::{Sweep, boot_id, end_cast_off};

/// A daemon is gone without a last word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// For people.
    pub text: String,
    /// Reports that were on disk and that nobody acknowledged, in order.
    pub unacknowledged: Vec<(u64, FromDaemon)>,
    /// Processes of its tree that could not be ended.
    pub left: Vec<u32>,
}

pub(super) enum End {
    LastWord(ExitRecord),
    Died(Death),
    NeverBegan,
}

/// To be called under the run's lock. Ends what the daemon left behind.
pub(super) async fn how_it_ended(files: &RunFiles, nonce: &str, grace: Duration) -> End {
    if let Some(exit) = files.read_exit().filter(|exit| exit.nonce == nonce) {
        return End::LastWord(exit);
    }
    if !files.record().exists() && !files.exit().exists() {
        return End::NeverBegan;
    }
    let restarted = files.read_record().is_some_and(|record| Some(record.boot_id) != boot_id());
    let (text, left) = if restarted {
        ("the machine was restarted", Vec::new())
    } else {
        let left = end_left_behind(files, nonce, grace).await;
        ("it ended without a last word", left)
    };
    End::Died(Death { text: text.into(), unacknowledged: unacknowledged_on_disk(&files.outbox()), left })
}

/// Ends everything of a run whose daemon is gone; answers with those who stay.
pub(super) async fn end_left_behind(files: &RunFiles, nonce: &str, grace: Duration) -> Vec<u32> {
    let mut left = match end_run(nonce, grace).await {
        Sweep::Empty { .. } => Vec::new(),
        Sweep::Left { pids } => pids,
    };
    let spec = DaemonSpec::read(&files.spec()).or_else(|_| DaemonSpec::read(&files.ended_spec()));
    if let (Ok(spec), Some(record)) = (spec, files.read_record()) {
        left.extend(end_cast_off(&spec.worktree, record.start_time).await);
    }
    left
}
