//! The end of a plan: both files go to their archives by rename, under one name.
//!
//! The copy goes first. Dying in between leaves the ledger in its place with its closing record
//! last, and the next start, which sees that record, calls this again; the other way round the copy
//! would look like the remains of a ledger somebody deleted.

use std::io;
use std::path::{Path, PathBuf};

use crate::open_error::OpenError;
use crate::paths::{LedgerPaths, parent};
use crate::planted::{self, Bug};
use crate::quarantine::for_each_chunk;
use crate::vfs::{Open, Vfs};

/// Where a closed plan lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub archive: PathBuf,
    pub copy_archive: Option<PathBuf>,
}

/// Names tried for an archive before giving up.
const NAME_TRIES: u32 = 1000;

/// Renames ledger and copy to `archive/<name>.jsonl` beside each. Asked again it finishes what is left.
///
/// The writer must have been closed. `name` is a file name without a path.
pub fn close(vfs: &dyn Vfs, paths: &LedgerPaths, name: &str) -> Result<Closed, OpenError> {
    let plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
    let failed = OpenError::io("archive", &paths.main);
    if !plain {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "a name with a path in it")));
    }
    let done = || {
        let copy_archive = match &paths.copy {
            Some(copy) => move_aside(vfs, copy, &parent(copy).join("archive"), name)?,
            None => None,
        };
        Ok((move_aside(vfs, &paths.main, &paths.archive_dir(), name)?, copy_archive))
    };
    let (archive, copy_archive) = done().map_err(failed)?;
    let archive = archive.ok_or_else(|| OpenError::NoLedger(paths.main.clone()))?;
    Ok(Closed { archive, copy_archive })
}

/// Brings a closed plan back: the archived ledger to its place, then its copy. Asked again it finishes what is left.
///
/// Dying in between leaves the ledger in its place with its closing record last, which the next start archives again:
/// as long as nobody has written behind that record the plan is closed.
pub fn reopen(vfs: &dyn Vfs, paths: &LedgerPaths, name: &str) -> Result<(), OpenError> {
    let failed = OpenError::io("bring out of the archive", &paths.main);
    let plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
    if !plain {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "a name with a path in it")));
    }
    let file = format!("{name}.jsonl");
    let of_copy = paths.copy.as_ref().map(|copy| parent(copy).join("archive").join(&file));
    let done = || {
        let mut archived = paths.archive_dir().join(&file);
        // `git clean -fdx` takes the one beside the ledger, and leaves the copy's.
        if let Some(left) = &of_copy
            && !vfs.exists(&archived)?
            && vfs.exists(left)?
        {
            archived.clone_from(left);
        }
        bring_back(vfs, &archived, &paths.main)?;
        let Some((copy, archived)) = paths.copy.as_ref().zip(of_copy.as_ref()) else { return Ok(()) };
        // A copy of another plan under the same name stays where it is; a missing one is made anew.
        if vfs.exists(archived)? && begins_with(vfs, &paths.main, archived)? {
            bring_back(vfs, archived, copy)?;
        }
        Ok(())
    };
    done().map_err(failed)
}

/// Nothing is ever put over a ledger that is there.
fn bring_back(vfs: &dyn Vfs, from: &Path, to: &Path) -> io::Result<()> {
    if !vfs.exists(to)? {
        vfs.rename(from, to)?;
    }
    // The new name first: a crash between the two must not leave the file without any.
    vfs.sync_dir(parent(to))?;
    if vfs.exists(parent(from))? {
        vfs.sync_dir(parent(from))?;
    }
    Ok(())
}

/// Where the file now lies; none if it neither is nor was there.
fn move_aside(vfs: &dyn Vfs, from: &Path, dir: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    if !vfs.exists(from)? {
        let archived = dir.join(format!("{name}.jsonl"));
        if !vfs.exists(&archived)? {
            return Ok(None);
        }
        vfs.sync_dir(dir)?;
        vfs.sync_dir(parent(from))?;
        return Ok(Some(archived));
    }
    vfs.create_dir_all(dir)?;
    let to = free_name(vfs, from, dir, name)?;
    vfs.rename(from, &to)?;
    // The new name first: a crash between the two must not leave the file without any.
    vfs.sync_dir(dir)?;
    vfs.sync_dir(parent(from))?;
    Ok(Some(to))
}

/// An archive is never overwritten, unless all it holds is in what takes its place.
fn free_name(vfs: &dyn Vfs, from: &Path, dir: &Path, name: &str) -> io::Result<PathBuf> {
    for number in 1..=NAME_TRIES {
        let file = if number == 1 { format!("{name}.jsonl") } else { format!("{name}-{number}.jsonl") };
        let path = dir.join(file);
        if planted::is(Bug::ArchiveOverwritten) || !vfs.exists(&path)? || begins_with(vfs, from, &path)? {
            return Ok(path);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn begins_with(vfs: &dyn Vfs, whole: &Path, start: &Path) -> io::Result<bool> {
    let (whole, start) = (vfs.open(whole, Open::Read)?, vfs.open(start, Open::Read)?);
    let len = start.len()?;
    if len > whole.len()? {
        return Ok(false);
    }
    let (mut at, mut same) = (0, true);
    for_each_chunk(&*start, &[(0, len)], &mut |bytes| {
        let mut theirs = Vec::new();
        for_each_chunk(&*whole, &[(at, at + bytes.len() as u64)], &mut |chunk| {
            theirs.extend_from_slice(chunk);
            Ok(())
        })?;
        same &= theirs == bytes;
        at += bytes.len() as u64;
        Ok(())
    })?;
    Ok(same)
}
