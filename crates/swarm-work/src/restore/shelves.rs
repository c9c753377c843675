//! Where saved work lies: every shelf, with what is in it, and the one that is meant when only a task is named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use swarm_protocol::ids::Oid;

use super::{Saved, Shelf};
use crate::operation::ref_word;
use crate::remove::{About, trashed};
use swarm_git::{ALL_LINKS, Git, GitError};
use swarm_process::Input;

/// In the name of an agent's own repository in the trash, between its task and the time.
const AGENTS_GIT: &str = "-git-";

/// Commits that are counted one by one; of older ones only the files are.
const COUNTED_MAX: usize = 300;

/// What was saved and is still there, newest first. `worktrees` is the folder of all worktrees, `trunk` the short name of
/// the branch that finished work is on.
pub async fn saved(git: &Git, worktrees: &Path, trunk: &str) -> Result<Vec<Saved>, GitError> {
    let mut all = saved_refs(git).await?;
    all.extend(folders(git, worktrees));
    // Of one moment the whole folder comes before what was saved of it on refs.
    all.sort_by(|a, b| (b.at_secs, b.keep).cmp(&(a.at_secs, a.keep)).then_with(|| a.name.cmp(&b.name)));
    count_ahead(git, &mut all, trunk).await?;
    // Checkpoints hold most branches once more, and most of them nothing but trunk.
    let elsewhere = |one: &&Saved| one.shelf != Shelf::Checkpoint;
    let known: BTreeSet<Oid> = all.iter().filter(elsewhere).filter_map(|one| one.commit.clone()).collect();
    let mut seen = BTreeSet::new();
    all.retain(|one| match (&one.commit, one.shelf) {
        (Some(commit), Shelf::Checkpoint) => {
            one.has_work() && !known.contains(commit) && seen.insert((one.task.clone(), commit.clone()))
        }
        _ => true,
    });
    Ok(all)
}

/// What a person looks for: with work in it, and the same files of a task once.
pub fn with_work(all: &[Saved]) -> Vec<&Saved> {
    let mut seen: BTreeSet<(&str, &Oid)> = BTreeSet::new();
    let mut listed = Vec::new();
    for one in all {
        let is_unknown = one.shelf == Shelf::Trash && one.commit.is_none();
        // The files of a stash, and of a commit that only holds others, stand in its parents.
        let by_itself = one.keep || (one.joins && one.shelf == Shelf::Rescue);
        let is_first = by_itself || one.tree.as_ref().is_none_or(|tree| seen.insert((&one.task, tree)));
        if is_first && (one.has_work() || is_unknown) {
            listed.push(one);
        }
    }
    listed
}

/// The one that a person means who names only the task: with work in it, the newest first, and of two that stand on one
/// another the upper one.
pub async fn best<'a>(git: &Git, all: &'a [Saved], task: &str) -> Result<Option<&'a Saved>, GitError> {
    let of_task: Vec<&Saved> =
        all.iter().filter(|one| one.task == task || one.task == ref_word(task)).collect();
    let with_work: Vec<&Saved> = of_task.iter().copied().filter(|one| one.has_work()).collect();
    for one in &with_work {
        let mut below_another = false;
        for other in with_work.iter().filter(|other| !one.keep && other.commit != one.commit) {
            if let (Some(lower), Some(upper)) = (&one.commit, &other.commit) {
                let args = ["merge-base", "--is-ancestor", lower.as_str(), upper.as_str()];
                below_another |= git.call(args).if_yes().await?.is_some();
            }
        }
        if !below_another {
            return Ok(Some(one));
        }
    }
    Ok(with_work.first().or(of_task.first()).copied())
}

fn secs(at: SystemTime) -> i64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |at| at.as_secs() as i64)
}

/// Folders in the trash that somebody worked in. Git's records are kept for their log, and folders of the pool were
/// proven empty of work before they came there.
fn folders(git: &Git, worktrees: &Path) -> Vec<Saved> {
    let ours = |name: &str| name.contains("-record-") || name.starts_with("pool-");
    let of_agent = |name: &str| name.split_once(AGENTS_GIT).map(|(task, _)| task.to_owned());
    let all = trashed(git, worktrees).into_iter().filter(|one| one.about.is_some() || !ours(&one.name));
    all.map(|one| {
        let repository = of_agent(&one.name);
        let shelf = if repository.is_some() { Shelf::Repository } else { Shelf::Trash };
        let task = repository.unwrap_or_else(|| one.name.clone());
        let unknown = About { task, tip: None, keep: false };
        let About { task, tip, keep } = one.about.clone().unwrap_or(unknown);
        Saved {
            name: format!("trash/{}", one.name),
            shelf,
            task,
            at_secs: secs(one.at),
            subject: "the folder as it was".into(),
            files: None,
            ahead: None,
            keep,
            commit: tip,
            tree: None,
            joins: false,
            folder: Some(one.path),
        }
    })
    .collect()
}

/// The shelf and the task of a ref of ours; none: it holds nothing to be brought back.
fn place_of(name: &str) -> Option<(Shelf, String)> {
    let parts: Vec<&str> = name.strip_prefix("refs/swarm/")?.split('/').collect();
    Some(match parts[..] {
        ["wip", task, ..] => (Shelf::Wip, task.into()),
        ["rescue", task, ..] => (Shelf::Rescue, task.into()),
        // A branch without a worktree was kept under its whole name.
        ["kept", task, ..] => (Shelf::Kept, task.strip_prefix("swarm-").unwrap_or(task).into()),
        ["local", ..] => (Shelf::Local, "local".into()),
        ["checkpoints", _, "tips" | "dirty", task] => (Shelf::Checkpoint, task.into()),
        _ => return None,
    })
}

async fn saved_refs(git: &Git) -> Result<Vec<Saved>, GitError> {
    let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(tree)%00%(parent)%00%(contents:subject)";
    let shelves =
        ["wip", "rescue", "kept", "local", "checkpoints"].map(|shelf| format!("refs/swarm/{shelf}"));
    let listed = git.call(["for-each-ref", format]).args(&shelves).long_list().ok().await?;
    let text = String::from_utf8_lossy(&listed).into_owned();
    let mut all = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\0').collect();
        let [name, oid, date, tree, parents, subject] = fields[..] else { continue };
        let (Ok(commit), Some((shelf, task))) = (Oid::new(oid), place_of(name)) else { continue };
        // Commits that must be the same when asked twice carry no date: the ref's own file does.
        let written = std::fs::metadata(git.common_dir.join(name)).and_then(|meta| meta.modified());
        all.push(Saved {
            name: name.to_owned(),
            shelf,
            task,
            at_secs: written.map_or_else(|_| date.parse().unwrap_or(0), secs),
            subject: subject.to_owned(),
            files: None,
            ahead: None,
            keep: false,
            commit: Some(commit),
            tree: Oid::new(tree).ok(),
            joins: parents.contains(' '),
            folder: None,
        });
    }
    let counts = changed_counts(git, &all).await?;
    for one in &mut all {
        one.files = one.commit.as_ref().and_then(|commit| counts.get(commit.as_str()).copied());
    }
    Ok(all)
}

/// Files that each commit changes, by one call for all; of a saved checkout those of its files, not of its index.
async fn changed_counts(git: &Git, all: &[Saved]) -> Result<BTreeMap<String, usize>, GitError> {
    let commits: BTreeSet<&str> = all.iter().filter_map(|one| one.commit.as_ref()).map(Oid::as_str).collect();
    let input: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
    let args = [
        "diff-tree",
        "--stdin",
        "-r",
        "--root",
        "--name-only",
        "--no-ext-diff",
        "--no-renames",
        ALL_LINKS,
        "--diff-merges=first-parent",
    ];
    let listed = git.call(args).stdin(Input::Bytes(input.into_bytes())).long_list().ok().await?;
    let text = String::from_utf8_lossy(&listed).into_owned();
    let (mut counts, mut current) = (BTreeMap::new(), String::new());
    for line in text.lines() {
        if commits.contains(line) {
            current = line.to_owned();
            counts.entry(current.clone()).or_insert(0);
        } else if let Some(count) = counts.get_mut(&current) {
            *count += 1;
        }
    }
    Ok(counts)
}

/// Commits that trunk does not have. What is trunk's own changes nothing, whatever its last commit did.
async fn count_ahead(git: &Git, all: &mut [Saved], trunk: &str) -> Result<(), GitError> {
    let Some(trunk) = git.ref_value(&format!("refs/heads/{trunk}")).await? else { return Ok(()) };
    let mut known: BTreeMap<Oid, Option<usize>> = BTreeMap::new();
    for one in all.iter_mut() {
        let Some(commit) = &one.commit else { continue };
        if !known.contains_key(commit) && known.len() < COUNTED_MAX {
            known.insert(commit.clone(), ahead_of(git, commit, &trunk).await);
        }
        one.ahead = known.get(commit).copied().flatten();
        if one.ahead == Some(0) {
            one.files = Some(0);
        }
    }
    Ok(())
}

/// Commits whose change trunk has not, under this name or another. None where a folder has outlived its commit.
async fn ahead_of(git: &Git, commit: &Oid, trunk: &Oid) -> Option<usize> {
    let both = format!("{trunk}...{commit}");
    let args = ["rev-list", "--count", "--right-only", &both];
    let count = |told: Vec<u8>| String::from_utf8_lossy(&told).trim().parse::<usize>().ok();
    let by_name = count(git.call(args).long_list().ok().await.ok()?)?;
    if by_name == 0 {
        return Some(0);
    }
    // Merging gave most of them new names.
    let told = git.call(args).arg("--cherry-pick").long_list().ok().await.ok();
    Some(told.and_then(count).unwrap_or(by_name))
}
