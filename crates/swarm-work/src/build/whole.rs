//! The whole of a task at once: as one commit, or joined by a merge commit.

use std::path::PathBuf;

use swarm_protocol::config::Strategy;
use swarm_protocol::ids::Oid;

use super::{Line, Plan, Squashed, Tried, message};
use swarm_git::{GitError, Merged, NewCommit, Signature};

impl Plan<'_> {
    /// The whole of the task as one commit, whose message says what it replaces and why.
    pub(super) async fn whole(&self, why: Squashed) -> Result<Line, GitError> {
        Ok(match self.merged_whole().await? {
            Ok(Some(tree)) => Line::clean(vec![self.squash(&tree, why).await?], Some(why)),
            Ok(None) => Line::clean(Vec::new(), Some(why)),
            Err(paths) => Line::Conflict { paths, tried: Tried::Whole },
        })
    }

    /// A merge commit, also where the trunk has not moved: it is the one commit that says "this task".
    pub(super) async fn join(&self) -> Result<Line, GitError> {
        Ok(match self.merged_whole().await? {
            Ok(Some(tree)) => Line::clean(vec![self.merge_commit(&tree).await?], None),
            Ok(None) => Line::clean(Vec::new(), None),
            Err(paths) => Line::Conflict { paths, tried: Tried::Whole },
        })
    }

    /// A commit of this tree in the way of the strategy; one commit where that is the task's own ones.
    pub(super) async fn as_one(
        &self,
        tree: &Oid,
        why: Squashed,
    ) -> Result<(Oid, Option<Squashed>), GitError> {
        Ok(match self.strategy {
            Strategy::Merge => (self.merge_commit(tree).await?, None),
            Strategy::Squash => (self.squash(tree, Squashed::Asked).await?, Some(Squashed::Asked)),
            Strategy::Commits => (self.squash(tree, why).await?, Some(why)),
        })
    }

    /// What both the trunk and the whole of the task are changes of.
    ///
    /// A task that merged the trunk into itself has a newer common ancestor than its base; one whose earlier work
    /// came to the trunk as other commits has an older one. One of its own commits is none: what it brought may have been
    /// taken back since, and counts as a change all the same.
    pub(super) async fn common(&self) -> Result<Oid, GitError> {
        let (git, work) = (self.git, self.work);
        Ok(match git.merge_base(&work.trunk, &work.tip).await? {
            Some(common)
                if !self.range.contains(&common) && !git.is_ancestor(&common, &work.base).await? =>
            {
                common
            }
            _ => work.base.clone(),
        })
    }

    /// The trunk with the whole of the task in it, as a tree. `None`: it is in the trunk already.
    async fn merged_whole(&self) -> Result<Result<Option<Oid>, Vec<PathBuf>>, GitError> {
        let (git, work) = (self.git, self.work);
        let tree = match git.merge_commits(&self.common().await?, &work.trunk, &work.tip).await? {
            Merged::Clean { tree } => tree,
            Merged::Conflict { paths } => return Ok(Err(paths)),
        };
        let nothing_new = tree == git.tree_of(&work.trunk).await?;
        Ok(Ok((!nothing_new).then_some(tree)))
    }

    /// Subjects of the task's commits, oldest first, and the last one's author.
    async fn story(&self) -> Result<(Vec<Vec<u8>>, Option<Signature>), GitError> {
        let (mut subjects, mut author) = (Vec::new(), None);
        for commit in self.range {
            let parts = self.git.commit_parts(commit).await?;
            subjects.push(message::subject(&parts.message));
            author = Some(parts.author);
        }
        Ok((subjects, author))
    }

    async fn squash(&self, tree: &Oid, why: Squashed) -> Result<Oid, GitError> {
        let work = self.work;
        let (subjects, author) = self.story().await?;
        let message = message::of_squash(&work.task, work.agent.as_ref(), &subjects, why);
        let commit = NewCommit {
            tree,
            parents: std::slice::from_ref(&work.trunk),
            author: author.as_ref(),
            encoding: None,
            message: &message,
            at_secs: work.at_secs,
        };
        self.git.make_commit(commit).await
    }

    async fn merge_commit(&self, tree: &Oid) -> Result<Oid, GitError> {
        let work = self.work;
        let (subjects, _) = self.story().await?;
        let message = message::of_merge(&work.task, work.agent.as_ref(), &subjects);
        let commit = NewCommit {
            tree,
            parents: &[work.trunk.clone(), work.tip.clone()],
            author: None,
            encoding: None,
            message: &message,
            at_secs: work.at_secs,
        };
        self.git.make_commit(commit).await
    }
}
