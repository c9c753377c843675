//! Which net works here: tried for real with the launcher itself, because permissions on paper say little.

use std::time::Duration;

use swarm_protocol::config::ContainmentKind;

use super::cgroup::{Leaf, leaf_name, parents};
use super::{Containment, Namespaces};
use crate::launcher::{Launcher, Place};
use std::path::Path;

/// Longest a trial may take; it takes milliseconds.
const TRIAL_WITHIN: Duration = Duration::from_secs(10);

/// The net that a person asked for does not work here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the containment {word} does not work here: {why}; set `containment` to `auto`, or see `swarm doctor`"
)]
pub struct NoContainment {
    pub word: &'static str,
    pub why: String,
}

impl Containment {
    /// The best net that works, or exactly the one that is wanted.
    pub async fn choose(wanted: ContainmentKind, launcher: &Launcher) -> Result<Self, NoContainment> {
        let no = |word| move |why| NoContainment { word, why };
        match wanted {
            ContainmentKind::Cgroup => try_cgroup(launcher).await.map_err(no("cgroup")),
            ContainmentKind::Pidns => try_pidns(launcher).await.map_err(no("pidns")),
            ContainmentKind::Group => Ok(Self::Group),
            ContainmentKind::Auto => {
                if let Ok(found) = try_cgroup(launcher).await {
                    return Ok(found);
                }
                Ok(try_pidns(launcher).await.unwrap_or(Self::Group))
            }
        }
    }
}

/// Every net with what it would be here, or why it would not be.
pub async fn available(launcher: &Launcher) -> Vec<(&'static str, Result<Containment, String>)> {
    vec![
        ("cgroup", try_cgroup(launcher).await),
        ("pidns", try_pidns(launcher).await),
        ("group", Ok(Containment::Group)),
    ]
}

async fn try_cgroup(launcher: &Launcher) -> Result<Containment, String> {
    let mut why = "no control groups of version 2 are mounted".to_owned();
    let name = leaf_name(Path::new("trial"), &format!("trial-{}", ulid::Ulid::generate()));
    for parent in parents() {
        let leaf = match Leaf::create(&parent, &name) {
            Ok(leaf) => leaf,
            Err(error) => {
                why = format!("{}: {error}", parent.display());
                continue;
            }
        };
        let place = Place::Cgroup { procs_file: leaf.procs_file(), own_view: None };
        let tried = launcher.try_out(place, TRIAL_WITHIN).await;
        leaf.end(Duration::ZERO).await;
        leaf.remove().await;
        match tried {
            Ok(()) => return Ok(Containment::Cgroup { parent, own_view: own_view(launcher).await.ok() }),
            Err(text) => why = format!("{}: {text}", parent.display()),
        }
    }
    Err(why)
}

async fn try_pidns(launcher: &Launcher) -> Result<Containment, String> {
    if let Ok(Namespaces { user }) = own_view(launcher).await {
        return Ok(Containment::Pidns { user_namespace: user, own_view: true });
    }
    let mut why = String::new();
    for user_namespace in ways() {
        match launcher.try_out(Place::Pidns { user_namespace, own_view: false }, TRIAL_WITHIN).await {
            Ok(()) => return Ok(Containment::Pidns { user_namespace, own_view: false }),
            Err(text) => why = text,
        }
    }
    Err(why)
}

/// Whether a walled program can have a view of the files of its own here, and how; else why not.
pub async fn own_view(launcher: &Launcher) -> Result<Namespaces, String> {
    let mut why = String::new();
    for user in ways() {
        match launcher.try_view(user, TRIAL_WITHIN).await {
            Ok(()) => return Ok(Namespaces { user }),
            Err(text) => why = text,
        }
    }
    Err(why)
}

/// As root without a user namespace: files keep their owners. Others have no choice.
fn ways() -> impl Iterator<Item = bool> {
    let root = rustix::process::geteuid().is_root();
    [false, true].into_iter().filter(move |user| root || *user)
}
