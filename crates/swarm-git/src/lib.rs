//! The only caller of git.
//!
//! Every call names the repository and, where there is one, the work tree and the index, so that
//! git never looks for them itself: a `.git` file, a hook or an index that an agent has planted
//! in its worktree is not read. Only the configuration of the person's own repository counts.

mod abandoned;
mod barrier;
mod torn;
mod call;
mod changed_files;
mod changes;
mod checkouts;
mod commits;
mod conflicts;
mod diff_text;
mod differences;
mod entry;
mod filters;
mod discover;
mod grafted;
mod guard;
mod known_changes;
mod lines;
mod loose_objects;
mod marker;
mod names;
mod objects;
mod own;
mod plain_place;
pub mod patches;
pub mod taken;
mod private_index;
mod readable;
mod record;
mod ref_files;
mod ref_lists;
mod refs;
pub mod renames;
pub mod revert;
mod shown;
mod sizes;
mod traced;
mod unread;
mod whole;
pub mod tips;
pub mod trunk;

pub use call::{Claim, Git, GitCall, GitError, Version};
pub use checkouts::{Checkout, Head, MidWay};
pub use commits::NewCommit;
pub use commits::{Identity, Signature};
pub use conflicts::{Conflicted, Sides};
pub use diff_text::DiffKind;
pub use differences::{Differences, SmallIndex, Untracked};
pub use discover::{Repository, version};
pub use entry::{ALL_LINKS, Change, Entry, MODE_GITLINK, MODE_SYMLINK, path_of};
pub use filters::FilterRule;
pub use guard::Notice;
pub use lines::{Brought, Placed, Told};
pub use marker::{lock_within, make_own_folder, write_note};
pub use marker::{read_marker, remove_marker, write_marker};
pub use names::is_refused_name;
pub use objects::{Indexed, Merged};
pub use own::{Heads, Limits, Others, OwnRepository, Taken};
pub use private_index::PrivateIndex;
pub use readable::make_readable;
pub use refs::{RefChange, RefOutcome};
pub use sizes::READ_BYTES_MAX;
