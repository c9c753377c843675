//! A look at folders and refs from outside.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git_scratch::git_in;

/// Every file below `dir`, with its kind and bytes; git's and the swarm's own folders apart.
pub fn files(dir: &Path) -> BTreeMap<PathBuf, (char, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("it is there"));
            if entry.file_name() == ".git" || entry.file_name() == ".swarm" {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
                continue;
            }
            let told = if kind.is_symlink() {
                ('l', std::fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes())
            } else {
                let mode = entry.metadata().expect("it is there").permissions().mode();
                (if mode & 0o100 != 0 { 'x' } else { 'f' }, std::fs::read(&path).expect("readable"))
            };
            found.insert(path.strip_prefix(dir).expect("it is below").to_owned(), told);
        }
    }
    found
}

/// The index and the status of a checkout, as git tells them.
pub fn status(dir: &Path) -> String {
    git_in(dir, ["status", "--porcelain", "-z", "--branch", "--ignored", "--untracked-files=all"])
}

/// Every ref with its value.
pub fn refs(dir: &Path) -> String {
    git_in(dir, ["for-each-ref", "--format=%(refname) %(objectname)"])
}
