//! A fresh git repository under a home of its own, and the real binary to run in it.

#![allow(dead_code, reason = "each test file uses the part it needs")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The binary under test.
pub const SWARM: &str = env!("CARGO_BIN_EXE_swarm");

/// Where a test plays. Everything goes away with it.
pub struct World {
    // Kept for its end: dropping it removes the folder.
    _dir: tempfile::TempDir,
    pub base: PathBuf,
    pub repo: PathBuf,
}

/// How a program ended.
#[derive(Debug, Clone)]
pub struct Ran {
    /// None when a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Its stdout; anything but success is a failed test.
    #[track_caller]
    pub fn good(self) -> String {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.out, self.err);
        self.out
    }

    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        let out = self.good();
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("not JSON ({e}): {out}"))
    }
}

impl World {
    /// A repository with one commit.
    pub fn new() -> Self {
        let world = Self::without_commits();
        std::fs::write(world.repo.join("README"), "hello\n").expect("a file can be written");
        world.git(&["add", "README"]);
        world.git(&["commit", "-q", "-m", "start"]);
        world
    }

    pub fn without_commits() -> Self {
        let world = Self::without_git();
        world.git(&["init", "-q", "-b", "main"]);
        world
    }

    pub fn without_git() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        // The real path, because git and the program print that one.
        let base = dir.path().canonicalize().expect("it exists");
        let repo = base.join("repo");
        std::fs::create_dir_all(base.join("home")).expect("a folder can be made");
        std::fs::create_dir_all(&repo).expect("a folder can be made");
        Self { _dir: dir, base, repo }
    }

    /// The same world once more, so that one of the two can be spoiled.
    pub fn copy(&self) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let base = dir.path().canonicalize().expect("it exists");
        let status =
            Command::new("cp").arg("-a").arg(self.base.join(".")).arg(&base).status().expect("cp runs");
        assert!(status.success());
        Self { _dir: dir, repo: base.join("repo"), base }
    }

    /// A program in this world: in the repository, with a home of its own and nothing of ours around it.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = Path::new(SWARM).parent().expect("the binary lies in a folder");
        command
            .current_dir(&self.repo)
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.base.join("home"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Ann")
            .env("GIT_AUTHOR_EMAIL", "ann@example.org")
            .env("GIT_COMMITTER_NAME", "Ann")
            .env("GIT_COMMITTER_EMAIL", "ann@example.org")
            .stdin(Stdio::null());
        command
    }

    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        run(self.program("git").args(args)).good()
    }

    pub fn swarm(&self, args: &[&str]) -> Ran {
        run(self.program(SWARM).args(args))
    }

    /// Root may read and write anywhere, so a user without rights runs the program: nobody, by setpriv.
    pub fn without_rights(&self, args: &[&str]) -> Ran {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        if std::fs::metadata("/proc/self").expect("a process").uid() != 0 {
            return self.swarm(args);
        }
        let bin = self.base.join("swarm");
        if !bin.exists() {
            std::fs::copy(SWARM, &bin).expect("a copy of the binary");
        }
        // The folder of a temporary directory is closed to others; its repository is not theirs either.
        std::fs::set_permissions(&self.base, std::fs::Permissions::from_mode(0o755)).expect("opened");
        let mut command = self.program("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(bin).args(args);
        let trusted = "[safe]\n\tdirectory = *\n";
        std::fs::write(self.base.join("home/.gitconfig"), trusted).expect("a configuration of git");
        run(&mut command)
    }

    pub fn shell(&self, line: &str) -> Ran {
        run(self.program("sh").args(["-c", line]))
    }

    /// Puts a file into the repository.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.repo.join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    /// Where the ledger and its second copy lie.
    pub fn ledger(&self) -> PathBuf {
        self.repo.join(".swarm/plan-ledger.jsonl")
    }

    pub fn second_copy(&self) -> PathBuf {
        self.repo.join(".git/swarm/plan-ledger.jsonl")
    }
}

pub fn run(command: &mut Command) -> Ran {
    let output = command.output().expect("the program starts");
    Ran {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The same with something on stdin.
pub fn run_with(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    let input = input.to_vec();
    // Written from the side: a program that refuses early does not read it all.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer does not panic");
    Ran {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Checks with nothing of ours that the ledger is one dense chain, and gives the number of records.
pub fn dense_chain(ledger: &Path) -> u64 {
    let text = std::fs::read_to_string(ledger).expect("a ledger");
    let mut prev: Option<String> = None;
    let mut seq = 0;
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("a record is JSON");
        seq += 1;
        assert_eq!(record["seq"], seq, "dense");
        if let Some(prev) = &prev {
            assert_eq!(record["prev"].as_str(), Some(prev.as_str()), "record {seq} follows the one before");
        }
        prev = record["hash"].as_str().map(str::to_owned);
    }
    seq
}
