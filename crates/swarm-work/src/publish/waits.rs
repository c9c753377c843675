//! Why a publication waits, in words a person can act on.

use std::path::{Path, PathBuf};

use crate::shell_word::path_word;
use crate::worktree::checkouts_of_people;
use swarm_git::{Checkout, Git, MidWay};

/// Bytes of the paths in a command. It stands in a record, and those that are left are named by the next try.
const COMMAND_PATHS_BYTES_MAX: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    pub checkout: PathBuf,
    pub reason: WaitReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitReason {
    MidWay(MidWay),
    /// A linked worktree that may have been moved, or be on a disk that is not mounted: what it has staged lies in its
    /// record, so only its person can say that it is gone for good.
    FolderGone {
        folder: PathBuf,
        /// Git is told to keep the record.
        locked: bool,
    },
    /// A git command runs there, or was killed there.
    IndexLocked {
        lock: PathBuf,
    },
    Changed {
        paths: Vec<PathBuf>,
    },
    Deleted {
        paths: Vec<PathBuf>,
    },
    Staged {
        paths: Vec<PathBuf>,
    },
    /// Files git does not track where new ones must go.
    Untracked {
        paths: Vec<PathBuf>,
    },
    /// The same, in a folder whose place a file must take.
    InFolder {
        paths: Vec<PathBuf>,
    },
    /// Repositories whose place a file must take: submodules that are in use, or repositories that were added as they are.
    Repository {
        paths: Vec<PathBuf>,
    },
    /// Changed, and git was told not to look (`--skip-worktree`, `--assume-unchanged`): it would stash nothing.
    Hidden {
        paths: Vec<PathBuf>,
    },
    /// Git's own check said no.
    Refused {
        said: String,
    },
}

impl WaitReason {
    /// The paths that must change before trying again makes sense.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Self::Changed { paths }
            | Self::Deleted { paths }
            | Self::Staged { paths }
            | Self::Hidden { paths }
            | Self::InFolder { paths }
            | Self::Repository { paths }
            | Self::Untracked { paths } => paths,
            Self::MidWay(_) | Self::FolderGone { .. } | Self::IndexLocked { .. } | Self::Refused { .. } => {
                &[]
            }
        }
    }

    /// `src/a.rs is changed`
    pub fn sentence(&self) -> String {
        match self {
            Self::MidWay(what) => format!("{} is under way", what.describe().0),
            Self::FolderGone { folder, .. } => format!("its folder {} is gone", folder.display()),
            Self::IndexLocked { .. } => "a git command is running in it".into(),
            Self::Changed { paths } => listed(paths, "is changed", "are changed"),
            Self::Deleted { paths } => listed(paths, "is deleted", "are deleted"),
            Self::Staged { paths } => listed(paths, "is staged", "are staged"),
            Self::Hidden { paths } => {
                listed(paths, "is changed and hidden from git", "are changed and hidden from git")
            }
            Self::Untracked { paths } | Self::InFolder { paths } => {
                listed(paths, "is in the way and not tracked", "are in the way and not tracked")
            }
            Self::Repository { paths } => listed(
                paths,
                "is a repository of its own in the way",
                "are repositories of their own in the way",
            ),
            Self::Refused { said } => format!("git says: {said}"),
        }
    }
}

impl WaitReason {
    /// Nothing but files, which a ref can hold until they are wanted back.
    pub fn can_be_set_aside(&self) -> bool {
        !self.paths().is_empty() && !matches!(self, Self::Repository { .. })
    }
}

impl Waits {
    /// What keeps a checkout from following, whatever its files are.
    pub fn of(checkout: &Checkout) -> Option<Self> {
        let reason = match checkout.is_gone() {
            true => WaitReason::FolderGone { folder: checkout.path.clone(), locked: checkout.is_locked() },
            false => WaitReason::MidWay(checkout.mid_way()?),
        };
        Some(Self { checkout: checkout.path.clone(), reason })
    }

    /// `waits for your checkout: src/a.rs is changed`
    pub fn sentence(&self) -> String {
        format!("waits for your checkout: {}", self.reason.sentence())
    }

    /// The command that helps.
    pub fn command(&self) -> String {
        let at = format!("git -C {}", path_word(&self.checkout));
        let paths = || self.path_words().join(" ");
        match &self.reason {
            WaitReason::MidWay(what) => what.describe().1.replacen("git", &at, 1),
            WaitReason::FolderGone { locked: false, .. } => "git worktree prune".into(),
            WaitReason::FolderGone { folder, locked: true } => {
                format!("git worktree unlock {} && git worktree prune", path_word(folder))
            }
            WaitReason::IndexLocked { lock } => {
                format!("rm {}   # only if no git command is running", path_word(lock))
            }
            // What is no file cannot be stashed.
            WaitReason::Changed { paths } if self.odd(paths).is_some() => {
                let odd = self.odd(paths).unwrap_or_default();
                aside(&odd, &odd)
            }
            WaitReason::Changed { .. } | WaitReason::Deleted { .. } | WaitReason::Staged { .. } => {
                format!("{at} stash push -- {}", paths())
            }
            WaitReason::Untracked { paths } => {
                let path = paths.first().map(|path| self.checkout.join(path)).unwrap_or_default();
                aside(&path, &path)
            }
            // A folder above it may have to go: beside its old place it would still be in that.
            WaitReason::InFolder { paths } | WaitReason::Repository { paths } => {
                let path = paths.first().cloned().unwrap_or_default();
                let flat = path.display().to_string().replace('/', "-");
                aside(&self.checkout.join(&path), &self.checkout.join(flat))
            }
            WaitReason::Hidden { .. } => {
                // Of both flags in one call git would take the last.
                let show = |flag: &str| format!("{at} update-index {flag} -- {}", paths());
                format!("{} && {}", show("--no-skip-worktree"), show("--no-assume-unchanged"))
            }
            WaitReason::Refused { .. } => format!("{at} status"),
        }
    }

    /// As many of the paths as one command names, from the first on.
    fn path_words(&self) -> Vec<String> {
        let mut bytes = 0;
        let fits = |word: &String| {
            bytes += word.len();
            bytes <= COMMAND_PATHS_BYTES_MAX
        };
        self.reason.paths().iter().map(|path| path_word(path)).take_while(fits).collect()
    }

    /// The first of them that is a pipe, a socket or a device.
    fn odd(&self, paths: &[PathBuf]) -> Option<PathBuf> {
        let odd = |path: &PathBuf| {
            let kind = std::fs::symlink_metadata(path).map(|found| found.file_type());
            kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir() && !kind.is_symlink())
        };
        paths.iter().map(|path| self.checkout.join(path)).find(odd)
    }
}

/// Whether a wait that was told in these words is over: what the person was in the middle of has ended, in every checkout
/// of trunk. Of waits for files only a publication can tell.
pub fn has_ended(git: &Git, trunk: &str, why: &str) -> bool {
    let locked = std::iter::once(WaitReason::IndexLocked { lock: PathBuf::new() });
    let mut busy = MidWay::ALL.into_iter().map(WaitReason::MidWay).chain(locked);
    let branch = format!("refs/heads/{trunk}");
    let is_busy = |checkout: &Checkout| {
        let lock = || std::fs::symlink_metadata(checkout.git_dir.join("index.lock")).is_ok();
        checkout.occupies(&branch) && (Waits::of(checkout).is_some() || lock())
    };
    busy.any(|reason| reason.sentence() == why) && !checkouts_of_people(git).iter().any(is_busy)
}

/// The command after which a person's checkout does not have its branch any more.
pub(crate) fn free_branch(checkout: &Checkout) -> String {
    match Waits::of(checkout) {
        Some(waits) if checkout.is_gone() => waits.command(),
        _ => format!("git -C {} switch --detach", path_word(&checkout.path)),
    }
}

/// The command that moves a file or folder of a person to a name like `to` that is free.
pub(crate) fn aside(path: &Path, to: &Path) -> String {
    let named = |n: u32| match n {
        1 => format!("{}.mine", to.display()),
        n => format!("{}.mine{n}", to.display()),
    };
    let free = (1..100).map(named).find(|name| std::fs::symlink_metadata(name).is_err());
    format!("mv {} {}", path_word(path), path_word(Path::new(&free.unwrap_or_else(|| named(100)))))
}

fn listed(paths: &[PathBuf], one: &str, many: &str) -> String {
    match paths {
        [] => "something is in the way".into(),
        [path] => format!("{} {one}", path.display()),
        [path, rest @ ..] => format!("{} and {} more {many}", path.display(), rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_as_many_files_as_a_record_has_room_for() {
        let paths: Vec<PathBuf> = (0..5_000).map(|n| format!("src/deep/{n}.rs").into()).collect();
        let waits = |paths| Waits { checkout: "checkout".into(), reason: WaitReason::Staged { paths } };
        let command = waits(paths.clone()).command();
        assert!(command.contains(" stash push -- src/deep/0.rs src/deep/1.rs "), "{command}");
        assert!(command.len() < 2 * COMMAND_PATHS_BYTES_MAX, "{} bytes", command.len());
        assert!(waits(paths[..3].to_vec()).command().ends_with(" src/deep/2.rs"));
    }
}
