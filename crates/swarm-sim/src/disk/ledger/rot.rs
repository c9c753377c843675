//! Damage nobody's crash explains: flipped bits, zeroed sectors, cut or deleted files.

use swarm_ledger::Witness;

use crate::disk::inode::SECTOR;
use crate::disk::ledger::run::Run;
use crate::rng::Rng;

/// What the next recovery owes after what was done to the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// Everything that was answered.
    Lossless,
    /// What is gone is reported; the rest is there.
    Reported,
}

impl Run {
    /// Spoils a file of a ledger at rest.
    pub fn rot(&mut self) {
        self.machine.sync_all();
        let main = self.machine.bytes(&self.paths.main);
        let copy = self.paths.copy.as_ref().and_then(|path| self.machine.bytes(path));
        let (Some(main), Some(_)) = (main, self.head) else { return };
        let copy_is_whole = copy.as_ref() == Some(&main);
        match (self.rng.below(3), copy, self.paths.copy.clone()) {
            (0, Some(copy), Some(path)) => {
                self.tally.count("rot: the second copy");
                self.spoil(&path, copy);
            }
            (1, copy, path) if self.paths.copy.is_none() || self.rng.chance(30) => {
                self.tally.count("rot: everything there is");
                self.expectation = Expectation::Reported;
                let ledger = self.paths.main.clone();
                self.spoil(&ledger, main);
                if let (Some(copy), Some(path)) = (copy, path) {
                    self.spoil(&path, copy);
                }
            }
            _ if copy_is_whole => {
                self.tally.count("rot: the ledger, copy intact");
                let ledger = self.paths.main.clone();
                self.spoil(&ledger, main);
            }
            _ => {}
        }
    }

    fn spoil(&mut self, path: &std::path::Path, mut bytes: Vec<u8>) {
        self.rotten = true;
        if self.rng.chance(10) {
            self.machine.wipe(path);
            return;
        }
        for _ in 0..self.rng.between(1, 3) {
            spoil(&mut bytes, &mut self.rng);
        }
        self.machine.plant(path, bytes);
    }

    /// What a snapshot beside the ledger would say.
    pub fn witness(&self) -> Option<Witness> {
        let head = self.head?;
        Some(Witness {
            seq: head.seq,
            hash: Some(head.hash),
            ledger_id: None,
            source: "state/snapshot.json".into(),
        })
    }
}

fn spoil(bytes: &mut Vec<u8>, rng: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    let at = rng.index(bytes.len());
    match rng.below(5) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = *rng.pick(&[0, 0xff, b'\n']),
        2 => {
            let sector = usize::try_from(SECTOR).expect("small");
            let start = at - at % sector;
            let end = (start + sector).min(bytes.len());
            bytes[start..end].fill(0);
        }
        3 => bytes.truncate(at),
        _ => bytes[at..].fill(0),
    }
}
