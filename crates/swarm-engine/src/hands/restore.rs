//! Everything that was saved, and bringing one of it back: as a branch with a worktree, over nothing that is there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use swarm_protocol::ids::Oid;

use crate::git::{Git, GitError, Head, PrivateIndex, RefChange, RefOutcome};
use crate::hands::remove::{About, trashed};
use crate::process::Input;

/// Why something was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shelf {
    /// Uncommitted work of an attempt that ended.
    Wip,
    /// Files or commits that would have gone with a worktree, or a branch that was put back.
    Rescue,
    /// The branch of a task whose worktree was removed.
    Kept,
    /// The folder itself, until the trash is emptied.
    Trash,
}

impl Shelf {
    pub fn word(self) -> &'static str {
        match self {
            Self::Wip => "unfinished work",
            Self::Rescue => "rescued",
            Self::Kept => "branch",
            Self::Trash => "folder in the trash",
        }
    }
}

/// Something that can be brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// `refs/swarm/…`, or `trash/<folder>`: what to ask for.
    pub name: String,
    pub shelf: Shelf,
    pub task: String,
    /// Seconds since 1970.
    pub at_secs: i64,
    pub subject: String,
    /// Files that differ from the commit it stands on; none where nobody counted.
    pub files: Option<usize>,
    commit: Option<Oid>,
    folder: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub path: PathBuf,
    /// None for a folder whose commit is not known.
    pub branch: Option<String>,
}

/// What was saved and is still there, newest first. `worktrees` is the folder of all worktrees.
pub async fn saved(git: &Git, worktrees: &Path) -> Result<Vec<Saved>, GitError> {
    let mut all = saved_refs(git).await?;
    let now_secs = |at: SystemTime| at.duration_since(UNIX_EPOCH).map_or(0, |at| at.as_secs() as i64);
    for one in trashed(git, worktrees) {
        // Git's record of a worktree is kept for its log, not to be worked in.
        if one.name.contains("-record-") {
            continue;
        }
        let About { task, tip } = one.about.unwrap_or(About { task: one.name.clone(), tip: None });
        all.push(Saved {
            name: format!("trash/{}", one.name),
            shelf: Shelf::Trash,
            task,
            at_secs: now_secs(one.at),
            subject: "the folder as it was".into(),
            files: None,
            commit: tip,
            folder: Some(one.path),
        });
    }
    all.sort_by(|a, b| b.at_secs.cmp(&a.at_secs).then_with(|| a.name.cmp(&b.name)));
    Ok(all)
}

async fn saved_refs(git: &Git) -> Result<Vec<Saved>, GitError> {
    let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)";
    let shelves = ["refs/swarm/wip", "refs/swarm/rescue", "refs/swarm/kept"];
    let listed = git.call(["for-each-ref", format]).args(shelves).long_list().ok().await?;
    let text = String::from_utf8_lossy(&listed).into_owned();
    let mut all = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\0').collect();
        let [name, oid, date, subject] = fields[..] else { continue };
        let parts: Vec<&str> = name.split('/').collect();
        let [_, _, shelf, task, ..] = parts[..] else { continue };
        let (Ok(commit), shelf) = (Oid::new(oid), shelf_of(shelf)) else { continue };
        // Commits that must be the same when asked twice carry no date: the ref's own file does.
        let written = std::fs::metadata(git.common_dir.join(name)).and_then(|meta| meta.modified());
        let written =
            written.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|at| at.as_secs() as i64);
        all.push(Saved {
            name: name.to_owned(),
            shelf,
            task: task.to_owned(),
            at_secs: written.unwrap_or_else(|| date.parse().unwrap_or(0)),
            subject: subject.to_owned(),
            files: None,
            commit: Some(commit),
            folder: None,
        });
    }
    let counts = changed_counts(git, &all).await?;
    for one in &mut all {
        one.files = one.commit.as_ref().and_then(|commit| counts.get(commit.as_str()).copied());
    }
    Ok(all)
}

fn shelf_of(word: &str) -> Shelf {
    match word {
        "wip" => Shelf::Wip,
        "kept" => Shelf::Kept,
        _ => Shelf::Rescue,
    }
}

/// Files that each commit changes, by one call for all.
async fn changed_counts(git: &Git, all: &[Saved]) -> Result<BTreeMap<String, usize>, GitError> {
    let commits: Vec<&Oid> = all.iter().filter_map(|one| one.commit.as_ref()).collect();
    let input: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
    let args = ["diff-tree", "--stdin", "-r", "--root", "--name-only", "--no-ext-diff", "--no-renames"];
    let listed = git.call(args).stdin(Input::Bytes(input.into_bytes())).long_list().ok().await?;
    let text = String::from_utf8_lossy(&listed).into_owned();
    let (mut counts, mut current) = (BTreeMap::new(), String::new());
    for line in text.lines() {
        if commits.iter().any(|commit| commit.as_str() == line) {
            current = line.to_owned();
            counts.entry(current.clone()).or_insert(0);
        } else if let Some(count) = counts.get_mut(&current) {
            *count += 1;
        }
    }
    Ok(counts)
}

/// Brings one back into a new folder below `dir`, on a new branch `restored/…`. What was saved stays saved, but for a
/// folder of the trash, which is moved out of it.
pub async fn restore(git: &Git, saved: &Saved, dir: &Path) -> Result<Restored, GitError> {
    let _one_at_a_time = git.administration().await?;
    std::fs::create_dir_all(dir).map_err(GitError::io("make the folder", dir))?;
    let dir = std::fs::canonicalize(dir).map_err(GitError::io("find", dir))?;
    let commit = match &saved.commit {
        Some(commit) => git.resolve(commit.as_str()).await?,
        None => None,
    };
    let (name, path) = free_place(&dir, &saved.task)?;
    match (&saved.folder, commit) {
        (Some(folder), None) => {
            std::fs::rename(folder, &path).map_err(GitError::io("move out of the trash", folder))?;
            Ok(Restored { path, branch: None })
        }
        (Some(folder), Some(commit)) => {
            let branch = free_branch(git, &name, &commit).await?;
            std::fs::rename(folder, &path).map_err(GitError::io("move out of the trash", folder))?;
            let dot_git = path.join(".git");
            if std::fs::symlink_metadata(&dot_git).is_ok_and(|meta| meta.is_dir()) {
                // A repository of its own stays one; it is the person's to look at.
                return Ok(Restored { path, branch: Some(branch) });
            }
            check_out(git, &path, &branch, &commit, &["read-tree", "--reset", commit.as_str()]).await?;
            Ok(Restored { path, branch: Some(branch) })
        }
        (None, Some(commit)) => {
            let branch = free_branch(git, &name, &commit).await?;
            std::fs::create_dir(&path).map_err(GitError::io("make the folder", &path))?;
            check_out(git, &path, &branch, &commit, &["read-tree", "--reset", "-u", commit.as_str()]).await?;
            Ok(Restored { path, branch: Some(branch) })
        }
        (None, None) => Err(GitError::Unreadable {
            command: "restore".into(),
            what: format!("the commit of {} is not in the repository any more", saved.name),
        }),
    }
}

async fn check_out(git: &Git, path: &Path, branch: &str, tip: &Oid, how: &[&str]) -> Result<(), GitError> {
    let index = PrivateIndex::take(git, ".restore").await?;
    index.forget();
    let head = Head::Branch(format!("refs/heads/{branch}"));
    let record = git.register("restored", path, &head, tip)?;
    index.call(git, path, how).ok().await?;
    index.call(git, path, &["update-index", "-q", "--refresh", "--ignore-submodules"]).if_yes().await?;
    git.install_index(&git.record_dir(&record), &index, path).await?;
    git.make_durable().await
}

fn free_place(dir: &Path, task: &str) -> Result<(String, PathBuf), GitError> {
    for n in 1..1000 {
        let name = if n == 1 { task.to_owned() } else { format!("{task}-{n}") };
        let path = dir.join(&name);
        if std::fs::symlink_metadata(&path).is_err() {
            return Ok((name, path));
        }
    }
    Err(GitError::io("find a free name in", dir)(std::io::Error::other("there are 1000 of this task")))
}

/// Makes a branch of a name that nobody has.
async fn free_branch(git: &Git, name: &str, commit: &Oid) -> Result<String, GitError> {
    let between = match git.ref_value("refs/heads/restored").await? {
        Some(_) => "-",
        None => "/",
    };
    for n in 1..1000 {
        let branch =
            if n == 1 { format!("restored{between}{name}") } else { format!("restored{between}{name}-{n}") };
        let full = format!("refs/heads/{branch}");
        if git.ref_value(&full).await?.is_some() {
            continue;
        }
        let made = git.update_refs(&[RefChange::create(&full, commit)], "swarm: restored").await?;
        if made == RefOutcome::Changed {
            return Ok(branch);
        }
    }
    let what = format!("all branches restored{between}{name}… are taken");
    Err(GitError::Unreadable { command: "update-ref".into(), what })
}
