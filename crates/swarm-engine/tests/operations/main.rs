//! The executors of operations with real git and real processes: checkpoints, reverts, moving trunk, worktrees set back,
//! hooks. Everything is measured from outside: git's own answers, the bytes of files, the list of processes.

#[path = "../git_kill_points/mod.rs"]
mod git_kill_points;
#[path = "../git_scratch/mod.rs"]
mod git_scratch;

mod checkpoints;
mod circle;
#[path = "../store_support/faults.rs"]
mod faults;
mod fixture;
mod hooked;
mod hooks;
mod killed;
mod looked_once;
mod no_room;
mod reverts;
mod seen;
mod set_back;
mod trunk;
