//! Requests to end that are not for us.
#![allow(
    unsafe_code,
    reason = "what a process does about a signal is set by a call that no safe library has"
)]

use std::ffi::c_int;

/// What a person, a daemon or a terminal sends to ask for an end.
const REQUESTS: [c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

extern "C" fn nothing(_: c_int) {}

/// They are taken and nothing is done. Not ignored: that would be handed on to the program.
pub fn outlive_requests() {
    for signal in REQUESTS {
        // SAFETY: the handler touches nothing.
        unsafe { libc::signal(signal, nothing as extern "C" fn(c_int) as libc::sighandler_t) };
    }
}

/// They end us again.
pub fn obey_requests() {
    for signal in REQUESTS {
        // SAFETY: this is the state in which every process begins.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
