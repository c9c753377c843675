//! The disk of this machine.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, FallocateFlags};

use crate::vfs::{Open, Vfs, VfsFile};

/// Files are opened close-on-exec (the default of std): a lock inherited by an agent would outlive us.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFs;

struct RealFile(File);

/// Read and written by nobody else.
const OWNERS: u32 = 0o600;

impl Vfs for RealFs {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        let mut options = OpenOptions::new();
        // Whatever an agent says can get into it: it is its owner's alone.
        options.read(true).write(how != Open::Read).mode(OWNERS);
        match how {
            Open::Read | Open::Write => {}
            Open::Create => {
                options.create(true).truncate(false);
            }
            Open::CreateNew => {
                options.create_new(true);
            }
        }
        let file = options.open(path)?;
        if how != Open::Read && file.metadata()?.mode() & 0o077 != 0 {
            // Made by an older version, or copied. Somebody else's file stays as it is.
            let _ = file.set_permissions(fs::Permissions::from_mode(OWNERS));
        }
        Ok(Arc::new(RealFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names =
            fs::read_dir(dir)?.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>()?;
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }
}

impl VfsFile for RealFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        uninterrupted(|| self.0.read_at(buf, offset))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        uninterrupted(|| self.0.write_at(buf, offset))
    }

    fn sync_data(&self) -> io::Result<()> {
        // Not retried on any error but EINTR, which std deals with: a second sync may answer "fine"
        // for bytes the first one lost.
        self.0.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn reserve(&self, end: u64) -> io::Result<()> {
        uninterrupted(|| {
            rustix::fs::fallocate(&self.0, FallocateFlags::KEEP_SIZE, 0, end).map_err(unsupported)
        })
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn lock(&self) -> io::Result<()> {
        uninterrupted(|| self.0.lock())
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        let meta = self.0.metadata()?;
        Ok((meta.dev(), meta.ino()))
    }

    fn drop_cached(&self, offset: u64) -> io::Result<()> {
        // The kernel keeps a page it is asked to drop only in part, so the range starts at a page.
        const PAGE: u64 = 64 * 1024;
        rustix::fs::fadvise(&self.0, offset - offset % PAGE, None, Advice::DontNeed)?;
        Ok(())
    }
}

fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// `EOPNOTSUPP` and `ENOSYS` both say that this file system cannot reserve.
fn unsupported(error: rustix::io::Errno) -> io::Error {
    if error == rustix::io::Errno::OPNOTSUPP || error == rustix::io::Errno::NOSYS {
        return io::ErrorKind::Unsupported.into();
    }
    error.into()
}
