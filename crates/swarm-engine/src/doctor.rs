//! What can be out of order around a swarm: found, named, and put right where that loses nothing.
//!
//! Looking changes nothing and takes no lock. What is found comes with a cure that is plain data; cures are
//! carried out afterwards, those that could get in a coordinator's way only while its locks are ours. A cure
//! never deletes work: folders go to the trash by the same proofs as everywhere, commits are kept by refs,
//! and then everything is looked at again, so that *fixed* is seen and not claimed.

mod finding;
mod patient;
mod machine;
mod place;
mod programs;
mod repository;
mod memory;
mod git_locks;
mod worktrees;
mod integrity;
mod kept_refs;
mod branches;
mod done;
mod runs;
mod remains;
mod cure;
mod examine;

pub use examine::{HEAD_SAYS, examine};
pub use finding::{CHECKS, Check};
pub use remains::NOBODY;
