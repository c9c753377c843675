//! Why a run cannot begin.

use std::io;

use swarm_git::GitError;
use swarm_git::trunk::TrunkError;
use swarm_ledger::OwnerInfo;
use swarm_protocol::refusal::Refusal;

use crate::settings::SettingsError;
use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Settings(SettingsError),
    #[error("{}", .0.message())]
    Refused(Refusal),
    #[error("{} came with the repository and is not trusted yet", .0.display())]
    Untrusted(std::path::PathBuf),
    /// No profile and no agent program has that name.
    #[error("{0}")]
    NoProfile(String),
    #[error("The agent {agent} cannot be used: {why}")]
    NotReady { agent: String, why: String, hint: String },
    #[error("{agents} needs {needed} open files at once, and the machine allows {allowed}")]
    TooFewFiles { agents: String, needed: u64, allowed: u64 },
    #[error("A coordinator is already running: {}", .0.as_ref().map_or_else(|| "an unknown process".to_string(), ToString::to_string))]
    Busy(Option<OwnerInfo>),
    #[error("No branch is checked out here, so there is no trunk to merge into")]
    NoBranch,
    #[error("The branch {trunk} has no commit yet")]
    NoCommit { trunk: String },
    #[error("The branch {trunk}, which this plan is merged into, is gone")]
    TrunkGone { trunk: String, way_back: String },
    #[error(transparent)]
    Trunk(TrunkError),
    #[error("{0}")]
    Prompts(String),
    #[error("Cannot {what}")]
    Io { what: &'static str, source: io::Error },
}

impl SessionError {
    pub(super) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}

impl From<TrunkError> for SessionError {
    fn from(error: TrunkError) -> Self {
        match error {
            TrunkError::Git(error) => Self::Git(error),
            error => Self::Trunk(error),
        }
    }
}

impl From<SettingsError> for SessionError {
    fn from(error: SettingsError) -> Self {
        Self::Settings(error)
    }
}

impl From<Refusal> for SessionError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
