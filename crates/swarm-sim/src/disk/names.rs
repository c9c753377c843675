//! Names of files and directories: seen at once, durable only after the directory was synced.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::inode::Cut;
use crate::rng::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Dir,
    File(u64),
}

#[derive(Debug, Clone)]
enum Change {
    Set(PathBuf, Entry),
    Unset(PathBuf),
    /// Within one directory a rename is one step: both names change or neither.
    Move(PathBuf, PathBuf, Entry),
}

impl Change {
    fn dir(&self) -> &Path {
        match self {
            Self::Set(path, _) | Self::Unset(path) | Self::Move(_, path, _) => parent(path),
        }
    }

    fn apply(&self, to: &mut BTreeMap<PathBuf, Entry>) {
        match self {
            Self::Set(path, entry) => {
                to.insert(path.clone(), *entry);
            }
            Self::Unset(path) => {
                to.remove(path);
            }
            Self::Move(from, path, entry) => {
                to.remove(from);
                to.insert(path.clone(), *entry);
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Names {
    live: BTreeMap<PathBuf, Entry>,
    device: BTreeMap<PathBuf, Entry>,
    unsynced: Vec<Change>,
}

impl Names {
    pub fn get(&self, path: &Path) -> Option<Entry> {
        self.live.get(path).copied()
    }

    pub fn files(&self) -> impl Iterator<Item = (&PathBuf, u64)> {
        self.live.iter().filter_map(|(path, entry)| match entry {
            Entry::File(inode) => Some((path, *inode)),
            Entry::Dir => None,
        })
    }

    /// Adds a name; its directory must be there.
    pub fn set(&mut self, path: &Path, entry: Entry) -> io::Result<()> {
        self.require_dir(parent(path))?;
        self.change(Change::Set(path.to_path_buf(), entry));
        Ok(())
    }

    pub fn unset(&mut self, path: &Path) -> io::Result<()> {
        match self.get(path) {
            Some(Entry::File(_)) => {
                self.change(Change::Unset(path.to_path_buf()));
                Ok(())
            }
            Some(Entry::Dir) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let Some(entry @ Entry::File(_)) = self.get(from) else { return Err(io::ErrorKind::NotFound.into()) };
        self.require_dir(parent(to))?;
        if from == to {
            return Ok(());
        }
        if parent(from) == parent(to) {
            self.change(Change::Move(from.to_path_buf(), to.to_path_buf(), entry));
        } else {
            self.change(Change::Set(to.to_path_buf(), entry));
            self.change(Change::Unset(from.to_path_buf()));
        }
        Ok(())
    }

    pub fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        let mut missing: Vec<&Path> = dir.ancestors().filter(|path| !is_root(path)).collect();
        missing.retain(|path| self.get(path) != Some(Entry::Dir));
        for path in missing.into_iter().rev() {
            if self.get(path).is_some() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            self.set(path, Entry::Dir)?;
        }
        Ok(())
    }

    pub fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.require_dir(dir)?;
        Ok(self.live.keys().filter(|path| parent(path) == dir).cloned().collect())
    }

    pub fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.require_dir(dir)?;
        let (now, later) =
            std::mem::take(&mut self.unsynced).into_iter().partition(|change| change.dir() == dir);
        self.unsynced = later;
        let now: Vec<Change> = now;
        now.iter().for_each(|change| change.apply(&mut self.device));
        Ok(())
    }

    pub fn sync_all(&mut self) {
        for change in std::mem::take(&mut self.unsynced) {
            change.apply(&mut self.device);
        }
    }

    /// What is left after a power cut: names without their data, data without a name.
    pub fn after(mut self, cut: Cut, rng: &mut Rng) -> Self {
        let ordered = rng.chance(50);
        let kept = rng.index(self.unsynced.len() + 1);
        for (place, change) in std::mem::take(&mut self.unsynced).iter().enumerate() {
            let survives = match cut {
                Cut::AllLost => false,
                Cut::AllKept => true,
                // A journal keeps the order of names; nobody promises that there is one.
                Cut::Mixed if ordered => place < kept,
                Cut::Mixed => rng.chance(50),
            };
            if survives {
                change.apply(&mut self.device);
            }
        }
        let mut names = Self { live: BTreeMap::new(), device: BTreeMap::new(), unsynced: Vec::new() };
        for (path, entry) in &self.device {
            // Shorter paths come first, so a directory that is gone takes its contents with it.
            if is_root(parent(path)) || names.device.get(parent(path)) == Some(&Entry::Dir) {
                names.device.insert(path.clone(), *entry);
            }
        }
        names.live = names.device.clone();
        names
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.unsynced.push(change);
    }

    fn require_dir(&self, dir: &Path) -> io::Result<()> {
        match self.get(dir) {
            _ if is_root(dir) => Ok(()),
            Some(Entry::Dir) => Ok(()),
            Some(Entry::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn is_root(path: &Path) -> bool {
    path == Path::new("/")
}
