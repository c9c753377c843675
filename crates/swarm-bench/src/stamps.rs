//! The moment at which a program has come to life: it writes a line to a file, and the kernel tells us.
//!
//! Limit and product are observed in the same way, so what the observation costs is on both sides.

use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustix::fs::inotify;

/// A file was written to.
#[derive(Debug, Clone)]
pub struct Stamp {
    pub name: String,
    pub at: Instant,
}

/// A folder in which every write is seen. Two quick writes to one file may be seen as one.
pub struct Stamps {
    pub dir: PathBuf,
    seen: Receiver<Stamp>,
}

impl Stamps {
    pub fn watch(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let watched = inotify::init(inotify::CreateFlags::CLOEXEC)?;
        inotify::add_watch(&watched, dir, inotify::WatchFlags::MODIFY)?;
        let (sender, seen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [MaybeUninit::uninit(); 16 << 10];
            let mut events = inotify::Reader::new(watched, &mut buffer);
            while let Ok(event) = events.next() {
                let at = Instant::now();
                let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                if sender.send(Stamp { name: name.unwrap_or_default(), at }).is_err() {
                    return;
                }
            }
        });
        Ok(Self { dir: dir.to_owned(), seen })
    }

    /// The script line that stamps the file of this name.
    pub fn line(&self, name: &str) -> String {
        format!("count {}", self.dir.join(name).display())
    }

    pub fn next(&self, limit: Duration) -> Result<Stamp> {
        match self.seen.recv_timeout(limit) {
            Ok(stamp) => Ok(stamp),
            Err(RecvTimeoutError::Timeout) => bail!("no agent came to life within {} s", limit.as_secs()),
            Err(RecvTimeoutError::Disconnected) => bail!("the folder {} is gone", self.dir.display()),
        }
    }

    pub fn take(&self, count: usize, limit: Duration) -> Result<Vec<Stamp>> {
        (0..count).map(|_| self.next(limit)).collect()
    }

    /// Forgets what was seen so far.
    pub fn clear(&self) {
        while self.seen.try_recv().is_ok() {}
    }
}

/// The times between neighbours, in seconds.
pub fn gaps(stamps: &[Stamp]) -> Vec<f64> {
    stamps.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64()).collect()
}
