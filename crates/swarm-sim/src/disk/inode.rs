//! The bytes of one file: what a reader sees, what the device holds, and what lies between.

use crate::rng::Rng;

/// The unit a device writes whole or not at all.
pub const SECTOR: u64 = 512;

/// A change the device has not been made to take yet.
#[derive(Debug, Clone)]
enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    SetLen(u64),
}

/// How hard a power cut is on what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Nothing unsynced survives.
    AllLost,
    /// Everything had just been written back.
    AllKept,
    /// Each change meets its own fate, in any order.
    Mixed,
}

#[derive(Debug, Clone, Default)]
pub struct Inode {
    live: Vec<u8>,
    device: Vec<u8>,
    unsynced: Vec<Change>,
    reserved: u64,
}

impl Inode {
    /// A file as it lies on the device after a start.
    pub fn at_rest(bytes: Vec<u8>) -> Self {
        Self { live: bytes.clone(), device: bytes, unsynced: Vec::new(), reserved: 0 }
    }

    pub fn live(&self) -> &[u8] {
        &self.live
    }

    pub fn device(&self) -> &[u8] {
        &self.device
    }

    /// Bytes of the disk this file takes.
    pub fn takes(&self) -> u64 {
        self.reserved.max(self.live.len() as u64)
    }

    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> usize {
        let from = usize::try_from(offset).map_or(self.live.len(), |at| at.min(self.live.len()));
        let count = buf.len().min(self.live.len() - from);
        buf[..count].copy_from_slice(&self.live[from..from + count]);
        count
    }

    pub fn write_at(&mut self, bytes: &[u8], offset: u64) {
        put(&mut self.live, offset, bytes);
        self.unsynced.push(Change::Write { offset, bytes: bytes.to_vec() });
    }

    /// Cutting a file gives back what was reserved behind its end, as real file systems do.
    pub fn set_len(&mut self, len: u64) {
        self.live.resize(len_of(len), 0);
        self.reserved = 0;
        self.unsynced.push(Change::SetLen(len));
    }

    pub fn reserve(&mut self, end: u64) {
        self.reserved = self.reserved.max(end);
    }

    pub fn sync(&mut self) {
        for change in std::mem::take(&mut self.unsynced) {
            apply(&mut self.device, &change);
        }
    }

    /// A sync that failed: the pages are marked clean although the device may not have them, so the
    /// next sync answers "fine" and readers go on seeing bytes that are nowhere.
    pub fn sync_fails(&mut self, device_took_it: bool, rng: &mut Rng) {
        let changes = std::mem::take(&mut self.unsynced);
        let cut = match (device_took_it, rng.chance(30)) {
            (true, _) => Cut::AllKept,
            (false, true) => Cut::Mixed,
            (false, false) => Cut::AllLost,
        };
        settle(&mut self.device, &changes, cut, rng);
    }

    /// Clean pages from `offset` on are read from the device again; unsynced ones stay. The length
    /// is kept by the kernel, not by the page. True if the bytes were others.
    pub fn drop_cached(&mut self, offset: u64) -> bool {
        let seen = self.live.clone();
        let from = usize::try_from(offset).map_or(self.live.len(), |at| at.min(self.live.len()));
        for (at, byte) in self.live.iter_mut().enumerate().skip(from) {
            *byte = self.device.get(at).copied().unwrap_or(0);
        }
        let len = self.live.len() as u64;
        for change in &self.unsynced {
            apply(&mut self.live, change);
        }
        self.live.resize(len_of(len), 0);
        self.live != seen
    }

    /// What is left after a power cut.
    pub fn after(mut self, cut: Cut, rng: &mut Rng) -> Self {
        let changes = std::mem::take(&mut self.unsynced);
        settle(&mut self.device, &changes, cut, rng);
        Self::at_rest(self.device)
    }
}

fn settle(device: &mut Vec<u8>, changes: &[Change], cut: Cut, rng: &mut Rng) {
    match cut {
        Cut::AllLost => {}
        Cut::AllKept => changes.iter().for_each(|change| apply(device, change)),
        Cut::Mixed => changes.iter().for_each(|change| meet_fate(device, change, rng)),
    }
}

fn meet_fate(device: &mut Vec<u8>, change: &Change, rng: &mut Rng) {
    let Change::Write { offset, bytes } = change else {
        if rng.chance(50) {
            apply(device, change);
        }
        return;
    };
    let end = offset + bytes.len() as u64;
    match rng.below(6) {
        0 => {}
        1 => apply(device, change),
        // The length was journalled, the data never arrived: NUL bytes, the most frequent case on ext4.
        2 => device.resize(device.len().max(len_of(end)), 0),
        3 => put(device, *offset, &bytes[..rng.index(bytes.len() + 1)]),
        4 => {
            device.resize(device.len().max(len_of(end)), 0);
            put_sectors(device, *offset, bytes, rng);
        }
        // Some sectors, and the length only as far as the last one that arrived.
        _ => put_sectors(device, *offset, bytes, rng),
    }
}

fn put_sectors(device: &mut Vec<u8>, offset: u64, bytes: &[u8], rng: &mut Rng) {
    let mut at = offset;
    let end = offset + bytes.len() as u64;
    while at < end {
        let next = ((at / SECTOR + 1) * SECTOR).min(end);
        if rng.chance(50) {
            put(device, at, &bytes[len_of(at - offset)..len_of(next - offset)]);
        }
        at = next;
    }
}

fn apply(to: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { offset, bytes } => put(to, *offset, bytes),
        Change::SetLen(len) => to.resize(len_of(*len), 0),
    }
}

fn put(to: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let start = len_of(offset);
    let end = start + bytes.len();
    if start == to.len() {
        to.extend_from_slice(bytes);
        return;
    }
    if to.len() < end {
        to.resize(end, 0);
    }
    to[start..end].copy_from_slice(bytes);
}

fn len_of(len: u64) -> usize {
    usize::try_from(len).expect("a simulated file fits memory")
}
