//! How the processes of a run are held together, so that every one of them can be found and ended,
//! also those that went into sessions of their own, lost their parents and emptied their environment.
//!
//! Three nets, best first, and the nonce in the environment as the last belt under each.

pub mod cgroup;
mod choose;
mod held;

pub use choose::{NoContainment, available, own_view};
pub use held::{Held, end_run};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Namespaces that can be made here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// Inside a user namespace, because only that lets an ordinary user make the others.
    pub user: bool,
}

/// A net that works on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Containment {
    /// A control group of its own below `parent`: nobody leaves it, and the kernel ends it at once.
    Cgroup {
        parent: PathBuf,
        /// Inside it, namespaces in which a walled program has a view of the files of its own.
        #[serde(default)]
        own_view: Option<Namespaces>,
    },
    /// A pid namespace: the end of its first process is the end of all.
    Pidns {
        /// Made inside a user namespace, because only that lets an ordinary user make one.
        user_namespace: bool,
        /// In it a walled program has a view of the files of its own.
        #[serde(default)]
        own_view: bool,
    },
    /// A guardian to whom orphans come home, and the nonce.
    #[default]
    Group,
}

impl Containment {
    /// Whether its place is still there; a net of the kernel's needs none.
    pub fn is_there(&self) -> bool {
        match self {
            Self::Cgroup { parent, .. } => parent.join("cgroup.procs").exists(),
            Self::Pidns { .. } | Self::Group => true,
        }
    }

    /// Whether a walled program in it sees files, processes and devices of its own, and what [`SandboxSpec::binds`] says.
    ///
    /// [`SandboxSpec::binds`]: crate::sandbox::SandboxSpec::binds
    pub fn can_bind(&self) -> bool {
        matches!(self, Self::Cgroup { own_view: Some(_), .. } | Self::Pidns { own_view: true, .. })
    }

    /// For screens, and as a person writes it in the configuration.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Cgroup { .. } => "cgroup",
            Self::Pidns { .. } => "pidns",
            Self::Group => "group",
        }
    }
}
