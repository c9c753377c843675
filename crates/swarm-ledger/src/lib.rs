//! The append-only, hash-chained log of every decision, over a file system trait.
pub mod vfs;
