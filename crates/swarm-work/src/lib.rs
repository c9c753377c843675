//! The executors: each kind of effect is one file. An executor looks first and acts second, so that it may be
//! asked twice, and always ends in an answer. None of them knows the rules.

pub mod approval;
pub mod build;
pub mod resolve;
pub mod regenerate;
pub mod merge_tree;
pub mod shared_tree;
pub mod publish;
pub mod prove;
pub mod protected;
pub mod checkout_watch;
pub mod hand_in;
pub mod left_behind;
pub mod remove;
pub mod rescue;
pub mod restore;
pub mod take_up;
pub mod worktree;
pub mod operation;
pub mod hooks;
pub mod channel;
pub mod daemon;
pub mod supervisor;
pub mod no_room;
mod person;
pub mod shell_word;
pub mod places;

pub use person::filter_rule;
