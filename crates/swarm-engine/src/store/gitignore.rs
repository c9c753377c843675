//! Runtime files are kept out of git by a file of their own, whatever the repository ignores.

use std::fs;
use std::io;

use crate::paths::Paths;

const TEXT: &str = "# What swarm keeps here is not for git, except what a team may want to share.\n\
                    *\n!.gitignore\n!config.json\n!hooks/\n!hooks/**\n!prompts/\n!prompts/**\n";

/// Writes `.swarm/.gitignore` if there is none; one that people changed stays theirs.
pub fn ensure_ignored(paths: &Paths) -> io::Result<()> {
    fs::create_dir_all(&paths.swarm)?;
    let mut options = fs::OpenOptions::new();
    match options.write(true).create_new(true).open(paths.swarm.join(".gitignore")) {
        Ok(mut file) => io::Write::write_all(&mut file, TEXT.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
