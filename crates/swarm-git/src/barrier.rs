//! What git has written is durable only after a sync of the file system: exit code 0 of git is not
//! (a power cut right after an acknowledged commit loses it). One sync serves all who wait for one.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Mutex;

use super::call::{Git, GitError};

#[derive(Debug, Default)]
pub(crate) struct Barrier {
    asked: AtomicU64,
    served: Mutex<u64>,
    broken: AtomicBool,
}

impl Barrier {
    async fn wait(&self, dir: &Path) -> Result<(), GitError> {
        let ticket = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut served = self.served.lock().await;
        if self.broken.load(Ordering::SeqCst) {
            return Err(GitError::NotDurable("an earlier sync failed".into()));
        }
        // A sync that began after we asked covers what we wrote before asking.
        if *served >= ticket {
            return Ok(());
        }
        let covers = self.asked.load(Ordering::SeqCst);
        if left_out() {
            *served = covers;
            return Ok(());
        }
        let dir = dir.to_owned();
        let synced = tokio::task::spawn_blocking(move || {
            let folder = std::fs::File::open(dir)?;
            rustix::fs::syncfs(&folder).map_err(std::io::Error::from)
        });
        match synced.await {
            Ok(Ok(())) => {
                *served = covers;
                Ok(())
            }
            // A second sync may say yes although the first has lost pages: never trust one again.
            Ok(Err(error)) => {
                self.broken.store(true, Ordering::SeqCst);
                Err(GitError::NotDurable(error.to_string()))
            }
            Err(error) => {
                self.broken.store(true, Ordering::SeqCst);
                Err(GitError::NotDurable(error.to_string()))
            }
        }
    }
}

/// The planted bug of the power-cut test, which has to find it: builds for people never have it.
fn left_out() -> bool {
    cfg!(debug_assertions) && std::env::var_os("SWARM_PLANTED_NO_SYNCFS").is_some()
}

impl Git {
    /// Whether a sync has failed: this process cannot know any more what the disk has.
    pub fn sync_failed(&self) -> bool {
        self.shared.barrier.broken.load(Ordering::SeqCst)
    }

    /// Returns when everything written to the repository before this call is on the disk.
    /// After an error the process must end: the disk no longer tells the truth.
    pub async fn make_durable(&self) -> Result<(), GitError> {
        self.shared.barrier.wait(&self.common_dir).await
    }
}
