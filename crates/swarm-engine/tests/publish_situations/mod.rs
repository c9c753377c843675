//! The states a person's checkout can be in when the swarm wants to publish, and what must be true afterwards.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swarm_git::Git;
use swarm_work::publish::{Intent, Publication, WaitReason, publish};

use crate::git_scratch::{Scratch, git_in, try_git_in, write};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Situation {
    Nowhere,
    Clean,
    DirtyElsewhere,
    DirtySame,
    DeletedSame,
    Staged,
    UntrackedClash,
    IgnoredClash,
    MidMerge,
    MidRebase,
    MidCherryPick,
    Bisect,
    LiveIndexLock,
    SecondWorktree,
    TwoCheckouts,
    SecondOneDirty,
}

/// Paths the swarm's result changes.
pub const CHANGED: [&str; 8] =
    ["a.txt", "b.txt", "deep/er/new.txt", "dir/c.txt", "f", "f/x", "link", "tool.sh"];

pub struct Story {
    pub scratch: Scratch,
    pub situation: Situation,
    pub intent: Intent,
    /// Where the trunk is checked out.
    pub checkouts: Vec<PathBuf>,
    before: Vec<Seen>,
}

/// Everything about a checkout that a person could miss.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    files: BTreeMap<PathBuf, Vec<u8>>,
    index: String,
    head: String,
}

impl Story {
    pub fn begin(situation: Situation) -> Self {
        let scratch = Scratch::new();
        let dir = scratch.repo.clone();
        for (path, text) in [
            ("f", "a file\n"),
            ("tool.sh", "#!/bin/sh\n"),
            ("other.txt", "other\n"),
            ("staged.txt", "staged\n"),
        ] {
            scratch.write(path, text);
        }
        let old = scratch.commit_all("third");
        scratch.git(["switch", "--quiet", "-c", "result"]);
        scratch.write("a.txt", &"the swarm's line\n".repeat(5000));
        scratch.write("deep/er/new.txt", "new\n");
        std::fs::remove_file(dir.join("f")).unwrap();
        scratch.write("f/x", "a folder now\n");
        std::fs::remove_file(dir.join("dir/c.txt")).unwrap();
        std::fs::remove_file(dir.join("b.txt")).unwrap();
        std::os::unix::fs::symlink("a.txt", dir.join("link")).unwrap();
        scratch.git(["add", "tool.sh"]);
        scratch.git(["update-index", "--chmod=+x", "tool.sh"]);
        write(&dir, "tool.sh", b"#!/bin/sh\necho more\n");
        let _ = std::process::Command::new("chmod").arg("+x").arg(dir.join("tool.sh")).status();
        let new = scratch.commit_all("the swarm's result");
        scratch.git(["switch", "--quiet", "main"]);
        let mut story = Self {
            scratch,
            situation,
            intent: Intent { trunk: "main".into(), old, new },
            checkouts: vec![dir],
            before: Vec::new(),
        };
        story.set_up();
        story.before = story.look();
        story
    }

    fn set_up(&mut self) {
        let scratch = &self.scratch;
        let second = scratch.repo.parent().unwrap().join("second");
        let side_branch = |path: &str| {
            scratch.git(["switch", "--quiet", "-c", "side", "main~1"]);
            scratch.write(path, "side\n");
            scratch.commit_all("side");
            scratch.git(["switch", "--quiet", "main"]);
        };
        match self.situation {
            Situation::Nowhere => {
                scratch.git(["switch", "--quiet", "-c", "elsewhere"]);
                scratch.write("a.txt", "mine\n");
            }
            Situation::Clean => {}
            Situation::DirtyElsewhere => self.dirty_elsewhere(),
            Situation::DirtySame => scratch.write("a.txt", "mine\n"),
            Situation::DeletedSame => std::fs::remove_file(scratch.at("a.txt")).unwrap(),
            Situation::Staged => {
                scratch.write("tool.sh", "mine\n");
                scratch.git(["add", "tool.sh"]);
                scratch.write("tool.sh", "#!/bin/sh\n");
            }
            Situation::UntrackedClash => scratch.write("deep/er/new.txt", "mine\n"),
            Situation::IgnoredClash => {
                write(&scratch.repo, ".git/info/exclude", b"deep/\n");
                scratch.write("deep/er/new.txt", "mine\n");
            }
            Situation::MidMerge => {
                side_branch("other.txt");
                try_git_in(&scratch.repo, ["merge", "--quiet", "--no-commit", "--no-ff", "side"]);
                assert!(scratch.at(".git/MERGE_HEAD").exists());
            }
            Situation::MidRebase => {
                // Rebasing the trunk itself, stopped by a conflict: HEAD is detached meanwhile.
                side_branch("other.txt");
                assert!(!try_git_in(&scratch.repo, ["rebase", "--quiet", "side"]).status.success());
                assert!(scratch.at(".git/rebase-merge").exists());
            }
            Situation::MidCherryPick => {
                side_branch("other.txt");
                assert!(!try_git_in(&scratch.repo, ["cherry-pick", "side"]).status.success());
                assert!(scratch.at(".git/CHERRY_PICK_HEAD").exists());
            }
            Situation::Bisect => {
                scratch.git(["bisect", "start"]);
                scratch.git(["bisect", "bad"]);
                scratch.git(["bisect", "good", "main~2"]);
            }
            Situation::LiveIndexLock => std::fs::write(scratch.at(".git/index.lock"), "").unwrap(),
            Situation::SecondWorktree => {
                scratch.git(["switch", "--quiet", "--detach", "main"]);
                scratch.git(["worktree", "add", "--quiet", "../second", "main"]);
                self.checkouts = vec![second];
                self.dirty_elsewhere();
            }
            Situation::TwoCheckouts => {
                scratch.git(["worktree", "add", "--quiet", "--force", "../second", "main"]);
                self.checkouts.push(second);
                self.dirty_elsewhere();
            }
            Situation::SecondOneDirty => {
                scratch.git(["worktree", "add", "--quiet", "--force", "../second", "main"]);
                write(&second, "a.txt", b"mine\n");
                self.checkouts.push(second);
            }
        }
    }

    fn dirty_elsewhere(&self) {
        for checkout in &self.checkouts {
            write(checkout, "other.txt", b"mine, not staged\n");
            write(checkout, "staged.txt", b"mine, staged\n");
            git_in(checkout, ["add", "staged.txt"]);
            write(checkout, "untracked.txt", b"mine\n");
            write(checkout, "ignored/x", b"mine\n");
            // Beside the swarm's files, in folders it makes and empties.
            write(checkout, "deep/mine.txt", b"mine\n");
            write(checkout, "dir/mine.txt", b"mine\n");
        }
    }

    pub async fn git(&self) -> Git {
        self.scratch.open().await
    }

    /// Whether nothing may move.
    pub fn must_wait(&self) -> bool {
        use Situation::*;
        !matches!(self.situation, Nowhere | Clean | DirtyElsewhere | SecondWorktree | TwoCheckouts)
    }

    fn all_places(&self) -> Vec<PathBuf> {
        let mut places = vec![self.scratch.repo.clone()];
        places.extend(self.checkouts.iter().filter(|path| **path != self.scratch.repo).cloned());
        places
    }

    fn look(&self) -> Vec<Seen> {
        self.all_places()
            .iter()
            .map(|dir| Seen {
                files: files_under(dir),
                index: git_in(dir, ["ls-files", "-s", "-z"]),
                head: git_in(dir, ["rev-parse", "--symbolic-full-name", "HEAD"])
                    + &git_in(dir, ["status", "--porcelain", "-z", "--ignored"]),
            })
            .collect()
    }

    /// Publishes in this process and checks that the world is as it must be.
    pub async fn publish_and_check(&self, told: &str) {
        let outcome =
            publish(&self.git().await, &self.intent).await.unwrap_or_else(|error| panic!("{told}: {error}"));
        if self.must_wait() {
            self.check_waits(&outcome, told);
        } else {
            assert_eq!(outcome, Publication::Published, "{told}");
            self.check_published(told);
        }
        self.check_nothing_left(told);
        let again = publish(&self.git().await, &self.intent).await.unwrap();
        assert_eq!(again, outcome, "{told}: asked twice");
    }

    fn check_waits(&self, outcome: &Publication, told: &str) {
        let Publication::Waits(waits) = outcome else { panic!("{told}: {outcome:?}") };
        let (sentence, command) = (waits.sentence(), waits.command());
        assert!(
            sentence.starts_with("waits for your checkout: ") && !command.is_empty(),
            "{told}: {sentence} / {command}"
        );
        let fits = match (self.situation, &waits.reason) {
            (Situation::DirtySame | Situation::SecondOneDirty, WaitReason::Changed { paths }) => {
                paths[..] == [Path::new("a.txt")]
            }
            (Situation::DeletedSame, WaitReason::Deleted { paths }) => paths[..] == [Path::new("a.txt")],
            (Situation::Staged, WaitReason::Staged { paths }) => paths[..] == [Path::new("tool.sh")],
            (Situation::UntrackedClash | Situation::IgnoredClash, WaitReason::Untracked { paths }) => {
                paths[..] == [Path::new("deep/er/new.txt")]
            }
            (
                Situation::MidMerge | Situation::MidRebase | Situation::MidCherryPick | Situation::Bisect,
                WaitReason::MidWay(_),
            ) => true,
            (Situation::LiveIndexLock, WaitReason::IndexLocked { .. }) => true,
            _ => false,
        };
        assert!(fits, "{told}: {waits:?}");
        assert_eq!(self.scratch.oid("refs/heads/main"), self.intent.old, "{told}: the trunk moved");
        assert_eq!(self.look(), self.before, "{told}: something of the person's changed");
    }

    fn check_published(&self, told: &str) {
        assert_eq!(self.scratch.oid("refs/heads/main"), self.intent.new, "{told}");
        for (dir, (before, after)) in self.all_places().iter().zip(self.before.iter().zip(&self.look())) {
            if !self.checkouts.contains(dir) || self.situation == Situation::Nowhere {
                assert_eq!(before, after, "{told}: a checkout that does not show the trunk was touched");
                continue;
            }
            let persons = |seen: &Seen| -> BTreeMap<PathBuf, Vec<u8>> {
                seen.files
                    .iter()
                    .filter(|(path, _)| !CHANGED.iter().any(|changed| **path == Path::new(changed)))
                    .map(|(p, b)| (p.clone(), b.clone()))
                    .collect()
            };
            assert_eq!(persons(before), persons(after), "{told}: the person's files");
            self.persons_commit_keeps_all(dir, told);
        }
    }

    /// The proof that index and files came along: what a person commits now takes nothing back.
    fn persons_commit_keeps_all(&self, dir: &Path, told: &str) {
        let main = self.scratch.oid("refs/heads/main");
        git_in(dir, ["commit", "--quiet", "--allow-empty", "-a", "-m", "the person's"]);
        let mut args = vec!["diff", "--name-status", self.intent.new.as_str(), "HEAD", "--"];
        args.extend(CHANGED);
        assert_eq!(git_in(dir, args), "", "{told}: the person's commit took back something");
        // So that a second checkout can be asked the same, and the call be repeated.
        git_in(dir, ["reset", "--quiet", "--soft", main.as_str()]);
    }

    pub fn check_nothing_left(&self, told: &str) {
        let swarm = self.scratch.at(".git/swarm/publishing");
        let records: Vec<PathBuf> = std::fs::read_dir(swarm)
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .filter(|p| p.extension().is_some_and(|e| e == "json"))
            .collect();
        assert!(records.is_empty(), "{told}: {records:?}");
        let mut locks = vec![".git/refs/heads/main.lock", ".git/HEAD.lock"];
        if self.situation != Situation::LiveIndexLock {
            locks.extend([".git/index.lock", ".git/worktrees/second/index.lock"]);
        }
        for lock in locks {
            assert!(!self.scratch.at(lock).exists(), "{told}: {lock} is left");
        }
    }
}

fn files_under(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if entry.file_name() == ".git" || entry.file_name() == ".swarm" {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
            } else {
                let bytes = if kind.is_symlink() {
                    std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                } else {
                    std::fs::read(&path).unwrap()
                };
                files.insert(path.strip_prefix(dir).unwrap().to_owned(), bytes);
            }
        }
    }
    files
}
