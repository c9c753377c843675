//! Waiting for a file to change, without asking again and again where the kernel can tell.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
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
        self.poll(other.map(|fd| PollFd::new(fd, PollFlags::IN)))
    }

    /// The same as long as somebody reads what is printed here. Where nothing changes nothing is printed, and only this look finds
    /// a pipe that was closed at its other end: `swarm status --watch --json | grep -m1 …` would never end.
    pub fn wait_while_read(&self, out: &impl AsFd) -> bool {
        // That the other end is gone is told without being asked for.
        !self.poll(Some(PollFd::new(out, PollFlags::empty())))
    }

    /// True when there is something to be said of the other one.
    fn poll(&self, other: Option<PollFd<'_>>) -> bool {
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(2);
        polled.extend(self.inotify.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let first = polled.len();
        polled.extend(other);
        let limit = Timespec { tv_sec: LOOK_EVERY.as_secs() as i64, tv_nsec: 0 };
        let _ = poll(&mut polled, Some(&limit));
        let said = polled.get(first).is_some_and(|fd| !fd.revents().is_empty());
        drop(polled);
        self.drain();
        said
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

    #[test]
    fn the_end_of_whoever_reads_is_noticed_though_nothing_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        let watch = Watch::folder(dir.path());
        let (reader, writer) = std::io::pipe().expect("a pipe");
        std::fs::write(dir.path().join("a"), "x").expect("writable");
        assert!(watch.wait_while_read(&writer), "somebody could still read");
        drop(reader);
        assert!(!watch.wait_while_read(&writer));
        let file = std::fs::File::open(dir.path().join("a")).expect("a file");
        std::fs::write(dir.path().join("b"), "x").expect("writable");
        assert!(watch.wait_while_read(&file), "a file has no reader that could leave");
    }
}
