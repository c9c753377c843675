//! Waiting for a file to change, without asking again and again where the kernel can tell.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// How often to look where nothing can be watched, and at least once in a while where something can: a
/// file system over the network does not tell.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Changes of some folders and files.
pub struct Watch {
    inotify: Option<OwnedFd>,
}

impl Watch {
    /// Names that come, go or are written in this folder.
    pub fn folder(path: &Path) -> Self {
        Self::new().and(path)
    }

    pub fn new() -> Self {
        Self { inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok() }
    }

    /// This one too; one that cannot be watched is looked at every second.
    pub fn and(self, path: &Path) -> Self {
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_TO
            | WatchFlags::MODIFY
            | WatchFlags::DELETE_SELF;
        if let Some(fd) = &self.inotify {
            let _ = inotify::add_watch(fd, path, flags);
        }
        self
    }

    /// Comes back when something has changed, or after a second.
    pub fn wait(&self) {
        self.wait_or(None);
    }

    /// The same, or when this can be read. True then.
    pub fn wait_or(&self, other: Option<&std::io::Stdin>) -> bool {
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(2);
        polled.extend(self.inotify.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let first = polled.len();
        polled.extend(other.map(|fd| PollFd::new(fd, PollFlags::IN)));
        let limit = Timespec { tv_sec: LOOK_EVERY.as_secs() as i64, tv_nsec: 0 };
        let _ = poll(&mut polled, Some(&limit));
        let readable = polled.get(first).is_some_and(|fd| !fd.revents().is_empty());
        drop(polled);
        self.drain();
        readable
    }

    /// Waits until this holds, at most so long. False when it never did.
    pub fn until(&self, limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
        let end = Instant::now() + limit;
        loop {
            if holds() {
                return true;
            }
            if Instant::now() > end {
                return false;
            }
            self.wait();
        }
    }

    /// What has happened is looked up where it matters; here it is only taken out of the way.
    fn drain(&self) {
        let Some(fd) = &self.inotify else { return };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(fd, &mut buffer);
        while reader.next().is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_wakes_before_the_second_is_over_and_a_limit_is_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let watch = Watch::folder(dir.path());
        let file = dir.path().join("a");
        std::thread::scope(|scope| {
            scope.spawn(|| std::fs::write(&file, "x").expect("writable"));
            assert!(watch.until(Duration::from_secs(30), || file.exists()));
        });
        assert!(!watch.until(Duration::ZERO, || false));
    }
}
