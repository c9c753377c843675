//! Removing a worktree, only by proof. Whatever cannot be proven keeps it where it is.

mod trash;

pub use trash::{empty_trash, trash_dir};
pub(crate) use trash::{forget_registration, move_to_trash};
