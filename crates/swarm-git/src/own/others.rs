//! What else an agent's own repository names: branches beside the one that is handed in, tags, stashes, what a rebase
//! has set aside. Nobody in the person's repository holds any of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::OwnRepository;
use super::beneath::Beneath;
use super::heads::{PACKED_BYTES_MAX, REF_BYTES_MAX, oid, read};
use crate::call::Git;

/// Names that are looked at; whoever has more has made them by a program.
const NAMES_MAX: usize = 2000;
/// Folders within folders.
const DEPTH_MAX: usize = 12;
const LOG_BYTES_MAX: u64 = 1 << 20;

/// Stashes below the newest are in its log alone.
const STASH_LOG: &str = "logs/refs/stash";

/// Commits that a rebase under way comes back to.
const SET_ASIDE: [&str; 4] =
    ["rebase-merge/orig-head", "rebase-merge/autostash", "rebase-apply/orig-head", "rebase-apply/autostash"];

impl OwnRepository {
    /// What its refs, stashes and a rebase under way name, without what it was shown and what was handed in. Nothing of it is
    /// believed: a name may lead to no commit, or to one that the person has.
    pub fn never_handed_in(&self, git: &Git) -> Vec<Oid> {
        let Ok(own) = Beneath::open(&self.dir) else { return Vec::new() };
        let mut named: BTreeSet<Oid> = read(&own, &self.branch()).all().into_iter().cloned().collect();
        let mut left = NAMES_MAX;
        loose(&own, Path::new("refs"), DEPTH_MAX, &mut left, &mut named);
        let packed = text(&own, Path::new("packed-refs"), PACKED_BYTES_MAX);
        named.extend(packed.lines().filter_map(|line| oid(line.split(' ').next()?)));
        let stashes = text(&own, Path::new(STASH_LOG), LOG_BYTES_MAX);
        named.extend(stashes.lines().filter_map(|line| oid(line.split(' ').nth(1)?)).take(NAMES_MAX));
        named.extend(SET_ASIDE.iter().filter_map(|name| value(&own, Path::new(name))));
        if let Some(agreed) = self.agreed(git) {
            named.remove(&agreed.tip);
            for shown in agreed.refs.values() {
                named.remove(shown);
            }
        }
        // Whatever the person's refs have shown it since it was made lies in the person's store alone.
        let packs = own.names(Path::new("objects/pack"), NAMES_MAX).map_or(true, |names| !names.is_empty());
        named.into_iter().filter(|oid| packs || own.is_there(&loose_object(oid))).collect()
    }
}

fn loose_object(oid: &Oid) -> PathBuf {
    let (folder, name) = oid.as_str().split_at(2);
    Path::new("objects").join(folder).join(name)
}

fn loose(own: &Beneath, folder: &Path, depth: usize, left: &mut usize, named: &mut BTreeSet<Oid>) {
    if depth == 0 {
        return;
    }
    for name in own.names(folder, NAMES_MAX).unwrap_or_default() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path: PathBuf = folder.join(name);
        match value(own, &path) {
            Some(oid) => {
                named.insert(oid);
            }
            None => loose(own, &path, depth - 1, left, named),
        }
    }
}

fn value(own: &Beneath, name: &Path) -> Option<Oid> {
    oid(text(own, name, REF_BYTES_MAX).trim())
}

fn text(own: &Beneath, name: &Path, bytes_max: u64) -> String {
    String::from_utf8_lossy(&own.read(name, bytes_max).unwrap_or_default()).into_owned()
}
