//! Which files of a worktree differ from what an index of ours shows.
//!
//! Every file is looked at once, several at a time, and only those whose times or sizes are not the known ones are
//! read: through a small index that holds nothing else, so that git itself judges them, filters and all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::call::{Git, GitError};
use super::entry::{Change, Entry, path_of};
use super::objects::{parse_indexed, parse_raw_diff};
use super::private_index::PrivateIndex;
use super::sizes::{Sorted, sorted};

/// Files that only seemed to differ are read again at every look. So many, and the index learns of them.
const FALSE_ALARMS_MAX: usize = 100;

/// How git tells differences.
const RAW: [&str; 8] = [
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    // Nothing is run inside another repository: only the commit that it shows is compared.
    "--ignore-submodules=dirty",
    "-O/dev/null",
];

/// What differs, and an index of the files concerned; none where nothing seemed to.
pub struct Differences {
    /// With both sides; the names of the new contents are not known yet.
    pub changes: Vec<Change>,
    pub small: Option<SmallIndex>,
}

/// Shows the old sides of some changes. Gone when it is dropped.
pub struct SmallIndex(pub PrivateIndex);

impl Drop for SmallIndex {
    fn drop(&mut self) {
        self.0.forget();
    }
}

impl PrivateIndex {
    /// Tracked files that differ from what the index shows.
    pub async fn differences(&self, git: &Git, worktree: &Path) -> Result<Differences, GitError> {
        self.settle_if_due(git, worktree).await?;
        // Not `ls-files --modified`, which looks at one file after the other.
        let look = self.call(git, worktree, &["diff-files"]).args(RAW).global("-c");
        let look = look.global("core.preloadIndex=true").long_list().ok().await?;
        let seeming = parsed("diff-files", &look)?;
        if seeming.is_empty() {
            return Ok(Differences { changes: seeming, small: None });
        }
        let Sorted { doubtful, changed } = sorted(git, worktree, seeming).await?;
        let small = SmallIndex(self.empty_one()?);
        let back = |change: &Change| Change { path: change.path.clone(), old: None, new: change.old.clone() };
        small.0.enter(git, worktree, &doubtful.iter().map(back).collect::<Vec<_>>()).await?;
        let mut changes = match doubtful.is_empty() {
            true => Vec::new(),
            false => {
                let judge = small.0.call(git, worktree, &["diff"]).args(RAW).long_list().ok().await?;
                parsed("diff", &judge)?
            }
        };
        if doubtful.len() - changes.len().min(doubtful.len()) > FALSE_ALARMS_MAX {
            self.settle(git, worktree).await?;
        }
        small.0.enter(git, worktree, &changed.iter().map(back).collect::<Vec<_>>()).await?;
        changes.extend(changed);
        Ok(Differences { changes, small: Some(small) })
    }

    /// Everything that is in it.
    pub async fn entries(&self, git: &Git, worktree: &Path) -> Result<BTreeMap<PathBuf, Entry>, GitError> {
        let output = self.call(git, worktree, &["ls-files", "-z", "-s", "-t"]).long_list().ok().await?;
        let mut found = BTreeMap::new();
        for record in output.split(|b| *b == 0).filter(|record| !record.is_empty()) {
            let (path, indexed) = parse_indexed(record).ok_or_else(|| GitError::Unreadable {
                command: "ls-files".into(),
                what: String::from_utf8_lossy(record).into_owned(),
            })?;
            found.insert(path, indexed.entry);
        }
        Ok(found)
    }

    /// Files that are there and not in it, folders as a whole: those that git ignores, or the others.
    pub async fn untracked(
        &self,
        git: &Git,
        worktree: &Path,
        which: Untracked,
    ) -> Result<Vec<PathBuf>, GitError> {
        let args = ["ls-files", "-z", "--others", "--exclude-standard", "--directory"];
        let mut call = self.call(git, worktree, &args);
        if which == Untracked::Ignored {
            call = call.arg("--ignored");
        }
        let output = call.long_list().ok().await?;
        let names = output.split(|b| *b == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| path_of(name.strip_suffix(b"/").unwrap_or(name))).collect())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untracked {
    Ignored,
    NotIgnored,
}

fn parsed(command: &str, output: &[u8]) -> Result<Vec<Change>, GitError> {
    parse_raw_diff(output)
        .ok_or_else(|| GitError::Unreadable { command: command.into(), what: "raw diff".into() })
}
