//! Files of trees, and what differs between two of them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use swarm_protocol::ids::Oid;

/// A file of a tree or an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `100644`, `100755`, `120000` (symbolic link) or `160000` (another repository).
    pub mode: u32,
    pub oid: Oid,
}

pub const MODE_SYMLINK: u32 = 0o120000;
pub const MODE_GITLINK: u32 = 0o160000;

/// Said to git wherever it compares: what a `.gitmodules` or a configuration says of a submodule hides no change of it.
pub const ALL_LINKS: &str = "--ignore-submodules=none";

pub fn path_of(bytes: &[u8]) -> PathBuf {
    OsString::from_vec(bytes.to_vec()).into()
}

/// A path that differs between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: PathBuf,
    pub old: Option<Entry>,
    pub new: Option<Entry>,
}
