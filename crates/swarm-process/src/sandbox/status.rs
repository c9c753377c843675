//! What the kernel of this machine enforces.

use landlock::{
    ABI, Access, AccessFs, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr, RulesetStatus, Scope,
};
use serde::{Deserialize, Serialize};

/// For people and screens: how strong the walls are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxStatus {
    /// The version of Landlock that is used; 0 without.
    pub abi: u32,
    /// Everything that was asked for is enforced.
    pub fully: bool,
    /// What is not.
    pub missing: Vec<String>,
    /// It sees files, processes and devices of its own, and not those of the machine.
    #[serde(default)]
    pub own_view: bool,
}

/// What came with which version, for those who have an older one.
const CAME_WITH: [(u32, &str); 4] = [
    (2, "files cannot be moved between folders (Linux 5.19)"),
    (3, "files that may only be read can still be emptied (Linux 6.2)"),
    (4, "the network cannot be closed (Linux 6.7)"),
    (6, "signals to processes outside and abstract sockets are not held back (Linux 6.12)"),
];

impl SandboxStatus {
    pub(super) fn of(status: &RestrictionStatus) -> Self {
        let abi = match &status.landlock {
            LandlockStatus::Available { effective_abi, .. } => *effective_abi as u32,
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        };
        let missing = match (&status.landlock, abi) {
            (LandlockStatus::NotImplemented, _) => vec!["the kernel has no Landlock (Linux 5.13)".to_owned()],
            (_, 0) => vec!["Landlock is switched off: start the kernel with `lsm=landlock,…`".to_owned()],
            _ => {
                CAME_WITH.iter().filter(|(with, _)| abi < *with).map(|(_, what)| (*what).to_owned()).collect()
            }
        };
        Self { abi, fully: status.ruleset == RulesetStatus::FullyEnforced, missing, own_view: false }
    }
}

/// Tries it, on a thread that ends with the trial: walls are around a thread and what it starts.
pub fn doctor() -> Result<SandboxStatus, String> {
    let tried = std::thread::spawn(|| {
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .restrict_self()?;
        Ok::<_, landlock::RulesetError>(SandboxStatus::of(&status))
    });
    match tried.join() {
        Ok(status) => status.map_err(|error| error.to_string()),
        Err(_) => Err("the trial failed".into()),
    }
}
