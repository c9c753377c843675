//! The simulated disk as the ledger sees it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use swarm_ledger::{Open, Vfs, VfsFile};

use crate::disk::fault::{Fault, Op, eio, enospc, erofs};
use crate::disk::inode::Inode;
use crate::disk::machine::Disk;
use crate::disk::names::Entry;

/// The file system of one process of the simulated machine.
#[derive(Clone)]
pub struct SimFs {
    disk: Arc<Mutex<Disk>>,
    process: u64,
}

struct SimFile {
    fs: SimFs,
    path: PathBuf,
    inode: u64,
    handle: u64,
    writable: bool,
}

impl SimFs {
    pub(super) fn new(disk: Arc<Mutex<Disk>>, process: u64) -> Self {
        Self { disk, process }
    }

    pub(super) fn process(&self) -> u64 {
        self.process
    }

    fn lock(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().expect("nobody panics while holding the disk")
    }

    fn operate<T>(&self, op: Op, path: &Path, act: impl FnOnce(&mut Disk) -> io::Result<T>) -> io::Result<T> {
        self.lock().operate(self.process, (op, path, 0, 0), |disk, _| act(disk))
    }
}

impl Vfs for SimFs {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn VfsFile>> {
        let there = self.lock().names.get(path).is_some();
        let makes = matches!(how, Open::Create | Open::CreateNew) && !there;
        let op = if makes { Op::Create } else { Op::Open };
        let (inode, handle) = self.operate(op, path, |disk| {
            if disk.is_read_only() && how != Open::Read {
                return Err(erofs());
            }
            let inode = match (disk.names.get(path), how) {
                (Some(Entry::Dir), _) => return Err(io::ErrorKind::IsADirectory.into()),
                (Some(Entry::File(_)), Open::CreateNew) => return Err(io::ErrorKind::AlreadyExists.into()),
                (Some(Entry::File(inode)), _) => inode,
                (None, Open::Read | Open::Write) => return Err(io::ErrorKind::NotFound.into()),
                (None, Open::Create | Open::CreateNew) => {
                    let inode = disk.new_inode();
                    disk.names.set(path, Entry::File(inode))?;
                    inode
                }
            };
            disk.next_handle += 1;
            Ok((inode, disk.next_handle))
        })?;
        let writable = how != Open::Read;
        Ok(Arc::new(SimFile { fs: self.clone(), path: path.to_path_buf(), inode, handle, writable }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operate(Op::Rename, to, |disk| disk.names.rename(from, to))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.operate(Op::Remove, path, |disk| disk.names.unset(path))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.operate(Op::SyncDir, dir, |disk| disk.names.sync_dir(dir))
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        // Asking for a directory that is there changes nothing, so a read-only disk says yes too.
        let there = self.lock().names.get(dir) == Some(Entry::Dir);
        let op = if there { Op::Other } else { Op::MakeDir };
        self.operate(op, dir, |disk| disk.names.create_dir_all(dir))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.operate(Op::List, dir, |disk| disk.names.list(dir))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.operate(Op::Other, path, |disk| Ok(disk.names.get(path).is_some()))
    }
}

impl SimFile {
    fn operate<T>(
        &self,
        op: Op,
        offset: u64,
        len: u64,
        act: impl FnOnce(&mut Disk, Option<Fault>) -> io::Result<T>,
    ) -> io::Result<T> {
        self.fs.lock().operate(self.fs.process, (op, &self.path, offset, len), act)
    }

    fn change<T>(
        &self,
        op: Op,
        offset: u64,
        len: u64,
        act: impl FnOnce(&mut Disk, Option<Fault>) -> io::Result<T>,
    ) -> io::Result<T> {
        if !self.writable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.operate(op, offset, len, act)
    }
}

impl Disk {
    fn inode(&mut self, inode: u64) -> io::Result<&mut Inode> {
        self.inodes.get_mut(&inode).ok_or_else(eio)
    }

    /// How many of `len` bytes at `offset` there is room for.
    fn room_for(&mut self, inode: u64, offset: u64, len: u64) -> io::Result<u64> {
        let Some(room) = self.room else { return Ok(len) };
        let free = room.saturating_sub(self.used());
        let own = self.inode(inode)?.takes();
        Ok((own + free).saturating_sub(offset).min(len))
    }
}

impl VfsFile for SimFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = buf.len() as u64;
        self.operate(Op::Read, offset, len, |disk, _| Ok(disk.inode(self.inode)?.read_at(buf, offset)))
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.change(Op::Write, offset, buf.len() as u64, |disk, fault| {
            let mut len = disk.room_for(self.inode, offset, buf.len() as u64)?;
            if len == 0 && !buf.is_empty() {
                return Err(enospc());
            }
            if fault == Some(Fault::ShortWrite) && len > 1 {
                len = disk.rng.between(1, len - 1);
            }
            let len = usize::try_from(len).expect("not above the length of a buffer");
            disk.inode(self.inode)?.write_at(&buf[..len], offset);
            Ok(len)
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.operate(Op::Sync, 0, 0, |disk, fault| {
            if let Some(Fault::SyncFails { device_took_it }) = fault {
                let mut rng = disk.rng.fork();
                disk.inode(self.inode)?.sync_fails(device_took_it, &mut rng);
                return Err(eio());
            }
            disk.inode(self.inode)?.sync();
            Ok(())
        })
    }

    fn len(&self) -> io::Result<u64> {
        self.operate(Op::Other, 0, 0, |disk, _| Ok(disk.inode(self.inode)?.live().len() as u64))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Op::SetLen, len, 0, |disk, _| {
            disk.inode(self.inode)?.set_len(len);
            Ok(())
        })
    }

    fn reserve(&self, end: u64) -> io::Result<()> {
        self.change(Op::Reserve, end, 0, |disk, _| {
            if disk.room_for(self.inode, 0, end)? < end {
                return Err(enospc());
            }
            disk.inode(self.inode)?.reserve(end);
            Ok(())
        })
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.operate(Op::Lock, 0, 0, |disk, _| {
            let holder = *disk.locks.entry(self.inode).or_insert(self.handle);
            Ok(holder == self.handle)
        })
    }

    /// There is one thread, so waiting for a lock somebody else holds would be for ever.
    fn lock(&self) -> io::Result<()> {
        if self.try_lock()? { Ok(()) } else { Err(io::ErrorKind::Deadlock.into()) }
    }

    fn unlock(&self) -> io::Result<()> {
        self.operate(Op::Lock, 0, 0, |disk, _| {
            disk.locks.retain(|_, holder| *holder != self.handle);
            Ok(())
        })
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        self.operate(Op::Other, 0, 0, |_, _| Ok((1, self.inode)))
    }

    fn drop_cached(&self, offset: u64) -> io::Result<()> {
        self.operate(Op::Other, offset, 0, |disk, _| {
            if disk.inode(self.inode)?.drop_cached(offset) {
                disk.forgot += 1;
            }
            Ok(())
        })
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        // No operation: closing cannot fail in a way that matters, and a dead process closes too.
        self.fs.lock().locks.retain(|_, holder| *holder != self.handle);
    }
}
