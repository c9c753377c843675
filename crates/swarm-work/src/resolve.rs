//! Conflicts that a rule can decide, in the object database: level 1 of the ladder.
//!
//! All of a merge or nothing: where one place of one file is not for rules, a person is asked about all of it.

mod hunks;
mod imports;
pub mod places;
mod rules;
mod whitespace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swarm_protocol::config::Regenerate;
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::ids::Oid;

use crate::regenerate::is_made;
use swarm_git::{Conflicted, Entry, Git, GitError, Sides};

/// Files in conflict that rules look at; more are a matter for a person anyway.
const FILES_MAX: usize = 100;
/// A longer file is not written by hand, and what made it should make it again.
const FILE_BYTES_MAX: usize = 1 << 20;

const REGULAR: [u32; 2] = [0o100644, 0o100755];

/// A merge whose conflicts were decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    pub tree: Oid,
    pub files: Vec<Resolved>,
    /// Files that are to be made again; the tree has those of `ours`.
    pub generated: Vec<PathBuf>,
}

/// Merges `theirs` into `ours`, both seen as changes of `base`, and decides what conflicts, except of files that commands
/// make again. None: not for rules.
pub async fn resolve(
    git: &Git,
    base: &Oid,
    ours: &Oid,
    theirs: &Oid,
    rules: &[Regenerate],
) -> Result<Option<Resolution>, GitError> {
    let Some(conflicted) = git.conflict_of(base, ours, theirs).await? else { return Ok(None) };
    if !conflicted.only_lines || conflicted.files.is_empty() || conflicted.files.len() > FILES_MAX {
        return Ok(None);
    }
    let (mut entries, mut files, mut generated) = (BTreeMap::new(), Vec::new(), Vec::new());
    for (path, sides) in &conflicted.files {
        if is_made(rules, path) && mode_of(sides).is_some() {
            entries.extend(sides.ours.clone().map(|ours| (path.clone(), ours)));
            generated.push(path.clone());
            continue;
        }
        let Some((entry, resolved)) = decide_file(git, &conflicted, path, sides).await? else {
            return Ok(None);
        };
        entries.insert(path.clone(), entry);
        files.extend(resolved);
    }
    let tree = git.decided(&conflicted.tree, entries).await?;
    Ok(Some(Resolution { tree, files, generated }))
}

impl Resolution {
    /// With the files that were made again, in their order.
    pub async fn made(self, git: &Git, texts: Vec<Vec<u8>>) -> Result<Self, GitError> {
        let (mut entries, mut files) = (BTreeMap::new(), self.files);
        for (path, text) in self.generated.into_iter().zip(texts) {
            let Some(Entry { mode, .. }) = git.entry_at(&self.tree, &path).await? else { continue };
            files.push(Resolved { path: shown(&path), way: Way::Regenerated });
            entries.insert(path, Entry { mode, oid: git.write_blob(text).await? });
        }
        let tree = git.decided(&self.tree, entries).await?;
        Ok(Self { tree, files, generated: Vec::new() })
    }
}

async fn decide_file(
    git: &Git,
    conflicted: &Conflicted,
    path: &Path,
    sides: &Sides,
) -> Result<Option<(Entry, Vec<Resolved>)>, GitError> {
    let Some(mode) = mode_of(sides) else { return Ok(None) };
    for entry in [&sides.base, &sides.ours, &sides.theirs].into_iter().flatten() {
        let side = git.blob(&entry.oid).await?;
        if side.len() > FILE_BYTES_MAX || !hunks::is_readable(&side) {
            return Ok(None);
        }
    }
    let Some(merged) = git.entry_at(&conflicted.tree, path).await? else { return Ok(None) };
    let merged = git.blob(&merged.oid).await?;
    let Some((text, ways)) = rules::decide(path, &merged) else { return Ok(None) };
    let oid = git.write_blob(text).await?;
    let resolved = ways.into_iter().map(|way| Resolved { path: shown(path), way });
    Ok(Some((Entry { mode, oid }, resolved.collect())))
}

/// The one mode of an ordinary file that all have who have it, both sides among them.
fn mode_of(sides: &Sides) -> Option<u32> {
    let (ours, theirs) = (sides.ours.as_ref()?, sides.theirs.as_ref()?);
    let base = sides.base.as_ref().unwrap_or(ours);
    let same = ours.mode == theirs.mode && base.mode == ours.mode;
    (same && REGULAR.contains(&ours.mode)).then_some(ours.mode)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
