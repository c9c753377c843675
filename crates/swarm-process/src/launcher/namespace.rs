//! Making a pid namespace.
#![allow(unsafe_code, reason = "unshare can give threads different views of the process; we have one thread")]

use std::io;

use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set,
    set_capabilities, unshare_unsafe,
};

/// From now on the children of this process live in a new pid namespace, the first as its pid 1. `will_mount`: the first
/// one needs the rights that came with the user namespace.
pub fn new_pid_namespace(inside_user_namespace: bool, will_mount: bool) -> io::Result<()> {
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
        if will_mount {
            return hand_on_rights();
        }
        // The first process has fewer rights than we got with the namespace, and could not read what we
        // hand it through `/proc` if we kept them.
        let none = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    }
    Ok(())
}

/// A program that we become has the same rights as we: an ordinary one would have none.
fn hand_on_rights() -> io::Result<()> {
    let ours = capabilities(None)?;
    let permitted = ours.permitted;
    set_capabilities(None, CapabilitySets { inheritable: permitted, ..ours })?;
    for capability in permitted.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}
