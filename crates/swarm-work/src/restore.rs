//! Everything that was saved, and bringing one of it back: as a branch with a worktree, over nothing that is there.

mod shelves;

use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

pub use shelves::{best, saved, with_work};
use swarm_git::{Git, GitError, Head, PrivateIndex, RefChange, RefOutcome};

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
    /// The repository that an agent worked in, for what it never handed in: a stash, say.
    Repository,
    /// A person's own changes that were in the way of an operation.
    Local,
    /// What a checkpoint holds of a task.
    Checkpoint,
}

impl Shelf {
    pub fn word(self) -> &'static str {
        match self {
            Self::Wip => "unfinished work",
            Self::Rescue => "rescued",
            Self::Kept => "branch",
            Self::Trash => "folder in the trash",
            Self::Repository => "agent's own repository",
            Self::Local => "your local changes",
            Self::Checkpoint => "in a checkpoint",
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
    /// Commits that trunk does not have; none where nobody counted.
    pub ahead: Option<usize>,
    /// A folder that stays in the trash until a person takes it out.
    pub keep: bool,
    commit: Option<Oid>,
    tree: Option<Oid>,
    /// A commit of several parents.
    joins: bool,
    folder: Option<PathBuf>,
}

impl Saved {
    /// Whether there is anything in it that trunk does not have.
    pub fn has_work(&self) -> bool {
        self.keep || self.files.is_some_and(|n| n > 0) || self.ahead.is_some_and(|n| n > 0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub path: PathBuf,
    /// None for a folder whose commit is not known.
    pub branch: Option<String>,
}

/// The folder and the branch that it would get now, as far as that can be said.
pub async fn place_of(git: &Git, saved: &Saved, dir: &Path) -> Result<Restored, GitError> {
    let (name, path) = free_place(dir, &saved.task)?;
    let commit = match &saved.commit {
        Some(commit) => git.resolve(commit.as_str()).await?,
        None => None,
    };
    Ok(Restored { path, branch: commit.map(|_| format!("restored/{name}")) })
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
