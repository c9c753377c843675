//! Why git could not do something.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::process::Signal;
use swarm_process::{Ended, ProcessError, is_shortage};
use swarm_protocol::ids::Oid;

/// How git and the loader of programs say that the machine has no room for them.
const WITHOUT_ROOM: [&str; 5] = [
    "Out of memory",
    "Cannot allocate memory",
    "error while loading shared libraries",
    "Too many open files",
    "Resource temporarily unavailable",
];

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed or not in PATH: install git 2.38 or newer")]
    Missing,
    #[error("git {found} is too old: 2.38 or newer is needed")]
    TooOld { found: String },
    #[error("{} is not inside a git repository: run `git init` there, or go to your repository ({said})", path.display())]
    NotARepository { path: PathBuf, said: String },
    #[error("git cannot read the repository {} ({said})", git_dir.display())]
    Damaged { git_dir: PathBuf, said: String },
    #[error("{} is a bare repository: the swarm needs one with a checkout", path.display())]
    Bare { path: PathBuf },
    #[error("{} has no commit yet: make one first, for example `git commit --allow-empty -m start`", path.display())]
    NoCommits { path: PathBuf },
    #[error(
        "{} keeps its refs in the reftable format, which can lose all refs at a power cut: \
         convert it with `git refs migrate --ref-format=files`",
        path.display()
    )]
    Reftable { path: PathBuf },
    #[error("git cannot name what lies in {}: the path has a line break or is not UTF-8; rename the folder", .0.to_string_lossy().escape_debug())]
    OddPath(PathBuf),
    #[error("the main checkout of {} cannot be found: run the command inside it", common_dir.display())]
    NoMainCheckout { common_dir: PathBuf },
    #[error(
        "objects of the commit {commit} are missing: `git gc --prune=now` deletes objects that no ref holds yet"
    )]
    Pruned { commit: Oid },
    #[error("the branch {branch} is gone: {way_back}")]
    NoBranch { branch: String, way_back: String },
    #[error("git {command} failed ({how}): {said}")]
    Failed { command: String, how: String, said: String },
    #[error("git {command} answered something unexpected: {what}")]
    Unreadable { command: String, what: String },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot {what} {}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("another coordinator has taken over ({} was replaced or removed): nothing more is changed", .0.display())]
    NotOwner(PathBuf),
    #[error("the git directory {} is gone: move it back", .0.display())]
    Gone(PathBuf),
    #[error("git cannot read {}, which is {what}: remove it, then try again", path.display())]
    Unfit { path: PathBuf, what: &'static str },
    #[error(
        "a filter of your git configuration works on files of an agent, and no walls can be put up around it: {why}. \
         Nothing was lost, the files stay where they are; `swarm doctor` says what is missing, and with `\"sandbox\": \"none\"` \
         filters run as in your own git"
    )]
    NoWalls { why: String },
    #[error("the disk did not take the repository's data: {0}")]
    NotDurable(String),
}

impl GitError {
    /// Whether the machine had no room for git: nobody's fault, least of all an agent's.
    pub fn is_shortage(&self) -> bool {
        match self {
            Self::Process(ProcessError::Spawn { why, .. }) => is_shortage(why),
            Self::Io { source, .. } => is_shortage(source),
            Self::Failed { said, .. } => WITHOUT_ROOM.iter().any(|words| said.contains(words)),
            _ => false,
        }
    }

    /// Whether git was ended, or had no room, before it came to an answer: nothing follows from it for the repository.
    pub fn is_no_answer(&self) -> bool {
        match self {
            Self::Process(_) | Self::Missing => true,
            Self::Failed { how, .. } if how.starts_with("signal") => true,
            other => other.is_shortage(),
        }
    }

    pub fn io(what: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { what, path, source }
    }
}

/// By these a program ends that fell over what it read; every other signal was sent by somebody.
const FALLEN: [Signal; 5] = [Signal::ILL, Signal::ABORT, Signal::BUS, Signal::FPE, Signal::SEGV];

pub(super) fn fell(status: ExitStatus) -> bool {
    status.signal().is_some_and(|signal| FALLEN.iter().any(|one| one.as_raw() == signal))
}

/// A call that ended as none should.
pub(crate) fn failed(command: String, ended: &Ended) -> GitError {
    let said = String::from_utf8_lossy(&ended.stderr_tail);
    let said = said.trim();
    let said = if said.is_empty() { "no words".to_owned() } else { said.chars().take(2000).collect() };
    GitError::Failed { command, how: ended.status.to_string(), said }
}

#[cfg(test)]
mod tests {
    use crate::GitCall;

    #[tokio::test]
    async fn a_git_that_died_or_had_no_room_has_not_answered_and_one_that_found_a_fault_has() {
        let dir = tempfile::tempdir().expect("a folder");
        let look = async |does: &str| {
            let alias = format!("alias.look=!{does}");
            GitCall::by_hand(dir.path()).args(["-c", &alias, "look"]).is_sound().await
        };
        assert!(look("true").await.expect("it looked"));
        assert!(!look("exit 128").await.expect("it looked"));
        assert!(look("echo error: object directory x does not exist >&2").await.expect("it looked"));
        for (does, for_want_of_room) in [
            ("echo fatal: Out of memory, malloc failed >&2; exit 128", true),
            ("echo fatal: mmap failed: Cannot allocate memory >&2; exit 128", true),
            ("kill -9 $PPID", false),
        ] {
            let error = look(does).await.expect_err(does);
            assert!(error.is_no_answer(), "{error}");
            assert_eq!(error.is_shortage(), for_want_of_room, "{error}");
        }
    }
}
