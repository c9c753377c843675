//! Commits taken back, or brought to another place, in the object database: no checkout is touched, and a
//! conflict on the last one leaves everything as it was.
//!
//! To revert a commit is to merge its parent into the present, both seen as changes of the commit; to pick one
//! is to merge the commit, both seen as changes of its parent. The same question gives the same commits: the
//! date comes from the caller and not from the clock, so a step that died is asked again and ends the same.

use std::collections::BTreeSet;
use std::path::PathBuf;

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::commits::{CommitParts, NewCommit};
use super::objects::Merged;
use super::refs::parse_oid;

/// Commits to be carried onto another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carry {
    pub onto: Oid,
    /// To revert: newest first. To pick: oldest first.
    pub commits: Vec<Oid>,
    /// Date of the new commits (committer), seconds since 1970: taken from the record that asks.
    pub at_secs: i64,
    /// A line more in the messages of reverts, so that a reader of the log knows who did it and why.
    pub because: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// The new commits, oldest first; the last is the new tip. Never empty. `of`: what each was made from.
    Built { result: Oid, commits: Vec<Oid>, of: Vec<Oid> },
    /// There was nothing left to do: everything is so already.
    Nothing,
    /// This commit does not fit. Nothing has been changed.
    Conflict { commit: Oid, paths: Vec<PathBuf> },
}

/// Commits that follow one another, newest first: from what the newest made back to what the oldest was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    pub newest: Oid,
    pub before: Oid,
    pub commits: Vec<Oid>,
}

/// Takes the commits back, newest first.
pub async fn revert(git: &Git, asked: &Carry) -> Result<Carried, GitError> {
    carry(git, asked, Direction::Back).await
}

/// Brings the commits, oldest first.
pub async fn pick(git: &Git, asked: &Carry) -> Result<Carried, GitError> {
    carry(git, asked, Direction::Forth).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Back,
    Forth,
}

async fn carry(git: &Git, asked: &Carry, direction: Direction) -> Result<Carried, GitError> {
    let mut onto = asked.onto.clone();
    let mut onto_tree = git.tree_of(&onto).await?;
    let (mut commits, mut of) = (Vec::new(), Vec::new());
    for commit in &asked.commits {
        let parts = git.commit_parts(commit).await?;
        // Of a merge commit the first parent is the line it came into.
        let parent = match parts.parents.first() {
            Some(parent) => parent.clone(),
            None => git.empty_commit().await?,
        };
        let (base, theirs) = match direction {
            Direction::Back => (commit, &parent),
            Direction::Forth => (&parent, commit),
        };
        let tree = match git.merge_commits(base, &onto, theirs).await? {
            Merged::Clean { tree } => tree,
            Merged::Conflict { paths } => return Ok(Carried::Conflict { commit: commit.clone(), paths }),
        };
        // It is so already: an empty commit would say nothing.
        if tree == onto_tree {
            continue;
        }
        onto = git.make_carried(&tree, &onto, commit, &parts, asked, direction).await?;
        onto_tree = tree;
        commits.push(onto.clone());
        of.push(commit.clone());
    }
    Ok(if commits.is_empty() { Carried::Nothing } else { Carried::Built { result: onto, commits, of } })
}

impl Git {
    async fn make_carried(
        &self,
        tree: &Oid,
        onto: &Oid,
        commit: &Oid,
        parts: &CommitParts,
        asked: &Carry,
        direction: Direction,
    ) -> Result<Oid, GitError> {
        let (message, author) = match direction {
            Direction::Back => {
                let commits = std::slice::from_ref(commit);
                (message_of_revert(commits, parts, asked.because.as_deref()), None)
            }
            Direction::Forth => (parts.message.clone(), Some(&parts.author)),
        };
        let new = NewCommit {
            tree,
            parents: std::slice::from_ref(onto),
            author,
            encoding: parts.encoding.as_deref(),
            message: &message,
            at_secs: asked.at_secs,
        };
        self.make_commit(new).await
    }

    /// These commits, newest first, in stretches that follow one another.
    pub async fn stretches(&self, commits: &[Oid]) -> Result<Vec<Stretch>, GitError> {
        let mut all: Vec<Stretch> = Vec::new();
        for commit in commits {
            let before = match self.commit_parts(commit).await?.parents.into_iter().next() {
                Some(parent) => parent,
                None => self.empty_commit().await?,
            };
            match all.last_mut() {
                Some(stretch) if stretch.before == *commit => {
                    stretch.before = before;
                    stretch.commits.push(commit.clone());
                }
                _ => all.push(Stretch { newest: commit.clone(), before, commits: vec![commit.clone()] }),
            }
        }
        Ok(all)
    }

    /// One commit that takes the whole stretch back, with a tree that was decided about.
    pub async fn take_back(&self, stretch: &Stretch, tree: &Oid, asked: &Carry) -> Result<Oid, GitError> {
        let parts = self.commit_parts(&stretch.newest).await?;
        let message = message_of_revert(&stretch.commits, &parts, asked.because.as_deref());
        let new = NewCommit {
            tree,
            parents: std::slice::from_ref(&asked.onto),
            author: None,
            encoding: parts.encoding.as_deref(),
            message: &message,
            at_secs: asked.at_secs,
        };
        self.make_commit(new).await
    }

    /// A commit without files: what a first commit stands on.
    async fn empty_commit(&self) -> Result<Oid, GitError> {
        let tree = parse_oid("mktree", &self.call(["mktree"]).ok().await?)?;
        let nothing = NewCommit {
            tree: &tree,
            parents: &[],
            author: None,
            encoding: None,
            message: b"nothing\n",
            at_secs: 0,
        };
        self.make_commit(nothing).await
    }

    /// Those of these objects, of whatever kind, that are not there (any more).
    pub async fn missing_objects(&self, objects: &[Oid]) -> Result<BTreeSet<Oid>, GitError> {
        let (asked, told) = self.kinds_of(objects).await?;
        let told = String::from_utf8_lossy(&told);
        let missing = asked.into_iter().zip(told.lines()).filter(|(_, line)| line.ends_with(" missing"));
        Ok(missing.map(|(oid, _)| oid.clone()).collect())
    }

    /// The full names of commits of a list that cannot be found (any more).
    pub async fn missing_commits(&self, commits: &[Oid]) -> Result<Vec<Oid>, GitError> {
        let (asked, told) = self.kinds_of(commits).await?;
        let lines = told.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let missing = asked.into_iter().zip(lines).filter(|(_, line)| *line != b"commit");
        Ok(missing.map(|(oid, _)| oid.clone()).collect())
    }

    /// A line of git about each object, but for the young commits of a short list: these are read without it.
    async fn kinds_of<'a>(&self, objects: &'a [Oid]) -> Result<(Vec<&'a Oid>, Vec<u8>), GitError> {
        let asked = self.not_loose(objects);
        if asked.is_empty() {
            return Ok((asked, Vec::new()));
        }
        let input: String = asked.iter().map(|oid| format!("{oid}\n")).collect();
        let call = self.call(["cat-file", "--batch-check=%(objecttype)"]);
        let told = call.stdin(swarm_process::Input::Bytes(input.into_bytes())).long_list().ok().await?;
        Ok((asked, told))
    }
}

/// As git words it, so that its own tools recognise it. `parts`: those of the first one.
fn message_of_revert(commits: &[Oid], parts: &CommitParts, because: Option<&str>) -> Vec<u8> {
    let subject = parts.message.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty());
    let subject = subject.unwrap_or(b"a commit without a message");
    let mut message = b"Revert \"".to_vec();
    message.extend_from_slice(subject.trim_ascii());
    let more = match commits.len() {
        0 | 1 => String::new(),
        all => format!(" and {} more", all - 1),
    };
    let named: String = commits.iter().map(|commit| format!("This reverts commit {commit}.\n")).collect();
    message.extend_from_slice(format!("\"{more}\n\n{named}").as_bytes());
    if let Some(because) = because {
        message.extend_from_slice(format!("\n{because}\n").as_bytes());
    }
    message
}
