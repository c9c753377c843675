//! The folder for temporary files that a run has for itself.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::remove::remove_tree;

/// In the folder of the system, not in `.swarm`: programs put sockets there, and the path of a socket
/// may have only 107 bytes. Found again by the nonce alone.
pub fn tmp_of(nonce: &str) -> PathBuf {
    std::env::temp_dir().join(format!("swarm-{nonce}"))
}

/// Makes the folder, readable by nobody else. One that is there is used only if it is ours.
pub fn make_tmp(nonce: &str) -> io::Result<PathBuf> {
    let dir = tmp_of(nonce);
    match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
        Ok(()) => Ok(dir),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_ours(&dir) => Ok(dir),
        Err(error) => Err(error),
    }
}

/// Whatever is in the way of that was put there by somebody else: the folder for all is open to all.
fn is_ours(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir)
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw())
}

/// Takes the folder away with all that is in it. Asked twice it finds nothing left to do.
pub fn remove_tmp(nonce: &str) -> io::Result<()> {
    let dir = tmp_of(nonce);
    if !is_ours(&dir) {
        return Ok(());
    }
    match remove_tree(&dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_once_used_again_and_taken_away_with_what_nobody_may_write() {
        let nonce = format!("test-{}", ulid::Ulid::generate());
        let dir = make_tmp(&nonce).expect("made");
        assert_eq!(make_tmp(&nonce).expect("there"), dir);
        let closed = dir.join("closed");
        std::fs::create_dir(&closed).expect("made");
        std::fs::write(closed.join("file"), "x").expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o500);
        std::fs::set_permissions(&closed, mode).expect("closed");
        remove_tmp(&nonce).expect("removed");
        assert!(!dir.exists());
        remove_tmp(&nonce).expect("nothing left to do");
    }
}
