//! `.swarm/plan.json` of opencode-swarm: phases with tasks, nearly as ours.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::members::{Members, OF_A_PHASE, OF_A_PLAN, OF_A_TASK};
use super::names::Names;
use super::odd::{self, Odd};
use super::order::{Waits, refuse_circles, refuse_dangling};
use super::{Care, Imported, Source, listed};
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

pub(super) fn read(name: &str, text: &str, care: Care) -> Result<Imported, PlanFileError> {
    let file = File { name, text, care };
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
    let phases = joined(name, phases, care, &mut notes)?;
    let plan = PlanFile { goal, phases, execution_profile: profile.ours, extra };
    Ok(Imported { plan, from: Source::OpencodeSwarm, notes })
}

struct File<'a> {
    name: &'a str,
    text: &'a str,
    care: Care,
}

/// A phase whose tasks do not have their names of here yet.
pub(super) struct Phase {
    pub head: PhaseFile,
    pub line: usize,
    pub tasks: Vec<Task>,
}

pub(super) struct Task {
    pub id: String,
    pub line: usize,
    pub depends: Vec<String>,
    pub status: String,
    pub odd: Vec<Odd>,
    pub file: TaskFile,
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
        let mut odd = Vec::new();
        let status = members.text("status")?.unwrap_or_else(|| "pending".into());
        let ours = match status_of(&status) {
            Some(ours) => ours,
            None if self.care == Care::Lenient => {
                members.keep("status", status.clone().into());
                odd.push(Odd::Status(status.clone()));
                None
            }
            None => {
                let known = "pending, in_progress, completed, blocked and closed are known";
                return Err(members.wrong(format!("{status:?} is no status of a task"), known));
            }
        };
        let size = match members.text("size")? {
            None => None,
            Some(word) => match (size_of(&word), self.care) {
                (Some(size), _) => Some(size),
                (None, Care::Lenient) => {
                    odd.push(Odd::Size(word.clone()));
                    members.keep("size", word.into());
                    None
                }
                (None, Care::Strict) => {
                    let why = format!("{word:?} is no size of a task");
                    return Err(members.wrong(why, "small, medium and large are known"));
                }
            },
        };
        let depends = members.texts("depends")?;
        let acceptance = members.criteria("acceptance")?;
        let files = members.texts("files_touched")?;
        // It says again where it stands, unless it stands elsewhere.
        if members.peek("phase").and_then(Value::as_u64) == Some(u64::from(phase)) {
            members.number("phase")?;
        }
        // The name of here follows when all are known.
        let mut spec = TaskSpec::new("x".parse().expect("an id"), title);
        (spec.description, spec.acceptance, spec.files, spec.size) = (description, acceptance, files, size);
        spec.extra = members.rest(PREFIX, OF_A_TASK);
        let file = TaskFile { status: ours, ..TaskFile::from(spec) };
        Ok(Task { id, line, depends, status, odd, file })
    }
}

/// What their word means here; none for one that they do not have either.
fn status_of(word: &str) -> Option<Option<Status>> {
    match word {
        "pending" | "in_progress" => Some(None),
        "completed" | "complete" => Some(Some(Status::Done)),
        "blocked" => Some(Some(Status::Blocked)),
        "closed" => Some(Some(Status::Cancelled)),
        _ => None,
    }
}

pub(super) fn size_of(word: &str) -> Option<Size> {
    match word {
        "small" => Some(Size::Small),
        "medium" => Some(Size::Medium),
        "large" => Some(Size::Large),
        _ => None,
    }
}

/// Waits for what the plan does not have are taken out and kept under a name of theirs.
fn let_go(phases: &mut [Phase], notes: &mut Vec<String>) {
    let tasks = || phases.iter().flat_map(|phase| &phase.tasks);
    let there: BTreeSet<String> = tasks().map(|task| task.id.clone()).collect();
    let mut said = Vec::new();
    for task in phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
        let (known, missing): (Vec<String>, Vec<String>) =
            std::mem::take(&mut task.depends).into_iter().partition(|on| there.contains(on));
        task.depends = known;
        said.extend(missing.iter().map(|on| format!("{} on {}", task.id, on.escape_debug())));
        if !missing.is_empty() {
            task.file.extra.insert(format!("{PREFIX}_depends"), missing.into());
        }
    }
    if !said.is_empty() {
        notes.push(format!("Dependencies on what is not in the file, left out: {}", listed(&said)));
    }
}

/// Phases with tasks that have their names and dependencies of here.
pub(super) fn joined(
    name: &str,
    mut phases: Vec<Phase>,
    care: Care,
    notes: &mut Vec<String>,
) -> Result<Vec<PhaseFile>, PlanFileError> {
    let mut numbers = BTreeSet::new();
    if let Some(twice) = phases.iter().find(|phase| !numbers.insert(phase.head.id)) {
        let why = format!("phase {} is defined twice", twice.head.id);
        return Err(PlanFileError::at(name, twice.line, why, "Give each phase its own number"));
    }
    if care == Care::Lenient {
        let_go(&mut phases, notes);
    }
    let tasks = || phases.iter().flat_map(|phase| &phase.tasks);
    odd::say(tasks().map(|task| (task.id.as_str(), task.odd.as_slice())), notes);
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
pub(super) fn titled(text: &str) -> (String, String) {
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
