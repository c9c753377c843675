//! Saved work: what there is, and bringing one of it back.

use swarm_protocol::deed::{RestoredView, SavedView};
use swarm_protocol::ids::TaskId;
use swarm_protocol::time::Timestamp;
use swarm_work::restore::{self, Saved, Shelf};

use super::{ByHandError, Hands};

impl Hands {
    /// Everything that was saved and is still there, newest first.
    pub async fn saved_work(&self) -> Result<Vec<Saved>, ByHandError> {
        // Where nothing says what trunk is, nothing is counted against it.
        let trunk = self.trunk_name().await.unwrap_or_default();
        let dir = self.paths.root.join(&self.config.worktree.dir);
        Ok(restore::saved(&self.git, &dir, &trunk).await?)
    }

    /// What is meant by a name of the list, or by a task: that which has its work.
    pub async fn chosen<'a>(&self, all: &'a [Saved], name: &str) -> Result<&'a Saved, ByHandError> {
        if let Some(one) = all.iter().find(|one| one.name == name) {
            return Ok(one);
        }
        let none =
            || ByHandError::environment(format!("Nothing named {name} was saved")).run("swarm restore");
        Ok(restore::best(&self.git, all, name).await?.ok_or_else(none)?)
    }

    /// Where it would come back.
    pub async fn would_restore(&self, saved: &Saved) -> Result<RestoredView, ByHandError> {
        let place = restore::place_of(&self.git, saved, &self.paths.swarm.join("restored")).await?;
        Ok(self.restored(saved, place))
    }

    /// Brings it back below `.swarm/restored`.
    pub async fn restore_work(&self, saved: &Saved) -> Result<RestoredView, ByHandError> {
        self.ensure_ignored_quietly();
        let back = restore::restore(&self.git, saved, &self.paths.swarm.join("restored")).await?;
        Ok(self.restored(saved, back))
    }

    fn restored(&self, saved: &Saved, back: restore::Restored) -> RestoredView {
        RestoredView { name: saved.name.clone(), path: self.shown(&back.path), branch: back.branch }
    }

    /// The folder of a worktree that was removed by force, as `swarm restore` names it.
    pub(super) async fn kept_whole(&self, task: &TaskId) -> Result<Option<String>, ByHandError> {
        let kept = self.saved_work().await?.into_iter().filter(|one| one.shelf == Shelf::Trash && one.keep);
        Ok(kept.map(|one| (one.task, one.name)).find(|(of, _)| of == task.as_str()).map(|(_, name)| name))
    }
}

/// One of them, as people are told of it.
pub fn saved_view(one: &Saved, now: Timestamp) -> SavedView {
    let now_secs = i64::try_from(now.0 / 1000).unwrap_or(i64::MAX);
    SavedView {
        name: one.name.clone(),
        task: one.task.clone(),
        what: one.shelf.word().into(),
        age_secs: u64::try_from(now_secs.saturating_sub(one.at_secs)).unwrap_or(0),
        commits: one.ahead,
        files: one.files,
        subject: one.subject.clone(),
    }
}

/// What a person looks for: with work in it, and the same files of a task once; or every copy.
pub fn listed(all: &[Saved], every: bool) -> Vec<&Saved> {
    if every { all.iter().collect() } else { restore::with_work(all) }
}
