//! Commits that only a worktree's own record knows of: amended, reset away, made off the branch. They get a ref
//! before the record goes, because nothing else would keep git's clean-up from taking them. The same holds for what an agent's
//! own repository names beside the branch that was handed in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use swarm_protocol::ids::{Oid, TaskId};

use super::keep_commit;
use swarm_git::{Git, GitError, Head, Limits, NewCommit, Others, OwnRepository, Taken, tips};
use swarm_process::Input;

/// Parents of one commit that holds others; git itself reads any number, people do not.
const PARENTS_MAX: usize = 64;

/// Commits of an agent's own repository that are taken, and kept, each by itself.
const ONE_BY_ONE_MAX: usize = 32;

/// Files that hold the name of a commit while something is under way.
const NAMED_IN: [&str; 6] = [
    "ORIG_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge/orig-head",
    "rebase-apply/orig-head",
];

pub(super) async fn keep(git: &Git, task: &TaskId, record: &Path, tip: &Oid) -> Result<(), GitError> {
    let mut names: BTreeSet<Oid> = tips::logged(record).into_iter().collect();
    if let Head::Detached(oid) = git.head_in(record) {
        names.insert(oid);
    }
    names.extend(NAMED_IN.iter().filter_map(|file| git.oid_in(&record.join(file))));
    for dir in ["refs/worktree", "refs/bisect", "refs/rewritten"] {
        let entries = std::fs::read_dir(record.join(dir)).into_iter().flatten().flatten().take(1000);
        names.extend(entries.filter_map(|entry| git.oid_in(&entry.path())));
    }
    let loose = heads_of_unreachable(git, &names).await?;
    keep_as_few(git, task, &loose, tip).await
}

/// What became of the commits of an agent's own repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfOwn {
    /// Whatever nobody else has is on refs now; there may have been nothing.
    Kept,
    /// Some of it was not taken: the repository itself has to stay.
    Refused,
}

/// The branches, tags and stashes that an agent made for itself and never handed in get refs in the person's repository.
/// What is not taken at once with everything is tried by itself, so that one bad commit costs none of the others.
pub(super) async fn keep_of_own(
    git: &Git,
    task: &TaskId,
    worktree: &Path,
    tip: &Oid,
    file_max_bytes: u64,
) -> Result<OfOwn, GitError> {
    let own = OwnRepository::of(worktree, task);
    let Others { named, more } = own.never_handed_in(git);
    if named.is_empty() && !more {
        return Ok(OfOwn::Kept);
    }
    let limits = Limits::of_files(file_max_bytes);
    let all: Vec<&Oid> = named.iter().collect();
    let mut refused = more.then(|| "it has more refs or stashes than are looked at".to_owned());
    let mut taken = BTreeSet::new();
    let at_once = match all.is_empty() {
        true => Taken::Yes,
        false => own.take(git, &all, &[tip], limits).await?,
    };
    match at_once {
        Taken::Yes => taken.extend(named.iter().cloned()),
        Taken::Refused { .. } => {
            for one in named.iter().take(ONE_BY_ONE_MAX) {
                match own.take(git, &[one], &[tip], limits).await? {
                    Taken::Yes => {
                        taken.insert(one.clone());
                    }
                    Taken::Refused { why } => refused = Some(why),
                }
            }
            if named.len() > ONE_BY_ONE_MAX {
                refused.get_or_insert_with(|| format!("it names {} objects", named.len()));
            }
        }
    }
    let loose = heads_of_unreachable(git, &taken).await?;
    if loose.len() > ONE_BY_ONE_MAX {
        keep_as_few(git, task, &loose, tip).await?;
    } else {
        for one in &loose {
            keep_commit(git, "rescue", task, one).await?;
        }
    }
    if any_has_other_files(git, &loose, tip).await? {
        let text = "its agent had made branches, tags or stashes that were never handed in; they are kept: \
                    `swarm restore --list --all`";
        git.notice(Some(task), text.to_owned());
    }
    let Some(why) = refused else { return Ok(OfOwn::Kept) };
    let text = format!(
        "its agent's own repository holds what was never handed in and cannot be taken: {why}; the repository stays in \
         the trash: `swarm restore --list`"
    );
    git.notice(Some(task), text);
    Ok(OfOwn::Refused)
}

/// Commits with just the files of the tip (amended, rebuilt, of a record that a person took away) are no news to anybody.
async fn any_has_other_files(git: &Git, loose: &[Oid], tip: &Oid) -> Result<bool, GitError> {
    if loose.is_empty() {
        return Ok(false);
    }
    let handed_in = git.tree_of(tip).await?;
    for one in loose.iter().take(ONE_BY_ONE_MAX) {
        if git.tree_of(one).await? != handed_in {
            return Ok(true);
        }
    }
    Ok(loose.len() > ONE_BY_ONE_MAX)
}

/// A ref for each would be too many: some hold the others as parents.
async fn keep_as_few(git: &Git, task: &TaskId, loose: &[Oid], tip: &Oid) -> Result<(), GitError> {
    for some in loose.chunks(PARENTS_MAX) {
        if let [one] = some {
            keep_commit(git, "rescue", task, one).await?;
            continue;
        }
        let tree = git.tree_of(tip).await?;
        let message = format!("swarm: commits that {task} has left behind, as parents of this one\n");
        // No clock in it: asked twice it is the same commit.
        let holder = NewCommit {
            tree: &tree,
            parents: some,
            author: None,
            encoding: None,
            message: message.as_bytes(),
            at_secs: 0,
        };
        let holder = git.make_commit(holder).await?;
        keep_commit(git, "rescue", task, &holder).await?;
    }
    Ok(())
}

/// Of the commits that no branch and no ref of ours reaches, those that are nobody's parent.
async fn heads_of_unreachable(git: &Git, names: &BTreeSet<Oid>) -> Result<Vec<Oid>, GitError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let input: String = names.iter().map(|oid| format!("{oid}\n")).collect();
    let args =
        ["rev-list", "--ignore-missing", "--parents", "--stdin", "--not", "--branches", "--glob=refs/swarm"];
    let call = git.call(args).stdin(Input::Bytes(input.into_bytes())).long_list();
    // A commit in their history may be gone.
    let Ok(listed) = call.ok().await else { return commits_among(git, names).await };
    let lines = String::from_utf8_lossy(&listed).into_owned();
    let family: BTreeMap<&str, Vec<&str>> = lines
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.collect()))
        })
        .collect();
    let parents: BTreeSet<&str> = family.values().flatten().copied().collect();
    let heads = family.keys().filter(|commit| !parents.contains(*commit));
    Ok(heads.filter_map(|commit| Oid::new(commit).ok()).collect())
}

/// All of them that are commits, whatever they stand on.
async fn commits_among(git: &Git, names: &BTreeSet<Oid>) -> Result<Vec<Oid>, GitError> {
    let all: Vec<Oid> = names.iter().cloned().collect();
    let others: BTreeSet<Oid> = git.missing_commits(&all).await?.into_iter().collect();
    Ok(all.into_iter().filter(|name| !others.contains(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_git::GitCall;

    /// Somebody's `git gc --prune=now` has taken what they stand on.
    #[tokio::test]
    async fn commits_whose_history_cannot_be_followed_are_all_kept_however_many() {
        let dir = tempfile::tempdir().expect("a folder");
        let person = ["-c", "user.name=A", "-c", "user.email=a@b"];
        let call = |args: &[&str]| GitCall::by_hand(dir.path()).args(person).args(args);
        call(&["init", "--quiet"]).ok().await.expect("git works");
        call(&["commit", "--quiet", "--allow-empty", "--message=start"]).ok().await.expect("git works");
        let tree = call(&["rev-parse", "HEAD^{tree}"]).line().await.expect("git works");
        let gone = call(&["commit-tree", "-p", "HEAD", "-m", "gone", &tree]).line().await.expect("git works");
        let mut script = String::new();
        for n in 0..1_001 {
            let from = if n == 0 { format!("from {gone}\n") } else { String::new() };
            script.push_str(&format!("commit refs/side/all\ncommitter a <a@b> {n} +0000\ndata 0\n{from}\n"));
        }
        let import = call(&["fast-import", "--quiet"]).stdin(Input::Bytes(script.into_bytes()));
        import.ok().await.expect("git works");
        let listed = call(&["rev-list", "refs/side/all", &format!("^{gone}")]).line().await;
        let listed = listed.expect("git works");
        let mut names: BTreeSet<Oid> = listed.lines().map(|name| Oid::new(name).expect("a name")).collect();
        std::fs::remove_file(dir.path().join(".git/objects").join(&gone[..2]).join(&gone[2..]))
            .expect("gone");
        let commits = names.clone();
        names.insert(Oid::new(&tree).expect("a name"));
        let git = Git::discover(dir.path()).await.expect("fit");
        let kept = heads_of_unreachable(&git, &names).await.expect("git works");
        assert_eq!(kept.len(), 1_001);
        assert_eq!(kept.into_iter().collect::<BTreeSet<_>>(), commits);
    }
}
