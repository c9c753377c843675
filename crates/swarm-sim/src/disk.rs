//! The real ledger on a simulated disk.
//!
//! [`machine`] is the disk with its power switch, [`sim_fs`] what a process on it sees. What was not
//! synced may at a power cut be lost, kept, torn, filled with NUL bytes or reordered; a name lives
//! only as long as its directory was synced; faults strike at a chosen operation.

pub mod fault;
pub mod inode;
pub mod names;
mod trace;
pub mod machine;
pub mod sim_fs;
pub mod ledger;
pub mod seeds;
