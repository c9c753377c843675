//! The way in for plan files: bytes of unknown origin become a plan, or an error that names the line.

use std::collections::BTreeMap;

use super::error::PlanFileError;
use super::shapes::item;
use super::{checklist, json};
use crate::ids::TaskId;
use crate::plan::{PlanFile, TaskFile, TaskSpec};

/// A plan file is at most so large: room for 10,000 tasks of 1.6 KiB each.
pub const BYTES_MAX: usize = 16 << 20;

/// How a plan file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Markdown,
}

/// The format, by content rather than by name: what comes from a pipe has no name.
pub fn format_of(text: &str) -> Format {
    if text.trim_start().starts_with(['{', '[']) { Format::Json } else { Format::Markdown }
}

/// The tasks of the present plan, with their titles.
///
/// ```
/// use swarm_protocol::ids::TaskId;
/// use swarm_protocol::planfile::{Known, parse, parse_with_notes};
///
/// let first = parse("plan.md", b"# Greet\n- [ ] Say hello\n")?;
/// let known = Known::of(&first.phases[0].tasks);
/// // A line before it changes nothing: the task is still the same one.
/// let (plan, _) = parse_with_notes("plan.md", b"# Greet\n- [ ] Wave\n- [ ] Say hello\n", &known)?;
/// let ids: Vec<&str> = plan.phases[0].tasks.iter().map(|task| task.id.as_str()).collect();
/// assert_eq!(ids, ["1.2", "1.1"]);
/// # Ok::<(), swarm_protocol::planfile::PlanFileError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Known(pub Vec<(TaskId, String)>);

impl Known {
    pub fn of<'a>(tasks: impl IntoIterator<Item = &'a TaskFile>) -> Self {
        Self(tasks.into_iter().map(|task| (task.id.clone(), task.title.clone())).collect())
    }
}

/// Reads a plan file. `name` is how the person called it, for the messages.
pub fn parse(name: &str, bytes: &[u8]) -> Result<PlanFile, PlanFileError> {
    let text = text_of(name, bytes)?;
    parse_as(name, text, format_of(text), &Known::default())
}

/// The same for a text whose format is known.
pub(super) fn parse_as(
    name: &str,
    text: &str,
    format: Format,
    known: &Known,
) -> Result<PlanFile, PlanFileError> {
    let plan = match format {
        Format::Json => json::parse(name, text)?,
        Format::Markdown => checklist::parse(name, text, known)?,
    };
    refuse_doubles(name, text, &plan)?;
    Ok(plan)
}

/// Reads the parts that a task is to be split into: a checklist, a list of tasks, or a plan whose tasks are taken.
/// Those without an id are numbered after the task.
pub fn parse_parts(name: &str, bytes: &[u8], parent: &TaskId) -> Result<Vec<TaskSpec>, PlanFileError> {
    let text = text_of(name, bytes)?;
    let plan = match format_of(text) {
        Format::Json => json::parse_parts(name, text, parent)?,
        Format::Markdown => checklist::parse_parts(name, text, parent)?,
    };
    refuse_doubles(name, text, &plan)?;
    let tasks = plan.phases.into_iter().flat_map(|phase| phase.tasks);
    Ok(tasks.map(TaskSpec::from).collect())
}

pub(super) fn text_of<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, PlanFileError> {
    if bytes.len() > BYTES_MAX {
        let why = format!("it has {} bytes, at most {BYTES_MAX} are read", bytes.len());
        return Err(PlanFileError::whole(
            name,
            why,
            "Split the plan, or move long texts into files of the repository",
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count();
        PlanFileError::at(name, line, "it is not UTF-8 text", "Save the file as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(at) = text.find('\0') {
        return Err(PlanFileError::at(
            name,
            line_of(text, at),
            "it holds a NUL byte",
            "Save the file as plain text",
        ));
    }
    if text.trim().is_empty() {
        return Err(PlanFileError::whole(name, "it is empty", "Begin with `# goal` or `{\"goal\": …}`"));
    }
    Ok(text)
}

/// The line that the byte at `offset` stands in, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset].iter().filter(|b| **b == b'\n').count()
}

/// An id twice would make the second task silently replace the first.
fn refuse_doubles(name: &str, text: &str, plan: &PlanFile) -> Result<(), PlanFileError> {
    let mut phases = BTreeMap::new();
    let mut tasks = BTreeMap::new();
    for phase in &plan.phases {
        if phases.insert(phase.id, ()).is_some() {
            let why = format!("phase {} is defined twice", phase.id);
            return Err(PlanFileError::whole(name, why, "Give each phase its own number"));
        }
        for task in &phase.tasks {
            if let Some(first_phase) = tasks.insert(&task.id, phase.id) {
                let lines = lines_naming(text, task.id.as_str());
                let why = match lines.as_slice() {
                    [first, _, ..] => format!("task {} is defined twice, first at line {first}", task.id),
                    _ => format!(
                        "task {} is defined twice, in phase {first_phase} and in phase {}",
                        task.id, phase.id
                    ),
                };
                let hint = "Give each task its own id";
                return Err(match lines.get(1) {
                    Some(second) => PlanFileError::at(name, *second, why, hint),
                    None => PlanFileError::whole(name, why, hint),
                });
            }
        }
    }
    Ok(())
}

/// Lines where the id is given to a task. Only for the message of a refused file, so a search does.
fn lines_naming(text: &str, id: &str) -> Vec<usize> {
    let names = |line: &str| match format_of(text) {
        Format::Json => line.split("\"id\"").skip(1).any(|rest| {
            let rest = rest.trim_start().strip_prefix(':').unwrap_or_default().trim_start();
            rest.strip_prefix('"')
                .and_then(|rest| rest.strip_prefix(id))
                .is_some_and(|rest| rest.starts_with('"'))
        }),
        Format::Markdown => item(line).is_some_and(|item| {
            item.text.split_whitespace().next().is_some_and(|word| word.trim_end_matches(':') == id)
        }),
    };
    text.lines().enumerate().filter(|(_, line)| names(line)).map(|(at, _)| at + 1).take(2).collect()
}
