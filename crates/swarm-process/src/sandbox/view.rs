//! A view of the files of its own for the program: a mount namespace in which everything can only be read but for a few
//! places, the person's sockets, terminals and shared memory are not there, and what is hidden is empty.
//!
//! To be called by the first process of a pid namespace, while it still may mount.
#![allow(unsafe_code, reason = "unshare can give threads different views of the process; we have one thread")]

mod device_files;
mod loopback;
mod mounts;
mod plan;
mod sockets;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::spec::SandboxSpec;
use plan::{Piece, What};

/// What came of it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Folders that the program may change without anybody else seeing it.
    pub own: Vec<PathBuf>,
    /// It has a network of its own, which leads nowhere.
    pub network_closed: bool,
    /// What could not be had, for people.
    pub missing: Vec<String>,
}

/// Builds the view for these walls. After an error the process must not become the program.
pub fn build(spec: &SandboxSpec) -> Result<Seen, String> {
    let cannot = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| format!("cannot {what}: {error}")
    };
    let cwd = std::env::current_dir().map_err(cannot("find the working directory"))?;
    // Before we are in a network where there are none.
    let known = sockets::Known::now();
    part_with(UnshareFlags::NEWNS | UnshareFlags::NEWIPC).map_err(cannot("make namespaces"))?;
    let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", alone).map_err(|error| cannot("part from the mounts outside")(error.into()))?;
    // Where that cannot be had, sockets are refused.
    let network_closed = !spec.network && part_with(UnshareFlags::NEWNET).is_ok();
    let mut seen = Seen { network_closed, ..Seen::default() };
    // Everything that is to be seen again is held before anything is covered.
    let pieces = plan::pieces(spec, &known, &mut seen)?;
    let devices = device_files::held();
    mounts::all_read_only().map_err(cannot("make everything read-only"))?;
    device_files::make(devices, spec.limits.memory_bytes).map_err(cannot("make /dev"))?;
    for piece in pieces {
        let place = piece.target.display().to_string();
        lay(piece, &mut seen).map_err(cannot(&format!("mount {place}")))?;
    }
    own_processes(&mut seen);
    if network_closed {
        loopback::up().map_err(cannot("start the loopback of the closed network"))?;
    }
    // The place by its name: what we stand in is what lies below the new one.
    rustix::process::chdir(&cwd).map_err(|error| cannot("go back to the working directory")(error.into()))?;
    Ok(seen)
}

fn part_with(kinds: UnshareFlags) -> io::Result<()> {
    // SAFETY: the first process of the namespace has a single thread, and shares no table with anybody.
    unsafe { unshare_unsafe(kinds) }.map_err(Into::into)
}

/// Puts one piece into its place. Where there is no such place there is nothing to cover either.
fn lay(piece: Piece, seen: &mut Seen) -> io::Result<()> {
    let Piece { target, what, .. } = piece;
    match what {
        What::Tree { tree, read_only, is_dir, must } => {
            match plan::has_point(&target, is_dir) {
                true => {}
                false if must => return Err(io::Error::other("there is nothing of this kind to be covered")),
                false => return Ok(()),
            }
            mounts::set_read_only(&tree, read_only)?;
            mounts::put(&tree, &target)
        }
        What::Memory { mode } => match target.is_dir() {
            true => mounts::put(mounts::memory(mode, "64m")?, &target),
            false => Ok(()),
        },
        What::Nothing => nothing_at(&target),
        What::Layered { lower, own, missing } => {
            let made = layered(&lower, &own, &missing).and_then(|tree| mounts::put(tree, &target));
            match made {
                Ok(()) => seen.own.push(target),
                Err(error) => {
                    let what = format!("{} can only be read: {error}", target.display());
                    seen.missing.push(what);
                }
            }
            Ok(())
        }
        What::Link { to } => {
            // A name that is there is as good.
            let _ = std::os::unix::fs::symlink(to, &target);
            Ok(())
        }
        What::Closed => mounts::set_read_only(&mounts::opened(&target)?, true),
    }
}

fn layered(lower: &OwnedFd, own: &Path, missing: &[PathBuf]) -> io::Result<OwnedFd> {
    let (upper, work) = (own.join("changes"), own.join("work"));
    std::fs::create_dir_all(&upper)?;
    std::fs::create_dir_all(&work)?;
    for name in missing {
        plan::removed(&upper, name)?;
    }
    mounts::layered(lower, &upper, &work)
}

fn nothing_at(target: &Path) -> io::Result<()> {
    let nothing = match std::fs::symlink_metadata(target) {
        Err(_) => return Ok(()),
        Ok(meta) if meta.is_dir() => device_files::NOTHING_DIR,
        Ok(meta) if meta.is_symlink() => return Ok(()),
        Ok(_) => device_files::NOTHING_FILE,
    };
    let tree = mounts::copy_of(Path::new(nothing))?;
    mounts::set_read_only(&tree, true)?;
    match mounts::put(&tree, target) {
        // A socket of another run has gone since we looked: there is nothing to cover any more.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        laid => laid,
    }
}

/// In some containers the kernel does not let anybody have a new one; then the old one stays, and can only be read.
fn own_processes(seen: &mut Seen) {
    let made = mounts::processes().and_then(|proc| mounts::put(proc, Path::new("/proc")));
    if let Err(error) = made {
        seen.missing.push(format!("processes outside can be seen: no /proc of its own ({error})"));
    }
}
