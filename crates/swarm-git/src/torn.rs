//! What a power cut leaves of files that were never synced: their names, and no bytes.
//!
//! An object without bytes is worse than none: git finds that it has the object and does not write it again, so the next
//! commit with the same content is broken. A ref or an index without bytes stops git altogether, and a branch whose commit
//! was torn can be neither saved nor worked on. Nothing recorded as done is among them: that was synced before it was
//! recorded. The files of the worktrees are not touched.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::refs::RefChange;

const OURS: &str = "refs/swarm";
const BRANCHES: &str = "refs/heads/swarm";

impl Git {
    /// Clears away such files of the swarm's making, puts branches of tasks back to their last commit that is whole,
    /// and gives the number of both. For the owner of the ledger, before anybody works in the repository, and only after
    /// a coordinator that did not leave in good order: it looks at every loose object.
    pub async fn clear_torn(&self) -> Result<usize, GitError> {
        let objects = folders(&self.common_dir.join("objects"))
            .into_iter()
            .filter(|dir| dir.file_name().is_some_and(|name| name.len() == 2))
            .flat_map(|dir| files(&dir))
            .filter(|file| is_torn(file));
        let refs = [OURS, BRANCHES]
            .into_iter()
            .flat_map(|dir| files_below(&self.common_dir.join(dir)))
            .filter(|file| holds_nothing(file));
        let indexes = folders(&self.common_dir.join("worktrees"))
            .into_iter()
            .map(|dir| dir.join("index"))
            .filter(|file| holds_nothing(file));
        let torn: Vec<PathBuf> = objects.chain(refs).chain(indexes).collect();
        if torn.is_empty() {
            return self.clear_torn_own().await;
        }
        let removed = torn.iter().filter(|file| fs::remove_file(file).is_ok()).count();
        let mut put_back = 0;
        for (branch, tip) in self.refs_under(BRANCHES).await? {
            if !self.is_whole(&tip).await? {
                self.put_back_to_whole(&branch).await?;
                put_back += 1;
            }
        }
        let in_vain = self.forget_what_is_not_there().await?;
        // Afterwards: what they share with the person's repository is in order now.
        Ok(removed + put_back + in_vain + self.clear_torn_own().await?)
    }

    /// A checkpoint before a merge names the branches of tasks that are at work, whose commits nobody had synced. What
    /// it names in vain would stop git's own checks for ever. Other refs go only where even the commit is gone: from
    /// one that is there somebody may save the rest.
    async fn forget_what_is_not_there(&self) -> Result<usize, GitError> {
        let refs = self.refs_under(OURS).await?;
        let named: BTreeSet<Oid> = refs.iter().map(|(_, oid)| oid.clone()).collect();
        let named: Vec<Oid> = named.into_iter().collect();
        let mut broken = self.missing_objects(&named).await?;
        for (_, oid) in refs.iter().filter(|(name, _)| is_tip_of_checkpoint(name)) {
            if !broken.contains(oid) && !self.is_whole(oid).await? {
                broken.insert(oid.clone());
            }
        }
        self.forget_refs(&refs, &broken, "swarm: the commit was torn by a power cut").await
    }

    /// Takes refs of ours away whose commit is not there any more, and gives their number: a `git gc --prune=now` that had
    /// begun before the ref was made takes what it names, and git would then refuse to clean up ever again.
    pub async fn forget_pruned(&self) -> Result<usize, GitError> {
        let refs = self.refs_under(OURS).await?;
        let named: Vec<Oid> = refs.iter().map(|(_, oid)| oid.clone()).collect();
        let pruned = self.missing_objects(&named).await?;
        self.forget_refs(&refs, &pruned, "swarm: the commit was pruned").await
    }

    async fn forget_refs(
        &self,
        refs: &[(String, Oid)],
        broken: &BTreeSet<Oid>,
        why: &str,
    ) -> Result<usize, GitError> {
        let in_vain = refs.iter().filter(|(_, oid)| broken.contains(oid));
        let changes: Vec<RefChange> = in_vain.map(|(name, oid)| RefChange::delete(name, oid)).collect();
        if !changes.is_empty() {
            self.update_refs(&changes, why).await?;
        }
        Ok(changes.len())
    }

    /// Whether every object is there that this commit has and the person's branches have not.
    async fn is_whole(&self, tip: &Oid) -> Result<bool, GitError> {
        let asked =
            ["rev-list", "--objects", "--quiet", tip.as_str(), "--not", "--exclude=swarm/*", "--branches"];
        self.call(asked).is_sound().await
    }

    /// An error unless every object is there that this commit has and the other has not.
    pub async fn is_complete(&self, commit: &Oid, besides: &Oid) -> Result<(), GitError> {
        let asked = ["rev-list", "--objects", "--quiet", commit.as_str(), "--not", besides.as_str()];
        match self.call(asked).is_sound().await? {
            true => Ok(()),
            false => Err(GitError::Pruned { commit: commit.clone() }),
        }
    }

    /// To the newest commit of its log that is whole. Without one the branch goes, and is made again from trunk.
    async fn put_back_to_whole(&self, branch: &str) -> Result<(), GitError> {
        let log = fs::read_to_string(self.common_dir.join("logs").join(branch)).unwrap_or_default();
        let mut whole = None;
        for before in log.lines().rev().filter_map(|line| Oid::new(line.split(' ').next()?).ok()) {
            if self.is_whole(&before).await? {
                whole = Some(before);
                break;
            }
        }
        // By hand: git would want to read the commit that is torn.
        let file = self.common_dir.join(branch);
        let done = match &whole {
            Some(whole) => fs::write(&file, format!("{whole}\n")),
            None => fs::remove_file(&file),
        };
        done.map_err(GitError::io("put back", &file))?;
        forget_steps(&self.common_dir.join("logs").join(branch), whole.as_ref());
        let shows_it = format!("ref: {branch}");
        for record in folders(&self.common_dir.join("worktrees")) {
            if fs::read_to_string(record.join("HEAD")).is_ok_and(|head| head.trim() == shows_it) {
                forget_torn(&record, whole.as_ref());
            }
        }
        Ok(())
    }
}

fn is_tip_of_checkpoint(name: &str) -> bool {
    name.starts_with("refs/swarm/checkpoints/") && name.contains("/tips/")
}

/// The worktree's own log ends where its branch is now, and its index, which names torn objects, is made again from the
/// files when somebody asks for it.
fn forget_torn(record: &Path, whole: Option<&Oid>) {
    let _ = fs::remove_file(record.join("index"));
    forget_steps(&record.join("logs/HEAD"), whole);
}

/// The log ends with the step that led to this commit.
fn forget_steps(file: &Path, whole: Option<&Oid>) {
    match steps_to(&fs::read_to_string(file).unwrap_or_default(), whole) {
        Some(steps) => drop(fs::write(file, steps)),
        None => drop(fs::remove_file(file)),
    }
}

/// The part of a log that ends with the step to this commit.
pub(super) fn steps_to(log: &str, whole: Option<&Oid>) -> Option<String> {
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let leads_to = |line: &&str| line.split(' ').nth(1) == whole.map(Oid::as_str);
    lines.iter().rposition(leads_to).map(|last| lines[..=last].concat())
}

/// No bytes, or bytes that are not of a compressed stream: the length of a file can reach the disk before its content.
fn is_torn(file: &Path) -> bool {
    use std::io::Read;
    // A temporary one is somebody's who is just writing it: agents outlive their coordinator.
    let named = file.file_name().is_some_and(|name| [38, 62].contains(&name.len()));
    if !named || !fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file()) {
        return false;
    }
    let mut first = [0];
    let read = fs::File::open(file).and_then(|mut file| file.read(&mut first));
    read.is_ok_and(|bytes| is_no_object((bytes > 0).then_some(first[0])))
}

/// By its first byte: no loose object begins so.
pub(super) fn is_no_object(first: Option<u8>) -> bool {
    const ZLIB: u8 = 0x78;
    first != Some(ZLIB)
}

/// By its first byte: neither a ref nor an index begins so.
pub(super) fn is_nothing(first: Option<u8>) -> bool {
    first.is_none_or(|first| first == 0)
}

/// Locks are empty while they are held.
fn holds_nothing(file: &Path) -> bool {
    let is_lock = file.extension().is_some_and(|end| end == "lock");
    !is_lock && fs::read(file).is_ok_and(|bytes| is_nothing(bytes.first().copied()))
}

/// Of one kind. A link is neither a folder nor a file here: what it leads to is not ours to remove.
fn entries(dir: &Path, wanted: impl Fn(fs::FileType) -> bool) -> Vec<PathBuf> {
    let all = fs::read_dir(dir).into_iter().flatten().flatten();
    all.filter(|entry| entry.file_type().is_ok_and(&wanted)).map(|entry| entry.path()).collect()
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    entries(dir, |kind| kind.is_dir())
}

fn files(dir: &Path) -> Vec<PathBuf> {
    entries(dir, |kind| kind.is_file())
}

pub(super) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let below: Vec<PathBuf> = folders(dir).iter().flat_map(|folder| files_below(folder)).collect();
    files(dir).into_iter().chain(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_holds_nothing_goes_and_a_branch_goes_back_to_its_last_whole_commit() {
        let dir = tempfile::tempdir().expect("a folder");
        let git = async |args: &[&str]| {
            let person = ["-c", "user.name=A", "-c", "user.email=a@b"];
            let call = crate::GitCall::by_hand(dir.path()).args(person).args(args);
            call.line().await.unwrap_or_else(|error| panic!("{args:?}: {error}"))
        };
        git(&["init", "--quiet", "--initial-branch=main"]).await;
        git(&["commit", "--quiet", "--allow-empty", "--message=start"]).await;
        git(&["switch", "--quiet", "--create", "swarm/1.1"]).await;
        git(&["commit", "--quiet", "--allow-empty", "--message=whole"]).await;
        let whole = git(&["rev-parse", "HEAD"]).await;
        git(&["commit", "--quiet", "--allow-empty", "--message=torn"]).await;
        let torn = git(&["rev-parse", "HEAD"]).await;
        git(&["switch", "--quiet", "main"]).await;
        let open = Git::discover(dir.path()).await.expect("fit");
        let object = format!("objects/{}/{}", &torn[..2], &torn[2..]);
        let _ = fs::remove_file(open.common_dir.join(&object));
        for (file, text) in [
            (object.as_str(), ""),
            ("objects/00/11112222333344445555666677778888999900", "\0\0\0\0"),
            ("objects/00/tmp_obj_abcdef", ""),
            ("refs/swarm/wip/1.1/r1", ""),
            ("refs/swarm/kept/1.1/a", "\0\0\0"),
            ("refs/swarm/checkpoints/before-merge-1.2/tips/1.1", &torn),
            ("refs/swarm/checkpoints/before-merge-1.2/trunk", &whole),
            ("worktrees/1.1/index", ""),
        ] {
            let file = open.common_dir.join(file);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, text).expect("written");
        }
        assert_eq!(open.clear_torn().await.expect("cleared"), 7);
        assert_eq!(open.clear_torn().await.expect("looked"), 0);
        let left = open.refs_under(OURS).await.expect("refs");
        let left: Vec<&str> = left.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(left, ["refs/swarm/checkpoints/before-merge-1.2/trunk"]);
        assert_eq!(git(&["rev-parse", "swarm/1.1"]).await, whole);
        git(&["rev-parse", "--verify", "main"]).await;
        // What a clean-up took that had begun before the ref was there.
        let pruned = open.common_dir.join("refs/swarm/checkpoints/before-merge-1.2/dirty");
        fs::create_dir_all(&pruned).expect("made");
        fs::write(pruned.join("1.1"), "1234567812345678123456781234567812345678\n").expect("written");
        // The ledger's anchor is no commit, and stays.
        let blob = git(&["hash-object", "-w", ".git/config"]).await;
        git(&["update-ref", "refs/swarm/ledger", &blob]).await;
        assert_eq!(open.forget_pruned().await.expect("forgotten"), 1);
        assert_eq!(open.forget_pruned().await.expect("looked"), 0);
        assert_eq!(open.refs_under(OURS).await.expect("refs").len(), 2);
        git(&["gc", "--quiet", "--prune=now"]).await;
    }

    #[tokio::test]
    async fn what_a_link_among_the_refs_leads_to_is_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let (repo, outside) = (dir.path().join("repo"), dir.path().join("outside"));
        for folder in [&repo, &outside] {
            fs::create_dir(folder).expect("made");
        }
        let person = ["-c", "user.name=A", "-c", "user.email=a@b"];
        for args in [&["init", "--quiet"][..], &["commit", "--quiet", "--allow-empty", "--message=start"]] {
            crate::GitCall::by_hand(&repo).args(person).args(args).ok().await.expect("git works");
        }
        for name in ["__init__.py", "Cargo.lock"] {
            fs::write(outside.join(name), "").expect("written");
        }
        let open = Git::discover(&repo).await.expect("fit");
        let ours = open.common_dir.join(OURS);
        fs::create_dir_all(&ours).expect("made");
        std::os::unix::fs::symlink(&outside, ours.join("out")).expect("linked");
        assert_eq!(open.clear_torn().await.expect("looked"), 0);
        assert_eq!(open.clear_own_ref_locks().await, 0);
        assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 2);
    }

    #[tokio::test]
    async fn a_git_that_somebody_ended_says_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let call = |args: &[&str]| crate::GitCall::by_hand(dir.path()).args(args);
        assert!(call(&["version"]).is_sound().await.expect("it ended"));
        assert!(!call(&["rev-parse", "--verify", "HEAD"]).is_sound().await.expect("it ended"));
        let ended = call(&["-c", "alias.end=!kill -9 $PPID", "end"]).is_sound().await;
        assert!(matches!(ended, Err(GitError::Failed { .. })), "{ended:?}");
        // What it read made it fall: that says something.
        assert!(!call(&["-c", "alias.end=!kill -ABRT $PPID", "end"]).is_sound().await.expect("it ended"));
    }
}
