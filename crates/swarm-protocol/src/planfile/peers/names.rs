//! Ids of other tools as ids of ours. Most fit as they are; the others are made to, and the old one is kept.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::TaskId;
use crate::planfile::error::PlanFileError;

/// Room for a number behind it.
const NAME_MAX: usize = 56;

/// Every id of a file with the name it has here.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: BTreeMap<String, TaskId>,
}

impl Names {
    /// Gives every id a name. An id that is there twice is refused with both lines.
    pub fn of<'a>(
        file: &str,
        ids: impl Iterator<Item = (&'a str, usize)> + Clone,
    ) -> Result<Self, PlanFileError> {
        let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
        for (id, line) in ids.clone() {
            if let Some(first) = lines.insert(id, line) {
                let why = format!("task {id} is defined twice, first at line {first}");
                return Err(PlanFileError::at(file, line, why, "Give each task its own id"));
            }
        }
        let mut names = Self::default();
        // Those that fit keep their names, whoever comes first in the file.
        for (id, _) in ids.clone() {
            if let Ok(name) = TaskId::new(id) {
                names.known.insert(id.to_owned(), name);
            }
        }
        let mut taken: BTreeSet<TaskId> = names.known.values().cloned().collect();
        for (id, _) in ids {
            if !names.known.contains_key(id) {
                let name = free(&fitting(id), &taken);
                taken.insert(name.clone());
                names.known.insert(id.to_owned(), name);
            }
        }
        Ok(names)
    }

    pub fn get(&self, id: &str) -> Option<&TaskId> {
        self.known.get(id)
    }

    /// `BD-1 is bd-1 here`, for those that had to change.
    pub fn changed(&self) -> Vec<String> {
        let changed = self.known.iter().filter(|(old, new)| new.as_str() != old.as_str());
        changed.map(|(old, new)| format!("{} is {new} here", old.escape_debug())).collect()
    }
}

/// The nearest text that can be a task id, a branch and a folder.
fn fitting(id: &str) -> String {
    let mut name = String::new();
    for c in id.chars().take(NAME_MAX).map(|c| c.to_ascii_lowercase()) {
        let c = if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
        if !(c == '.' && name.ends_with('.')) {
            name.push(c);
        }
    }
    let name = name.trim_matches(['.', '_', '-']);
    let name = name.strip_suffix(".lock").unwrap_or(name).trim_end_matches('.');
    match TaskId::new(name) {
        Ok(_) => name.to_owned(),
        Err(_) => format!("task-{name}").trim_end_matches('-').to_owned(),
    }
}

fn free(name: &str, taken: &BTreeSet<TaskId>) -> TaskId {
    let numbered = (1..).map(|n| if n == 1 { name.to_owned() } else { format!("{name}-{n}") });
    let mut ids = numbered.filter_map(|name| TaskId::new(name).ok()).filter(|id| !taken.contains(id));
    ids.next().expect("numbers do not end, and a fitting name with a number is an id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_do_not_fit_are_made_to_and_never_meet_another() {
        let ids = [
            "BD-1", "bd-1", "a b", "a/b", "..", "merge", "x.lock", "Ünder", "", "1.2.3", "_x", "bd-1-2",
            "Bd-1",
        ];
        let names = Names::of("f", ids.iter().map(|id| (*id, 1))).expect("all differ");
        let got: Vec<&str> = ids.iter().map(|id| names.get(id).expect("named").as_str()).collect();
        assert_eq!(
            got,
            [
                "bd-1-3",
                "bd-1",
                "a-b",
                "a-b-2",
                "task",
                "task-merge",
                "x",
                "nder",
                "task-2",
                "1.2.3",
                "x-2",
                "bd-1-2",
                "bd-1-4"
            ]
        );
        assert_eq!(names.changed().len(), 10);
    }

    #[test]
    fn a_very_long_id_is_cut_and_still_its_own() {
        let (one, two) = (format!("A{}", "x".repeat(300)), format!("B{}", "x".repeat(300)));
        let also = format!("A{}y", "x".repeat(300));
        let names = Names::of("f", [&one, &two, &also].iter().map(|id| (id.as_str(), 1))).expect("differ");
        let all: BTreeSet<&TaskId> = [&one, &two, &also].iter().filter_map(|id| names.get(id)).collect();
        assert_eq!(all.len(), 3);
    }
}
