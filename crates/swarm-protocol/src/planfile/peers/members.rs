//! The members of one object of another tool: taken out one by one, the rest is kept.

use serde_json::{Map, Value};

use crate::plan::Extra;
use crate::planfile::error::PlanFileError;
use crate::planfile::noted::nearly;

/// An object, and where it stands for the messages.
pub(super) struct Members<'a> {
    pub file: &'a str,
    pub line: usize,
    map: Map<String, Value>,
}

impl<'a> Members<'a> {
    pub fn new(file: &'a str, line: usize, map: Map<String, Value>) -> Self {
        Self { file, line, map }
    }

    pub fn wrong(&self, why: impl Into<String>, hint: impl Into<String>) -> PlanFileError {
        PlanFileError::at(self.file, self.line, why, hint)
    }

    fn of_kind(&self, key: &str, kind: &str) -> PlanFileError {
        self.wrong(format!("its {key} is not {kind}"), "Put this line right; nothing was imported")
    }

    /// `null` is as good as absent: the tools write either.
    pub fn take_value(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key).filter(|value| !value.is_null())
    }

    /// Kept with what nobody took, under the name that it has there.
    pub fn keep(&mut self, key: &str, value: Value) {
        self.map.insert(key.to_owned(), value);
    }

    pub fn peek(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub fn text(&mut self, key: &str) -> Result<Option<String>, PlanFileError> {
        match self.take_value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.of_kind(key, "text")),
        }
    }

    /// A text that must be there and say something.
    pub fn needed(&mut self, key: &str) -> Result<String, PlanFileError> {
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(self.wrong(format!("it has no {key}"), "Put this line right; nothing was imported")),
        }
    }

    pub fn number(&mut self, key: &str) -> Result<Option<u64>, PlanFileError> {
        match self.take_value(key) {
            None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| self.of_kind(key, "a whole number")),
        }
    }

    pub fn texts(&mut self, key: &str) -> Result<Vec<String>, PlanFileError> {
        match self.take_value(key) {
            None => Ok(vec![]),
            Some(Value::Array(list)) => list
                .into_iter()
                .map(|entry| match entry {
                    Value::String(text) => Ok(text),
                    _ => Err(self.of_kind(key, "a list of texts")),
                })
                .collect(),
            Some(_) => Err(self.of_kind(key, "a list of texts")),
        }
    }

    /// Criteria, which stand in a text or in a list of texts.
    pub fn criteria(&mut self, key: &str) -> Result<Vec<String>, PlanFileError> {
        match self.peek(key) {
            Some(Value::Array(_)) => {
                let entries = self.texts(key)?.into_iter().map(|entry| entry.trim().to_owned());
                Ok(entries.filter(|entry| !entry.is_empty()).collect())
            }
            _ => Ok(self.text(key)?.map(|text| criteria(&text)).unwrap_or_default()),
        }
    }

    /// What nobody took. Names that mean something else to us, or are nearly such a name, get the tool's name before
    /// them: a plan file of ours with the latter would be taken for misspelt.
    pub fn rest(self, tool: &str, ours: &[&str]) -> Extra {
        let taken = |key: &str| ours.contains(&key) || nearly(key, ours).is_some();
        let named = |key: String| if taken(&key) { format!("{tool}_{key}") } else { key };
        self.map.into_iter().map(|(key, value)| (named(key), value)).collect()
    }
}

/// Members of a task that have a meaning here.
pub(in crate::planfile) const OF_A_TASK: &[&str] = &[
    "id",
    "title",
    "description",
    "depends",
    "acceptance",
    "files",
    "reserve",
    "share",
    "tags",
    "size",
    "priority",
    "profile",
    "isolation",
    "review",
    "allow_empty",
    "status",
];
pub(in crate::planfile) const OF_A_PHASE: &[&str] = &["id", "name", "tasks"];
pub(in crate::planfile) const OF_A_PLAN: &[&str] = &["goal", "phases", "execution_profile", "ledger"];

/// Criteria as entries: one per item where the text is a list, else the text as it is.
fn criteria(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let items: Option<Vec<&str>> = lines.iter().map(|line| item(line)).collect();
    match items {
        Some(items) if !items.is_empty() => items.into_iter().map(str::to_owned).collect(),
        _ if lines.is_empty() => vec![],
        _ => vec![text.trim().to_owned()],
    }
}

fn item(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))?.trim_start();
    let boxes = ["[ ] ", "[x] ", "[X] "];
    let text = boxes.iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest).trim();
    (!text.is_empty()).then_some(text)
}
