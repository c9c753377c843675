//! The repository that an agent has for itself: its own refs, index, configuration, stash and objects, with the
//! person's objects to read from. Whatever it does there reaches nobody. What it hands in is taken from it as from a
//! stranger (`own/take.rs`).
//!
//! It lies beside the worktrees, `.git-of/<task>`, and stays as long as its worktree: a stash or a half done rebase of
//! one attempt is there for the next. What is said of it in the person's git directory (`swarm/own/<task>.json`) is
//! where both agreed last.

mod beneath;
mod content;
mod heads;
mod links;
mod others;
mod pointer;
mod quarantine;
mod take;
mod torn;
mod unfolded;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::{Oid, TaskId};

use super::call::{Git, GitError};
use super::marker::{make_own_folder, read_marker, remove_marker, write_note};
use super::ref_files::{Plain, read_plain};
use beneath::Beneath;
pub use heads::Heads;
pub use others::Others;
pub(super) use pointer::main_of;
pub use take::{Limits, Taken};

/// The folder of all of them, beside the worktrees.
const FOLDER: &str = ".git-of";
/// In it: where the person's checkout is. No agent can write there. No task has a name that begins with a dot.
const MAIN: &str = ".main";

/// Files of the person's that are copied are small; what is longer is left out.
const COPIED_BYTES_MAX: u64 = 4 << 20;
const INDEX_BYTES_MAX: u64 = 512 << 20;

/// Left by a git that was killed. Nothing of the agent runs when they are removed.
const LOCKS: [&str; 5] = ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock"];

/// Git is in the middle of something there.
const UNDER_WAY: [(&str, &str); 5] = [
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
];

/// The repository of one task's agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRepository {
    pub dir: PathBuf,
    task: TaskId,
    worktree: PathBuf,
}

/// Where the two repositories agreed last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Agreed {
    tip: Oid,
    /// The person's refs as the agent was shown them.
    #[serde(default)]
    refs: BTreeMap<String, Oid>,
}

impl OwnRepository {
    pub fn of(worktree: &Path, task: &TaskId) -> Self {
        let all = worktree.parent().unwrap_or(worktree).join(FOLDER);
        Self { dir: all.join(task.as_str()), task: task.clone(), worktree: worktree.to_owned() }
    }

    pub fn is_there(&self) -> bool {
        std::fs::symlink_metadata(&self.dir).is_ok_and(|meta| meta.is_dir())
    }

    fn branch(&self) -> String {
        format!("refs/heads/{}", self.task.branch())
    }

    fn note(&self, git: &Git) -> PathBuf {
        git.swarm_dir().join("own").join(format!("{}.json", self.task))
    }

    fn agreed(&self, git: &Git) -> Option<Agreed> {
        read_marker(&self.note(git))
    }

    /// The commit that both had last.
    pub fn agreed_tip(&self, git: &Git) -> Option<Oid> {
        self.agreed(git).map(|agreed| agreed.tip)
    }

    /// From now on both have this commit.
    pub fn agree(&self, git: &Git, tip: &Oid) -> Result<(), GitError> {
        let refs = self.agreed(git).map(|agreed| agreed.refs).unwrap_or_default();
        write_note(&self.note(git), &Agreed { tip: tip.clone(), refs })
    }

    /// The right to give the worktree to this repository or take it back; none while a program runs with it.
    pub fn hold(&self, git: &Git) -> Result<Option<File>, GitError> {
        let path = git.swarm_dir().join("own").join(format!("{}.held", self.task));
        make_own_folder(path.parent().unwrap_or(&path))?;
        let opened = File::options().create(true).truncate(false).write(true).open(&path);
        let file = opened.map_err(GitError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(GitError::io("lock", &path)(error)),
        }
    }

    /// Whether it has branches, a stash or commits that were not handed in, or what only it can have: repositories of
    /// submodules, and files that a filter stores beside git's objects.
    pub fn holds_more(&self, git: &Git) -> bool {
        let Ok(own) = Beneath::open(&self.dir) else { return true };
        let only = |folder: &str, known: &str| {
            own.names(Path::new(folder), 1000).is_ok_and(|names| names.iter().all(|name| name == known))
        };
        let heads = heads::read(&own, &self.branch());
        let agreed = self.agreed_tip(git);
        let same = heads.all().into_iter().all(|oid| Some(oid) == agreed.as_ref());
        !same
            || self.under_way().is_some()
            || ["refs/stash", "refs/swarm", "modules", "lfs", "annex"]
                .iter()
                .any(|name| own.is_there(Path::new(name)))
            || !only("refs/heads", "swarm")
            || !only("refs/heads/swarm", self.task.as_str())
    }

    /// For a worktree that is gone.
    pub fn forget(&self, git: &Git) -> Result<(), GitError> {
        remove_marker(&self.note(git))?;
        remove_marker(&self.pointer_file())?;
        remove_marker(&self.note(git).with_extension("held"))
    }

    /// What git is in the middle of there.
    pub fn under_way(&self) -> Option<&'static str> {
        let own = Beneath::open(&self.dir).ok()?;
        UNDER_WAY.iter().find(|(name, _)| own.is_there(Path::new(name))).map(|(_, what)| *what)
    }

    /// Makes it ready for the next program: it has the branch at `tip`, and the person's refs as they are. `record` is
    /// git's record of the worktree. What is there and was not handed in stays where it is; a repository that cannot be
    /// put right is given to `aside`, and another one made.
    pub async fn open(
        &self,
        git: &Git,
        record: &Path,
        tip: &Oid,
        aside: impl FnOnce(&Path) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let listed = git.refs_under_all(&["refs/heads", "refs/remotes", "refs/tags"]).await?;
        let mut refs: BTreeMap<String, Oid> = listed.into_iter().collect();
        refs.remove(&self.branch());
        let there = self.agreed(git).filter(|_| self.is_there());
        let synced = there.map(|agreed| self.bring_up(git, record, tip, &agreed, &refs));
        match synced {
            Some(Ok(())) => {}
            other => {
                if other.is_some() || std::fs::symlink_metadata(&self.dir).is_ok() {
                    aside(&self.dir)?;
                }
                self.make(git, record, tip, &refs)?;
            }
        }
        let file = self.pointer_file();
        std::fs::write(&file, self.pointer()).map_err(GitError::io("write", &file))?;
        write_note(&self.note(git), &Agreed { tip: tip.clone(), refs })
    }

    fn bring_up(
        &self,
        git: &Git,
        record: &Path,
        tip: &Oid,
        agreed: &Agreed,
        refs: &BTreeMap<String, Oid>,
    ) -> std::io::Result<()> {
        let own = Beneath::open(&self.dir)?;
        for lock in LOCKS.into_iter().map(PathBuf::from).chain([PathBuf::from(self.branch() + ".lock")]) {
            own.remove(&lock);
        }
        own.write(Path::new("objects/info/alternates"), &line(&git.common_dir.join("objects")))?;
        self.settle(git, &own)?;
        for (name, value) in refs.iter().filter(|(name, value)| agreed.refs.get(*name) != Some(value)) {
            own.write(Path::new(name), format!("{value}\n").as_bytes())?;
        }
        let heads = heads::read(&own, &self.branch());
        let on_it = heads.on_branch || self.under_way().is_some();
        let at_tip = heads.branch.as_ref() == Some(tip) && on_it;
        if at_tip && own.is_there(Path::new("index")) {
            return Ok(());
        }
        for (n, left) in heads.all().into_iter().filter(|oid| *oid != tip).enumerate() {
            // What was not taken stays within the agent's reach.
            let name = format!("refs/swarm/left/{}-{n}", left.short());
            own.write(Path::new(&name), format!("{left}\n").as_bytes())?;
        }
        own.write(Path::new(&self.branch()), format!("{tip}\n").as_bytes())?;
        own.write(Path::new("HEAD"), format!("ref: {}\n", self.branch()).as_bytes())?;
        if let Plain::Bytes(index) = read_plain(&record.join("index"), INDEX_BYTES_MAX) {
            own.write(Path::new("index"), &index)?;
        }
        Ok(())
    }

    /// After the repository was moved or copied everything here names its old place. Settings that the agent made for
    /// itself there go with it.
    fn settle(&self, git: &Git, own: &Beneath) -> std::io::Result<()> {
        let here = quoted(&self.worktree);
        let config = own.read(Path::new("config"), COPIED_BYTES_MAX).unwrap_or_default();
        if !config.windows(here.len().max(1)).any(|part| part == here) {
            own.write(Path::new("config"), &self.config(git))?;
        }
        let main = self.dir.parent().unwrap_or(&self.dir).join(MAIN);
        let wanted = line(&git.main_checkout);
        match read_plain(&main, COPIED_BYTES_MAX) {
            Plain::Bytes(found) if found == wanted => Ok(()),
            _ => std::fs::write(main, wanted),
        }
    }

    fn make(
        &self,
        git: &Git,
        record: &Path,
        tip: &Oid,
        refs: &BTreeMap<String, Oid>,
    ) -> Result<(), GitError> {
        let all = self.dir.parent().unwrap_or(&self.dir).to_owned();
        let fresh = all.join(format!(".making-{}", ulid::Ulid::generate()));
        let made = self.write_all(git, record, tip, refs, &fresh).and_then(|()| {
            std::fs::write(all.join(MAIN), line(&git.main_checkout))?;
            std::fs::rename(&fresh, &self.dir)
        });
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&fresh);
        }
        made.map_err(GitError::io("make the agent's own repository", &self.dir))
    }

    fn write_all(
        &self,
        git: &Git,
        record: &Path,
        tip: &Oid,
        refs: &BTreeMap<String, Oid>,
        fresh: &Path,
    ) -> std::io::Result<()> {
        for folder in ["objects/info", "objects/pack", "refs/heads/swarm", "refs/tags", "info"] {
            std::fs::create_dir_all(fresh.join(folder))?;
        }
        let write = |name: &str, bytes: &[u8]| std::fs::write(fresh.join(name), bytes);
        write("HEAD", format!("ref: {}\n", self.branch()).as_bytes())?;
        write(&self.branch(), format!("{tip}\n").as_bytes())?;
        write("objects/info/alternates", &line(&git.common_dir.join("objects")))?;
        let packed: String = refs.iter().map(|(name, oid)| format!("{oid} {name}\n")).collect();
        write("packed-refs", packed.as_bytes())?;
        write("config", &self.config(git))?;
        let copied = ["info/exclude", "info/attributes", "shallow"];
        for name in copied {
            if let Plain::Bytes(bytes) = read_plain(&git.common_dir.join(name), COPIED_BYTES_MAX) {
                write(name, &bytes)?;
            }
        }
        if let Plain::Bytes(index) = read_plain(&record.join("index"), INDEX_BYTES_MAX) {
            write("index", &index)?;
        }
        Ok(())
    }

    /// The person's configuration of this repository, and what makes it this one's. It is read behind walls alone.
    fn config(&self, git: &Git) -> Vec<u8> {
        let mut text = match read_plain(&git.common_dir.join("config"), COPIED_BYTES_MAX) {
            Plain::Bytes(bytes) => bytes,
            _ => b"[core]\n\trepositoryformatversion = 0\n".to_vec(),
        };
        // A second value of the same name would keep the agent from changing it with `git config`.
        let theirs = String::from_utf8_lossy(&text).to_ascii_lowercase();
        text.extend_from_slice(b"\n[core]\n\tbare = false\n\tlogAllRefUpdates = true\n\tworktree = ");
        text.extend_from_slice(&quoted(&self.worktree));
        if !theirs.contains("hookspath") {
            text.extend_from_slice(b"\n\thooksPath = ");
            text.extend_from_slice(&quoted(&git.common_dir.join("hooks")));
        }
        text.extend_from_slice(b"\n[gc]\n\tauto = 0\n");
        // The person's key is hidden from it; what it commits is signed by nobody, as what we commit.
        text.extend_from_slice(b"[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n");
        if !theirs.contains("[user]") && git.identity.is_usable() {
            let plain = |text: &str| quoted(Path::new(&OsString::from(text)));
            text.extend_from_slice(b"[user]\n");
            for (key, value) in [("name", &git.identity.name), ("email", &git.identity.email)] {
                text.extend_from_slice(format!("\t{key} = ").as_bytes());
                text.extend_from_slice(&plain(value));
                text.push(b'\n');
            }
        }
        text
    }
}

fn line(path: &Path) -> Vec<u8> {
    [path.as_os_str().as_bytes(), b"\n"].concat()
}

/// A value as git's configuration has it.
fn quoted(path: &Path) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    text
}
