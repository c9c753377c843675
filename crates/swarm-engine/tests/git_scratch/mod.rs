//! A throw-away repository with real git, as a person would have it.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use swarm_git::Git;
use swarm_protocol::ids::{Oid, TaskId};

pub struct Scratch {
    pub dir: tempfile::TempDir,
    pub repo: PathBuf,
}

impl Scratch {
    /// A repository with the branch `main`, two commits and the files `a.txt`, `b.txt`, `dir/c.txt`.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let repo = std::fs::canonicalize(dir.path()).expect("it exists").join("repo");
        std::fs::create_dir(&repo).expect("it is new");
        let scratch = Self { dir, repo };
        scratch.git(["init", "--quiet", "--initial-branch=main"]);
        scratch.git(["config", "user.name", "Pat Person"]);
        scratch.git(["config", "user.email", "pat@example.org"]);
        scratch.write("a.txt", "a one\n");
        scratch.write("b.txt", "b one\n");
        scratch.write("dir/c.txt", "c one\n");
        scratch.write(".gitignore", ".swarm/\nignored/\n");
        scratch.commit_all("start");
        scratch.write("a.txt", "a one\na two\n");
        scratch.commit_all("second");
        scratch
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.repo.join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        write(&self.repo, path, text.as_bytes());
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn commit_all(&self, message: &str) -> Oid {
        commit_all(&self.repo, message)
    }

    /// Runs git in the main checkout as a person would; panics when it fails.
    pub fn git<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(&self, args: I) -> String {
        git_in(&self.repo, args)
    }

    pub fn oid(&self, name: &str) -> Oid {
        Oid::new(self.git(["rev-parse", name])).expect("rev-parse prints object names")
    }

    pub async fn open(&self) -> Git {
        Git::discover(&self.repo).await.expect("a fit repository")
    }

    pub fn worktrees(&self) -> PathBuf {
        self.repo.join(".swarm/worktrees")
    }
}

pub fn task(name: &str) -> TaskId {
    TaskId::new(name).expect("a task id")
}

pub fn write(dir: &Path, path: impl AsRef<Path>, bytes: &[u8]) {
    let path = dir.join(path);
    std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("folders can be made");
    std::fs::write(path, bytes).expect("files can be written");
}

pub fn commit_all(dir: &Path, message: &str) -> Oid {
    git_in(dir, ["add", "-A"]);
    git_in(dir, ["commit", "--quiet", "--allow-empty", "-m", message]);
    Oid::new(git_in(dir, ["rev-parse", "HEAD"])).expect("rev-parse prints object names")
}

pub fn try_git_in<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(dir: &Path, args: I) -> Output {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .args(args)
        .env("LC_ALL", "C")
        .env("GIT_EDITOR", "true")
        .stdin(std::process::Stdio::null());
    command.output().expect("git is installed")
}

pub fn git_in<I: IntoIterator<Item = A>, A: AsRef<OsStr>>(dir: &Path, args: I) -> String {
    let args: Vec<std::ffi::OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
    let output = try_git_in(dir, &args);
    assert!(
        output.status.success(),
        "git {args:?} in {}: {}",
        dir.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
