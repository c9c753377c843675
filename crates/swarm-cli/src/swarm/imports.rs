//! Which plan an import means, and how one of another tool comes into the ledger.

use std::path::{Path, PathBuf};

use serde::Serialize;
use swarm_core::input::Input;
use swarm_core::{State, react};
use swarm_engine::projection::find_import;
use swarm_engine::store::{foreign_plan, is_foreign_file, move_foreign_aside, moved_plan};
use swarm_protocol::command::{Answer, Command, Envelope, SaveKind};
use swarm_protocol::ids::CommandId;
use swarm_protocol::plan::PlanFile;
use swarm_protocol::planfile::{Imported, Source};

use super::Swarm;
use super::inside::refuse_agents;
use super::plan_file;
use crate::error::CliError;

/// Where other tools keep their plans, from the root of a repository.
const PLACES: &[(Source, &str)] = &[
    (Source::OpencodeSwarm, ".swarm/plan.json"),
    (Source::Beads, ".beads/issues.jsonl"),
    (Source::Beads, ".beads/beads.jsonl"),
    (Source::Hive, ".hive/issues.jsonl"),
];

/// A plan of another tool that lies in the repository.
#[derive(Debug, Clone, Serialize)]
pub struct PeerPlan {
    pub tool: Source,
    /// From the root.
    pub path: String,
}

/// What an import did.
#[derive(Debug, Serialize)]
pub struct Taken {
    #[serde(flatten)]
    pub answer: Answer,
    pub from: Source,
    /// What could not be taken over as it was.
    pub notes: Vec<String>,
    /// Where the files of the other tool lie now, if they had to make room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
}

impl Swarm {
    /// Plans of other tools in this repository that nobody has taken over yet, as far as can be seen.
    pub fn peer_plans(&self) -> Vec<PeerPlan> {
        let found = found_in(&self.paths.root, None).into_iter();
        found.map(|(tool, path)| PeerPlan { tool, path: self.relative(&path) }).collect()
    }

    /// The plan of opencode-swarm that lies where ours would.
    pub fn foreign_plan(&self) -> Option<PathBuf> {
        foreign_plan(&self.paths)
    }

    /// The file that an import is about.
    pub fn plan_source(&self, named: Option<&Path>, from: Option<Source>) -> Result<PathBuf, CliError> {
        match named {
            Some(path) if !plan_file::is_stdin(path) && path.is_dir() => {
                only(self, path, found_below(path, from), from)
            }
            Some(path) => Ok(path.to_owned()),
            None => self.unnamed_source(from),
        }
    }

    fn unnamed_source(&self, from: Option<Source>) -> Result<PathBuf, CliError> {
        let wanted = |source| from.is_none_or(|from| from == source);
        if let Some(theirs) = foreign_plan(&self.paths).filter(|_| wanted(Source::OpencodeSwarm)) {
            return Ok(theirs);
        }
        // An export in `.swarm/` is ours, whatever else lies in the repository.
        if from.is_none_or(|from| !from.is_peer()) && find_import(&self.paths).is_some() {
            return self.exported_before();
        }
        let found = self.peers(from);
        if found.is_empty() && from.is_none_or(|from| !from.is_peer()) {
            return self.exported_before();
        }
        only(self, &self.paths.root, found, from)
    }

    /// The plan of another tool in this repository.
    pub fn peer_source(&self) -> Result<PathBuf, CliError> {
        let theirs = self.foreign_plan();
        theirs.map_or_else(|| only(self, &self.paths.root, self.peers(None), None), Ok)
    }

    fn peers(&self, from: Option<Source>) -> Vec<(Source, PathBuf)> {
        let mut found = found_in(&self.paths.root, from);
        // Moved aside by an import that did not come to its end.
        let moved = moved_plan(&self.paths).map(|path| (Source::OpencodeSwarm, path));
        found.extend(moved.filter(|(tool, _)| from.is_none_or(|from| from == *tool)));
        found
    }

    /// Makes a plan that was read the plan of this swarm. Files of opencode-swarm that lie where ours would are moved
    /// aside first, and only when nothing speaks against their plan.
    pub fn take_over(&self, path: &Path, imported: Imported, command: &str) -> Result<Taken, CliError> {
        let Imported { plan, from, notes } = imported;
        let again = |error: CliError| plan_file::put_right(error, command, path);
        let mut shown = self.shown_source(path);
        let mut moved_to = None;
        let real = path.canonicalize().ok();
        let same = |theirs: PathBuf| real.is_some() && theirs.canonicalize().ok() == real;
        if self.foreign_plan().is_some_and(same) {
            refuse_agents("plan import")?;
            try_out(&plan).map_err(again)?;
            let time = self.now().to_string()[..19].replace(':', "-");
            let folder = move_foreign_aside(&self.paths, &self.options("plan import"), &time)?;
            if let Some(folder) = folder {
                shown = self.relative(&folder.join("plan.json"));
                moved_to = Some(self.relative(&folder));
            }
        }
        let source = if from.is_peer() { format!("{from}: {shown}") } else { shown };
        let save =
            Command::SavePlan { plan, kind: SaveKind::Import, source, reset_statuses: false, planning: None };
        let answer = self.ask(save).map_err(again)?;
        Ok(Taken { answer, from, notes, moved_to })
    }

    /// Finishes a move that was interrupted, so that what was moved has its name.
    pub fn finish_moving(&self) -> Result<(), CliError> {
        let unfinished = moved_plan(&self.paths)
            .and_then(|plan| Some(plan.parent()?.extension()? == "moving"))
            .unwrap_or(false);
        if unfinished && self.foreign_plan().is_none() {
            move_foreign_aside(&self.paths, &self.options("plan import"), "")?;
        }
        Ok(())
    }

    /// The name of the file in the ledger: no absolute path goes there.
    fn shown_source(&self, path: &Path) -> String {
        let root = self.paths.root.as_path();
        match path.canonicalize() {
            Ok(whole) if path.is_absolute() && whole.starts_with(root) => self.relative(&whole),
            _ => plan_file::recorded_name(path),
        }
    }
}

/// Refuses what the rules would refuse in an empty swarm.
fn try_out(plan: &PlanFile) -> Result<(), CliError> {
    let command = Command::SavePlan {
        plan: plan.clone(),
        kind: SaveKind::Import,
        source: "try".into(),
        reset_statuses: false,
        planning: None,
    };
    let id = CommandId::new("try").expect("a plain word");
    let state = State::default();
    react(&state, Input::Command(Envelope { id, by: "person:cli".into(), command }), state.at)?;
    Ok(())
}

/// Plans of other tools below a folder that is a repository.
fn found_in(root: &Path, from: Option<Source>) -> Vec<(Source, PathBuf)> {
    let places = PLACES.iter().filter(|(tool, _)| from.is_none_or(|from| from == *tool));
    let files = places.map(|(tool, place)| (*tool, root.join(place)));
    files.filter(|(tool, path)| is_theirs(*tool, path)).collect()
}

/// The same for a folder that a person named, which may be that of the tool itself.
fn found_below(dir: &Path, from: Option<Source>) -> Vec<(Source, PathBuf)> {
    let found = found_in(dir, from);
    if !found.is_empty() {
        return found;
    }
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let inside = PLACES.iter().filter_map(|(tool, place)| {
        let (folder, file) = place.split_once('/')?;
        let fits =
            from == Some(*tool) || (from.is_none() && whole.file_name().is_some_and(|name| name == folder));
        fits.then(|| (*tool, dir.join(file)))
    });
    inside.filter(|(tool, path)| is_theirs(*tool, path)).collect()
}

/// A plan.json may be a projection of ours.
fn is_theirs(tool: Source, path: &Path) -> bool {
    match tool {
        Source::OpencodeSwarm => is_foreign_file(path),
        _ => path.is_file(),
    }
}

fn only(
    swarm: &Swarm,
    dir: &Path,
    found: Vec<(Source, PathBuf)>,
    from: Option<Source>,
) -> Result<PathBuf, CliError> {
    match found.as_slice() {
        [(_, path)] => Ok(path.clone()),
        [] => {
            let whose = from.map_or("a known tool".to_owned(), |from| from.to_string());
            Err(CliError::environment(format!("There is no plan of {whose} in {}", dir.display()))
                .run_instead("swarm plan import FILE"))
        }
        [first, ..] => {
            let all: Vec<String> = found.iter().map(|(_, path)| swarm.relative(path)).collect();
            Err(CliError::usage(format!("There are several plans in {}: {}", dir.display(), all.join(", ")))
                .run_instead(format!("swarm plan import {}", swarm.pasted(&first.1))))
        }
    }
}
