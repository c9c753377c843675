//! The proof that we own the ledger, to be asked again before each act.
//!
//! A lock says nothing any more once its file has lost its name: whoever deletes `.swarm/run` lets a second
//! coordinator in beside the first, which may have been asleep meanwhile and knows of nothing. So it asks here before
//! it writes, moves a ref or starts a program.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::vfs::{Open, Vfs};

#[derive(Clone)]
pub struct Claim {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    /// The file that we have locked.
    identity: (u64, u64),
}

impl Claim {
    pub(crate) fn new(vfs: Arc<dyn Vfs>, path: PathBuf, identity: (u64, u64)) -> Self {
        Self { vfs, path, identity }
    }

    /// False once the path leads to another file, or nowhere. What cannot be looked at (no more file handles) has
    /// not been taken from us.
    pub fn holds(&self) -> bool {
        match self.vfs.open(&self.path, Open::Read).and_then(|file| file.identity()) {
            Ok(there) => there == self.identity,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// The lock that it is about.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claim").field("path", &self.path).field("identity", &self.identity).finish()
    }
}
