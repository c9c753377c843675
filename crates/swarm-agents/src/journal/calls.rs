//! Calls of tools, written down beside the journal when their iteration is over: when each began and ended, and its name.
//! What it was called with is in the journal alone.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use swarm_protocol::attempt::ToolCall;

use super::writer::now;

/// Calls of one iteration that are kept.
const CALLS_MAX: usize = 1000;
/// Characters of a name: programs name the tools of their servers as they like.
const NAME_MAX: usize = 100;
/// Of a file that is read: fifty iterations of as many calls as are kept.
const READ_MAX: u64 = 16 << 20;

/// Beside the journal of the run.
pub fn calls_file(journal: &Path) -> PathBuf {
    journal.with_extension("calls.jsonl")
}

/// The calls of one iteration while it goes on.
#[derive(Debug, Default)]
pub struct Calls {
    iteration: u32,
    all: Vec<ToolCall>,
    /// Places in `all` of those that have not ended.
    open: Vec<usize>,
}

impl Calls {
    pub fn of(iteration: u32) -> Self {
        Self { iteration, ..Self::default() }
    }

    pub fn begins(&mut self, name: &str) {
        if self.all.len() >= CALLS_MAX {
            return;
        }
        let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
        let n = u32::try_from(self.all.len() + 1).unwrap_or(u32::MAX);
        let at = now();
        self.open.push(self.all.len());
        self.all.push(ToolCall { iteration: self.iteration, n, name, began: at, ended: at, ok: None });
    }

    /// The oldest of this name that goes on.
    pub fn ends(&mut self, name: &str, ok: bool) {
        let all = &mut self.all;
        let is_it = |at: &usize| name.starts_with(&all[*at].name) || all[*at].name.starts_with(name);
        let Some(place) = self.open.iter().position(is_it) else { return };
        let call = &mut all[self.open.remove(place)];
        (call.ended, call.ok) = (now(), Some(ok));
    }

    /// Appended in one piece. What goes on still ends with the iteration.
    pub fn write(mut self, file: &Path) -> io::Result<()> {
        let at = now();
        for open in std::mem::take(&mut self.open) {
            self.all[open].ended = at;
        }
        if self.all.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for call in &self.all {
            serde_json::to_writer(&mut lines, call)?;
            lines.push(b'\n');
        }
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600).open(file)?.write_all(&lines)
    }
}

/// The calls of this iteration, in their order; none where nothing was written down.
pub fn calls_of(file: &Path, iteration: u64) -> Vec<ToolCall> {
    // Not through whatever else may lie there.
    let is_file = std::fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file());
    let Some(file) = is_file.then(|| File::open(file).ok()).flatten() else { return Vec::new() };
    let lines = BufReader::new(file.take(READ_MAX)).lines().map_while(Result::ok);
    let calls = lines.filter_map(|line| serde_json::from_str::<ToolCall>(&line).ok());
    calls.filter(|call| u64::from(call.iteration) == iteration).take(CALLS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_overlap_end_by_their_names_and_what_never_ended_ends_with_the_iteration() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = calls_file(&dir.path().join("r1.jsonl"));
        assert!(file.ends_with("r1.calls.jsonl") && calls_of(&file, 1).is_empty());
        let mut first = Calls::of(1);
        for name in ["Bash", "Read", "Bash", "mcp\u{1b}[31m__x"] {
            first.begins(name);
        }
        first.ends("Read", true);
        first.ends("Bash", false);
        first.ends("Never", true);
        first.write(&file).expect("written");
        let mut second = Calls::of(2);
        second.begins(&"n".repeat(5000));
        second.ends(&"n".repeat(5000), true);
        second.write(&file).expect("written");
        Calls::of(3).write(&file).expect("nothing to write");
        let told = |iteration| -> Vec<(u32, String, Option<bool>)> {
            calls_of(&file, iteration).into_iter().map(|call| (call.n, call.name, call.ok)).collect()
        };
        let wanted =
            [(1, "Bash", Some(false)), (2, "Read", Some(true)), (3, "Bash", None), (4, "mcp[31m__x", None)];
        assert_eq!(told(1), wanted.map(|(n, name, ok)| (n, name.to_owned(), ok)));
        assert_eq!(told(2), [(1, "n".repeat(NAME_MAX), Some(true))]);
        assert!(told(3).is_empty());
    }

    #[test]
    fn no_iteration_keeps_more_than_its_bound_and_nothing_is_read_through_a_link() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("r1.calls.jsonl");
        let mut calls = Calls::of(1);
        for _ in 0..2 * CALLS_MAX {
            calls.begins("Bash");
        }
        calls.write(&file).expect("written");
        assert_eq!(calls_of(&file, 1).len(), CALLS_MAX);
        let link = dir.path().join("r2.calls.jsonl");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert!(calls_of(&link, 1).is_empty());
    }
}
