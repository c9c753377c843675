//! The Markdown form: `# goal`, `## Phase 1: name`, `- [ ] 1.1 Title`, and indented lines below an item.
//!
//! Only lines that begin at the margin give structure; what is indented belongs to the task above it.
//! A line that would have to be guessed at is refused with its number, because a task that silently
//! became a note is work that nobody does.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::error::PlanFileError;
use super::fields;
use super::read::Known;
use super::shapes::{Item, depends_at_end, is_rule, item, own_id, phase_heading};
use crate::ids::TaskId;
use crate::plan::{PhaseFile, PlanFile};

/// Text between a heading and its first task is kept under this member.
pub(super) const NOTES: &str = "notes";

/// `known`: the tasks of the present plan. One without an id in the file is the one that has its title there.
pub(super) fn parse(name: &str, text: &str, known: &Known) -> Result<PlanFile, PlanFileError> {
    read(name, text, None, known)
}

/// The parts of a task: a checklist that needs no goal, and whose items are numbered after the task.
pub(super) fn parse_parts(name: &str, text: &str, parent: &TaskId) -> Result<PlanFile, PlanFileError> {
    read(name, text, Some(parent), &Known::default())
}

fn read(name: &str, text: &str, parent: Option<&TaskId>, known: &Known) -> Result<PlanFile, PlanFileError> {
    let has_goal = text.lines().any(|line| line.starts_with("# "));
    let mut reader = Reader {
        name,
        parent,
        goal: parent.filter(|_| !has_goal).map(|parent| format!("Parts of {parent}")),
        plan: Map::new(),
        phases: Vec::new(),
        notes: Vec::new(),
        task: None,
        fenced: false,
    };
    for (at, line) in text.lines().enumerate() {
        reader.line(at + 1, line)?;
    }
    reader.finish(known)
}

struct Reader<'a> {
    name: &'a str,
    /// The task whose parts these are.
    parent: Option<&'a TaskId>,
    goal: Option<String>,
    /// Members of the plan that stand in a comment below the goal.
    plan: Map<String, Value>,
    phases: Vec<Phase<'a>>,
    /// Lines below the last heading, before its first task.
    notes: Vec<&'a str>,
    /// The item that indented lines belong to.
    task: Option<Task<'a>>,
    fenced: bool,
}

struct Phase<'a> {
    id: u32,
    name: String,
    members: Map<String, Value>,
    tasks: Vec<Task<'a>>,
}

struct Task<'a> {
    line: usize,
    mark: char,
    text: &'a str,
    lines: Vec<(usize, &'a str)>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, number: usize, line: &'a str) -> Result<(), PlanFileError> {
        if line.starts_with("```") || line.starts_with("~~~") {
            self.fenced = !self.fenced;
            return self.loose_text(number, line);
        }
        if self.fenced || line.trim().is_empty() || line.starts_with([' ', '\t']) {
            return self.loose_text(number, line);
        }
        if line.starts_with("<!-- swarm-ledger ") {
            return Ok(()); // where an export comes from is not a part of the plan
        }
        if let Some(members) = comment(line) {
            return self.members(number, members);
        }
        if let Some(goal) = line.strip_prefix("# ") {
            return self.goal(number, goal);
        }
        if let Some(heading) = line.strip_prefix("## ") {
            return self.phase(number, heading.trim());
        }
        if let Some(Item { mark, text }) = item(line) {
            return self.item(number, mark, text);
        }
        self.loose_text(number, line)
    }

    fn goal(&mut self, number: usize, goal: &str) -> Result<(), PlanFileError> {
        if self.goal.is_some() || !self.phases.is_empty() {
            let hint = "One `# goal` comes first; phases are `## Phase 1: name`";
            return Err(PlanFileError::at(self.name, number, "there is a second goal", hint));
        }
        self.goal = Some(goal.trim().to_owned());
        Ok(())
    }

    fn phase(&mut self, number: usize, heading: &str) -> Result<(), PlanFileError> {
        self.close_task();
        self.keep_notes();
        let next = self.phases.iter().map(|phase| phase.id).max().unwrap_or(0).checked_add(1);
        let (id, name) = phase_heading(heading).unwrap_or((next, heading));
        let Some(id) = id else {
            let hint = "Write `## Phase 1: name`, with a number from 1 on";
            return Err(PlanFileError::at(self.name, number, "this phase has no usable number", hint));
        };
        self.phases.push(Phase { id, name: name.to_owned(), members: Map::new(), tasks: Vec::new() });
        Ok(())
    }

    fn item(&mut self, number: usize, mark: char, text: &'a str) -> Result<(), PlanFileError> {
        self.close_task();
        self.keep_notes();
        if !matches!(mark, ' ' | 'x' | 'X') {
            let why = format!("[{mark}] is not a mark of a task");
            return Err(PlanFileError::at(self.name, number, why, "Use `[ ]` for open and `[x]` for done"));
        }
        if self.phases.is_empty() {
            self.phases.push(Phase { id: 1, name: String::new(), members: Map::new(), tasks: Vec::new() });
        }
        self.task = Some(Task { line: number, mark, text, lines: Vec::new() });
        Ok(())
    }

    fn members(&mut self, number: usize, text: &str) -> Result<(), PlanFileError> {
        let members: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
            PlanFileError::at(
                self.name,
                number,
                format!("the members in this comment are not JSON: {error}"),
                "",
            )
        })?;
        match self.phases.last_mut() {
            Some(phase) => phase.members.extend(members),
            None => self.plan.extend(members),
        }
        Ok(())
    }

    fn loose_text(&mut self, number: usize, line: &'a str) -> Result<(), PlanFileError> {
        let indented = line.trim().is_empty() || line.starts_with([' ', '\t']);
        if self.task.is_some() && !self.fenced && is_rule(line) {
            self.close_task(); // a line between phases, for the eye
            return Ok(());
        }
        match &mut self.task {
            Some(task) if indented => task.lines.push((number, line)),
            Some(_) => {
                let why = "this line is neither a task nor indented below one";
                return Err(PlanFileError::at(
                    self.name,
                    number,
                    why,
                    "Write `- [ ] id title`, or indent the text by two spaces",
                ));
            }
            None => self.notes.push(line.strip_prefix('\\').unwrap_or(line)),
        }
        Ok(())
    }

    fn close_task(&mut self) {
        if let (Some(task), Some(phase)) = (self.task.take(), self.phases.last_mut()) {
            phase.tasks.push(task);
        }
    }

    fn keep_notes(&mut self) {
        let notes = fields::paragraph(&std::mem::take(&mut self.notes));
        if notes.is_empty() {
            return;
        }
        match self.phases.last_mut() {
            Some(phase) => phase.members.insert(NOTES.into(), notes.into()),
            None => self.plan.insert(NOTES.into(), notes.into()),
        };
    }

    fn finish(mut self, known: &Known) -> Result<PlanFile, PlanFileError> {
        self.close_task();
        self.keep_notes();
        let name = self.name;
        let mut members = self.plan;
        if let Some(goal) = self.goal {
            members.entry("goal").or_insert(goal.into());
        }
        if members.get("goal").and_then(Value::as_str).is_none_or(|goal| goal.trim().is_empty()) {
            return Err(PlanFileError::whole(
                name,
                "it has no goal",
                "Begin the file with `# what the plan is for`",
            ));
        }
        members.insert("phases".into(), Value::Array(vec![]));
        let mut plan: PlanFile = from_members(name, 1, members)?;
        let all = self.phases.iter().flat_map(|phase| &phase.tasks);
        let mut ids = Ids::new(known, all.filter_map(|task| own_id(task.text)).map(|(id, _)| id).collect());
        for Phase { id, name: phase_name, mut members, tasks } in self.phases {
            members.insert("id".into(), id.into());
            members.entry("name").or_insert(phase_name.into());
            let mut phase: PhaseFile = from_members(name, 1, members)?;
            for task in tasks {
                let prefix = self.parent.map_or_else(|| format!("{id}."), |parent| format!("{parent}-"));
                phase.tasks.push(task.read(name, &prefix, &mut ids)?);
            }
            plan.phases.push(phase);
        }
        Ok(plan)
    }
}

/// Ids for tasks that have none in the file.
struct Ids<'a> {
    known: BTreeSet<&'a str>,
    /// Ids of the present plan by title, in its order. One that was given to a task is not looked at again.
    by_title: BTreeMap<&'a str, VecDeque<&'a str>>,
    taken: BTreeSet<String>,
    /// The last number that was tried behind each prefix: none before it is free any more.
    tried: BTreeMap<String, u64>,
}

impl<'a> Ids<'a> {
    fn new(known: &'a Known, taken: BTreeSet<String>) -> Self {
        let mut by_title: BTreeMap<&str, VecDeque<&str>> = BTreeMap::new();
        for (id, title) in &known.0 {
            by_title.entry(title.trim()).or_default().push_back(id.as_str());
        }
        let known = known.0.iter().map(|(id, _)| id.as_str()).collect();
        Self { known, by_title, taken, tried: BTreeMap::new() }
    }

    /// The id that the task of this title has in the present plan; else the next number that nobody has.
    fn of(&mut self, text: &str, prefix: &str) -> String {
        let title = depends_at_end(text).map_or(text, |(title, _)| title).trim();
        while let Some(id) = self.by_title.get_mut(title).and_then(VecDeque::pop_front) {
            if !self.taken.contains(id) {
                return id.to_owned();
            }
        }
        let tried = self.tried.entry(prefix.to_owned()).or_default();
        loop {
            *tried += 1;
            let id = format!("{prefix}{tried}");
            if !self.taken.contains(&id) && !self.known.contains(id.as_str()) {
                return id;
            }
        }
    }
}

impl Task<'_> {
    fn read(
        self,
        name: &str,
        prefix: &str,
        ids: &mut Ids<'_>,
    ) -> Result<crate::plan::TaskFile, PlanFileError> {
        let (id, title) = own_id(self.text).unwrap_or_else(|| (ids.of(self.text, prefix), self.text));
        ids.taken.insert(id.clone());
        let mut members = Map::new();
        members.insert("id".into(), id.into());
        let (title, depends) = depends_at_end(title).unwrap_or((title, vec![]));
        if !depends.is_empty() {
            members.insert("depends".into(), depends.into());
        }
        members.insert("title".into(), title.into());
        if self.mark != ' ' {
            members.insert("status".into(), "done".into());
        }
        fields::read(name, &self.lines, &mut members)?;
        if members["title"].as_str().is_none_or(|title| title.trim().is_empty()) {
            let hint = "Write `- [ ] 1.1 What is to be done`";
            return Err(PlanFileError::at(name, self.line, "this task has no title", hint));
        }
        from_members(name, self.line, members)
    }
}

/// `<!-- swarm {…} -->`: members that have no form of their own in Markdown.
fn comment(line: &str) -> Option<&str> {
    Some(line.strip_prefix("<!-- swarm ")?.trim_end().strip_suffix("-->")?.trim())
}

fn from_members<T: serde::de::DeserializeOwned>(
    name: &str,
    line: usize,
    members: Map<String, Value>,
) -> Result<T, PlanFileError> {
    serde_json::from_value(Value::Object(members)).map_err(|error| {
        PlanFileError::at(
            name,
            line,
            error.to_string(),
            "docs/reference/plan.schema.json lists what is allowed",
        )
    })
}
