//! A derived file takes the place of its older self: whole, or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes beside, syncs, renames over. The caller is the only writer of `path`, so a rest of an
/// earlier try under the same name is simply written over.
///
/// The name itself is not synced: after a power cut the older file may be back, whole, and says by
/// its stamp that it is old.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(dir)?;
    let beside = dir.join(format!("{}.tmp", name.to_string_lossy()));
    let mut file = File::create(&beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_data());
    if let Err(error) = written {
        // Ours and incomplete: a full disk must not stay full of it.
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    fs::rename(&beside, path)
}

pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
