//! A repository that was moved or copied takes its worktrees along, and every note of them names the old place. So it is
//! where the folder of all worktrees is a link, or has become one.

use std::path::{Path, PathBuf};

use swarm_git::Git;

/// Far above what a pointer to git's record of a worktree has.
const POINTER_BYTES_MAX: u64 = 8192;

/// Where the worktree is that a note says was at `noted`: the same place below this repository when it is not
/// below it any more and a worktree of that record stands there. Of a copy the original's worktrees are not ours,
/// so the place below us is preferred although the noted one may be there as well.
pub(super) fn present_place(git: &Git, noted: &Path, record: Option<&str>) -> PathBuf {
    let (top, Some(record)) = (&git.main_checkout, record) else { return noted.to_owned() };
    if noted.starts_with(top) {
        return behind_a_link(git, noted, record).unwrap_or_else(|| noted.to_owned());
    }
    let parts: Vec<_> = noted.components().collect();
    let below = (1..parts.len()).map(|from| top.join(parts[from..].iter().collect::<PathBuf>()));
    let Some(place) = below.into_iter().find(|place| names_record(place, record)) else {
        return noted.to_owned();
    };
    behind_a_link(git, &place, record).unwrap_or(place)
}

/// The place itself of a worktree whose folder is reached over a link. Only of one that points at this very record: a
/// copy of the repository has the same link, and the worktrees behind it are the original's.
fn behind_a_link(git: &Git, place: &Path, record: &str) -> Option<PathBuf> {
    let real = std::fs::canonicalize(place.parent()?).ok()?.join(place.file_name()?);
    if real == place {
        return None;
    }
    let text = small_text(&place.join(".git"))?;
    let target = text.strip_prefix("gitdir: ")?.trim_end();
    (Path::new(target) == git.record_dir(record)).then_some(real)
}

/// Whether the `.git` file of this folder points at a record of that name, wherever the repository was.
pub(super) fn names_record(place: &Path, record: &str) -> bool {
    let Some(text) = small_text(&place.join(".git")) else { return false };
    let Some(target) = text.strip_prefix("gitdir: ").map(|target| Path::new(target.trim_end())) else {
        return false;
    };
    let parent = target.parent().and_then(Path::file_name);
    parent.is_some_and(|name| name == "worktrees") && target.file_name().is_some_and(|name| name == record)
}

/// Whether git's record speaks of a folder of this name at another place.
pub(super) fn names_folder(record: &Path, place: &Path) -> bool {
    let Some(text) = small_text(&record.join("gitdir")) else { return false };
    let Some(folder) = Path::new(text.trim_end()).parent() else { return false };
    folder != place && folder.file_name() == place.file_name()
}

fn small_text(file: &Path) -> Option<String> {
    let is_one = |meta: std::fs::Metadata| meta.is_file() && meta.len() <= POINTER_BYTES_MAX;
    std::fs::symlink_metadata(file).is_ok_and(is_one).then(|| std::fs::read_to_string(file).ok())?
}
