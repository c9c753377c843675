//! What a person should know about a plan file of ours that was read, and members that are nearly one of ours: kept
//! as unknown, what they ask for would not happen.

use super::error::PlanFileError;
use super::json::DEPENDS_TOO;
use super::peers::members::{OF_A_PHASE, OF_A_PLAN, OF_A_TASK};
use super::read::{Format, Known, format_of, line_of, parse_as, text_of};
use super::shapes::{is_rule, item};
use crate::near::distance;
use crate::plan::{Extra, PlanFile, Status};

/// Ids that a note names.
const NAMED_MAX: usize = 8;

/// As [`parse`](super::parse), for a file that a person wrote and whose statuses are not taken over: a member that is
/// nearly one of ours is refused, and what is passed over is said. One sentence each, without a full stop.
pub fn parse_with_notes(
    name: &str,
    bytes: &[u8],
    known: &Known,
) -> Result<(PlanFile, Vec<String>), PlanFileError> {
    let text = text_of(name, bytes)?;
    if format_of(text) == Format::Markdown {
        refuse_word_marks(name, text)?;
    }
    let plan = parse_as(name, text, format_of(text), known)?;
    refuse_near_misses(name, text, &plan)?;
    let boxes = lost_boxes(text).filter(|_| format_of(text) == Format::Markdown);
    let notes = statuses(&plan).into_iter().chain(boxes).collect();
    Ok((plan, notes))
}

/// Boxes of a checklist that stand where no task can: indented below plain text, or behind another mark of a list. Below
/// a task they are part of it; anywhere else they are text, and nobody does them.
pub(super) fn lost_boxes(text: &str) -> Option<String> {
    let (mut fenced, mut in_task) = (false, false);
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        fenced ^= line.starts_with("```") || line.starts_with("~~~");
        if fenced {
            continue;
        }
        if item(line).is_some() {
            in_task = true;
        } else if line.starts_with("## ") || is_rule(line) {
            in_task = false;
        } else if !in_task && is_box(line) {
            lines.push((at + 1).to_string());
        }
    }
    let named = lines.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if lines.len() > NAMED_MAX { " …" } else { "" };
    let words = "Boxes that are not tasks, because a task starts at the margin with `- [ ]`: line";
    (!lines.is_empty()).then(|| format!("{words} {named}{more}"))
}

/// `- [ ] text`, `+ [x] text`, `1. [ ] text`, wherever it begins.
fn is_box(line: &str) -> bool {
    let line = line.trim_start();
    let behind_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (behind_digits.len() < line.len()).then_some(behind_digits);
    let text = ["- ", "* ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .or_else(|| numbered?.strip_prefix(['.', ')']));
    text.is_some_and(|text| ["[ ] ", "[x] ", "[X] "].iter().any(|mark| text.trim_start().starts_with(mark)))
}

/// Marks of other tools. Before the first task such a line would be text, and its task lost.
fn refuse_word_marks(name: &str, text: &str) -> Result<(), PlanFileError> {
    let mut fenced = false;
    for (at, line) in text.lines().enumerate() {
        fenced ^= line.starts_with("```") || line.starts_with("~~~");
        let rest = line.strip_prefix("- [").or_else(|| line.strip_prefix("* ["));
        let Some((mark, _)) = rest.filter(|_| !fenced).and_then(|rest| rest.split_once("] ")) else {
            continue;
        };
        if ["BLOCKED", "IN PROGRESS", "IN_PROGRESS", "PENDING", "COMPLETE", "COMPLETED"].contains(&mark) {
            let hint = "`swarm plan import` reads plans of opencode-swarm; in ours write `[ ]` or `[x]`, and `status: blocked` below it";
            let why = format!("[{mark}] is not a mark of a task");
            return Err(PlanFileError::at(name, at + 1, why, hint));
        }
    }
    Ok(())
}

fn statuses(plan: &PlanFile) -> Option<String> {
    let tasks = plan.phases.iter().flat_map(|phase| &phase.tasks);
    let told = tasks.filter(|task| task.status.is_some_and(|status| status != Status::Pending));
    let ids: Vec<&str> = told.map(|task| task.id.as_str()).collect();
    let named = ids.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    match ids.len() {
        0 => None,
        1 => Some(format!(
            "The status of {named} in the file is not taken over; `swarm plan import` does that for a pending task"
        )),
        n if n > NAMED_MAX => Some(format!(
            "The statuses of {n} tasks in the file are not taken over ({named} …); `swarm plan import` does that for pending tasks"
        )),
        _ => Some(format!(
            "The statuses of {named} in the file are not taken over; `swarm plan import` does that for pending tasks"
        )),
    }
}

/// Refuses members that are one letter or a capital away from one that means something.
pub(super) fn refuse_near_misses(name: &str, text: &str, plan: &PlanFile) -> Result<(), PlanFileError> {
    refuse(name, text, "the plan", &plan.extra, OF_A_PLAN)?;
    for phase in &plan.phases {
        refuse(name, text, &format!("phase {}", phase.id), &phase.extra, OF_A_PHASE)?;
        for task in &phase.tasks {
            refuse(name, text, &format!("task {}", task.id), &task.extra, OF_A_TASK)?;
        }
    }
    Ok(())
}

fn refuse(name: &str, text: &str, of: &str, extra: &Extra, ours: &[&str]) -> Result<(), PlanFileError> {
    let Some((typed, meant)) = extra.keys().find_map(|key| Some((key, nearly(key, ours)?))) else {
        return Ok(());
    };
    let why = format!("{typed:?} of {of} is not a member of it; did you mean {meant:?}?");
    let hint = format!("Write `{meant}`, or another name if it is something of your own");
    Err(match text.find(&format!("\"{typed}\"")) {
        Some(at) => PlanFileError::at(name, line_of(text, at), why, hint),
        None => PlanFileError::whole(name, why, hint),
    })
}

/// The member of ours that was probably meant by a name that is none.
pub(super) fn nearly<'a>(typed: &str, ours: &[&'a str]) -> Option<&'a str> {
    let first = |text: &str| text.chars().next().map(|c| c.to_ascii_lowercase());
    let near = |name: &str| {
        typed != name
            && name.len() > 2
            && typed.len() > 2
            && first(typed) == first(name)
            && distance(typed, name) <= 1
    };
    let known = ours.contains(&typed);
    let synonym = ours.contains(&"depends") && DEPENDS_TOO.iter().any(|word| near(word));
    let direct = ours.iter().copied().find(|name| near(name));
    direct.or_else(|| ours.iter().copied().find(|name| synonym && *name == "depends")).filter(|_| !known)
}

#[cfg(test)]
mod tests;
