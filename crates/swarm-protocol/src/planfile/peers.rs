//! Plans of other tools: what they keep on disk becomes a [`PlanFile`], and what could not be taken over as it was
//! is said. Members that we do not know stay with the task, phase or plan that had them.

mod detect;
pub(super) mod members;
mod names;
mod order;
mod opencode;
mod opencode_text;
mod opencode_ledger;
mod odd;
mod issue;
mod forest;
mod phases;

use std::fmt;
use std::str::FromStr;

use super::error::PlanFileError;
use super::noted::{lost_boxes, refuse_near_misses};
use super::read::{Format, Known, parse_as, text_of};
use crate::ids::TaskId;
use crate::plan::{PlanFile, TaskFile};

/// Whose plan a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// `.swarm/plan.json` of opencode-swarm.
    OpencodeSwarm,
    /// `.beads/issues.jsonl`.
    Beads,
    /// `.hive/issues.jsonl`.
    Hive,
    /// Our own, as JSON.
    Json,
    /// Our own, as a checklist.
    Markdown,
}

impl Source {
    pub const ALL: [Self; 5] = [Self::OpencodeSwarm, Self::Beads, Self::Hive, Self::Json, Self::Markdown];

    pub fn word(self) -> &'static str {
        match self {
            Self::OpencodeSwarm => "opencode-swarm",
            Self::Beads => "beads",
            Self::Hive => "hive",
            Self::Json => "json",
            Self::Markdown => "markdown",
        }
    }

    /// Whether another tool wrote it.
    pub fn is_peer(self) -> bool {
        matches!(self, Self::OpencodeSwarm | Self::Beads | Self::Hive)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Source {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::word).join(", ");
        Self::ALL
            .into_iter()
            .find(|source| source.word() == text)
            .ok_or_else(|| format!("one of {known} is wanted"))
    }
}

/// A plan that was read, and what a person should know about the reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub plan: PlanFile,
    pub from: Source,
    /// One sentence each, without a full stop; empty where everything could be taken over as it was.
    pub notes: Vec<String>,
}

/// What becomes of something that can only nearly be taken over: a status that is not known, a priority out of
/// range, a dependency on something that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Care {
    /// Taken over as near as possible, with a note.
    #[default]
    Lenient,
    /// The file is refused with that line.
    Strict,
}

/// Reads a plan of ours or of another tool. Without `from` the content says whose it is. Nothing is half read: a file
/// with one wrong line is refused with that line.
pub fn import(name: &str, bytes: &[u8], from: Option<Source>) -> Result<Imported, PlanFileError> {
    import_with(name, bytes, from, Care::Lenient)
}

/// As [`import`], with a choice of what is good enough.
pub fn import_with(
    name: &str,
    bytes: &[u8],
    from: Option<Source>,
    care: Care,
) -> Result<Imported, PlanFileError> {
    let text = text_of(name, bytes)?;
    let from = from.unwrap_or_else(|| detect::source_of(name, text));
    match from {
        Source::OpencodeSwarm if opencode_text::is_one(text) => opencode_text::read(name, text, care),
        Source::OpencodeSwarm if opencode_ledger::is_one(text) => opencode_ledger::read(name, text, care),
        Source::OpencodeSwarm => opencode::read(name, text, care),
        Source::Beads | Source::Hive => forest::read(name, text, from, care),
        Source::Json => ours(name, text, Format::Json, from),
        Source::Markdown => ours(name, text, Format::Markdown, from),
    }
}

fn ours(name: &str, text: &str, format: Format, from: Source) -> Result<Imported, PlanFileError> {
    let plan = parse_as(name, text, format, &Known::default())?;
    refuse_near_misses(name, text, &plan)?;
    let boxes = lost_boxes(text).filter(|_| format == Format::Markdown);
    Ok(Imported { plan, from, notes: boxes.into_iter().collect() })
}

/// A list for a sentence, with an end.
fn listed<T: AsRef<str>>(names: &[T]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Gives a task its name of here. Where that is another one, the old one stays to be seen.
fn keep_old_id(task: &mut TaskFile, id: TaskId, old: &str, from: Source) {
    if id.as_str() != old {
        task.extra.insert("imported_id".into(), old.into());
        task.tags.push(format!("{from}:{}", old.escape_debug()));
    }
    task.id = id;
}

#[cfg(test)]
mod tests;
