//! Waiting for the end of a daemon that is not our child.

use std::fs::File;
use std::time::Duration;

use swarm_protocol::channel::{DaemonRecord, ExitRecord};

use super::end::{Death, End, how_it_ended};
use super::ensure::try_take;
use crate::daemon::RunFiles;
use swarm_process::{Pidfd, ProcessIdentity, open_verified};

/// A daemon that holds its lock has its record on disk a moment later; until then we look this often.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Far away. The pidfd wakes us; this only gives the wait the bound that it must have.
const ONE_DAY: Duration = Duration::from_secs(86_400);

/// How a daemon ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DaemonEnd {
    LastWord(ExitRecord),
    Died(Death),
}

/// Comes back when the run has no daemon any more. What it left behind has been ended then.
pub async fn watch_daemon(files: &RunFiles, nonce: &str, grace: Duration) -> DaemonEnd {
    loop {
        match free_lock(files) {
            Ok(_lock) => {
                return match how_it_ended(files, nonce, grace).await {
                    End::LastWord(exit) => DaemonEnd::LastWord(exit),
                    End::Died(death) => DaemonEnd::Died(death),
                    End::NeverBegan => DaemonEnd::Died(never()),
                };
            }
            Err(Held) => match process_of(files) {
                Some(process) => {
                    process.wait_gone(ONE_DAY).await;
                    let_go(files).await;
                }
                None => tokio::time::sleep(LOOK_EVERY).await,
            },
        }
    }
}

/// To be called when the process is gone: a lock is given back a moment before or after its pidfd speaks.
pub(super) async fn let_go(files: &RunFiles) {
    if free_lock(files).is_err() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn never() -> Death {
    Death { text: "it never began".into(), unacknowledged: Vec::new(), left: Vec::new() }
}

pub(super) struct Held;

/// The lock, if nobody holds it; no file at all counts as free.
pub(super) fn free_lock(files: &RunFiles) -> Result<Option<File>, Held> {
    let Ok(lock) = File::options().read(true).write(true).open(files.lock()) else { return Ok(None) };
    match try_take(&lock) {
        Ok(true) => Ok(Some(lock)),
        _ => Err(Held),
    }
}

/// The daemon's process, held and proven to be the one of the record.
pub(super) fn process_of(files: &RunFiles) -> Option<Pidfd> {
    open_verified(&identity(files.read_record()?))
}

fn identity(record: DaemonRecord) -> ProcessIdentity {
    let DaemonRecord { boot_id, pid, start_time, nonce, .. } = record;
    ProcessIdentity { boot_id, pid, start_time, nonce }
}
