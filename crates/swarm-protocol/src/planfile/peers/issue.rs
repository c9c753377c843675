//! One issue of beads or hive: a line of JSON, checked and in our words.

use serde_json::{Map, Value};

use super::members::Members;
use super::odd::{self, Odd};
use super::{Care, listed};
use crate::plan::Status;
use crate::planfile::error::PlanFileError;

const LINE_HINT: &str = "Each line is one issue as a JSON object; nothing was imported";

pub(super) struct Issue<'a> {
    pub line: usize,
    pub id: String,
    pub title: String,
    pub description: String,
    pub acceptance: Vec<String>,
    pub state: State,
    pub priority: Option<u8>,
    pub labels: Vec<String>,
    pub is_epic: bool,
    pub parent: Option<String>,
    /// Ids that have to be closed first.
    pub blocked_by: Vec<String>,
    /// What could only nearly be taken over.
    pub odd: Vec<Odd>,
    /// What nobody asked about.
    pub rest: Members<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Open,
    InProgress,
    Blocked,
    Deferred,
    Closed,
    Cancelled,
    Tombstone,
}

impl State {
    pub fn of(word: &str) -> Option<Self> {
        let all =
            [Self::Open, Self::InProgress, Self::Blocked, Self::Deferred, Self::Closed, Self::Tombstone];
        all.into_iter().find(|state| state.word() == word)
    }

    /// As the tools write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Deferred => "deferred",
            Self::Closed => "closed",
            Self::Cancelled => "cancelled",
            Self::Tombstone => "tombstone",
        }
    }

    /// As an import takes it over. What was under way elsewhere has to be started here.
    pub fn status(self) -> Option<Status> {
        match self {
            Self::Open | Self::InProgress | Self::Tombstone => None,
            Self::Blocked => Some(Status::Blocked),
            Self::Deferred => Some(Status::Deferred),
            Self::Closed => Some(Status::Done),
            Self::Cancelled => Some(Status::Cancelled),
        }
    }
}

/// Every line that is not empty, in the order of the file. An export of beads holds its memories as well: they are
/// no work, and are only named.
pub(super) fn all<'a>(
    name: &'a str,
    text: &str,
    care: Care,
    notes: &mut Vec<String>,
) -> Result<Vec<Issue<'a>>, PlanFileError> {
    let (mut issues, mut others) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let members = Members::new(name, at + 1, object(name, at + 1, line)?);
        match members.peek("_type").and_then(Value::as_str).filter(|kind| *kind != "issue") {
            Some(kind) if care == Care::Lenient => {
                others.push(format!("{} at line {}", kind.escape_debug(), at + 1));
            }
            Some(kind) => {
                let why = format!("it is a {kind:?} and no issue");
                return Err(members.wrong(why, "Take this line out; nothing was imported"));
            }
            None => issues.push(issue(members, care)?),
        }
    }
    if !others.is_empty() {
        notes.push(format!("Records that are no issues, left out: {}", listed(&others)));
    }
    Ok(issues)
}

fn issue(mut members: Members<'_>, care: Care) -> Result<Issue<'_>, PlanFileError> {
    let line = members.line;
    let id = members.needed("id")?;
    let mut odd = Vec::new();
    let state = odd::state(&mut members, care, &mut odd)?;
    // Only its id is left of a tombstone, so nothing else may be asked of it.
    let title = match state {
        State::Tombstone => members.text("title")?.unwrap_or_default(),
        _ => one_line(&members.needed("title")?),
    };
    let description = described(&mut members)?;
    let acceptance = members.criteria("acceptance_criteria")?;
    let priority = odd::priority(&mut members, care, &mut odd)?;
    let labels = members.texts("labels")?;
    let is_epic = members.peek("issue_type").and_then(Value::as_str) == Some("epic");
    let Links { parent, blocked_by, conditional, unknown } = links(&members, &id)?;
    if conditional && care == Care::Strict {
        let why = "it runs only if something else fails, which there is no form for";
        return Err(members.wrong(why, "Take this dependency out; nothing was imported"));
    }
    if let (Some(kind), Care::Strict) = (unknown.first(), care) {
        let why = format!("{kind:?} is no kind of a dependency");
        return Err(members.wrong(why, "Write `blocks` where it orders work; nothing was imported"));
    }
    odd.extend(conditional.then_some(Odd::Conditional));
    odd.extend(unknown.into_iter().map(Odd::Link));
    Ok(Issue {
        line,
        id,
        title,
        description,
        acceptance,
        state,
        priority,
        labels,
        is_epic,
        parent,
        blocked_by,
        odd,
        rest: members,
    })
}

fn object(name: &str, line: usize, text: &str) -> Result<Map<String, Value>, PlanFileError> {
    if ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| text.starts_with(mark)) {
        let why = "git left the mark of a merge conflict here";
        return Err(PlanFileError::at(name, line, why, "Resolve the conflict first; nothing was imported"));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(PlanFileError::at(name, line, "this is no object", LINE_HINT)),
        Err(error) => {
            let words = error.to_string();
            let why = words.split(" at line ").next().unwrap_or(&words);
            let why = format!("it is not JSON here: {why} at character {}", error.column());
            Err(PlanFileError::at(name, line, why, LINE_HINT))
        }
    }
}

/// All that an agent should read: the description, then design and notes under their names.
fn described(members: &mut Members<'_>) -> Result<String, PlanFileError> {
    let mut parts: Vec<String> = members.text("description")?.into_iter().collect();
    for (key, head) in [("design", "Design"), ("notes", "Notes")] {
        if let Some(text) = members.text(key)?.filter(|text| !text.trim().is_empty()) {
            parts.push(format!("{head}:\n{text}"));
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    Ok(parts.join("\n\n"))
}

struct Links {
    parent: Option<String>,
    blocked_by: Vec<String>,
    /// One of them is to fail first.
    conditional: bool,
    /// Kinds of links that nobody knows.
    unknown: Vec<String>,
}

/// Links that do not order work, in beads and in hive.
const LOOSE: [&str; 16] = [
    "related",
    "relates-to",
    "discovered-from",
    "duplicates",
    "supersedes",
    "replies-to",
    "authored-by",
    "assigned-to",
    "approved-by",
    "attests",
    "tracks",
    "until",
    "caused-by",
    "validates",
    "delegated-from",
    "thread",
];

/// `blocks` and its kin order work, `parent-child` and `parent_id` make phases; other kinds are kept and mean nothing here.
fn links(members: &Members<'_>, id: &str) -> Result<Links, PlanFileError> {
    let wrong = |why: &str| members.wrong(why, "Put this line right; nothing was imported");
    let mut links = Links { parent: None, blocked_by: vec![], conditional: false, unknown: vec![] };
    match members.peek("parent_id") {
        None => {}
        Some(Value::String(parent)) => {
            links.parent = Some(parent.clone()).filter(|parent| !parent.is_empty())
        }
        Some(_) => return Err(wrong("its parent_id is not text")),
    }
    let entries = match members.peek("dependencies") {
        None => return Ok(links),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(wrong("its dependencies are no list")),
    };
    for entry in entries {
        let of = |key: &str| entry.get(key).and_then(Value::as_str);
        let Some(on) = of("depends_on_id") else {
            return Err(wrong("one of its dependencies does not say in depends_on_id what it depends on"));
        };
        if of("issue_id").is_some_and(|issue| issue != id) {
            return Err(wrong("one of its dependencies is that of another issue"));
        }
        let said = of("type").unwrap_or("blocks");
        let kind = said.trim().to_lowercase().replace(['_', ' '], "-");
        links.conditional |= kind == "conditional-blocks";
        match kind.as_str() {
            "" | "blocks" | "blocked-by" | "depends-on" | "waits-for" | "conditional-blocks" => {
                if !links.blocked_by.iter().any(|known| known == on) {
                    links.blocked_by.push(on.to_owned());
                }
            }
            "parent-child" => links.parent = links.parent.or_else(|| Some(on.to_owned())),
            kind if LOOSE.contains(&kind) => {}
            _ => links.unknown.push(said.to_owned()),
        }
    }
    Ok(links)
}

fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}
