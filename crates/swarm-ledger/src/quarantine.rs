//! Bytes taken out of the ledger: numbered files, never overwritten, never replayed.
//!
//! A file is complete and durable before the ledger is cut, so dying in between leaves the bytes
//! twice, never not at all. Asked again for the same bytes, the file that has them is used.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::appender::write_all;
use crate::hash::{Hash, Hasher};
use crate::paths::LedgerPaths;
use crate::vfs::{Open, Vfs, VfsFile};

const CHUNK: usize = 256 * 1024;
/// Tries for a free number; more means that somebody else is making files here.
const NUMBER_TRIES: u64 = 100;

/// A quarantine file that holds what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub path: PathBuf,
    pub hash: Hash,
}

/// The quarantine files of a ledger, by number.
pub fn list(vfs: &dyn Vfs, paths: &LedgerPaths) -> io::Result<Vec<(u64, PathBuf)>> {
    let names = match vfs.list(paths.dir()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        names => names?,
    };
    let mut files: Vec<_> = names.into_iter().filter_map(|path| Some((number_of(&path)?, path))).collect();
    files.sort();
    Ok(files)
}

fn number_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("plan-ledger.quarantine.")?.parse().ok()
}

/// Keeps ranges (start, end) of a file, one behind the other.
pub fn keep_ranges(
    vfs: &dyn Vfs,
    paths: &LedgerPaths,
    from: &dyn VfsFile,
    ranges: &[(u64, u64)],
) -> io::Result<Kept> {
    let mut hasher = Hasher::default();
    for_each_chunk(from, ranges, &mut |bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    let bytes = ranges.iter().map(|(start, end)| end - start).sum();
    keep(vfs, paths, bytes, hasher.finish(), &mut |write| for_each_chunk(from, ranges, write))
}

pub fn keep_bytes(vfs: &dyn Vfs, paths: &LedgerPaths, bytes: &[u8]) -> io::Result<Kept> {
    keep(vfs, paths, bytes.len() as u64, Hash::of(bytes), &mut |write| write(bytes))
}

type Sink<'a> = dyn FnMut(&[u8]) -> io::Result<()> + 'a;

fn keep(
    vfs: &dyn Vfs,
    paths: &LedgerPaths,
    bytes: u64,
    hash: Hash,
    produce: &mut dyn FnMut(&mut Sink<'_>) -> io::Result<()>,
) -> io::Result<Kept> {
    let files = list(vfs, paths)?;
    for (_, path) in files.iter().rev() {
        // An old file that cannot be read is no reason to keep nothing.
        let Ok(file) = vfs.open(path, Open::Read) else { continue };
        if file.len().is_ok_and(|len| len == bytes) && hash_of(&*file).is_ok_and(|theirs| theirs == hash) {
            // It may be from a run that died before it synced.
            file.sync_data()?;
            vfs.sync_dir(paths.dir())?;
            return Ok(Kept { path: path.clone(), hash });
        }
    }
    let (path, file) = create_next(vfs, paths, next_number(&files))?;
    let mut offset = 0;
    let written = produce(&mut |bytes| {
        write_all(&*file, bytes, offset)?;
        offset += bytes.len() as u64;
        Ok(())
    });
    if let Err(error) = written.and_then(|()| file.sync_data()) {
        // Ours, incomplete, and its bytes are still in the ledger: a full disk must not fill up with tries.
        let _ = vfs.remove_file(&path);
        return Err(error);
    }
    vfs.sync_dir(paths.dir())?;
    Ok(Kept { path, hash })
}

/// Behind all that are there. Somebody may have made one of the highest number: then the first one that is free.
fn next_number(files: &[(u64, PathBuf)]) -> u64 {
    let last = files.last().map_or(0, |(number, _)| *number);
    let is_free = |number: &u64| files.iter().all(|(taken, _)| taken != number);
    last.checked_add(1).or_else(|| (1..).find(is_free)).unwrap_or(1)
}

fn create_next(vfs: &dyn Vfs, paths: &LedgerPaths, first: u64) -> io::Result<(PathBuf, Arc<dyn VfsFile>)> {
    for number in first..=first.saturating_add(NUMBER_TRIES) {
        let path = paths.quarantine(number);
        match vfs.open(&path, Open::CreateNew) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

pub(crate) fn hash_of(file: &dyn VfsFile) -> io::Result<Hash> {
    let mut hasher = Hasher::default();
    for_each_chunk(file, &[(0, file.len()?)], &mut |bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    Ok(hasher.finish())
}

/// Executors out ranges of a file piece by piece; a file that ends early is an error.
pub(crate) fn for_each_chunk(
    file: &dyn VfsFile,
    ranges: &[(u64, u64)],
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    for &(start, end) in ranges {
        let mut at = start;
        while at < end {
            let want = usize::try_from(end - at).map_or(CHUNK, |left| left.min(CHUNK));
            let read = file.read_at(&mut buffer[..want], at)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            sink(&buffer[..read])?;
            at += read as u64;
        }
    }
    Ok(())
}
