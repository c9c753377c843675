//! What else an agent's own repository names: branches beside the one that is handed in, tags, stashes, what a rebase
//! has set aside. Nobody in the person's repository holds any of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::OwnRepository;
use super::beneath::Beneath;
use super::heads::{PACKED_BYTES_MAX, REF_BYTES_MAX, oid, read};
use crate::call::Git;

/// Names that are looked at; whoever has more has made them by a program. A person's refs that moved are among them.
const NAMES_MAX: usize = 20_000;
/// Folders within folders.
const DEPTH_MAX: usize = 12;
const LOG_BYTES_MAX: u64 = 1 << 20;

/// Stashes below the newest are in its log alone.
const STASH_LOG: &str = "logs/refs/stash";

/// Commits that a rebase under way comes back to.
const SET_ASIDE: [&str; 4] =
    ["rebase-merge/orig-head", "rebase-merge/autostash", "rebase-apply/orig-head", "rebase-apply/autostash"];

/// What was found.
#[derive(Debug, Default)]
pub struct Others {
    pub named: Vec<Oid>,
    /// There is more than is looked at, or something that cannot be read.
    pub more: bool,
}

impl OwnRepository {
    /// What its refs, stashes and a rebase under way name, without what it was shown and what was handed in. Nothing of it is
    /// believed: a name may lead to no commit, or to one that the person has.
    pub fn never_handed_in(&self, git: &Git) -> Others {
        let Ok(own) = Beneath::open(&self.dir) else {
            return Others { named: Vec::new(), more: self.is_there() };
        };
        let mut named: BTreeSet<Oid> = read(&own, &self.branch()).all().into_iter().cloned().collect();
        let mut walk = Walk { own: &own, left: NAMES_MAX, more: false };
        walk.loose(Path::new("refs"), DEPTH_MAX, &mut named);
        let packed = walk.text("packed-refs", PACKED_BYTES_MAX);
        named.extend(packed.lines().filter_map(|line| oid(line.split(' ').next()?)));
        let stashes = walk.text(STASH_LOG, LOG_BYTES_MAX);
        named.extend(stashes.lines().filter_map(|line| oid(line.split(' ').nth(1)?)));
        named.extend(SET_ASIDE.iter().filter_map(|name| value(&own, Path::new(name))));
        if let Some(agreed) = self.agreed(git) {
            named.remove(&agreed.tip);
            for shown in agreed.refs.values() {
                named.remove(shown);
            }
        }
        // Whatever the person's refs have shown it since it was made lies in the person's store alone.
        let packs = own.names(Path::new("objects/pack"), NAMES_MAX).map_or(true, |names| !names.is_empty());
        let named = named.into_iter().filter(|oid| packs || own.is_there(&loose_object(oid))).collect();
        Others { named, more: walk.more }
    }
}

fn loose_object(oid: &Oid) -> PathBuf {
    let (folder, name) = oid.as_str().split_at(2);
    Path::new("objects").join(folder).join(name)
}

/// A look with bounds, which remembers that it met one.
struct Walk<'a> {
    own: &'a Beneath,
    left: usize,
    more: bool,
}

impl Walk<'_> {
    fn loose(&mut self, folder: &Path, depth: usize, named: &mut BTreeSet<Oid>) {
        let Ok(names) = self.own.names(folder, NAMES_MAX) else {
            self.more = true;
            return;
        };
        for name in names {
            if self.left == 0 || depth == 0 {
                self.more = true;
                return;
            }
            self.left -= 1;
            let path = folder.join(name);
            match value(self.own, &path) {
                Some(oid) => {
                    named.insert(oid);
                }
                None => self.loose(&path, depth - 1, named),
            }
        }
    }

    fn text(&mut self, name: &str, bytes_max: u64) -> String {
        let name = Path::new(name);
        let bytes = self.own.read(name, bytes_max);
        self.more |= bytes.is_none() && self.own.is_there(name);
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }
}

fn value(own: &Beneath, name: &Path) -> Option<Oid> {
    let bytes = own.read(name, REF_BYTES_MAX)?;
    oid(String::from_utf8_lossy(&bytes).trim())
}
