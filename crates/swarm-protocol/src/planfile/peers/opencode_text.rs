//! `.swarm/plan.md` of opencode-swarm: `- [BLOCKED] 1.2: Title [SMALL] (depends: 1.1) ← CURRENT`, phases with their
//! status in the heading, and rules between them.

use serde_json::Value;

use super::odd::Odd;
use super::opencode::{Phase, Task, joined, size_of, titled};
use super::{Care, Imported, Source};
use crate::plan::{Extra, PhaseFile, PlanFile, Size, Status, TaskFile, TaskSpec};

use crate::planfile::error::PlanFileError;
use crate::planfile::fields::paragraph;
use crate::planfile::read::{Format, format_of};
use crate::planfile::shapes::{depends_at_end, is_rule, own_id, phase_heading};

const STATUSES: [(&str, &str); 5] = [
    ("[PENDING]", "pending"),
    ("[IN PROGRESS]", "in_progress"),
    ("[COMPLETE]", "complete"),
    ("[COMPLETED]", "complete"),
    ("[BLOCKED]", "blocked"),
];
const CURRENT: &str = "← CURRENT";

/// Whether this can be read here at all.
pub(super) fn is_one(text: &str) -> bool {
    format_of(text) == Format::Markdown
}

/// Whether the marks of their form are there. Our own files say in a comment that they are ours.
pub(super) fn looks_like_one(text: &str) -> bool {
    let marked = |line: &str| {
        let heading = heading(line).is_some_and(|heading| status_at_end(heading).1.is_some());
        let head = line
            .strip_prefix("Phase: ")
            .is_some_and(|rest| STATUSES.iter().any(|(mark, _)| rest.contains(mark)));
        let item = item(line).is_some_and(|(mark, text)| {
            let theirs = text.split_whitespace().next().is_some_and(|id| id.ends_with(':'));
            mark == "BLOCKED" || (theirs && Marks::read(text).any())
        });
        heading || head || item
    };
    !text.lines().any(|line| line.starts_with("<!-- swarm")) && text.lines().any(marked)
}

pub(super) fn read(name: &str, text: &str, care: Care) -> Result<Imported, PlanFileError> {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        reader.line(at + 1, line).map_err(|why| {
            PlanFileError::at(name, at + 1, why, "Put this line right; nothing was imported")
        })?;
    }
    reader.close_task();
    let mut all = reader.phases.iter().flat_map(|phase| &phase.tasks);
    if let Some(odd) = all.find(|task| care == Care::Strict && !task.odd.is_empty()) {
        let why = "the mark of this task is not known";
        let known = "[ ], [x], [BLOCKED] and [IN PROGRESS] are known; nothing was imported";
        return Err(PlanFileError::at(name, odd.line, why, known));
    }
    let Some(goal) = reader.goal.filter(|goal| !goal.is_empty()) else {
        return Err(PlanFileError::whole(
            name,
            "it has no title",
            "Begin the file with `# what the plan is for`",
        ));
    };
    let mut extra = reader.extra;
    keep_notes(&mut extra, &reader.notes);
    let mut notes = Vec::new();
    let phases = joined(name, reader.phases, care, &mut notes)?;
    let plan = PlanFile { goal, phases, execution_profile: None, extra };
    Ok(Imported { plan, from: Source::OpencodeSwarm, notes })
}

#[derive(Default)]
struct Reader<'a> {
    goal: Option<String>,
    extra: Extra,
    /// Text above the first phase.
    notes: Vec<&'a str>,
    phases: Vec<Phase>,
    /// Text below the last heading or task.
    below: Vec<&'a str>,
    /// The last task is not closed: what follows is about it.
    in_task: bool,
    fenced: bool,
}

impl<'a> Reader<'a> {
    fn line(&mut self, number: usize, line: &'a str) -> Result<(), String> {
        let fence = line.trim_start().starts_with("```");
        self.fenced ^= fence;
        if self.fenced || fence {
            self.text(line);
        } else if let Some((mark, text)) = item(line) {
            return self.task(number, mark, text);
        } else if let Some(heading) = heading(line) {
            return self.phase(number, heading);
        } else if let Some(goal) = line.strip_prefix("# ").filter(|_| self.goal.is_none()) {
            self.goal = Some(goal.trim().to_owned());
        } else if let Some(swarm) = line.strip_prefix("Swarm:").filter(|_| self.phases.is_empty()) {
            self.extra.insert("swarm".into(), swarm.trim().into());
        } else if is_rule(line) {
            self.close_task();
        } else {
            self.text(line);
        }
        Ok(())
    }

    fn text(&mut self, line: &'a str) {
        let to = if self.phases.is_empty() { &mut self.notes } else { &mut self.below };
        to.push(line);
    }

    fn phase(&mut self, number: usize, heading: &str) -> Result<(), String> {
        self.close_task();
        let (heading, status) = status_at_end(heading);
        let Some((Some(id), name)) = phase_heading(heading) else {
            return Err("this phase has no usable number".into());
        };
        let mut extra = Extra::new();
        extra.extend(status.map(|status| ("status".to_owned(), status.into())));
        let head = PhaseFile { id, name: name.to_owned(), tasks: vec![], extra };
        self.phases.push(Phase { head, line: number, tasks: vec![] });
        Ok(())
    }

    fn task(&mut self, number: usize, mark: &str, text: &str) -> Result<(), String> {
        self.close_task();
        if self.phases.is_empty() {
            let head = PhaseFile { id: 1, ..PhaseFile::default() };
            self.phases.push(Phase { head, line: number, tasks: vec![] });
        }
        let Some(phase) = self.phases.last_mut() else { return Ok(()) };
        let marks = Marks::read(text);
        let (id, words) = own_id(marks.text)
            .unwrap_or_else(|| (format!("{}.{}", phase.head.id, phase.tasks.len() + 1), marks.text));
        if words.is_empty() {
            return Err("this task has no title".into());
        }
        let (title, description) = titled(words);
        let mut spec = TaskSpec::new("x".parse().map_err(|_| "it has no id")?, title);
        (spec.description, spec.size) = (description, marks.size);
        let (mut odd, mut status) = (Vec::new(), None);
        let mut word = if marks.in_progress { "in_progress" } else { "pending" };
        match mark.to_uppercase().as_str() {
            "" | " " | "PENDING" | "TODO" => {}
            "X" | "COMPLETE" | "COMPLETED" | "DONE" => status = Some(Status::Done),
            "BLOCKED" => {
                status = Some(Status::Blocked);
                // Their reason stands behind a dash, where a title may have one of its own: both keep it.
                let reason = words.rsplit_once(" - ").map(|(_, why)| why.trim());
                spec.extra.extend(reason.map(|why| ("blocked_reason".to_owned(), why.into())));
            }
            "~" | "-" | "/" | "IN PROGRESS" | "IN_PROGRESS" => word = "in_progress",
            other => odd.push(Odd::Status(other.to_lowercase())),
        }
        let file = TaskFile { status, ..TaskFile::from(spec) };
        phase.tasks.push(Task { id, line: number, depends: marks.depends, status: word.into(), odd, file });
        self.in_task = true;
        Ok(())
    }

    /// What stood below the last task is a part of it; what stood below a heading is a note of the phase.
    fn close_task(&mut self) {
        let below = std::mem::take(&mut self.below);
        let in_task = std::mem::take(&mut self.in_task);
        let Some(phase) = self.phases.last_mut() else { return };
        let text = paragraph(&below);
        match phase.tasks.last_mut().filter(|_| in_task) {
            _ if text.is_empty() => {}
            Some(task) if task.file.description.is_empty() => task.file.description = text,
            Some(task) => task.file.description = format!("{}\n\n{text}", task.file.description),
            None => keep_notes(&mut phase.head.extra, &below),
        }
    }
}

fn keep_notes(extra: &mut Extra, lines: &[&str]) {
    let text = paragraph(lines);
    if text.is_empty() {
        return;
    }
    let before = extra.get("notes").and_then(Value::as_str).map(|notes| format!("{notes}\n\n"));
    extra.insert("notes".into(), format!("{}{text}", before.unwrap_or_default()).into());
}

/// `## Phase 1: name` or one level deeper, without the marks before it.
fn heading(line: &str) -> Option<&str> {
    let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("### "))?.trim();
    heading.get(..6).filter(|start| start.eq_ignore_ascii_case("phase ")).map(|_| heading)
}

/// The mark and the text of `- [mark] text`; links and other words in brackets are none.
fn item(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("- [").or_else(|| line.strip_prefix("* ["))?;
    let (mark, text) = rest.split_once(']')?;
    let short = mark.chars().count() <= 1;
    let word = mark.len() <= 12 && mark.chars().all(|c| c.is_ascii_uppercase() || matches!(c, ' ' | '_'));
    (text.starts_with([' ', '\t']) && (short || word)).then_some((mark, text.trim()))
}

fn status_at_end(text: &str) -> (&str, Option<&'static str>) {
    let text = text.trim_end();
    let found = STATUSES.iter().find_map(|(mark, word)| Some((text.strip_suffix(mark)?, *word)));
    found.map_or((text, None), |(rest, word)| (rest.trim_end(), Some(word)))
}

/// What stands behind the title, in whatever order.
struct Marks<'a> {
    text: &'a str,
    size: Option<Size>,
    depends: Vec<String>,
    in_progress: bool,
}

impl<'a> Marks<'a> {
    fn read(text: &'a str) -> Self {
        let mut marks = Self { text: text.trim(), size: None, depends: vec![], in_progress: false };
        loop {
            let before = marks.text;
            if let Some(rest) = marks.text.strip_suffix(CURRENT) {
                (marks.text, marks.in_progress) = (rest, true);
            }
            if let (rest, Some(word)) = status_at_end(marks.text) {
                marks.text = rest;
                marks.in_progress |= word == "in_progress";
            }
            if let Some((rest, ids)) = depends_at_end(marks.text) {
                marks.depends.splice(..0, ids.into_iter().map(str::to_owned));
                marks.text = rest;
            }
            let size = marks.text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
            if let Some((rest, size)) =
                size.and_then(|(rest, word)| Some((rest, size_of(&word.to_lowercase())?)))
            {
                (marks.text, marks.size) = (rest, Some(size));
            }
            marks.text = marks.text.trim_end();
            if marks.text == before {
                return marks;
            }
        }
    }

    fn any(&self) -> bool {
        self.size.is_some() || self.in_progress
    }
}
