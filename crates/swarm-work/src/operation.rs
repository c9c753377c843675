//! The executors of operations that move git as well as the plan: checkpoints, the look before, the move, the way
//! back of one worktree. They are usable without the rules; each is safe to ask for again after death anywhere.
//!
//! Two promises hold for all of them: what is there now is on a ref and on the disk before anything of it changes,
//! and what a person has in a checkout is the person's (`publish` alone writes there).

pub mod checkpoint;
pub mod checkpoint_file;
pub mod survey;
pub mod moving;
pub mod restore_tree;
pub mod rewind;
pub mod left;
mod files;
mod uncommitted;

/// A command's id as a part of a ref's name.
pub(crate) fn ref_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().map(|c| if plain(c) { c } else { '-' }).collect()
}
