//! The places of the git directory that agents can write, or could if nothing kept them: refs, their logs, and what git
//! reads beside them.

use std::path::{Path, PathBuf};

use super::{Odd, oddity};

/// A ref is one line.
const REF_BYTES_MAX: u64 = 64 * 1024;
/// Lists that grow with the repository.
const LIST_BYTES_MAX: u64 = 1 << 30;

/// Read by name.
const FILES: [(&str, u64); 8] = [
    ("info/exclude", 100 << 20),
    ("info/attributes", 100 << 20),
    ("info/grafts", LIST_BYTES_MAX),
    ("info/sparse-checkout", LIST_BYTES_MAX),
    ("objects/info/alternates", REF_BYTES_MAX),
    ("objects/info/commit-graph", u64::MAX),
    ("packed-refs", LIST_BYTES_MAX),
    ("shallow", LIST_BYTES_MAX),
];

/// Where every agent may write: a link there leads wherever it likes.
const OF_AGENTS: [&str; 2] = ["refs/heads/swarm", "logs/refs/heads/swarm"];

/// Moves what git must not open to a folder of ours. Answers with what that was.
pub fn clear(common_dir: &Path) -> std::io::Result<Vec<Odd>> {
    let mut found: Vec<Odd> =
        FILES.iter().filter_map(|(name, max)| one(common_dir, Path::new(name), *max)).collect();
    below(common_dir, Path::new("refs"), REF_BYTES_MAX, &mut found);
    below(common_dir, Path::new("logs/refs"), u64::MAX, &mut found);
    if found.is_empty() {
        return Ok(found);
    }
    let aside = common_dir.join("swarm").join("set-aside");
    std::fs::create_dir_all(&aside)?;
    for odd in &found {
        let name = odd.path.to_string_lossy().replace('/', "-");
        let to = aside.join(format!("{}-{name}", ulid::Ulid::generate()));
        match std::fs::rename(common_dir.join(&odd.path), to) {
            // Another process of ours was quicker.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(found)
}

fn below(common_dir: &Path, dir: &Path, bytes_max: u64, found: &mut Vec<Odd>) {
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(common_dir.join(&dir)).into_iter().flatten().flatten() {
            let path = dir.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                // There may be very many; only where agents write is their size asked for.
                Ok(kind) if kind.is_file() && !path.starts_with(OF_AGENTS[0]) => {}
                Ok(kind) if kind.is_symlink() => found.extend(link(common_dir, path, bytes_max)),
                Ok(_) => found.extend(one(common_dir, &path, bytes_max)),
                Err(_) => {}
            }
        }
    }
}

fn one(common_dir: &Path, path: &Path, bytes_max: u64) -> Option<Odd> {
    let meta = std::fs::metadata(common_dir.join(path)).ok()?;
    oddity(&meta, bytes_max).map(|what| Odd { path: path.to_owned(), what })
}

/// In old repositories a link to a ref stands for that ref. Git follows every other one.
fn link(common_dir: &Path, path: PathBuf, bytes_max: u64) -> Option<Odd> {
    let full = common_dir.join(&path);
    if std::fs::read_link(&full).is_ok_and(|target| target.starts_with("refs")) {
        return None;
    }
    if OF_AGENTS.iter().any(|theirs| path.starts_with(theirs)) {
        return Some(Odd { path, what: "a link" });
    }
    one(common_dir, &path, bytes_max)
}
