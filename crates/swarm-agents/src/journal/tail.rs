//! A journal as bytes: for front ends that pass lines on and want each one's position.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use serde::de::IgnoredAny;
use tokio::io::unix::AsyncFd;

use swarm_process::watch_readable;

/// One line as it stands in the journal, without its newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLine {
    pub text: String,
    /// The byte behind it: where to go on.
    pub cursor: u64,
}

/// Whole lines from the byte `cursor` on, within the bounds but at least one where there is one.
/// None of them: there is nothing new yet.
pub fn read_raw(path: &Path, cursor: u64, lines_max: usize, bytes_max: usize) -> io::Result<Vec<RawLine>> {
    let file = File::open(path)?;
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
    let mut whole = 0;
    // A line has a bound of its own when it is written, so this ends.
    while whole < bytes_max {
        let read = file.read_at(&mut chunk, cursor + bytes.len() as u64)?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&chunk[..read]);
        whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    }
    let mut at = cursor;
    let mut lines = Vec::new();
    for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n').take(lines_max) {
        at += line.len() as u64;
        let text = String::from_utf8_lossy(&line[..line.len() - 1]).into_owned();
        // What a crash cut off is not a line; nor is the rest of one that the cursor points into.
        if serde_json::from_str::<IgnoredAny>(&text).is_ok() {
            lines.push(RawLine { text, cursor: at });
        } else if let Some(last) = lines.last_mut() {
            last.cursor = at;
        } else {
            lines.push(RawLine { text: String::new(), cursor: at });
        }
    }
    lines.retain(|line| !line.text.is_empty() || line.cursor == at);
    Ok(lines)
}

/// Tells when a journal grows.
#[derive(Debug)]
pub struct Growth {
    inotify: AsyncFd<OwnedFd>,
}

impl Growth {
    pub fn of(path: &Path) -> io::Result<Self> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        inotify::add_watch(&fd, path, WatchFlags::MODIFY)?;
        Ok(Self { inotify: watch_readable(fd)? })
    }

    /// Resolves when something was written since the last time, or since the beginning.
    pub async fn more(&self) -> io::Result<()> {
        let mut ready = self.inotify.readable().await?;
        let mut buffer = [std::mem::MaybeUninit::uninit(); 1024];
        let mut reader = inotify::Reader::new(ready.get_inner(), &mut buffer);
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::IGNORED) => return Ok(()),
                Ok(_) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        ready.clear_ready();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_with_their_places_and_broken_ones_are_passed_over() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.jsonl");
        std::fs::write(&path, "{\"n\":1}\n{\"n\":\n{\"n\":2}\n{\"n\":3").expect("written");
        let read = |cursor, lines| read_raw(&path, cursor, lines, 1 << 20).expect("read");
        let texts = |lines: &[RawLine]| -> Vec<(String, u64)> {
            lines.iter().map(|line| (line.text.clone(), line.cursor)).collect()
        };
        assert_eq!(texts(&read(0, 9)), [("{\"n\":1}".into(), 14), ("{\"n\":2}".into(), 22)]);
        assert_eq!(texts(&read(0, 1)), [("{\"n\":1}".into(), 8)]);
        assert_eq!(texts(&read(3, 9))[0], ("{\"n\":2}".into(), 22), "into the middle of a line");
        assert_eq!(read(22, 9), []);
        assert!(read_raw(&dir.path().join("none"), 0, 1, 1).is_err());
    }

    #[tokio::test]
    async fn growth_is_noticed() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("r1.jsonl");
        std::fs::write(&path, "").expect("written");
        let growth = Growth::of(&path).expect("watched");
        for _ in 0..2 {
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("opened");
            std::io::Write::write_all(&mut file, b"{}\n").expect("written");
            let told = tokio::time::timeout(std::time::Duration::from_secs(30), growth.more()).await;
            told.expect("told in time").expect("told");
        }
    }
}
