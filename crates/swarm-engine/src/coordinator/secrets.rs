//! Whether what is about to be merged holds a secret: it waits for a person then, as a protected file does.

use swarm_agents::secrets;
use swarm_git::{DiffKind, GitError};
use swarm_process::ProcessError;
use swarm_protocol::ids::Oid;

use super::world::World;

/// A person can do what we cannot.
const UNSEEN: &str = "more changes than can be looked through for secrets";

impl World {
    /// Lines that these changes add and that hold a secret, in words for a person. `each`: also what one commit adds and a
    /// later one takes away.
    pub(super) async fn secrets_in(&self, from: &Oid, to: &Oid, each: bool) -> Result<Vec<String>, GitError> {
        let told = match each {
            true => self.git.patches(from, to).await,
            false => self.git.diff_text(from, to, DiffKind::Patch).await,
        };
        let patch = match told {
            // A git that was killed is asked again.
            Err(GitError::Process(ProcessError::TooMuchOutput { .. })) => {
                return Ok(vec![UNSEEN.into()]);
            }
            patch => patch?,
        };
        let root = self.paths.root.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let known = secrets::known_at(&root);
            secrets::in_patch(&known, &patch)
        });
        // Not looked through is not clean.
        Ok(looked.await.unwrap_or_else(|_| vec![UNSEEN.into()]))
    }
}
