//! A disk without room is nobody's fault: recognised in what failed, by its kind or in the words of those who met it.

use std::error::Error;
use std::io::{self, ErrorKind};

/// In the words of the C library, which git and most tools repeat, and of those that have their own.
const WORDS: [&str; 5] = [
    "No space left on device",
    "Disk quota exceeded",
    "ENOSPC",
    "there is not enough space on the disk",
    // Git, of a file that it could write in part.
    "Out of diskspace",
];

/// The same words are said where too many files are watched, which is no matter of the disk.
const OF_WATCHES: [&str; 2] = ["file watchers", "inotify"];

/// The error or one of its causes says that there is no room.
pub fn met_by(error: &(dyn Error + 'static)) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
        || told_in(&error.to_string())
        || error.source().is_some_and(met_by)
}

/// A command of a set-up that ended for want of room says so near its end.
pub fn told_in(text: &str) -> bool {
    let said = |line: &str, words: &[&str]| words.iter().any(|words| line.contains(words));
    text.lines().any(|line| said(line, &WORDS) && !said(line, &OF_WATCHES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worktree::PrepareFailure;
    use swarm_git::GitError;

    #[test]
    fn a_full_disk_is_recognised_by_kind_and_by_words_and_nothing_else_is() {
        let io = |errno| {
            let path = std::path::PathBuf::from("x");
            PrepareFailure::Git(GitError::Io {
                what: "write",
                path,
                source: io::Error::from_raw_os_error(errno),
            })
        };
        let git = |said: &str| {
            let (command, how) = ("read-tree".into(), "exit status: 128".into());
            PrepareFailure::Git(GitError::Failed { command, how, said: said.into() })
        };
        let [enospc, edquot, eacces] = [28, 122, 13];
        assert!(met_by(&io(enospc)) && met_by(&io(edquot)) && !met_by(&io(eacces)));
        assert!(met_by(&git("fatal: unable to write new index file: No space left on device")));
        assert!(!met_by(&git("fatal: bad object")));
        assert!(told_in("npm error code ENOSPC\nnpm error nospc") && !told_in("npm error code E404"));
        let watches = "Error: ENOSPC: System limit for number of file watchers reached, watch '/x'";
        assert!(!told_in(watches) && told_in(&format!("{watches}\nwrite: No space left on device")));
    }
}
