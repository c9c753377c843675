//! There is no ledger: because there never was one, because the plan was closed, or because somebody
//! took it away. Only the first two may begin a new one; only the first may take over a plan.json.

use std::fs;

use swarm_ledger::frame::OPENING;
use swarm_ledger::{OpenError, Trace, Witness};
use swarm_protocol::plan::PlanFile;
use swarm_protocol::planfile;

use super::error::StoreError;
use super::load::is_absent;
use super::witnesses::first_line;
use crate::paths::Paths;

/// Why a new ledger may begin here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Absence {
    /// There never was one. A plan.json of that time is taken over by the first write.
    Never,
    /// The plan before was closed.
    AfterClose,
}

/// Whether the failure to open means that a new ledger may begin; otherwise it stays an error.
pub(super) fn explain(paths: &Paths, error: StoreError) -> Result<Absence, StoreError> {
    if !is_absent(&error) {
        return Err(error);
    }
    if let Some(trace) = snapshot_left(paths) {
        return Err(StoreError::Open(OpenError::Missing { path: paths.ledger.clone(), found: vec![trace] }));
    }
    match error {
        StoreError::Open(OpenError::Missing { path, found }) => {
            let closed = found.iter().any(|trace| matches!(trace, Trace::Archive(_)));
            // Quarantine files of a plan stay when it is closed.
            let only = found.iter().all(|trace| matches!(trace, Trace::Archive(_) | Trace::Quarantine(_)));
            if closed && only {
                if super::planted::migration_over_archive() {
                    return Ok(Absence::Never);
                }
                return Ok(Absence::AfterClose);
            }
            Err(StoreError::Open(OpenError::Missing { path, found }))
        }
        _ => Ok(Absence::Never),
    }
}

/// A snapshot shows that there was a ledger, even one that can no longer be read.
fn snapshot_left(paths: &Paths) -> Option<Trace> {
    let left = [&paths.snapshot, &paths.snapshot_prev].into_iter().find(|path| path.exists())?;
    let source = paths.shown(left).to_string();
    Some(Trace::Witness(Witness { seq: 0, hash: None, ledger_id: None, source }))
}

/// Refuses to read, let alone write, what opencode-swarm keeps under the same names.
pub(super) fn refuse_foreign(paths: &Paths) -> Result<(), StoreError> {
    let mut start = [0; 8];
    let read =
        fs::File::open(&paths.ledger).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    if read.is_err() || start == OPENING {
        return Ok(());
    }
    let first =
        first_line(&paths.ledger).and_then(|line| serde_json::from_slice::<serde_json::Value>(&line).ok());
    if first.is_some_and(|first| first.get("event_type").is_some() && first.get("len").is_none()) {
        return Err(StoreError::Foreign(paths.ledger.clone()));
    }
    Ok(())
}

/// The plan.json of a time without a ledger, if there is one.
pub(super) fn plan_to_take_over(paths: &Paths) -> Result<Option<PlanFile>, StoreError> {
    let path = &paths.plan_json;
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", path)(error)),
    };
    if is_foreign_plan(&bytes) {
        return Err(StoreError::Foreign(path.clone()));
    }
    let name = paths.shown(path).to_string();
    match planfile::parse(&name, &bytes) {
        Ok(plan) => Ok(Some(plan)),
        Err(error) => Err(StoreError::Migration { path: path.clone(), why: error.to_string() }),
    }
}

pub(super) fn is_foreign_plan(bytes: &[u8]) -> bool {
    let Ok(plan) = serde_json::from_slice::<serde_json::Value>(bytes) else { return false };
    plan.get("schema_version").is_some() && plan.get("swarm").is_some() && plan.get("goal").is_none()
}
