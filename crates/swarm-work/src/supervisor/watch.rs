//! Waiting for the end of a daemon that is not our child.

use std::fs::File;
use std::io;
use std::time::Duration;

use swarm_protocol::channel::{DaemonRecord, ExitRecord};

use super::end::{Death, End, how_it_ended};
use super::ensure::try_take;
use crate::daemon::RunFiles;
use swarm_process::{Pidfd, ProcessIdentity, is_shortage, open_verified};

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
        match free_of_life(files) {
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

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held;

/// The lock, if nobody holds it; no file at all counts as free.
pub(super) fn free_lock(files: &RunFiles) -> Result<Option<File>, Held> {
    taken(File::options().read(true).write(true).open(files.lock()))
}

/// The same for a run of ours. A daemon whose lock file somebody has removed or replaced still holds the one that has lost
/// its name: then its record tells that it lives.
pub(super) fn free_of_life(files: &RunFiles) -> Result<Option<File>, Held> {
    let lock = free_lock(files)?;
    match process_of(files) {
        Some(_) => Err(Held),
        None => Ok(lock),
    }
}

/// Who can open no file at this moment knows nothing of a daemon: neither that it is gone nor what its last word was.
fn taken(lock: io::Result<File>) -> Result<Option<File>, Held> {
    let lock = match lock {
        Ok(lock) => lock,
        Err(error) if is_shortage(&error) => return Err(Held),
        Err(_) => return Ok(None),
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_can_open_no_more_files_takes_no_daemon_for_gone() {
        // Too many open files, and no such file.
        for (code, expected) in [(24, Some(Held)), (2, None)] {
            assert_eq!(taken(Err(io::Error::from_raw_os_error(code))).err(), expected, "{code}");
        }
    }
}
