//! The end of a plan: after its closing record only renames are left, and a start that finds the
//! record last goes on with them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use swarm_core::State;
use swarm_core::export::plan_file;
use swarm_ledger::Access;
use swarm_protocol::plan::PlanFile;
use swarm_protocol::planfile;

use super::absent::Absence;
use super::error::StoreError;
use super::load::load;
use super::options::OpenOptions;
use super::reader::Reading;
use super::ticket::Progress;
use super::upkeep::Upkeep;
use super::writer::{Opened, Store};
use crate::paths::Paths;
use crate::replace::sync_dir;

/// A plan that was closed, in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// What to ask for: the name of its file without the ending.
    pub name: String,
    pub path: PathBuf,
    /// When its last record was written.
    pub at: SystemTime,
}

/// Plans in the archive, the one that was closed last first.
pub fn archived(paths: &Paths) -> Vec<Archived> {
    let listed = |folder: &Path| -> Vec<Archived> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let read = |entry: fs::DirEntry| {
            let (path, at) = (entry.path(), entry.metadata().ok()?.modified().ok()?);
            let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.to_owned();
            Some(Archived { name, path, at })
        };
        entries.filter_map(read).collect()
    };
    let mut all = listed(&paths.archive);
    // Whatever happens to the files beside the checkout, the second copy of a ledger was closed with it.
    let copies = paths.second_copy.parent().map(|folder| listed(&folder.join("archive")));
    for copy in copies.unwrap_or_default() {
        if all.iter().all(|one| one.name != copy.name) {
            all.push(copy);
        }
    }
    all.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| b.name.cmp(&a.name)));
    all
}

impl Archived {
    /// The plan as it was closed. Takes no lock and writes nothing.
    pub fn read(&self, paths: &Paths, options: &OpenOptions) -> Result<Reading, StoreError> {
        // Nothing of the plan that may be open now belongs to it.
        let nowhere = || self.path.with_extension("nowhere");
        let of_archive = Paths {
            ledger: self.path.clone(),
            second_copy: nowhere(),
            snapshot: nowhere(),
            snapshot_prev: nowhere(),
            plan_json: nowhere(),
            plan_md: nowhere(),
            archive: nowhere(),
            daemons: nowhere(),
            ..paths.clone()
        };
        Store::open_reader(&of_archive, options, None)
    }
}

impl Store {
    /// Opens a ledger that lies in the archive, for the command that takes its closing back. Until that is written the
    /// plan is closed: whoever opens the store otherwise puts it into the archive again. Does nothing to a ledger
    /// that is in its place.
    pub fn open_archived(paths: &Paths, options: OpenOptions, name: &str) -> Result<Opened, StoreError> {
        Self::open_writer_with(paths, options, Some(name))
    }

    /// The archived ledger to its place, and what is derived from it.
    pub(super) fn bring_out(paths: &Paths, options: &OpenOptions, name: &str) -> Result<(), StoreError> {
        if paths.ledger.exists() {
            return Ok(());
        }
        swarm_ledger::close::reopen(&*options.vfs, &paths.ledger_paths(), name).map_err(StoreError::Open)?;
        // All of it can be made again; what stands in its place is newer.
        for (to, what) in aside(paths) {
            if !to.exists() {
                let _ = fs::rename(paths.archive.join(format!("{name}.{what}")), to);
            }
        }
        Ok(())
    }

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
        for (from, what) in aside(paths) {
            // An export that a person has left at the root goes where the ledger has what it holds.
            if what.starts_with("root.") && !self.holds_export(&from) {
                continue;
            }
            match fs::rename(from, paths.archive.join(format!("{name}.{what}"))) {
                Err(_) if what.starts_with("root.") => {}
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

    /// Whether the plan in this file is the plan of the ledger, whatever the statuses say.
    fn holds_export(&self, file: &Path) -> bool {
        let bytes = fs::metadata(file).ok().filter(|meta| meta.len() <= planfile::BYTES_MAX as u64);
        let plan = bytes.and_then(|_| planfile::parse(&file.to_string_lossy(), &fs::read(file).ok()?).ok());
        plan.is_some_and(|plan| without_statuses(plan) == without_statuses(plan_file(&self.state)))
    }
}

/// What belongs to a ledger and goes into the archive with it, with the ending it gets there.
fn aside(paths: &Paths) -> [(PathBuf, &'static str); 6] {
    let root = |name: &str| paths.root.join(name);
    [
        (paths.plan_json.clone(), "plan.json"),
        (paths.plan_md.clone(), "plan.md"),
        (paths.snapshot.clone(), "snapshot.json"),
        (paths.snapshot_prev.clone(), "snapshot.prev.json"),
        (root("SWARM_PLAN.json"), "root.SWARM_PLAN.json"),
        (root("SWARM_PLAN.md"), "root.SWARM_PLAN.md"),
    ]
}

/// A checklist says less than the plan: what both can say is compared.
fn without_statuses(mut plan: PlanFile) -> String {
    plan.execution_profile = None;
    for task in plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
        task.status = None;
    }
    planfile::to_markdown(&plan)
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
