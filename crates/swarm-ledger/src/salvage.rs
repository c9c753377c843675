//! What quarantine files still hold: records that are whole by themselves.
//!
//! They are never replayed. The caller shows them to a person and, asked to, appends what they say
//! as new records.

use std::io;
use std::path::{Path, PathBuf};

use crate::frame::Line;
use crate::paths::LedgerPaths;
use crate::quarantine;
use crate::source::Source;
use crate::vfs::{Open, Vfs};

/// One quarantine file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    pub number: u64,
    pub path: PathBuf,
    pub bytes: u64,
    /// Whole records in it, and the bytes that belong to none.
    pub records: u64,
    pub unreadable: u64,
    /// Why it could not be looked through, or not all of it.
    pub failed: Option<String>,
}

/// Shows every whole record of every quarantine file, by number and place.
///
/// A record may stand in several files (a recovery that was killed and run again) and may be in the
/// ledger by now (repaired from the copy): compare hashes before bringing one back.
pub fn salvage(
    vfs: &dyn Vfs,
    paths: &LedgerPaths,
    visit: &mut dyn FnMut(&Path, &Line<'_>),
) -> io::Result<Vec<Salvaged>> {
    let mut files = Vec::new();
    for (number, path) in quarantine::list(vfs, paths)? {
        // What lies in the others is worth having without this one.
        files.push(salvage_file(vfs, number, path.clone(), visit).unwrap_or_else(|error| {
            let failed = Some(error.to_string());
            Salvaged { number, path, bytes: 0, records: 0, unreadable: 0, failed }
        }));
    }
    Ok(files)
}

/// The same for a ledger of which no record can be proven, and its copy.
pub fn salvage_unproven(
    vfs: &dyn Vfs,
    paths: &LedgerPaths,
    visit: &mut dyn FnMut(&Path, &Line<'_>),
) -> io::Result<Vec<Salvaged>> {
    let there = std::iter::once(&paths.main).chain(&paths.copy);
    let there = there.filter(|path| vfs.exists(path).unwrap_or(false));
    there.map(|path| salvage_file(vfs, 0, path.clone(), visit)).collect()
}

fn salvage_file(
    vfs: &dyn Vfs,
    number: u64,
    path: PathBuf,
    visit: &mut dyn FnMut(&Path, &Line<'_>),
) -> io::Result<Salvaged> {
    let mut source = Source::new(vfs.open(&path, Open::Read)?)?;
    let bytes = source.len();
    let mut salvaged = Salvaged { number, path, bytes, records: 0, unreadable: bytes, failed: None };
    let mut offset = 0;
    while let Some((start, line)) = source.next_valid(offset) {
        visit(&salvaged.path, &line);
        salvaged.records += 1;
        salvaged.unreadable -= line.bytes.len() as u64;
        offset = start + line.bytes.len() as u64;
    }
    salvaged.failed = source.read_error.map(|error| error.to_string());
    Ok(salvaged)
}
