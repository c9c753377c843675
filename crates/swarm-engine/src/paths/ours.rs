//! Whether the places that we write to are ours. A repository that somebody else made may hold links where our folders
//! go, and whatever we write or delete there would be written and deleted elsewhere.

use std::path::{Path, PathBuf};

use super::Paths;

/// Why a place is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOurs {
    #[error("{} is a link to {}, and the swarm writes there", path.display(), to.display())]
    Link { path: PathBuf, to: PathBuf },
    #[error("{} is not a folder", path.display())]
    NoFolder { path: PathBuf },
}

/// Only read, and checked by content before anything in them is executed.
const READ_ONLY: [&str; 3] = ["config.json", "hooks", "prompts"];

/// Folders whose own entries we make as well.
const LOOKED_INTO: [&str; 2] = ["run", "state"];

impl Paths {
    /// Looks at the names only; what is not there yet is made by us.
    pub fn are_ours(&self) -> Result<(), NotOurs> {
        let Ok(meta) = std::fs::symlink_metadata(&self.swarm) else { return Ok(()) };
        is_no_link(&self.swarm, &meta)?;
        if !meta.is_dir() {
            return Err(NotOurs::NoFolder { path: self.shown_path(&self.swarm) });
        }
        self.no_links_in(&self.swarm, &READ_ONLY)?;
        LOOKED_INTO.iter().try_for_each(|name| self.no_links_in(&self.swarm.join(name), &[]))
    }

    fn no_links_in(&self, folder: &Path, but: &[&str]) -> Result<(), NotOurs> {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if but.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            let Ok(meta) = std::fs::symlink_metadata(entry.path()) else { continue };
            is_no_link(&entry.path(), &meta).map_err(|error| self.seen_from_the_root(error))?;
        }
        Ok(())
    }

    fn seen_from_the_root(&self, error: NotOurs) -> NotOurs {
        match error {
            NotOurs::Link { path, to } => NotOurs::Link { path: self.shown_path(&path), to },
            other => other,
        }
    }

    fn shown_path(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }
}

fn is_no_link(path: &Path, meta: &std::fs::Metadata) -> Result<(), NotOurs> {
    if !meta.is_symlink() {
        return Ok(());
    }
    let to = std::fs::read_link(path).unwrap_or_default();
    Err(NotOurs::Link { path: path.to_owned(), to })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_where_we_write_is_refused_and_one_where_we_read_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = Paths::new(folder.path(), &folder.path().join(".git"));
        assert_eq!(paths.are_ours(), Ok(()), "nothing is there yet");
        std::fs::create_dir_all(&paths.run).expect("folders");
        symlink("/elsewhere/config.json", &paths.config).expect("a link");
        assert_eq!(paths.are_ours(), Ok(()));
        for name in ["trash", "run/daemons", "plan-ledger.jsonl"] {
            let link = paths.swarm.join(name);
            symlink("/elsewhere", &link).expect("a link");
            let path = PathBuf::from(".swarm").join(name);
            assert_eq!(paths.are_ours(), Err(NotOurs::Link { path, to: "/elsewhere".into() }));
            std::fs::remove_file(&link).expect("removed");
        }
        std::fs::remove_dir_all(&paths.swarm).expect("removed");
        symlink("/elsewhere", &paths.swarm).expect("a link");
        assert!(matches!(paths.are_ours(), Err(NotOurs::Link { .. })));
    }
}
