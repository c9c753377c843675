//! A ledger that has been proven, and reading from it.

use std::sync::Arc;

use crate::batch::Head;
use crate::finding::Finding;
use crate::frame::Line;
use crate::note::LossNote;
use crate::open_error::OpenError;
use crate::paths::LedgerPaths;
use crate::recover::{Access, Base, OnDamage, Recovery, recover};
use crate::vfs::Vfs;

pub struct Recovered {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) paths: LedgerPaths,
    /// The last record of the last complete batch.
    pub head: Head,
    pub ledger_id: String,
    pub format: u32,
    /// The highest epoch on the chain.
    pub epoch: u64,
    /// The base that was accepted: records up to it were not walked.
    pub base: Option<Head>,
    pub findings: Vec<Finding>,
    /// Every loss this ledger ever noted. The caller records those it finds no record of: a process
    /// that died between the cut and its record must not make a loss silent.
    pub notes: Vec<LossNote>,
    /// `Read` also when writing was asked for and damage waits for a person.
    pub access: Access,
}

impl Recovered {
    /// Shows every verified record from `from_seq` up to the head, in order.
    ///
    /// Starts at the base where `from_seq` lies behind it; otherwise from the first record.
    pub fn replay(&self, from_seq: u64, visit: &mut dyn FnMut(&Line<'_>)) -> Result<(), OpenError> {
        let base = self.base.filter(|base| base.seq < from_seq);
        let bases: Vec<Base> =
            base.iter().map(|b| Base { seq: b.seq, hash: b.hash, offset: b.offset }).collect();
        let request = Recovery {
            vfs: &self.vfs,
            paths: &self.paths,
            witnesses: &[],
            bases: &bases,
            on_damage: OnDamage::Ask,
            access: Access::Read,
        };
        let head = self.head.seq;
        recover(&request, &mut |line| {
            if (from_seq..=head).contains(&line.seq) {
                visit(line);
            }
        })?;
        Ok(())
    }
}
