//! Making a pid namespace. One of the two `unsafe` lines of this crate.
#![allow(unsafe_code, reason = "unshare can give threads different views of the process; we have one thread")]

use std::io;

use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags, set_capabilities, unshare_unsafe};

/// From now on the children of this process live in a new pid namespace, the first as its pid 1.
pub fn new_pid_namespace(inside_user_namespace: bool) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut flags = UnshareFlags::NEWPID;
    if inside_user_namespace {
        flags |= UnshareFlags::NEWUSER;
    }
    // SAFETY: the launcher has a single thread and shares no file table, so nobody can be surprised.
    unsafe { unshare_unsafe(flags)? };
    if inside_user_namespace {
        // Everybody stays who he is: files keep their owner.
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        // The first process has fewer rights than we got with the namespace, and could not read what we
        // hand it through `/proc` if we kept them.
        let none = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    }
    Ok(())
}
