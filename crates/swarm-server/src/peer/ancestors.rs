//! Where a process stands by its control group, its environment and its parents, as the engine sees it.

use std::path::Path;
use std::sync::Arc;

use swarm_process::caller::{self, SeenBy, attempt_below};

use super::{Inside, Peer, Standing, Who};

/// Recognises processes of the runs whose daemons were started from this swarm's folder. Whoever is behind walls is taken
/// for one: a person's own commands are not.
pub fn by_ancestors(swarm_dir: &Path) -> Who {
    recognise(swarm_dir, true)
}

/// The same for callers that come with a proof of their own, as browsers do, which build walls around themselves.
pub fn by_ancestors_alone(swarm_dir: &Path) -> Who {
    recognise(swarm_dir, false)
}

fn recognise(swarm_dir: &Path, by_walls: bool) -> Who {
    let daemons = swarm_dir.join("run").join("daemons");
    Arc::new(move |peer: Peer| match attempt_below(caller::Peer { pid: peer.pid }, &daemons) {
        None => Standing::Outside,
        Some(inside) if inside.seen_by == SeenBy::Walls && !by_walls => Standing::Outside,
        Some(inside) if inside.seen_by == SeenBy::Vanished => Standing::Unseen,
        Some(inside) => Standing::Inside(Inside { run: inside.run, nonce: inside.nonce }),
    })
}
