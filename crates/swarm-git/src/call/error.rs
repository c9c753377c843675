//! Why git could not do something.

use std::path::{Path, PathBuf};

use swarm_process::{Ended, ProcessError, is_shortage};
use swarm_protocol::ids::Oid;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed or not in PATH: install git 2.38 or newer")]
    Missing,
    #[error("git {found} is too old: 2.38 or newer is needed")]
    TooOld { found: String },
    #[error("{} is not inside a git repository: run `git init` there, or go to your repository ({said})", path.display())]
    NotARepository { path: PathBuf, said: String },
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
    #[error("the main checkout of {} cannot be found: run the command inside it", common_dir.display())]
    NoMainCheckout { common_dir: PathBuf },
    #[error("objects of the commit {commit} have gone: `git gc --prune=now` takes what no ref holds yet")]
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
            _ => false,
        }
    }

    pub fn io(what: &'static str, path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { what, path, source }
    }
}

/// A call that ended as none should.
pub(crate) fn failed(command: String, ended: &Ended) -> GitError {
    let said = String::from_utf8_lossy(&ended.stderr_tail);
    let said = said.trim();
    let said = if said.is_empty() { "no words".to_owned() } else { said.chars().take(2000).collect() };
    GitError::Failed { command, how: ended.status.to_string(), said }
}
