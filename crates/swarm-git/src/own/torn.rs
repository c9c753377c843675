//! After a power cut: an agent's own repository is put back to what of it reached the disk.
//!
//! Nothing in it was ever synced, so objects, refs and the index may be names without bytes, and the agent's git would die
//! of them at each attempt. Which commit is whole is found out the way it would be handed in, so that git never reads what
//! lies there. The files of the worktree are not touched: what a torn commit held is in them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::{Oid, TaskId};

use super::beneath::Beneath;
use super::quarantine::{OBJECTS_MAX, is_object};
use super::{Agreed, Limits, OwnRepository, Taken, heads};
use crate::call::{Git, GitError};
use crate::marker::write_note;
use crate::torn::{is_no_object, is_nothing, steps_to};

/// Commits that are tried, newest first, each as a whole. A cut takes what was made in the last seconds; where even these are
/// torn, the commit that both repositories had last is taken.
const STEPS_MAX: usize = 8;
const LOG_BYTES_MAX: u64 = 1 << 20;
const REFS_MAX: usize = 1000;
/// Folders in folders of refs: deeper ones are not of an ordinary agent.
const DEPTH_MAX: usize = 8;

/// Far above every ordinary file; what may be handed in is measured when it is.
const LIMITS: Limits = Limits { file_bytes: 1 << 30, all_bytes: 4 << 30, listed_bytes: 1 << 30 };

impl Git {
    /// Gives how many files without content were removed from the repositories that agents have for themselves.
    pub(crate) async fn clear_torn_own(&self) -> Result<usize, GitError> {
        let mut removed = 0;
        for linked in self.linked_checkouts() {
            let name = linked.path.file_name().and_then(|name| name.to_str());
            let Some(task) = name.and_then(|name| TaskId::new(name).ok()) else { continue };
            let own = OwnRepository::of(&linked.path, &task);
            if own.is_there() {
                removed += own.clear_torn(self).await?;
            }
        }
        Ok(removed)
    }
}

impl OwnRepository {
    async fn clear_torn(&self, git: &Git) -> Result<usize, GitError> {
        // Whoever still works there saw no power cut.
        let Some(_held) = self.hold(git)? else { return Ok(0) };
        let Ok(own) = Beneath::open(&self.dir) else { return Ok(0) };
        let torn = [torn_objects(&own), torn_refs(&own)].concat();
        if torn.is_empty() {
            return Ok(0);
        }
        // Told again from the person's: the next opening writes whatever both do not agree on.
        if let Some(agreed) = self.agreed(git) {
            write_note(&self.note(git), &Agreed { refs: BTreeMap::new(), ..agreed })?;
        }
        // Before anything goes: killed in between, the next one finds the same.
        let whole = self.newest_whole(git, &own).await?.or_else(|| self.agreed_tip(git));
        let written = |error| GitError::io("put back", &self.dir)(error);
        if let Some(whole) = &whole {
            own.write(Path::new(&self.branch()), format!("{whole}\n").as_bytes()).map_err(written)?;
        }
        own.write(Path::new("HEAD"), format!("ref: {}\n", self.branch()).as_bytes()).map_err(written)?;
        for log in [Path::new("logs").join(self.branch()), PathBuf::from("logs/HEAD")] {
            let text = own.read(&log, LOG_BYTES_MAX).unwrap_or_default();
            match steps_to(&String::from_utf8_lossy(&text), whole.as_ref()) {
                Some(steps) => own.write(&log, steps.as_bytes()).map_err(written)?,
                None => own.remove(&log),
            }
        }
        // It may name what is gone. The next opening brings the one that belongs to the branch.
        own.remove(Path::new("index"));
        let kept = [PathBuf::from(self.branch()), PathBuf::from("HEAD")];
        torn.iter().filter(|file| whole.is_none() || !kept.contains(file)).for_each(|file| own.remove(file));
        Ok(torn.len())
    }

    /// The newest commit of the branch whose every object is there.
    async fn newest_whole(&self, git: &Git, own: &Beneath) -> Result<Option<Oid>, GitError> {
        let log = own.read(&Path::new("logs").join(self.branch()), LOG_BYTES_MAX).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        // Each line leads from one commit to another.
        let steps =
            log.lines().rev().flat_map(|line| line.split(' ').take(2).collect::<Vec<_>>().into_iter().rev());
        let steps = steps.filter_map(|oid| Oid::new(oid).ok());
        let mut seen: Vec<Oid> = heads::read(own, &self.branch()).branch.into_iter().collect();
        seen.extend(steps.filter(|oid| oid.as_str().bytes().any(|byte| byte != b'0')));
        seen.dedup();
        seen.truncate(STEPS_MAX);
        let base = self.agreed_tip(git);
        let known: Vec<&Oid> = base.iter().collect();
        for tip in &seen {
            if self.take(git, &[tip], &known, LIMITS).await? == Taken::Yes {
                return Ok(Some(tip.clone()));
            }
        }
        Ok(None)
    }
}

fn torn_objects(own: &Beneath) -> Vec<PathBuf> {
    let mut torn = Vec::new();
    for n in 0..=0xff_u8 {
        let folder = Path::new("objects").join(format!("{n:02x}"));
        for name in own.names(&folder, OBJECTS_MAX).unwrap_or_default() {
            let file = folder.join(&name);
            if name.to_str().is_some_and(is_object) && first_of(own, &file).is_some_and(is_no_object) {
                torn.push(file);
            }
        }
    }
    torn
}

/// Refs, the index and what lies beside them.
fn torn_refs(own: &Beneath) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ["HEAD", "index", "packed-refs", "ORIG_HEAD"].map(PathBuf::from).into();
    let mut folders = vec![(PathBuf::from("refs"), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for name in own.names(&folder, REFS_MAX).unwrap_or_default() {
            let path = folder.join(name);
            match own.file(&path) {
                Ok(Some(_)) => files.push(path),
                Ok(None) if depth < DEPTH_MAX => folders.push((path, depth + 1)),
                Ok(None) | Err(_) => {}
            }
        }
    }
    files.retain(|file| {
        let is_lock = file.extension().is_some_and(|end| end == "lock");
        !is_lock && first_of(own, file).is_some_and(is_nothing)
    });
    files
}

/// The first byte of an ordinary file, none in it where it is empty.
fn first_of(own: &Beneath, file: &Path) -> Option<Option<u8>> {
    let mut first = [0];
    let read = own.file(file).ok()??.read(&mut first).ok()?;
    Some((read > 0).then_some(first[0]))
}
