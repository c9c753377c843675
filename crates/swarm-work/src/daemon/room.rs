//! How much room a worktree takes, looked at now and then beside the program's work.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Counting a large worktree takes a second of one processor.
const COUNT_EVERY: Duration = Duration::from_secs(30);

/// Names that are counted; a worktree with more is counted so far.
const NAMES_MAX: usize = 2_000_000;

/// The last count, and when it began.
#[derive(Debug, Default)]
pub struct Room {
    begun: Option<Instant>,
    counting: Arc<AtomicBool>,
    last: Arc<AtomicU64>,
}

impl Room {
    /// For people, when these places, the worktree first, are together larger than they may be.
    pub fn passed(&mut self, places: &[PathBuf], max: Option<u64>) -> Option<String> {
        let max = max?;
        let due = self.begun.is_none_or(|begun| begun.elapsed() >= COUNT_EVERY);
        if due && !self.counting.swap(true, Ordering::Relaxed) {
            self.begun = Some(Instant::now());
            let (places, counting, last) = (places.to_owned(), self.counting.clone(), self.last.clone());
            tokio::task::spawn_blocking(move || {
                last.store(bytes_below(&places), Ordering::Relaxed);
                counting.store(false, Ordering::Relaxed);
            });
        }
        let now = self.last.load(Ordering::Relaxed);
        (now > max).then(|| {
            format!(
                "its worktree, temporary files and own repository have {} MiB, and limits.worktree allows {}",
                now >> 20,
                max >> 20
            )
        })
    }
}

/// As much of the disk as the files below them take, each once where one place is in another. Links are not followed.
fn bytes_below(places: &[PathBuf]) -> u64 {
    let is_within = |place: &Path| places.iter().any(|other| place != other && place.starts_with(other));
    let tops: Vec<PathBuf> = places.iter().filter(|place| !is_within(place)).cloned().collect();
    let (mut bytes, mut names, mut folders) = (0_u64, 0, tops);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            bytes += meta.blocks() * 512;
            names += 1;
            if meta.is_dir() {
                folders.push(entry.path());
            }
        }
        if names > NAMES_MAX {
            break;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_folders_are_counted_and_what_links_lead_to_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("a")).expect("made");
        std::fs::write(dir.path().join("a/file"), vec![1; 1 << 20]).expect("written");
        std::os::unix::fs::symlink("/", dir.path().join("link")).expect("linked");
        let [top, within] = [dir.path().to_owned(), dir.path().join("a")];
        let bytes = bytes_below(&[within, top.clone()]);
        assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
        let beside = tempfile::tempdir().expect("a folder");
        std::fs::write(beside.path().join("file"), vec![1; 1 << 20]).expect("written");
        let bytes = bytes_below(&[top, beside.path().to_owned()]);
        assert!((2 << 20..3 << 20).contains(&bytes), "{bytes}");
    }
}
