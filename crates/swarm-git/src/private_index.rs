//! An index of our own for each worktree, in the common git directory where no agent can write.
//!
//! What it says of files (sizes, times, inodes) is what we have seen ourselves. It makes the second look at a
//! worktree cheap, and it is why a look can be believed: an agent's own index may call changed files unchanged.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::Oid;

use super::call::{Git, GitCall, GitError};
use super::guard::Looked;
use super::marker::{lock_within, make_own_folder};
use swarm_process::{Input, boot_id};

/// The daemon and the supervisor may both want to save the same worktree, and a git of one that died may
/// still write: one waits for the other.
const INDEX_WAIT: Duration = Duration::from_secs(60);

/// How the names of indexes that live for one question begin; no task's name does.
const ONE_QUESTION: &str = ".question-";

/// No question takes so long.
const LEFT_AFTER: Duration = Duration::from_secs(24 * 3600);

/// One per worktree, kept between calls; locked while used, so that two do not share it.
#[derive(Debug)]
pub struct PrivateIndex {
    pub file: PathBuf,
    lock: File,
    /// Worktrees that were looked through since it was taken: nobody is to work in them meanwhile.
    pub(super) looked: Arc<Looked>,
    /// It is for a person's checkout, with nothing in it that was not merged.
    persons: bool,
}

/// How the names of indexes begin that are for checkouts of people, or for none.
const NOT_OURS: [&str; 3] = [".aside", ".take-up", ".restore"];

/// How that of a person's checkout is called.
const PERSONS: &str = ".aside";

/// Times of files are believed only with the change time, which cannot be set by a program, whatever the
/// person has configured for the own checkout.
const WATCHFUL: [&str; 2] = ["core.trustctime=true", "core.checkStat=default"];

/// An index ends with a checksum over all of it, which costs as much as everything else that is done when it is
/// written. Git does not look at it, other programs that read a worktree's index do.
const SEALED: &str = "index.skipHash=false";
const UNSEALED: &str = "index.skipHash=true";

/// The shortest checksum; one that was left out is all zeros.
const CHECKSUM_BYTES_MIN: i64 = 20;

/// What an index showed when it was last seen. Git never changes an index, it puts a new file in its place; so the
/// same file still shows the same.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Shown {
    commit: Oid,
    /// Since when the machine runs: after a power cut a file may have its old size and times and other bytes.
    boot: String,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    /// Many of its files were written in the same second as the index itself. Git does not trust what it knows of
    /// them, and reads them at every look.
    #[serde(default)]
    unsettled: bool,
}

impl PrivateIndex {
    pub async fn take(git: &Git, name: &str) -> Result<Self, GitError> {
        let dir = git.swarm_dir().join("index");
        make_own_folder(&dir)?;
        let file = dir.join(name);
        let lock_path = dir.join(format!("{name}.held"));
        let Some(lock) = lock_within(&lock_path, "", INDEX_WAIT).await? else {
            let busy = std::io::Error::other("another git command on this worktree does not end");
            return Err(GitError::io("take", &lock_path)(busy));
        };
        // Nobody else uses it now, so a lock of git's on it was left by one that was killed.
        let _ = std::fs::remove_file(dir.join(format!("{name}.lock")));
        let ours = !NOT_OURS.iter().any(|begin| name.starts_with(begin));
        Ok(Self { file, lock, looked: Looked::new(ours), persons: name == PERSONS })
    }

    /// Something for a git process to keep open: as long as it lives nobody else takes this index.
    pub fn sign_of_life(&self) -> Result<Input, GitError> {
        Ok(Input::File(self.lock.try_clone().map_err(GitError::io("duplicate a handle of", &self.file))?))
    }

    /// A call on the files of `worktree` through this index and the repository's own configuration.
    pub fn call(&self, git: &Git, worktree: &Path, args: &[&str]) -> GitCall {
        self.call_with(git, worktree, args, SEALED)
    }

    /// A call that leaves the index without its checksum, for steps that are not the last one.
    pub fn draft(&self, git: &Git, worktree: &Path, args: &[&str]) -> GitCall {
        self.call_with(git, worktree, args, UNSEALED)
    }

    fn call_with(&self, git: &Git, worktree: &Path, args: &[&str], seal: &str) -> GitCall {
        let call = git.call(args).within(&self.looked).work_tree(worktree).index(&self.file);
        let call = if self.persons { call.as_the_person() } else { call };
        WATCHFUL.iter().chain([&seal]).fold(call, |call, switch| call.global("-c").global(switch))
    }

    /// Gives it the checksum that a draft has left out.
    pub(super) async fn seal(&self, git: &Git, worktree: &Path) -> Result<(), GitError> {
        if !self.lacks_checksum().map_err(GitError::io("read", &self.file))? {
            return Ok(());
        }
        let shows = self.noted();
        self.call(git, worktree, &["update-index", "--force-write-index"]).ok().await?;
        if let Some(commit) = shows {
            self.note_shown(&commit);
        }
        Ok(())
    }

    fn lacks_checksum(&self) -> std::io::Result<bool> {
        let mut file = File::open(&self.file)?;
        file.seek(SeekFrom::End(-CHECKSUM_BYTES_MIN))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        Ok(end.iter().all(|byte| *byte == 0))
    }

    /// Makes the tracked files of `worktree` those of the commit. Only files that differ from what was last
    /// seen are written, so a worktree that shows a commit near it costs little.
    pub async fn fill(&self, git: &Git, worktree: &Path, commit: &Oid) -> Result<(), GitError> {
        let _few_at_once = git.shared.filling.acquire().await;
        let fill = self.call(git, worktree, &["read-tree", "--reset", "-u", commit.as_str()]);
        fill.stdin(self.sign_of_life()?).ok().await?;
        self.note(commit, true);
        Ok(())
    }

    /// Leads the tracked files of `worktree` from one tree, which the index shows, to another. A file that is the same in both
    /// is left as it is, whatever somebody has made of it.
    pub async fn lead(&self, git: &Git, worktree: &Path, from: &Oid, to: &Oid) -> Result<(), GitError> {
        self.show(git, worktree, from).await?;
        if from == to {
            return Ok(());
        }
        // Git touches no file of which it does not know that it is as the index says.
        self.refresh(git, worktree, &[]).await?;
        let _few_at_once = git.shared.filling.acquire().await;
        let lead = self.call(git, worktree, &["read-tree", "-m", "-u", from.as_str(), to.as_str()]);
        lead.stdin(self.sign_of_life()?).ok().await?;
        self.note(to, true);
        Ok(())
    }

    /// Makes the index, and no file, show the commit. Entries that stay equal keep what is known of their files,
    /// so only changed files are read again; nothing is done where it shows the commit already.
    pub async fn show(&self, git: &Git, worktree: &Path, commit: &Oid) -> Result<(), GitError> {
        if self.shows(commit) {
            return Ok(());
        }
        if let Some(from) = self.noted()
            && self.go_over(git, worktree, &from, commit).await?
        {
            self.note_shown(commit);
            return Ok(());
        }
        self.draft(git, worktree, &["read-tree", "--reset", commit.as_str()]).ok().await?;
        self.refresh(git, worktree, &[]).await?;
        self.note_shown(commit);
        Ok(())
    }

    fn shows(&self, commit: &Oid) -> bool {
        self.noted().as_ref() == Some(commit)
    }

    /// The commit or tree that the index shows, if that is known for sure.
    pub fn noted(&self) -> Option<Oid> {
        self.valid_note().map(|note| note.commit)
    }

    fn valid_note(&self) -> Option<Shown> {
        let noted: Shown = serde_json::from_slice(&std::fs::read(note_of(&self.file)).ok()?).ok()?;
        let now = self.shown(&noted.commit, noted.unsettled)?;
        (noted == now).then_some(noted)
    }

    /// Once the second in which it was filled is over: one more look at what git does not trust.
    pub(super) async fn settle_if_due(&self, git: &Git, worktree: &Path) -> Result<(), GitError> {
        let Some(note) = self.valid_note().filter(|note| note.unsettled) else { return Ok(()) };
        if jiff::Timestamp::now().as_second() > note.modified.0 {
            self.settle(git, worktree).await?;
        }
        Ok(())
    }

    /// The index learns of every file what is true now; it goes on showing the same.
    pub(super) async fn settle(&self, git: &Git, worktree: &Path) -> Result<(), GitError> {
        let shows = self.noted();
        self.refresh(git, worktree, &["--force-write-index"]).await?;
        if let Some(commit) = shows {
            self.note_shown(&commit);
        }
        Ok(())
    }

    /// Remembers that the index shows this commit (or tree) exactly. A note that is lost or torn costs a step, no more.
    pub fn note_shown(&self, commit: &Oid) {
        self.note(commit, false);
    }

    fn note(&self, commit: &Oid, unsettled: bool) {
        if let Some(bytes) = self.shown(commit, unsettled).and_then(|shown| serde_json::to_vec(&shown).ok()) {
            let _ = std::fs::write(note_of(&self.file), bytes);
        }
    }

    fn shown(&self, commit: &Oid, unsettled: bool) -> Option<Shown> {
        let meta = std::fs::symlink_metadata(&self.file).ok()?;
        Some(Shown {
            commit: commit.clone(),
            boot: boot_id()?,
            inode: meta.ino(),
            bytes: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            unsettled,
        })
    }

    /// An index with nothing in it, for one question about this worktree; to be forgotten after it. Its name is
    /// its own: a git of a swarm that was killed may still write to the one before.
    pub fn empty_one(&self) -> Result<Self, GitError> {
        let dir = self.file.parent().unwrap_or(&self.file);
        sweep_left(dir);
        let file = dir.join(format!("{ONE_QUESTION}{}", ulid::Ulid::generate()));
        let lock = self.lock.try_clone().map_err(GitError::io("duplicate a handle of", &self.file))?;
        Ok(Self { file, lock, looked: self.looked.clone(), persons: self.persons })
    }

    /// For a worktree that is gone: nothing of it stays. Whoever waits for it makes it anew.
    pub fn discard(self) {
        self.forget();
        let mut held = self.file.clone().into_os_string();
        held.push(".held");
        let _ = std::fs::remove_file(held);
    }

    /// Forgets everything that was seen.
    pub fn forget(&self) {
        let _ = std::fs::remove_file(&self.file);
        let _ = std::fs::remove_file(note_of(&self.file));
    }
}

/// Takes away what swarms that were killed have left.
fn sweep_left(dir: &Path) {
    let is_old = |entry: &std::fs::DirEntry| {
        let written = entry.metadata().and_then(|meta| meta.modified());
        written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT_AFTER))
    };
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(ONE_QUESTION) && is_old(&entry) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn note_of(index: &Path) -> PathBuf {
    let mut name = index.as_os_str().to_owned();
    name.push(".shows");
    name.into()
}
