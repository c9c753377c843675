//! How the processes of a run are held together, so that all of them can be found and ended.

/// The nets, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Containment {
    /// A process group, orphans that come home to the daemon, and the nonce in the environment.
    #[default]
    Group,
}
