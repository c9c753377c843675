//! Waiting for a file descriptor of our own (a pidfd, an inotify) on the runtime's poller.
//! The only `unsafe` of this crate, one line.
#![allow(
    unsafe_code,
    reason = "tokio asks for the promise that the descriptor stays ours while it is registered"
)]

use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers the descriptor for reading.
pub fn watch_readable(fd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd answers with the same open descriptor for its whole life, and the AsyncFd
    // owns it: nobody can close it or put another in its place before it is deregistered.
    unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }.map_err(Into::into)
}
