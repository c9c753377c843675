//! Refs of the swarm that name an object which git does not have: after `git gc --prune=now` beside a commit, or a power
//! cut. What they kept is lost; everything else goes on without them.

use std::collections::BTreeMap;

use super::finding::Found;
use super::patient::Patient;
use swarm_git::GitError;
use swarm_process::Input;

const ID: &str = "kept-refs";
/// Named one by one; after these everybody knows.
const NAMED_MAX: usize = 20;

pub(super) async fn inspect(patient: &Patient) -> Vec<Found> {
    let lost = match without_object(patient).await {
        Ok(lost) => lost,
        Err(error) => return vec![Found::note(ID, format!("not looked at: {error}"))],
    };
    if lost.is_empty() {
        return vec![Found::ok(ID, "each names what git has")];
    }
    let finding = |name: &String| {
        let what = format!("{name} names an object that git does not have");
        Found::problem(ID, what).about(name).by_hand(format!("git update-ref -d {name}"))
    };
    lost.iter().take(NAMED_MAX).map(finding).collect()
}

/// One question for all of them.
async fn without_object(patient: &Patient) -> Result<Vec<String>, GitError> {
    let git = &patient.git;
    let mut by_object: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, oid) in git.refs_under("refs/swarm").await? {
        by_object.entry(oid.to_string()).or_default().push(name);
    }
    let asked: String = by_object.keys().map(|oid| format!("{oid}\n")).collect();
    let check = git.call(["cat-file", "--batch-check", "--buffer"]).long_list();
    let answer = check.stdin(Input::Bytes(asked.into_bytes())).ok().await?;
    let answer = String::from_utf8_lossy(&answer);
    let missing = answer.lines().filter_map(|line| line.strip_suffix(" missing"));
    Ok(missing.filter_map(|oid| by_object.get(oid)).flatten().cloned().collect())
}
