//! After a death in the middle: bytes that are ours go back to what HEAD says, all others are the person's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hold::{Hold, Taken, left_on_record, take_as};
use super::look::{Look, OnDisk, look, not_a_folder_above};
use super::{WaitReason, Waits};
use swarm_git::{Change, Entry, Git, GitError, MODE_GITLINK, MODE_SYMLINK, RefChange};
use swarm_process::Input;

/// Settles every checkout an earlier call has left in the middle. `Some` when one cannot be now.
pub(super) async fn settle_all(git: &Git) -> Result<Option<Waits>, GitError> {
    for (checkout, record) in left_on_record(git) {
        let path = checkout.path.clone();
        match take_as(git, checkout, record).await? {
            Taken::Busy(reason) => return Ok(Some(Waits { checkout: path, reason })),
            Taken::Held(hold) => {
                if let Some(what) = hold.checkout.mid_way().filter(|_| hold.record.writing) {
                    hold.let_go()?;
                    return Ok(Some(Waits { checkout: path, reason: WaitReason::MidWay(what) }));
                }
                if hold.record.writing {
                    // All of ours are dead: what they left locked can go.
                    let change = [RefChange::modify(&hold.record.branch, &hold.record.old, &hold.record.new)];
                    git.clear_abandoned_ref_locks(&hold.checkout.git_dir, &change).await;
                    settle_held(git, &hold).await?;
                }
                hold.release()?;
            }
        }
    }
    Ok(None)
}

/// What is to be done about one path.
pub(super) struct Repair<'a> {
    pub path: &'a Path,
    /// What has to be there; `None`: nothing.
    pub target: Option<Entry>,
}

pub(super) async fn settle_held(git: &Git, hold: &Hold) -> Result<(), GitError> {
    let checkout = &hold.checkout;
    let head = git
        .call(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        .git_dir(&checkout.git_dir)
        .line()
        .await;
    let known = git.resolve(hold.record.old.as_str()).await?.is_some()
        && git.resolve(hold.record.new.as_str()).await?.is_some();
    let (true, Ok(head), true) = (known, head, checkout.path.is_dir()) else { return Ok(()) };
    let head = swarm_protocol::ids::Oid::new(head)
        .map_err(|error| GitError::Unreadable { command: "rev-parse".into(), what: error.to_string() })?;
    let changes = git.changes(&hold.record.old, &hold.record.new).await?;
    let since: BTreeMap<PathBuf, Option<Entry>> = git
        .changes(&hold.record.old, &head)
        .await?
        .into_iter()
        .map(|change| (change.path, change.new))
        .collect();
    hold.copy_index()?;
    let looks = look(git, checkout, &hold.next_index, &changes).await?;
    let mut repairs = Vec::new();
    for seen in &looks {
        let Change { path, old, new } = seen.change;
        // What HEAD has there. A third content came by somebody who moved the branch without its index:
        // then what was there before us is the most faithful.
        let target = since.get(path).filter(|entry| *entry == new).unwrap_or(old).clone();
        if is_ours(git, hold, seen, &target).await? {
            repairs.push(Repair { path: &seen.change.path, target });
        }
    }
    if repairs.is_empty() {
        return Ok(());
    }
    repair(git, hold, &repairs).await?;
    hold.install_index()
}

/// Whether a path is in a state that only our own step can have left, and is not already as HEAD wants it.
async fn is_ours(git: &Git, hold: &Hold, seen: &Look<'_>, target: &Option<Entry>) -> Result<bool, GitError> {
    let Change { old, new, .. } = seen.change;
    let index_is_ours = seen.indexes(old.as_ref()) || seen.indexes(new.as_ref());
    if !index_is_ours || seen.is_left_out() {
        return Ok(false);
    }
    if seen.indexes(target.as_ref()) && seen.holds(target.as_ref()) {
        return Ok(false);
    }
    if seen.holds(old.as_ref()) || seen.holds(new.as_ref()) || seen.disk == OnDisk::Nothing {
        return Ok(true);
    }
    match &seen.disk {
        // An empty folder, or one that holds only what we put there and take away again.
        OnDisk::Folder => Ok(true),
        OnDisk::Content(found) if found.mode != MODE_SYMLINK => {
            Ok(is_torn(git, hold, seen, old).await? || is_torn(git, hold, seen, new).await?)
        }
        _ => Ok(false),
    }
}

/// Whether the file is a beginning of this content: what a killed git leaves of the file it was writing.
async fn is_torn(git: &Git, hold: &Hold, seen: &Look<'_>, entry: &Option<Entry>) -> Result<bool, GitError> {
    let Some(entry) = entry.as_ref().filter(|entry| entry.mode & 0o170000 == 0o100000) else {
        return Ok(false);
    };
    let checkout = &hold.checkout;
    let mut path = std::ffi::OsString::from("--path=");
    path.push(&seen.change.path);
    let call = git.call(["cat-file", "--filters"]).arg(path).arg(entry.oid.as_str());
    let call = call.git_dir(&checkout.git_dir).work_tree(&checkout.path).as_the_person();
    let whole = call.long_list().ok().await?;
    let file = checkout.path.join(&seen.change.path);
    if std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.len() >= whole.len() as u64) {
        return Ok(false);
    }
    let found = std::fs::read(file).unwrap_or_else(|_| b"?".to_vec());
    Ok(found.len() < whole.len() && whole.starts_with(&found))
}

pub(super) async fn repair(git: &Git, hold: &Hold, repairs: &[Repair<'_>]) -> Result<(), GitError> {
    let top = &hold.checkout.path;
    // First what must not be there, so that the way is free for what must.
    for one in repairs.iter().filter(|one| one.target.is_none()) {
        if not_a_folder_above(top, one.path).is_none() {
            let _ = std::fs::remove_file(top.join(one.path));
            remove_empty_above(top, one.path);
        }
    }
    let (mut entries, mut files) = (Vec::new(), Vec::new());
    for one in repairs {
        let words = match &one.target {
            Some(entry) => format!("{:06o} {} 0\t", entry.mode, entry.oid),
            None => format!("0 {} 0\t", "0".repeat(hold.record.old.as_str().len())),
        };
        let name = one.path.as_os_str().as_encoded_bytes();
        entries.extend(words.bytes().chain(name.iter().copied()).chain([0]));
        let writable = one.target.as_ref().is_some_and(|entry| entry.mode != MODE_GITLINK);
        if writable && way_is_free(top, one.path) {
            files.extend(name.iter().copied().chain([0]));
        }
    }
    let call = |args: &[&str]| {
        let call = git.call(args).git_dir(&hold.checkout.git_dir).work_tree(top).as_the_person();
        call.index(&hold.next_index)
    };
    call(&["update-index", "-z", "--index-info"]).stdin(Input::Bytes(entries)).ok().await?;
    call(&["checkout-index", "--force", "--index", "-z", "--stdin"]).stdin(Input::Bytes(files)).ok().await?;
    Ok(())
}

/// Git would force its way through folders and links; we go only where nothing of anyone's is lost.
fn way_is_free(top: &Path, path: &Path) -> bool {
    let full = top.join(path);
    let is_folder = std::fs::symlink_metadata(&full).is_ok_and(|meta| meta.is_dir());
    // Only an empty folder can be removed this way.
    not_a_folder_above(top, path).is_none() && (!is_folder || std::fs::remove_dir(&full).is_ok())
}

fn remove_empty_above(top: &Path, path: &Path) {
    for above in path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()) {
        if std::fs::remove_dir(top.join(above)).is_err() {
            break;
        }
    }
}
