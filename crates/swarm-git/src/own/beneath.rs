//! Files below a folder in which an agent can write whatever it likes. No link on the way is followed, nothing but an
//! ordinary file is read, no pipe is waited for, and the kernel itself sees to it that we stay below.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

const STAY_BELOW: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A folder that is held open, so that what is read and written is below this very one.
#[derive(Debug)]
pub(super) struct Beneath {
    root: OwnedFd,
}

impl Beneath {
    /// The folder itself lies where only we write.
    pub fn open(root: &Path) -> io::Result<Self> {
        let root = rustix::fs::open(root, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self { root })
    }

    /// A folder below this one.
    pub fn below(&self, below: &Path) -> Option<Self> {
        Some(Self { root: self.folder(below).ok()? })
    }

    fn folder(&self, below: &Path) -> Result<OwnedFd, Errno> {
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        rustix::fs::openat2(&self.root, below, FOLDER, Mode::empty(), STAY_BELOW)
    }

    /// The file, if it is an ordinary one.
    pub fn file(&self, below: &Path) -> io::Result<Option<File>> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = match rustix::fs::openat2(&self.root, below, flags, Mode::empty(), STAY_BELOW) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO | Errno::XDEV) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(file.metadata()?.is_file().then_some(file))
    }

    /// The bytes of a small ordinary file; none where there is none, or one that is too long.
    pub fn read(&self, below: &Path, bytes_max: u64) -> Option<Vec<u8>> {
        let (file, mut bytes) = (self.file(below).ok()??, Vec::new());
        let read = file.take(bytes_max + 1).read_to_end(&mut bytes).ok()?;
        (read as u64 <= bytes_max).then_some(bytes)
    }

    /// Whether something has this name.
    pub fn is_there(&self, below: &Path) -> bool {
        let Some((folder, name)) = self.parted(below) else { return false };
        rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// A file appears whole in place of whatever had its name.
    pub fn write(&self, below: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.read(below, bytes.len() as u64).is_some_and(|found| found == bytes) {
            return Ok(());
        }
        let parent = below.parent().unwrap_or(Path::new(""));
        self.make_folders(parent)?;
        let folder = self.folder(parent)?;
        let name = below.file_name().unwrap_or_default();
        let mut fresh = name.to_owned();
        fresh.push(format!(".swarm-{}", ulid::Ulid::generate()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let mut file = File::from(rustix::fs::openat(&folder, &fresh, flags, mode)?);
        file.write_all(bytes)?;
        Ok(rustix::fs::renameat(&folder, &fresh, &folder, name)?)
    }

    fn make_folders(&self, below: &Path) -> io::Result<()> {
        let mut so_far = PathBuf::new();
        for part in below.components() {
            let folder = self.folder(&so_far)?;
            match rustix::fs::mkdirat(&folder, part.as_os_str(), Mode::RWXU | Mode::RGRP | Mode::XGRP) {
                Ok(()) | Err(Errno::EXIST) => so_far.push(part),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes a file or a link away; a folder stays.
    pub fn remove(&self, below: &Path) {
        if let Some((folder, name)) = self.parted(below) {
            let _ = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
        }
    }

    fn parted<'a>(&self, below: &'a Path) -> Option<(OwnedFd, &'a std::ffi::OsStr)> {
        Some((self.folder(below.parent()?).ok()?, below.file_name()?))
    }

    /// Names in a folder; none where it is no folder. No more than `most`, which is an error.
    pub fn names(&self, below: &Path, most: usize) -> io::Result<Vec<OsString>> {
        let Ok(folder) = self.folder(below) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() == most {
                return Err(io::Error::other(format!("more than {most} files in one folder")));
            }
            names.push(OsString::from_vec(name));
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn neither_links_nor_pipes_are_followed_and_nothing_outside_is_written() {
        let dir = tempfile::tempdir().expect("a folder");
        let (own, outside) = (dir.path().join("own"), dir.path().join("outside"));
        for folder in [&own, &outside] {
            std::fs::create_dir(folder).expect("made");
        }
        std::fs::write(outside.join("secret"), "x").expect("written");
        symlink(outside.join("secret"), own.join("HEAD")).expect("linked");
        symlink(&outside, own.join("refs")).expect("linked");
        rustix::fs::mknodat(rustix::fs::CWD, own.join("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .expect("a pipe");
        let beneath = Beneath::open(&own).expect("opened");
        for name in ["HEAD", "refs/secret", "pipe", "../outside/secret", "nothing"] {
            assert_eq!(beneath.read(Path::new(name), 100), None, "{name}");
        }
        assert!(beneath.write(Path::new("refs/heads/a"), b"a").is_err());
        beneath.write(Path::new("HEAD"), b"mine").expect("the link is replaced");
        assert_eq!(beneath.read(Path::new("HEAD"), 4).as_deref(), Some(&b"mine"[..]));
        assert_eq!(beneath.read(Path::new("HEAD"), 3), None, "too long");
        beneath.write(Path::new("a/b/c"), b"c").expect("folders are made");
        assert_eq!(std::fs::read_dir(&outside).expect("a folder").count(), 1);
        assert_eq!(std::fs::read(outside.join("secret")).expect("there"), b"x");
        assert!(Beneath::open(&own.join("refs")).is_err());
    }
}
