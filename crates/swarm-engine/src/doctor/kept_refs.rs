//! Refs of the swarm that name an object which git does not have or cannot read: after `git gc --prune=now` beside a commit, or a power
//! cut. What they kept is lost; everything else goes on without them.

use std::collections::BTreeMap;

use super::finding::Found;
use super::patient::Patient;
use swarm_git::GitError;
use swarm_process::Input;
use swarm_protocol::ids::Oid;

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
    let finding = |(name, oid): &(String, Oid)| {
        let (folder, file) = oid.as_str().split_at(2);
        // Git says of one that rotted, too, that it has none.
        let is_there = patient.git.common_dir.join("objects").join(folder).join(file).exists();
        let how = if is_there { "cannot read" } else { "does not have" };
        let what = format!("{name} names an object that git {how}");
        let back = format!(
            "bring {oid} back from a clone or a backup; where nobody has it, `git update-ref -d {name}`"
        );
        Found::problem(ID, what).about(name).by_hand(back)
    };
    lost.iter().take(NAMED_MAX).map(finding).collect()
}

/// One question for all of them.
async fn without_object(patient: &Patient) -> Result<Vec<(String, Oid)>, GitError> {
    let git = &patient.git;
    let mut by_object: BTreeMap<String, Vec<(String, Oid)>> = BTreeMap::new();
    for (name, oid) in git.refs_under("refs/swarm").await? {
        by_object.entry(oid.to_string()).or_default().push((name, oid));
    }
    let asked: String = by_object.keys().map(|oid| format!("{oid}\n")).collect();
    let check = git.call(["cat-file", "--batch-check", "--buffer"]).long_list();
    let answer = check.stdin(Input::Bytes(asked.into_bytes())).ok().await?;
    let answer = String::from_utf8_lossy(&answer);
    let missing = answer.lines().filter_map(|line| line.strip_suffix(" missing"));
    Ok(missing.filter_map(|oid| by_object.get(oid)).flatten().cloned().collect())
}
