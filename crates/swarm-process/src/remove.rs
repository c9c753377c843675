//! Removing a folder with all that is in it, however deep somebody has nested it: with a bounded number of open files and a
//! bounded stack, and without a path that could become too long.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// So many folders are open at one time. What lies deeper is moved up first.
const DEPTH_MAX: u32 = 32;

/// All that its owner may do in a folder.
const OWNERS: u32 = 0o700;

/// Removes it. What is no folder is removed as a file, and links are not followed. Also what its owner may not write to.
///
/// Nobody may be at work in it any more.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match unlinkat(CWD, path, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        Err(error) => return Err(error.into()),
        Ok(()) => return Ok(()),
    }
    let name = CString::new(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()))?;
    let top = opened(CWD, &name)?;
    let mut deep = Deep { top: rustix::io::dup(&top)?, moved: 0 };
    // What was moved up is seen in the next round, and each of them takes some away.
    while deep.empty(Dir::new(opened(CWD, &name)?)?, 0)? > 0 {}
    Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// Where what lies too deep is moved to.
struct Deep {
    top: OwnedFd,
    moved: u64,
}

impl Deep {
    /// Empties the folder, and says how many entries it had.
    fn empty(&mut self, mut folder: Dir, depth: u32) -> io::Result<u64> {
        let mut entries = 0;
        while let Some(entry) = folder.read() {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            entries += 1;
            let parent = folder.fd()?;
            match unlinkat(parent, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => continue,
                Err(Errno::ISDIR) => {}
                Err(error) => return Err(error.into()),
            }
            if depth == DEPTH_MAX {
                self.move_up(parent, name)?;
                continue;
            }
            self.remove(parent, name, depth)?;
        }
        Ok(entries)
    }

    fn remove(&mut self, parent: BorrowedFd<'_>, name: &CStr, depth: u32) -> io::Result<()> {
        loop {
            let entries = self.empty(Dir::new(opened(parent, name)?)?, depth + 1)?;
            match unlinkat(parent, name, AtFlags::REMOVEDIR) {
                // Some file systems leave out entries when others are removed meanwhile.
                Err(Errno::NOTEMPTY | Errno::EXIST) if entries > 0 => {}
                removed => return Ok(removed?),
            }
        }
    }

    fn move_up(&mut self, parent: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
        open_up(parent, name)?;
        loop {
            self.moved += 1;
            match renameat(parent, name, &self.top, format!("deep-{}", self.moved)) {
                // Somebody else's name.
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                moved => return Ok(moved?),
            }
        }
    }
}

fn opened(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    open_up(parent, name)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Some tools leave folders that even their owner may not write to. Changed by what is held, which no link can replace.
fn open_up(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if found.st_mode & OWNERS == OWNERS || FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return Ok(());
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = openat(parent, name, flags, Mode::empty())?;
    let place = format!("/proc/self/fd/{}", held.as_raw_fd());
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(OWNERS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{mkdirat, symlinkat};

    /// A folder in a folder in a folder …
    fn nested(top: &Path, levels: u32) {
        let mut at = std::fs::File::open(top).expect("opened").into();
        for level in 0..levels {
            mkdirat(&at, "in", Mode::RWXU).expect("made");
            if level % 100 == 0 {
                symlinkat("/", &at, "link").expect("linked");
            }
            let next: OwnedFd =
                openat(&at, "in", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).expect("opened");
            if level % 50 == 40 {
                rustix::fs::fchmod(&at, Mode::RUSR | Mode::XUSR).expect("closed");
            }
            at = next;
        }
    }

    #[test]
    fn a_tree_is_removed_however_deep_with_what_nobody_may_write_and_no_link_is_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let (tree, mine) = (dir.path().join("tree"), dir.path().join("mine"));
        std::fs::create_dir_all(tree.join("wide/a")).expect("made");
        std::fs::create_dir(&mine).expect("made");
        std::fs::write(mine.join("file"), "mine").expect("written");
        for file in ["wide/a/file", "wide/file", "file", "deep-1", "deep-2"] {
            std::fs::write(tree.join(file), "x").expect("written");
        }
        std::os::unix::fs::symlink(&mine, tree.join("wide/link")).expect("linked");
        nested(&tree, 200);
        remove_tree(&tree).expect("removed");
        assert!(!tree.exists() && mine.join("file").exists());
        std::os::unix::fs::symlink(&mine, &tree).expect("linked");
        remove_tree(&tree).expect("the link is removed");
        assert!(mine.join("file").exists());
        let gone = remove_tree(&tree).expect_err("nothing is there");
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }
}
