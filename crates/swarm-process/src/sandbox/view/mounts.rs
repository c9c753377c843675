//! The few ways in which we mount something. All of it is prepared detached and put into place by name at the end, so
//! that the order in which places are covered never decides what can still be reached as a source.
#![allow(
    unsafe_code,
    reason = "the attributes of a mount can be set by a system call alone that no library of ours has"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

/// What no mount of a walled program needs.
pub const PLAIN: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// The place and all that is mounted below it, to be put elsewhere.
pub fn copy_of(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    Ok(open_tree(CWD, path, flags)?)
}

/// Puts it there, over whatever is.
pub fn put(tree: impl AsFd, target: &Path) -> io::Result<()> {
    Ok(move_mount(tree, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// A file system in memory; nothing of it outlives the namespace.
pub fn memory(mode: &str, size: &str) -> io::Result<OwnedFd> {
    let fs = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&fs, "mode", mode)?;
    fsconfig_set_string(&fs, "size", size)?;
    made(&fs, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)
}

/// Terminals of our own: the person's are not among them.
pub fn terminals() -> io::Result<OwnedFd> {
    let fs = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_flag(&fs, "newinstance")?;
    fsconfig_set_string(&fs, "ptmxmode", "0666")?;
    fsconfig_set_string(&fs, "mode", "0620")?;
    made(&fs, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC)
}

/// The processes of this pid namespace. Nothing can be written there: part of it is the whole machine's.
pub fn processes() -> io::Result<OwnedFd> {
    let fs = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let plain = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC
        | MountAttrFlags::MOUNT_ATTR_RDONLY;
    made(&fs, plain)
}

/// What is in `lower`, and every change to it in `upper`. Named by descriptors: a path may hold whatever letters it likes.
pub fn layered(lower: &OwnedFd, upper: &Path, work: &Path) -> io::Result<OwnedFd> {
    let name = |fd: &OwnedFd| PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
    let (upper, work) = (opened(upper)?, opened(work)?);
    let mut last = io::Error::from(io::ErrorKind::Unsupported);
    // In a user namespace only marks of the second kind can be set. The first are taken there too, and then no folder can
    // be removed.
    let first = in_user_namespace();
    for marks_of_users in [first, !first] {
        let fs = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&fs, "lowerdir", name(lower))?;
        fsconfig_set_string(&fs, "upperdir", name(&upper))?;
        fsconfig_set_string(&fs, "workdir", name(&work))?;
        if marks_of_users {
            fsconfig_set_flag(&fs, "userxattr")?;
        }
        match made(&fs, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV) {
            Ok(mount) => return Ok(mount),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The mark of a layer that there is nothing at this name, whatever the layer below has. What is there already stays.
pub fn nothing(place: &Path) -> io::Result<()> {
    match mknodat(CWD, place, FileType::CharacterDevice, Mode::empty(), 0) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        made => Ok(made?),
    }
}

/// The first namespace, and no other, has every user there can be.
fn in_user_namespace() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    !map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// A hold on the place as it is now, whatever is mounted over it later.
pub fn opened(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(open(path, flags, Mode::empty())?)
}

fn made(fs: &OwnedFd, flags: MountAttrFlags) -> io::Result<OwnedFd> {
    fsconfig_create(fs)?;
    Ok(fsmount(fs, FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

/// Everything that is mounted, read-only from now on.
pub fn all_read_only() -> io::Result<()> {
    let root = opened(Path::new("/"))?;
    change(&root, libc::MOUNT_ATTR_RDONLY | PLAIN, 0)
}

/// The tree, with these rights.
pub fn set_read_only(tree: &OwnedFd, read_only: bool) -> io::Result<()> {
    if read_only {
        change(tree, libc::MOUNT_ATTR_RDONLY | PLAIN, 0)
    } else {
        change(tree, PLAIN, libc::MOUNT_ATTR_RDONLY)
    }
}

fn change(tree: &OwnedFd, set: u64, clear: u64) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    // SAFETY: both pointers are to values that live through the call, and the length is that of the second.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
