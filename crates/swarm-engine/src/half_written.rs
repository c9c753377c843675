//! Files that somebody began to write beside their final name and never finished: he was killed, or the disk was full.
//! Nothing is lost with them, for what counts has its final name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::paths::Paths;
use swarm_process::start_time_of;

/// A file is written in far less; what is older was broken off.
const BROKEN_OFF_AFTER: Duration = Duration::from_secs(60);

/// All that were broken off.
pub fn broken_off(paths: &Paths, swarm_dir: &Path) -> Vec<PathBuf> {
    let dirs = [
        paths.swarm.clone(),
        paths.state.clone(),
        paths.run.clone(),
        paths.daemons.clone(),
        paths.ledger_files.clone(),
        swarm_dir.to_owned(),
        swarm_dir.join("worktrees"),
        swarm_dir.join("tips"),
    ];
    let files = dirs.iter().flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
    files.map(|entry| entry.path()).filter(|path| path.is_file() && is_broken_off(path)).collect()
}

/// Removes them, and gives their number. For the owner of the ledger.
pub fn clear(paths: &Paths, swarm_dir: &Path) -> usize {
    broken_off(paths, swarm_dir).iter().filter(|path| std::fs::remove_file(path).is_ok()).count()
}

/// Named as we name what we are still writing, by a writer who is gone or has not touched it for a while.
fn is_broken_off(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !name.ends_with(".tmp") && !name.contains(".tmp-") {
        return false;
    }
    let age = std::fs::metadata(path).and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    let gone = writer(&name).is_some_and(|pid| start_time_of(pid).is_none());
    gone || age.is_some_and(|age| age > BROKEN_OFF_AFTER)
}

/// The process in a name like `1.4.json.tmp-4711-26` or `context.md.4711.tmp`.
fn writer(name: &str) -> Option<u32> {
    let pid = match name.strip_suffix(".tmp") {
        Some(rest) => rest.rsplit('.').next()?,
        None => name.rsplit_once(".tmp-")?.1.split('-').next()?,
    };
    pid.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above the highest number that a process can have.
    const NOBODY: u32 = 1 << 23;

    fn check(name: String, expected: bool) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join(&name);
        std::fs::write(&path, "half").expect("a file");
        assert_eq!(is_broken_off(&path), expected, "{name}");
    }

    #[test]
    fn what_a_living_process_writes_is_not_broken_off() {
        let own = std::process::id();
        check(format!("1.4.json.tmp-{own}-26"), false);
        check(format!("1.4.json.tmp-{NOBODY}-26"), true);
        check(format!("context.md.{own}.tmp"), false);
        check(format!("context.md.{NOBODY}.tmp"), true);
        check("state.json.tmp".into(), false);
        check(format!("{NOBODY}.json"), false);
    }
}
