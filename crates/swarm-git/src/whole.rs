//! Whether everything of a commit is there. A bit that rotted in the person's own store shows wherever git comes across it,
//! often in the middle of somebody's work who has nothing to do with it.

use std::time::Duration;

use swarm_protocol::ids::Oid;

use crate::call::{Git, GitError};

/// A repository that takes longer is not judged: whoever asks has a person waiting.
const LIMIT: Duration = Duration::from_secs(5);

impl Git {
    /// An error where something of these commits cannot be read. Whoever has work that stands on them is not to blame for
    /// what git says of it then.
    pub async fn read_whole(&self, commits: &[&Oid]) -> Result<(), GitError> {
        let all = ["rev-list", "--quiet", "--no-walk", "--verify-objects", "--end-of-options"];
        let names = commits.iter().map(|oid| oid.as_str());
        match self.call(all.into_iter().chain(names)).timeout(LIMIT).ok().await {
            Err(error @ GitError::Failed { .. }) if !error.is_no_answer() => Err(error),
            // So large that it takes longer, or ended by somebody: nothing is known.
            _ => Ok(()),
        }
    }
}
