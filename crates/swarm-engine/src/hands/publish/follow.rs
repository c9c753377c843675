//! One checkout brought along with the trunk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hold::Hold;
use super::look::{Look, OnDisk, look, strangers_in};
use super::settle::settle_held;
use super::{Intent, WaitReason, Waits};
use crate::git::{Change, Git, GitError, Head};
use crate::process::Input;

#[derive(Debug)]
pub(super) struct Follower {
    pub hold: Hold,
}

impl Follower {
    pub fn new(hold: Hold) -> Self {
        Self { hold }
    }

    fn waits(&self, reason: WaitReason) -> Waits {
        Waits { checkout: self.hold.checkout.path.clone(), reason }
    }

    /// Whether something of the person's is in the way. Asked under the hold.
    pub async fn blocked(
        &self,
        git: &Git,
        branch: &str,
        changes: &[Change],
    ) -> Result<Option<Waits>, GitError> {
        let checkout = &self.hold.checkout;
        if let Some(what) = checkout.mid_way() {
            return Ok(Some(self.waits(WaitReason::MidWay(what))));
        }
        if checkout.head != Head::Branch(branch.to_owned()) {
            return Ok(Some(
                self.waits(WaitReason::Refused { said: format!("HEAD is not at {branch} any more") }),
            ));
        }
        self.hold.copy_index()?;
        let looks = look(git, checkout, &self.hold.next_index, changes).await?;
        let going: BTreeMap<&Path, bool> =
            changes.iter().map(|change| (&*change.path, change.new.is_none())).collect();
        let mut blocks = Blocks::default();
        for seen in &looks {
            blocks.judge(&checkout.path, seen, &going);
        }
        Ok(blocks.first_reason().map(|reason| self.waits(reason)))
    }

    /// Lets git write the files and the next index. Git's own check has the last word.
    pub async fn write_files(
        &mut self,
        git: &Git,
        intent: &Intent,
        changes: &[Change],
    ) -> Result<Option<Waits>, GitError> {
        self.hold.begin_writing()?;
        self.adopt_equal(git, changes).await?;
        let checkout = &self.hold.checkout;
        let ended = git
            // The index is put in place by a rename, and must have its bytes then.
            .call(["-c", "core.fsync=reference,index"])
            .args(["read-tree", "-m", "-u", intent.old.as_str(), intent.new.as_str()])
            .git_dir(&checkout.git_dir)
            .work_tree(&checkout.path)
            .index(&self.hold.next_index)
            .stdin(self.hold.sign_of_life()?)
            .any()
            .await?;
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

    /// Where the person already has the very bytes that come, the next index says so, and git leaves the file.
    /// And the index learns of every file what is true now.
    async fn adopt_equal(&self, git: &Git, changes: &[Change]) -> Result<(), GitError> {
        let checkout = &self.hold.checkout;
        let looks = look(git, checkout, &self.hold.next_index, changes).await?;
        let equal = looks.iter().filter(|seen| {
            seen.change.new.is_some()
                && seen.holds(seen.change.new.as_ref())
                && !seen.holds(seen.change.old.as_ref())
        });
        let mut script = Vec::new();
        for seen in equal {
            let new = seen.change.new.as_ref().expect("only changes with a new side are taken");
            script.extend(format!("{:06o} {} 0\t", new.mode, new.oid).bytes());
            script.extend_from_slice(seen.change.path.as_os_str().as_encoded_bytes());
            script.push(0);
        }
        let call = |args: &[&str]| {
            git.call(args).git_dir(&checkout.git_dir).work_tree(&checkout.path).index(&self.hold.next_index)
        };
        if !script.is_empty() {
            call(&["update-index", "-z", "--index-info"]).stdin(Input::Bytes(script)).ok().await?;
        }
        // A file that was changed and changed back looks new by its times only: read it before judging.
        // Exit code 1 only says that some files differ.
        call(&["update-index", "-q", "--refresh", "--ignore-submodules"]).if_yes().await?;
        Ok(())
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

#[derive(Default)]
struct Blocks {
    changed: Vec<PathBuf>,
    deleted: Vec<PathBuf>,
    staged: Vec<PathBuf>,
    untracked: Vec<PathBuf>,
}

impl Blocks {
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
            _ if tracked && seen.holds(old) => {}
            OnDisk::Nothing if tracked => self.deleted.push(path.clone()),
            OnDisk::Nothing => {}
            // The way is free once the file that is now there has gone with this very change.
            OnDisk::Behind(parent) if going.get(&**parent) == Some(&true) => {}
            OnDisk::Behind(parent) => self.untracked.push(parent.clone()),
            OnDisk::Folder => self.untracked.extend(strangers_in(top, path, going)),
            // Removed from the index and from the trunk, kept on disk: git leaves it alone.
            OnDisk::Content(_) | OnDisk::Odd if new.is_none() && !tracked => {}
            OnDisk::Content(_) | OnDisk::Odd if tracked => self.changed.push(path.clone()),
            OnDisk::Content(_) | OnDisk::Odd => self.untracked.push(path.clone()),
        }
    }

    fn first_reason(self) -> Option<WaitReason> {
        let sorted = |mut paths: Vec<PathBuf>| {
            paths.sort();
            paths.dedup();
            paths
        };
        if !self.staged.is_empty() {
            return Some(WaitReason::Staged { paths: sorted(self.staged) });
        }
        if !self.changed.is_empty() {
            return Some(WaitReason::Changed { paths: sorted(self.changed) });
        }
        if !self.deleted.is_empty() {
            return Some(WaitReason::Deleted { paths: sorted(self.deleted) });
        }
        (!self.untracked.is_empty()).then(|| WaitReason::Untracked { paths: sorted(self.untracked) })
    }
}
