//! Files that trunk has moved since: work is found under the name that somebody gave it.

use std::collections::{BTreeMap, BTreeSet};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::changes::lines;
use super::entry::ALL_LINKS;
use super::refs::parse_oid;

/// Of one commit: so many files are compared with one another at most. What is left out counts as deleted and added.
const COMPARED_MAX: &str = "-l1000";

/// What commits of trunk renamed.
#[derive(Debug, Default)]
pub struct Renames {
    /// The place of the commit, the name before, the name after. Oldest first.
    all: Vec<(usize, Vec<u8>, Vec<u8>)>,
    /// Where each commit of trunk stands, the oldest first.
    order: BTreeMap<Oid, usize>,
}

impl Renames {
    /// `line`: the commits of trunk that are looked through, oldest first.
    pub async fn along(git: &Git, line: &[Oid]) -> Result<Self, GitError> {
        let order = line.iter().enumerate().map(|(place, oid)| (oid.clone(), place)).collect();
        let mut renames = Self { all: Vec::new(), order };
        for some in line.chunks(1_000) {
            let args = ["diff-tree", "--stdin", "-r", "-M", COMPARED_MAX, "--diff-filter=R", "--raw", "-z"];
            let call = git.call(args).args([ALL_LINKS, "--diff-merges=first-parent"]);
            let told = call.stdin(lines(some)).long_list().ok().await?;
            let mut words = told.split(|b| *b == 0).filter(|word| !word.is_empty());
            let mut at: Option<usize> = None;
            while let Some(word) = words.next() {
                let word = word.strip_prefix(b"\n").unwrap_or(word);
                if !word.starts_with(b":") {
                    at = renames.order.get(&parse_oid("diff-tree", word)?).copied();
                    continue;
                }
                let (Some(from), Some(to)) = (words.next(), words.next()) else { break };
                renames.all.extend(at.map(|place| (place, from.to_vec(), to.to_vec())));
            }
        }
        Ok(renames)
    }

    /// What the file is called now that this commit left under `path`. Of a commit that is not on trunk any more nobody
    /// knows what came after it: all counts.
    pub fn name_now(&self, path: &[u8], after: &Oid) -> Vec<u8> {
        let after = self.order.get(after);
        let mut name = path.to_vec();
        for (_, from, to) in self.all.iter().filter(|(place, ..)| after.is_none_or(|after| place > after)) {
            if *from == name {
                name.clone_from(to);
            }
        }
        name
    }

    /// These names, and all that they were changed to.
    pub fn and_later(&self, paths: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
        let mut names = paths.clone();
        for (_, from, to) in &self.all {
            if names.contains(from) {
                names.insert(to.clone());
            }
        }
        names
    }
}
