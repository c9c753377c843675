//! Writing projections, and looking at those that are there.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use swarm_core::{State, evidence, export};
use swarm_ledger::{Head, Witness};
use swarm_protocol::ids::TaskId;

use super::stamp;
use crate::notice::Notice;
use crate::paths::Paths;
use crate::replace::replace;

/// Files kept aside under one name before we give up: more means that something edits in a loop.
const EDITED_MAX: u32 = 10_000;

/// How a projection compares with the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Fresh,
    Missing,
    /// As we wrote it, but for another record.
    Stale {
        seq: u64,
    },
    /// Somebody changed it, or it is not ours.
    Edited,
    Unreadable {
        why: String,
    },
}

impl Condition {
    /// What is to be said about it; nothing when it is fresh.
    pub fn describe(&self, path: impl std::fmt::Display) -> Option<String> {
        match self {
            Self::Fresh => None,
            Self::Missing => Some(format!("{path} is missing")),
            Self::Stale { seq } => Some(format!("{path} shows record {seq}")),
            Self::Edited => Some(format!("{path} was edited by hand")),
            Self::Unreadable { why } => Some(format!("{path} cannot be read: {why}")),
        }
    }
}

/// The projections and how each compares with the last record.
pub fn conditions(paths: &Paths, head: &Head) -> Vec<(PathBuf, Condition)> {
    [&paths.plan_json, &paths.plan_md].into_iter().map(|path| (path.clone(), condition(path, head))).collect()
}

/// What the projections that show a later record than `seq` say of how far the ledger reached when they were written. Those
/// that somebody edited say nothing; the others are not read to their end.
pub fn witnesses(paths: &Paths, seq: u64) -> Vec<Witness> {
    let said = |path: &PathBuf| {
        stamp::seq_of(&start_of(path)?).filter(|shown| *shown > seq)?;
        let stamp = stamp::read(&fs::read(path).ok()?).filter(|stamp| stamp.intact)?;
        let source = paths.shown(path).to_string();
        Some(Witness { seq: stamp.seq, hash: stamp.hash.parse().ok(), ledger_id: stamp.ledger_id, source })
    };
    [&paths.plan_json, &paths.plan_md].into_iter().filter_map(said).collect()
}

/// Enough of a file to hold its stamp.
fn start_of(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(stamp::STAMP_WITHIN as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Keeps projections aside that show records which this ledger has lost: made anew, they would show a plan without them,
/// and nobody would know the tasks and numbers any more that people were told. Those of another ledger show nothing of this one.
pub fn keep_ahead(paths: &Paths, last_seq: u64, ledger_id: &str) -> Vec<Notice> {
    let ahead = |path: &&PathBuf| {
        let stamp = fs::read(path).ok().and_then(|bytes| stamp::read(&bytes));
        let stamp = stamp.filter(|stamp| stamp.ledger_id.as_deref().is_none_or(|theirs| theirs == ledger_id));
        stamp.is_some_and(|stamp| stamp.intact && stamp.seq > last_seq)
    };
    let lost = [&paths.plan_json, &paths.plan_md].into_iter().filter(ahead);
    lost.map(|path| keep_aside(paths, path, "ahead")).collect()
}

/// Keeps edited projections aside. True when all are fresh.
pub fn check(paths: &Paths, head: &Head) -> (bool, Vec<Notice>) {
    let mut notices = Vec::new();
    let mut fresh = true;
    for (path, condition) in conditions(paths, head) {
        fresh &= condition == Condition::Fresh;
        if condition == Condition::Edited {
            notices.push(keep_aside(paths, &path, "edited"));
        }
    }
    (fresh, notices)
}

/// Writes plan.json and plan.md. What goes wrong is told; the ledger has the truth.
pub fn write(paths: &Paths, state: &State, head: &Head) -> Vec<Notice> {
    write_pair(paths, state, head, &paths.plan_json, &paths.plan_md)
}

/// Writes the export artifacts SWARM_PLAN.json and SWARM_PLAN.md.
pub fn write_exports(paths: &Paths, state: &State, head: &Head) -> Vec<Notice> {
    write_pair(paths, state, head, &paths.export_json, &paths.export_md)
}

/// Writes what the council said about these tasks, a file each. A file about work that has begun anew since, or about the
/// task of that name in an earlier plan, says nothing any more.
pub fn write_evidence(paths: &Paths, state: &State, tasks: &BTreeSet<TaskId>) -> Vec<Notice> {
    let write = |id: &TaskId| {
        let path = paths.evidence.join(format!("{id}.json"));
        let none = || evidence::no_evidence(state, id).filter(|_| path.exists());
        let said = evidence::evidence(state, id).or_else(none)?;
        let text = serde_json::to_string_pretty(&said).unwrap_or_default();
        let error = replace(&path, format!("{text}\n").as_bytes()).err()?;
        Some(Notice::new(format!("Cannot write {}: {error}", paths.shown(&path)), "swarm plan rebuild"))
    };
    tasks.iter().filter_map(write).collect()
}

fn write_pair(paths: &Paths, state: &State, head: &Head, json: &Path, markdown: &Path) -> Vec<Notice> {
    let Some(id) = state.plan.as_ref().map(|plan| plan.ledger_id.as_str()) else { return Vec::new() };
    let plan = export::plan_file(state);
    let mut notices = Vec::new();
    for (path, text) in [(json, stamp::json(&plan, head, id)), (markdown, stamp::markdown(&plan, head, id))] {
        // A coordinator lives long: the file may have been edited since it was last looked at.
        if condition(path, head) == Condition::Edited {
            notices.push(keep_aside(paths, path, "edited"));
        }
        if let Err(error) = replace(path, text.as_bytes()) {
            notices.push(Notice::new(
                format!("Cannot write {}: {error}", paths.shown(path)),
                "swarm plan rebuild",
            ));
        }
    }
    notices
}

fn condition(path: &Path, head: &Head) -> Condition {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Condition::Missing,
        Err(error) => return Condition::Unreadable { why: error.to_string() },
    };
    match stamp::read(&bytes) {
        Some(stamp) if !stamp.intact => Condition::Edited,
        Some(stamp) if stamp.seq == head.seq && stamp.hash == head.hash.as_str() => Condition::Fresh,
        Some(stamp) => Condition::Stale { seq: stamp.seq },
        None => Condition::Edited,
    }
}

/// Renames a file that says more than the ledger to the next free `NAME.edited-N` or `NAME.ahead-N` and says how to take it in.
fn keep_aside(paths: &Paths, path: &Path, why: &str) -> Notice {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let words = if why == "edited" { "was edited by hand" } else { "shows records that the ledger has lost" };
    let free = (1..=EDITED_MAX)
        .map(|n| path.with_file_name(format!("{name}.{why}-{n}")))
        .find(|kept| !kept.exists());
    let Some(kept) = free else {
        return Notice::new(format!("{} {words} and cannot be kept aside any more", paths.shown(path)), "");
    };
    match fs::rename(path, &kept) {
        Ok(()) if why == "edited" => Notice::new(
            format!("{} {words}; your version is kept as {}", paths.shown(path), paths.shown(&kept)),
            format!("swarm plan import {}", paths.shown(&kept)),
        )
        .about(&kept),
        Ok(()) => Notice::new(
            format!("{} {words}; it is kept as {}", paths.shown(path), paths.shown(&kept)),
            format!("swarm plan import {}", paths.shown(&kept)),
        )
        .about(&kept),
        Err(error) => {
            Notice::new(format!("{} {words} and cannot be kept aside: {error}", paths.shown(path)), "")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use swarm_protocol::event::Event;
    use swarm_protocol::plan::TaskSpec;
    use swarm_protocol::time::Timestamp;

    use super::*;

    #[test]
    fn a_verdict_about_other_work_does_not_stay_beside_a_task_that_nobody_has_judged() {
        let dir = tempfile::tempdir().expect("a folder");
        let paths = Paths::new(dir.path(), &dir.path().join(".git"));
        let mut state = State::default();
        let tasks = ["1.1", "1.2"].map(|id| TaskId::new(id).expect("an id"));
        for task in &tasks {
            let spec = TaskSpec::new(task.clone(), "Work");
            let added = Event::TaskAdded { task: task.clone(), phase: 1, after: None, spec };
            state.apply(&added, Timestamp(1));
        }
        fs::create_dir_all(&paths.evidence).expect("made");
        let file = paths.evidence.join("1.1.json");
        fs::write(&file, r#"{"completed":true,"gates":{"council":{"verdict":"APPROVE"}}}"#).expect("written");
        let notices = write_evidence(&paths, &state, &BTreeSet::from(tasks));
        assert!(notices.is_empty(), "{notices:?}");
        let said: Value = serde_json::from_slice(&fs::read(&file).expect("there")).expect("JSON");
        let nothing = json!({ "taskId": "1.1", "status": "pending", "completed": false, "gates": {} });
        assert_eq!(said, nothing);
        assert!(!paths.evidence.join("1.2.json").exists());
    }
}
