//! Runtime files are kept out of git by a file of their own, whatever the repository ignores.

use std::fs;
use std::io;

use crate::paths::Paths;
use crate::replace::replace;

const TEXT: &str = "# What swarm keeps here is not for git, except what a team may want to share.\n\
                    *\n!.gitignore\n!config.json\n!hooks/\n!hooks/**\n!prompts/\n!prompts/**\n";

/// Writes `.swarm/.gitignore` if there is none; one that people changed stays theirs. It appears whole, because one that a full
/// disk or a power cut left empty ignores nothing; such a one, of an earlier version, is written again.
pub fn ensure_ignored(paths: &Paths) -> io::Result<()> {
    let path = paths.swarm.join(".gitignore");
    match fs::symlink_metadata(&path) {
        Ok(there) if !there.is_file() || there.len() > 0 => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match replace(&path, TEXT.as_bytes()) {
        // Somebody else was making it at the same moment, and has put ours in its place.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.exists() => Ok(()),
        done => done,
    }
}
