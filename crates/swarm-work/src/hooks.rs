//! The user's hooks: found, told what happened, run within bounds. They are the person's own programs, started
//! by us in the repository's root with the person's environment; whatever they do, work goes on.

mod find;
mod occasion;
mod run;

use std::ffi::OsString;
use std::time::Duration;

pub use find::{Configured, configured, files, find, list, misnamed};
pub use occasion::{Occasion, document};
pub use run::{Ended, run};

/// How long a hook may take when nobody has said otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Other names that people know them by.
const ALIASES: [(&str, &str); 2] = [("pre-task-start", "pre-start"), ("post-task-complete", "post-complete")];

/// A hook that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    pub name: &'static str,
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// As a person wrote or named it, from the repository's root.
    pub shown: String,
    pub timeout: Duration,
    /// Its failure refuses what it stands before. Only hooks whose name begins with `pre-` can be.
    pub blocking: bool,
    /// Named in the configuration, not found as a file.
    pub configured: bool,
}

/// What was found under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Nothing,
    Hook(Hook),
    /// There is one, but it cannot be started: why, and the command that helps.
    Unfit {
        shown: String,
        why: String,
        blocking: bool,
    },
}
