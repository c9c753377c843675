//! One checkout brought along with the trunk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hold::Hold;
use super::look::{Look, OnDisk, Strangers, is_repository, look, strangers_in};
use super::settle::settle_held;
use super::{Intent, WaitReason, Waits};
use swarm_git::{Change, Git, GitCall, GitError};
use swarm_process::{Ended, Input};

#[derive(Debug)]
pub(super) struct Follower {
    pub hold: Hold,
    /// Entries of files that hold already what comes, as git's `--index-info` takes them.
    equal: Vec<u8>,
}

impl Follower {
    pub fn new(hold: Hold) -> Self {
        Self { hold, equal: Vec::new() }
    }

    fn waits(&self, reason: WaitReason) -> Waits {
        Waits { checkout: self.hold.checkout.path.clone(), reason }
    }

    /// Whether something of the person's is in the way. Asked under the hold.
    pub async fn blocked(
        &mut self,
        git: &Git,
        branch: &str,
        changes: &[Change],
    ) -> Result<Option<Waits>, GitError> {
        let checkout = &self.hold.checkout;
        if let Some(waits) = Waits::of(checkout) {
            return Ok(Some(waits));
        }
        if !checkout.shows(branch) {
            return Ok(Some(
                self.waits(WaitReason::Refused { said: format!("HEAD is not at {branch} any more") }),
            ));
        }
        self.hold.copy_index()?;
        let looks = look(git, checkout, &self.hold.next_index, changes).await?;
        let equal = entries_of_equal(&looks);
        let blocks = Blocks::of(&checkout.path, &looks, changes, STRANGERS_SHOWN);
        self.equal = equal;
        Ok(blocks.reasons().into_iter().next().map(|reason| self.waits(reason)))
    }

    /// Lets git write the files and the next index. Git's own check has the last word.
    pub async fn write_files(&mut self, git: &Git, intent: &Intent) -> Result<Option<Waits>, GitError> {
        self.hold.begin_writing()?;
        if !self.equal.is_empty() {
            self.adopt_equal(git).await?;
        }
        let mut ended = self.read_tree(git, intent).await?;
        if ended.status.code().is_some_and(|code| code != 0) {
            // A file that was changed and changed back looks new by its times only: all are read, and git judges
            // again. It has written nothing yet.
            self.refresh(git).await?;
            ended = self.read_tree(git, intent).await?;
        }
        match ended.status.code() {
            Some(0) => Ok(None),
            Some(_) => {
                let said = String::from_utf8_lossy(&ended.stderr_tail).trim().chars().take(500).collect();
                Ok(Some(self.waits(WaitReason::Refused { said })))
            }
            None => Err(GitError::Failed {
                command: "read-tree".into(),
                how: ended.status.to_string(),
                said: "killed".into(),
            }),
        }
    }

    async fn read_tree(&self, git: &Git, intent: &Intent) -> Result<Ended, GitError> {
        // The index is put in place by a rename, and must have its bytes then.
        let call = self.call(git, &["-c", "core.fsync=reference,index", "read-tree", "-m", "-u"]);
        call.args([intent.old.as_str(), intent.new.as_str()]).stdin(self.hold.sign_of_life()?).any().await
    }

    /// Where the person already has the very bytes that come, the next index says so, and git leaves the file.
    async fn adopt_equal(&self, git: &Git) -> Result<(), GitError> {
        let update = self.call(git, &["update-index", "-z", "--index-info"]);
        update.stdin(Input::Bytes(self.equal.clone())).ok().await?;
        self.refresh(git).await
    }

    /// The next index learns of every file what is true now.
    async fn refresh(&self, git: &Git) -> Result<(), GitError> {
        // Exit code 1 only says that some files differ.
        self.call(git, &["update-index", "-q", "--refresh", "--ignore-submodules"]).if_yes().await.map(drop)
    }

    fn call(&self, git: &Git, args: &[&str]) -> GitCall {
        let checkout = &self.hold.checkout;
        let call = git.call(args).git_dir(&checkout.git_dir).work_tree(&checkout.path).as_the_person();
        call.index(&self.hold.next_index)
    }

    pub fn install_index(&self) -> Result<(), GitError> {
        self.hold.install_index()
    }

    /// Undoes whatever has been written.
    pub async fn put_back(&self, git: &Git) -> Result<(), GitError> {
        if self.hold.record.writing { settle_held(git, &self.hold).await } else { Ok(()) }
    }

    pub fn release(self) -> Result<(), GitError> {
        self.hold.release()
    }
}

fn entries_of_equal(looks: &[Look<'_>]) -> Vec<u8> {
    let mut script = Vec::new();
    for seen in looks.iter().filter(|seen| !seen.holds(seen.change.old.as_ref())) {
        if let Some(new) = seen.change.new.as_ref().filter(|new| seen.holds(Some(new))) {
            script.extend(format!("{:06o} {} 0\t", new.mode, new.oid).bytes());
            script.extend_from_slice(seen.change.path.as_os_str().as_encoded_bytes());
            script.push(0);
        }
    }
    script
}

/// Files named of a folder that is in the way: a person looks at the first one and knows.
pub(super) const STRANGERS_SHOWN: usize = 5;

/// What of the person's is in the way.
#[derive(Default)]
pub(super) struct Blocks {
    strangers_max: usize,
    changed: Vec<PathBuf>,
    deleted: Vec<PathBuf>,
    staged: Vec<PathBuf>,
    untracked: Vec<PathBuf>,
    in_folder: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    repositories: Vec<PathBuf>,
}

impl Blocks {
    /// `strangers_max`: how many files of one folder are named at most.
    pub fn of(top: &Path, looks: &[Look], changes: &[Change], strangers_max: usize) -> Self {
        let going: BTreeMap<&Path, bool> =
            changes.iter().map(|change| (&*change.path, change.new.is_none())).collect();
        let mut blocks = Self { strangers_max, ..Self::default() };
        for seen in looks {
            blocks.judge(top, seen, &going);
        }
        blocks
    }

    fn judge(&mut self, top: &Path, seen: &Look, going: &BTreeMap<&Path, bool>) {
        let Change { path, old, new } = seen.change;
        let (old, new) = (old.as_ref(), new.as_ref());
        if !seen.indexes(old) && !seen.indexes(new) {
            self.staged.push(path.clone());
            return;
        }
        if seen.is_left_out() || seen.holds(new) {
            return;
        }
        let tracked = seen.indexed.is_some();
        match &seen.disk {
            // Git takes all of it away, with what is not committed there and branches that are nowhere else.
            OnDisk::Folder if new.is_some() && is_repository(old, &top.join(path)) => {
                self.repositories.push(path.clone());
            }
            _ if tracked && seen.holds(old) => {}
            OnDisk::Nothing if tracked => self.deleted.push(path.clone()),
            OnDisk::Nothing => {}
            // The way is free once the file that is now there has gone with this very change.
            OnDisk::Behind(parent) if going.get(&**parent) == Some(&true) => {}
            OnDisk::Behind(parent) => self.untracked.push(parent.clone()),
            OnDisk::Folder => {
                let Strangers { files, repositories } = strangers_in(top, path, going, self.strangers_max);
                self.in_folder.extend(files);
                self.repositories.extend(repositories);
            }
            // Removed from the index and from the trunk, kept on disk: git leaves it alone.
            OnDisk::Content(_) | OnDisk::Odd if new.is_none() && !tracked => {}
            OnDisk::Content(_) if seen.indexed.as_ref().is_some_and(|found| found.hidden) => {
                self.hidden.push(path.clone());
            }
            OnDisk::Content(_) | OnDisk::Odd if tracked => self.changed.push(path.clone()),
            OnDisk::Content(_) | OnDisk::Odd => self.untracked.push(path.clone()),
        }
    }

    /// The gravest first.
    pub fn reasons(self) -> Vec<WaitReason> {
        let Self { changed, deleted, staged, untracked, in_folder, hidden, repositories, .. } = self;
        let sorted = |mut paths: Vec<PathBuf>| {
            paths.sort();
            paths.dedup();
            paths
        };
        let [staged, changed, deleted, untracked] = [staged, changed, deleted, untracked].map(sorted);
        let [in_folder, hidden, repositories] = [in_folder, hidden, repositories].map(sorted);
        let all = [
            WaitReason::Staged { paths: staged },
            WaitReason::Changed { paths: changed },
            WaitReason::Deleted { paths: deleted },
            WaitReason::Hidden { paths: hidden },
            WaitReason::Untracked { paths: untracked },
            WaitReason::InFolder { paths: in_folder },
            WaitReason::Repository { paths: repositories },
        ];
        all.into_iter().filter(|reason| !reason.paths().is_empty()).collect()
    }
}
