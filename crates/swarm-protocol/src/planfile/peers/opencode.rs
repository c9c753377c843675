//! `.swarm/plan.json` of opencode-swarm: phases with tasks, nearly as ours.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::members::{Members, OF_A_PHASE, OF_A_PLAN, OF_A_TASK, criteria};
use super::names::Names;
use super::order::{Waits, refuse_circles, refuse_dangling};
use super::{Imported, Source, listed};
use crate::plan::{ExecutionProfile, PhaseFile, PlanFile, Size, Status, TaskFile, TaskSpec};
use crate::planfile::error::PlanFileError;
use crate::planfile::json::explain;
use crate::planfile::read::line_of;

const TOOL: &str = "opencode-swarm";
/// Before members whose names mean something else here.
const PREFIX: &str = "opencode_swarm";
/// A task has only a description there; its first line is the title here, cut so that it fits a screen.
const TITLE_CHARS: usize = 100;
/// Members of their execution profile that ours does not have.
const MORE_OF_THE_PROFILE: &str = "opencode_swarm_execution_profile";

pub(super) fn read(name: &str, text: &str) -> Result<Imported, PlanFileError> {
    let file = File { name, text };
    let mut plan = file.members(file.raw(text)?, 1)?;
    let version = plan.peek("schema_version").and_then(Value::as_str).unwrap_or("1").to_owned();
    if version.split('.').next() != Some("1") {
        let hint = "Version 1 is read here: use a newer swarm";
        return Err(PlanFileError::whole(name, format!("it is written in form {version} of {TOOL}"), hint));
    }
    let goal = plan.needed("title")?;
    let profile = profile(&mut plan)?;
    let mut phases = Vec::new();
    for raw in file.list(text, "phases")? {
        phases.push(file.phase(raw)?);
    }
    plan.take_value("phases");
    let mut extra = plan.rest(PREFIX, OF_A_PLAN);
    if let Some(more) = profile.more {
        extra.insert(MORE_OF_THE_PROFILE.into(), Value::Object(more));
    }
    let mut notes = Vec::new();
    let phases = joined(name, phases, &mut notes)?;
    let plan = PlanFile { goal, phases, execution_profile: profile.ours, extra };
    Ok(Imported { plan, from: Source::OpencodeSwarm, notes })
}

struct File<'a> {
    name: &'a str,
    text: &'a str,
}

/// A phase whose tasks do not have their names of here yet.
struct Phase {
    head: PhaseFile,
    line: usize,
    tasks: Vec<Task>,
}

struct Task {
    id: String,
    line: usize,
    depends: Vec<String>,
    status: String,
    file: TaskFile,
}

impl<'a> File<'a> {
    fn raw(&self, text: &'a str) -> Result<&'a RawValue, PlanFileError> {
        serde_json::from_str(text).map_err(|error| explain(self.name, self.text, &error))
    }

    /// The line that a part of the text begins at.
    fn line(&self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        line_of(self.text, offset.min(self.text.len()))
    }

    fn members(&self, raw: &'a RawValue, line: usize) -> Result<Members<'a>, PlanFileError> {
        match serde_json::from_str(raw.get()) {
            Ok(map) => Ok(Members::new(self.name, line, map)),
            Err(_) => Err(PlanFileError::at(
                self.name,
                line,
                "an object is wanted here",
                "A plan of opencode-swarm has phases, and phases have tasks; nothing was imported",
            )),
        }
    }

    /// The parts of a list, each where it stands in the text.
    fn list(&self, object: &'a str, key: &str) -> Result<Vec<&'a RawValue>, PlanFileError> {
        let wrong = |line| {
            PlanFileError::at(
                self.name,
                line,
                format!("its {key} are no list"),
                "Put this line right; nothing was imported",
            )
        };
        let members: BTreeMap<String, &'a RawValue> =
            serde_json::from_str(object).map_err(|_| wrong(self.line(object)))?;
        let Some(list) = members.get(key) else { return Err(wrong(self.line(object))) };
        serde_json::from_str(list.get()).map_err(|_| wrong(self.line(list.get())))
    }

    fn phase(&self, raw: &'a RawValue) -> Result<Phase, PlanFileError> {
        let line = self.line(raw.get());
        let mut members = self.members(raw, line)?;
        let id = members.number("id")?.and_then(|id| u32::try_from(id).ok()).filter(|id| *id > 0);
        let id =
            id.ok_or_else(|| members.wrong("this phase has no usable number", "Phases are numbered from 1"))?;
        let name = members.text("name")?.unwrap_or_default();
        let mut tasks = Vec::new();
        if members.take_value("tasks").is_some() {
            for raw in self.list(raw.get(), "tasks")? {
                tasks.push(self.task(raw, id)?);
            }
        }
        let extra = members.rest(PREFIX, OF_A_PHASE);
        Ok(Phase { head: PhaseFile { id, name, tasks: vec![], extra }, line, tasks })
    }

    fn task(&self, raw: &'a RawValue, phase: u32) -> Result<Task, PlanFileError> {
        let line = self.line(raw.get());
        let mut members = self.members(raw, line)?;
        let id = members.needed("id")?;
        let (title, description) = titled(&members.needed("description")?);
        let status = members.text("status")?.unwrap_or_else(|| "pending".into());
        let ours = match status.as_str() {
            "pending" | "in_progress" => None,
            "completed" | "complete" => Some(Status::Done),
            "blocked" => Some(Status::Blocked),
            "closed" => Some(Status::Cancelled),
            other => {
                let known = "pending, in_progress, completed, blocked and closed are known";
                return Err(members.wrong(format!("{other:?} is no status of a task"), known));
            }
        };
        let size = match members.text("size")?.as_deref() {
            None => None,
            Some("small") => Some(Size::Small),
            Some("medium") => Some(Size::Medium),
            Some("large") => Some(Size::Large),
            Some(other) => {
                let why = format!("{other:?} is no size of a task");
                return Err(members.wrong(why, "small, medium and large are known"));
            }
        };
        let depends = members.texts("depends")?;
        let acceptance = members.text("acceptance")?.map(|text| criteria(&text)).unwrap_or_default();
        let files = members.texts("files_touched")?;
        // It says again where it stands, unless it stands elsewhere.
        if members.peek("phase").and_then(Value::as_u64) == Some(u64::from(phase)) {
            members.number("phase")?;
        }
        // The name of here follows when all are known.
        let mut spec = TaskSpec::new("x".parse().expect("an id"), title);
        (spec.description, spec.acceptance, spec.files, spec.size) = (description, acceptance, files, size);
        spec.extra = members.rest(PREFIX, OF_A_TASK);
        Ok(Task { id, line, depends, status, file: TaskFile { status: ours, ..TaskFile::from(spec) } })
    }
}

/// Phases with tasks that have their names and dependencies of here.
fn joined(name: &str, phases: Vec<Phase>, notes: &mut Vec<String>) -> Result<Vec<PhaseFile>, PlanFileError> {
    let mut numbers = BTreeSet::new();
    if let Some(twice) = phases.iter().find(|phase| !numbers.insert(phase.head.id)) {
        let why = format!("phase {} is there twice", twice.head.id);
        return Err(PlanFileError::at(name, twice.line, why, "Give every phase a number of its own"));
    }
    let tasks = || phases.iter().flat_map(|phase| &phase.tasks);
    let names = Names::of(name, tasks().map(|task| (task.id.as_str(), task.line)))?;
    let waits: Waits<'_> = tasks()
        .map(|task| (task.id.as_str(), (task.line, task.depends.iter().map(String::as_str).collect())))
        .collect();
    refuse_dangling(name, &waits)?;
    refuse_circles(name, &waits)?;
    let of_status = |status: &str| -> Vec<&str> {
        tasks().filter(|task| task.status == status).map(|task| task.id.as_str()).collect()
    };
    let said = [
        ("in_progress", "In progress there, to be started here"),
        ("closed", "Closed there without being completed, cancelled here"),
    ];
    for (status, words) in said {
        let ids = of_status(status);
        if !ids.is_empty() {
            notes.push(format!("{words}: {}", listed(&ids)));
        }
    }
    let changed = names.changed();
    if !changed.is_empty() {
        notes.push(format!("Ids that could not stay: {}", listed(&changed)));
    }
    let named = |task: Task| {
        let Some(id) = names.get(&task.id) else { return task.file };
        let mut file = task.file;
        file.depends = task.depends.iter().filter_map(|old| names.get(old).cloned()).collect();
        super::keep_old_id(&mut file, id.clone(), &task.id, Source::OpencodeSwarm);
        file
    };
    let filled = |phase: Phase| {
        let tasks = phase.tasks.into_iter().map(named).collect();
        PhaseFile { tasks, ..phase.head }
    };
    Ok(phases.into_iter().map(filled).collect())
}

/// The first line, cut at a word; and the whole where there is more of it.
fn titled(text: &str) -> (String, String) {
    let text = text.trim();
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let line: String = text.lines().next().unwrap_or_default().trim().chars().map(plain).collect();
    if line.chars().count() <= TITLE_CHARS {
        let rest = if line == text { "" } else { text };
        return (line, rest.to_owned());
    }
    let cut: String = line.chars().take(TITLE_CHARS).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    (format!("{} …", cut.trim_end()), text.to_owned())
}

struct Profile {
    ours: Option<ExecutionProfile>,
    more: Option<Map<String, Value>>,
}

fn profile(plan: &mut Members<'_>) -> Result<Profile, PlanFileError> {
    let Some(value) = plan.take_value("execution_profile") else {
        return Ok(Profile { ours: None, more: None });
    };
    let wrong = |why: String| plan.wrong(why, "Put it right; nothing was imported");
    let Value::Object(mut theirs) = value else {
        return Err(wrong("its execution_profile is no object".into()));
    };
    let mut ours = Map::new();
    for key in ["parallelization_enabled", "max_concurrent_tasks", "council_parallel", "locked"] {
        ours.extend(theirs.remove(key).map(|value| (key.to_owned(), value)));
    }
    let ours: ExecutionProfile = serde_json::from_value(Value::Object(ours))
        .map_err(|error| wrong(format!("its execution_profile cannot be read: {error}")))?;
    if !(1..=64).contains(&ours.max_concurrent_tasks) {
        return Err(wrong(format!("max_concurrent_tasks is {}, not 1 to 64", ours.max_concurrent_tasks)));
    }
    Ok(Profile { ours: Some(ours), more: (!theirs.is_empty()).then_some(theirs) })
}
