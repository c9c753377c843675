//! The whole chain, checked on demand: is what is there sound, and is all there that should be?
//!
//! The two questions are answered apart, because a ledger cut at the end of a batch is sound.

use std::io::ErrorKind;
use std::sync::Arc;

use crate::batch::Head;
use crate::copy::agreement;
use crate::finding::{Finding, Witness};
use crate::frame::Line;
use crate::open_error::OpenError;
use crate::paths::LedgerPaths;
use crate::recover::{Access, OnDamage, Recovery, recover};
use crate::vfs::{Open, Vfs};

/// How the second copy compares, byte by byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyState {
    Absent,
    /// The ledger's bytes, `behind` of them still missing.
    Agrees {
        behind: u64,
    },
    Differs {
        at: u64,
    },
    /// It is there and cannot be opened.
    Unreadable {
        why: String,
    },
}

pub struct Verification {
    pub head: Head,
    pub ledger_id: String,
    /// What is wrong with the records that are there.
    pub integrity: Vec<Finding>,
    /// What shows that records are missing.
    pub completeness: Vec<Finding>,
    pub copy: CopyState,
}

impl Verification {
    pub fn is_sound(&self) -> bool {
        self.integrity.is_empty()
            && !matches!(self.copy, CopyState::Differs { .. } | CopyState::Unreadable { .. })
    }

    pub fn is_complete(&self) -> bool {
        self.completeness.is_empty()
    }
}

/// Walks every record from the first. Changes nothing; needs no lock.
pub fn verify(
    vfs: &Arc<dyn Vfs>,
    paths: &LedgerPaths,
    witnesses: &[Witness],
    visit: &mut dyn FnMut(&Line<'_>),
) -> Result<Verification, OpenError> {
    let request =
        Recovery { vfs, paths, witnesses, bases: &[], on_damage: OnDamage::Ask, access: Access::Read };
    let recovered = recover(&request, visit)?;
    let (mut integrity, mut completeness) = (Vec::new(), Vec::new());
    for finding in recovered.findings {
        match finding {
            Finding::BeingWritten { .. } => {}
            // Bytes behind the last good record that are no record, and records known to be gone.
            Finding::Damage(loss) => {
                if loss.bytes > 0 {
                    integrity.push(Finding::Damage(loss.clone()));
                }
                completeness.push(Finding::Damage(loss));
            }
            Finding::WitnessDisagrees { .. } | Finding::ReadFromCopy { .. } => completeness.push(finding),
            other => integrity.push(other),
        }
    }
    let copy = copy_state(vfs, paths, recovered.head.end)?;
    Ok(Verification { head: recovered.head, ledger_id: recovered.ledger_id, integrity, completeness, copy })
}

fn copy_state(vfs: &Arc<dyn Vfs>, paths: &LedgerPaths, end: u64) -> Result<CopyState, OpenError> {
    let Some(path) = &paths.copy else { return Ok(CopyState::Absent) };
    let copy = match vfs.open(path, Open::Read) {
        Ok(copy) => copy,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(CopyState::Absent),
        Err(error) => return Ok(CopyState::Unreadable { why: error.to_string() }),
    };
    // Gone: what was read came from the copy.
    let Ok(main) = vfs.open(&paths.main, Open::Read) else { return Ok(CopyState::Absent) };
    let compared = || {
        // One that was cut is told as damage; what is left of it is compared.
        let len = copy.len()?.min(end).min(main.len()?);
        Ok((agreement(&*copy, &*main, len)?, len))
    };
    let (agreed, len) = compared().map_err(OpenError::io("compare", path))?;
    Ok(if agreed < len { CopyState::Differs { at: agreed } } else { CopyState::Agrees { behind: end - len } })
}
