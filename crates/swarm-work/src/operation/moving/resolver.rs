//! Reverts that conflict as an agent is shown them, and what it says, looked at before it is kept. Nothing of it moves trunk:
//! whoever moves finds what was kept, builds with it and has the result verified.

use std::path::{Path, PathBuf};

use swarm_protocol::ids::{CommandId, Oid};
use swarm_protocol::resolution::Resolution;

use super::super::ref_word;
use super::rebuild::{Open, keep_commit, resolved_ref, resolved_refs};
use swarm_git::{Change, Conflicted, DiffKind, Entry, Git, GitError, RefChange, Sides};
use swarm_process::ProcessError;

/// Files that one answer has room for; more are a matter for a person.
const FILES_MAX: usize = 20;
/// Bytes of all of them together, so that the whole of each fits into an answer.
const BYTES_MAX: usize = 96 * 1024;

const REGULAR: [u32; 2] = [0o100_644, 0o100_755];

/// What the agent is shown.
#[derive(Debug)]
pub struct Shown {
    /// Everything that could be taken back, with marks where it conflicts. No ref holds it.
    pub commit: Oid,
    /// In the order of the answer.
    pub files: Vec<ShownFile>,
    /// What is to go: the patch of the commits that are taken back.
    pub goes: String,
}

/// A file that conflicts, with marks of the style `diff3`; where a side does not have it, as the others do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFile {
    pub path: String,
    pub text: String,
    /// Trunk has no such file any more.
    pub gone_from_trunk: bool,
    /// There was none before the commits that are taken back.
    pub new_with_them: bool,
    mode: u32,
}

impl Open {
    /// What is taken back as it was left, what is there now, and what was there before.
    pub fn sides(&self) -> (&Oid, &Oid, &Oid) {
        (&self.stretch.newest, &self.asked.onto, &self.stretch.before)
    }

    /// None: an answer of text could not decide it. Links, folders and bytes are a person's, and so is too much.
    pub async fn shown(&self, git: &Git) -> Result<Option<Shown>, GitError> {
        let (newest, onto, before) = self.sides();
        let Some(conflicted) = git.conflict_of(newest, onto, before).await? else { return Ok(None) };
        if conflicted.files.is_empty() || conflicted.files.len() > FILES_MAX {
            return Ok(None);
        }
        let (mut files, mut bytes) = (Vec::new(), 0);
        for (path, sides) in &conflicted.files {
            let Some(file) = shown(git, &conflicted, path, sides).await? else { return Ok(None) };
            bytes += file.text.len();
            files.push(file);
        }
        if bytes > BYTES_MAX {
            return Ok(None);
        }
        let commit = git.take_back(&self.stretch, &conflicted.tree, &self.asked).await?;
        let goes = git.diff_text(before, newest, DiffKind::Patch).await?;
        let goes = String::from_utf8_lossy(&goes).into_owned();
        Ok(Some(Shown { commit, files, goes }))
    }

    /// Keeps what the agent says for the operation; the inner error is what its answer lacks.
    pub async fn keep(
        &self,
        git: &Git,
        op: &CommandId,
        shown: &Shown,
        answer: &str,
    ) -> Result<Result<(), String>, GitError> {
        let paths: Vec<String> = shown.files.iter().map(|file| file.path.clone()).collect();
        let texts = match Resolution::read(answer).and_then(|resolution| resolution.of(&paths)) {
            Ok(texts) => texts,
            Err(why) => return Ok(Err(why)),
        };
        let mut changes = Vec::new();
        for (file, text) in shown.files.iter().zip(texts) {
            let new = match text {
                Some(text) => Some(Entry { mode: file.mode, oid: git.write_blob(text.into_bytes()).await? }),
                None => None,
            };
            changes.push(Change { path: PathBuf::from(&file.path), old: None, new });
        }
        let tree = git.tree_with(&shown.commit, &changes).await?;
        if tree == git.tree_of(&self.asked.onto).await? {
            return Ok(Err("it leaves everything as it is on trunk, and nothing would be taken back".into()));
        }
        let commit = git.take_back(&self.stretch, &tree, &self.asked).await?;
        let name = resolved_ref(&ref_word(op.as_str()), &self.stretch.newest);
        keep_commit(git, &name, &commit, "swarm: resolved").await.map(Ok)
    }
}

/// What an agent has said for the operation is forgotten: it is red, and it may be asked again.
pub async fn forget(git: &Git, op: &CommandId) -> Result<(), GitError> {
    let kept = git.refs_under(&resolved_refs(&ref_word(op.as_str()))).await?;
    let changes: Vec<RefChange> = kept.iter().map(|(name, oid)| RefChange::delete(name, oid)).collect();
    if !changes.is_empty() {
        git.update_refs(&changes, "swarm: of no use").await?;
        git.make_durable().await?;
    }
    Ok(())
}

async fn shown(
    git: &Git,
    conflicted: &Conflicted,
    path: &Path,
    sides: &Sides,
) -> Result<Option<ShownFile>, GitError> {
    let there: Vec<&Entry> = [&sides.ours, &sides.theirs, &sides.base].into_iter().flatten().collect();
    let Some(mode) = there.first().map(|entry| entry.mode) else { return Ok(None) };
    if there.iter().any(|entry| !REGULAR.contains(&entry.mode)) {
        return Ok(None);
    }
    let marked = git.entry_at(&conflicted.tree, path).await?;
    let Some(entry) = marked.as_ref().or(there.first().copied()) else { return Ok(None) };
    let bytes = match git.blob(&entry.oid).await {
        Err(GitError::Process(ProcessError::TooMuchOutput { .. })) => return Ok(None),
        bytes => bytes?,
    };
    let (Ok(text), Some(path)) = (String::from_utf8(bytes), path.to_str()) else { return Ok(None) };
    if text.contains('\0') {
        return Ok(None);
    }
    let (gone_from_trunk, new_with_them) = (sides.ours.is_none(), sides.theirs.is_none());
    Ok(Some(ShownFile { path: path.to_owned(), text, gone_from_trunk, new_with_them, mode }))
}
