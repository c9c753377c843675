//! Payloads too large for a record: files named by the SHA-256 of their content.
//!
//! A payload is durable before the record that names it is appended. Written twice it is the same
//! file, so a command that died in between may simply be run again.

use std::io;
use std::path::PathBuf;

use crate::appender::write_all;
use crate::hash::Hash;
use crate::paths::LedgerPaths;
use crate::quarantine::for_each_chunk;
use crate::vfs::{Open, Vfs};

#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    #[error("The payload {} does not have the content its name says", .0.display())]
    Damaged(PathBuf),
    #[error("The payload {} has {bytes} bytes, more than the {most} asked for", path.display())]
    TooLarge { path: PathBuf, bytes: u64, most: u64 },
    #[error("Cannot read or write the payload {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Keeps a payload durably and gives its name.
pub fn put(vfs: &dyn Vfs, paths: &LedgerPaths, bytes: &[u8]) -> Result<Hash, PayloadError> {
    let hash = Hash::of(bytes);
    let dir = paths.payload_dir();
    let path = dir.join(hash.as_str());
    let write = || {
        vfs.create_dir_all(&dir)?;
        let beside = dir.join(format!("{hash}.tmp"));
        let file = vfs.open(&beside, Open::Create)?;
        file.set_len(0)?;
        write_all(&*file, bytes, 0)?;
        file.sync_data()?;
        vfs.rename(&beside, &path)?;
        vfs.sync_dir(&dir)?;
        vfs.sync_dir(paths.dir())
    };
    match get(vfs, paths, &hash, bytes.len() as u64) {
        // It may have been renamed by a process that died before the directory was durable.
        Ok(_) => vfs.sync_dir(&dir).and_then(|()| vfs.sync_dir(paths.dir())),
        Err(_) => write(),
    }
    .map_err(|source| PayloadError::Io { path, source })?;
    Ok(hash)
}

/// Reads a payload of at most `most` bytes and checks that it is what its name says.
pub fn get(vfs: &dyn Vfs, paths: &LedgerPaths, hash: &Hash, most: u64) -> Result<Vec<u8>, PayloadError> {
    let path = paths.payload_dir().join(hash.as_str());
    let failed = |source| PayloadError::Io { path: path.clone(), source };
    let file = vfs.open(&path, Open::Read).map_err(failed)?;
    let len = file.len().map_err(failed)?;
    if len > most {
        return Err(PayloadError::TooLarge { path, bytes: len, most });
    }
    let mut bytes = Vec::new();
    for_each_chunk(&*file, &[(0, len)], &mut |chunk| {
        bytes.extend_from_slice(chunk);
        Ok(())
    })
    .map_err(failed)?;
    if Hash::of(&bytes) == *hash { Ok(bytes) } else { Err(PayloadError::Damaged(path)) }
}
