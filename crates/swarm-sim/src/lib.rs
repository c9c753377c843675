//! The hostile world: runs the real ledger on a simulated disk, and the core among unreliable executors,
//! both from a seed.

pub mod rng;
pub mod disk;
pub mod claims;
pub mod operations;
pub mod world;
pub mod bench;
