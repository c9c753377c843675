//! The end of a plan: after its closing record only renames are left, and a start that finds the
//! record last goes on with them.

use std::fs;
use std::io;

use swarm_core::State;
use swarm_ledger::Access;

use super::absent::Absence;
use super::error::StoreError;
use super::load::load;
use super::replace::sync_dir;
use super::ticket::Progress;
use super::upkeep::Upkeep;
use super::writer::Store;

impl Store {
    /// Archives a ledger whose plan is closed; does nothing for any other.
    pub(super) fn finish_interrupted_close(&mut self) -> Result<(), StoreError> {
        if self.state.plan.as_ref().is_none_or(|plan| !plan.closed) {
            return Ok(());
        }
        self.wait_durable()?;
        let name = archive_name(
            self.recorded_name()?.as_deref().unwrap_or_default(),
            self.ledger_id().unwrap_or_default(),
        );
        // The writer must be gone before its file gets another name.
        self.ledger = None;
        self.move_derived_aside(&name)
            .map_err(StoreError::io("archive what belongs to", &self.paths.ledger))?;
        swarm_ledger::close::close(&*self.options.vfs, &self.paths.ledger_paths(), &name)
            .map_err(StoreError::Open)?;
        self.state = State::default();
        self.absence = Some(Absence::AfterClose);
        self.progress = Progress::at(None);
        self.losses.clear();
        self.upkeep = Upkeep::new(0, None);
        Ok(())
    }

    /// The name in the closing record; a snapshot that covers it makes us read on from the start.
    fn recorded_name(&self) -> Result<Option<String>, StoreError> {
        if let Some(name) = &self.upkeep.archive {
            return Ok(Some(name.clone()));
        }
        let loaded = load(&self.paths, &self.options, Access::Read, None)?;
        Ok(loaded.archive)
    }

    /// Before the ledger itself, because what is left of these alone would look like a lost ledger.
    fn move_derived_aside(&self, name: &str) -> io::Result<()> {
        fs::create_dir_all(&self.paths.archive)?;
        let paths = &self.paths;
        let derived = [
            (&paths.plan_json, "plan.json"),
            (&paths.plan_md, "plan.md"),
            (&paths.snapshot, "snapshot.json"),
            (&paths.snapshot_prev, "snapshot.prev.json"),
        ];
        for (from, what) in derived {
            match fs::rename(from, paths.archive.join(format!("{name}.{what}"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        sync_dir(&paths.archive)?;
        if paths.state.exists() {
            sync_dir(&paths.state)?;
        }
        sync_dir(&paths.swarm)
    }
}

/// A plain file name, whatever the record says; the ledger's id where it says nothing usable.
fn archive_name(recorded: &str, ledger_id: &str) -> String {
    let base = recorded.rsplit('/').next().unwrap_or_default();
    let base = base.strip_suffix(".jsonl").unwrap_or(base).trim_start_matches('.');
    let plain: String = base
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .take(120)
        .collect();
    if plain.is_empty() { format!("plan-{ledger_id}") } else { plain }
}
