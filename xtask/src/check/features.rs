//! `docs/features.md` is a promise: every requirement has a row, and a row that says something works
//! names the test that would fail if it did not.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{Findings, Sources};
use crate::workspace::Workspace;

const TABLE: &str = "docs/features.md";

/// The requirements: a letter and how many there are. Those of the torture catalogue start with `T-`.
const REQUIREMENTS: &[(&str, u32)] = &[
    ("K", 2),
    ("L", 14),
    ("W", 11),
    ("V", 6),
    ("I", 13),
    ("C", 9),
    ("F", 14),
    ("H", 4),
    ("A", 7),
    ("U", 9),
    ("S", 10),
    ("N", 4),
    ("T-A", 4),
    ("T-B", 5),
    ("T-C", 5),
    ("T-D", 7),
    ("T-E", 2),
    ("T-F", 3),
    ("T-G", 3),
    ("T-H", 4),
    ("T-I", 3),
    ("T-J", 2),
    ("T-K", 1),
    ("T-L", 2),
    ("T-M", 2),
    ("T-N", 4),
];

pub fn check(workspace: &Workspace, sources: &Sources) -> Result<Findings> {
    Ok(judge(&workspace.read(TABLE)?, sources))
}

fn judge(table: &str, sources: &Sources) -> Findings {
    let required: BTreeSet<String> = REQUIREMENTS
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |number| format!("{letter}{number}")))
        .collect();
    let mut findings = Findings::default();
    let mut seen = BTreeSet::new();
    for (number, line) in table.lines().enumerate() {
        let Some(row) = Row::read(line) else { continue };
        let place = format!("{TABLE}:{}: {}", number + 1, row.id);
        if !required.contains(row.id) {
            findings.fail(format!("{place} is no requirement"));
        }
        if !seen.insert(row.id.to_owned()) {
            findings.fail(format!("{place} stands in the table twice"));
        }
        for problem in row.problems(sources) {
            findings.fail(format!("{place} {problem}"));
        }
    }
    let missing: Vec<&str> = required.iter().filter(|id| !seen.contains(*id)).map(String::as_str).collect();
    if !missing.is_empty() {
        findings.fail(format!("{TABLE} has no row for {}", missing.join(", ")));
    }
    findings
}

/// One row: ID | what | state | proving tests, each in backticks.
struct Row<'a> {
    id: &'a str,
    what: &'a str,
    state: &'a str,
    proof: &'a str,
}

impl<'a> Row<'a> {
    /// A row of the table, unless the line is text, a heading of the table or the rule below it.
    fn read(line: &'a str) -> Option<Row<'a>> {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        let [id, what, state, proof] = cells[..] else { return None };
        let is_heading = id == "ID" || id.starts_with('-') || id.starts_with(':');
        (!is_heading).then_some(Row { id, what, state, proof })
    }

    /// The tests it names: the last part of each path in backticks. A command, with its spaces, is none.
    fn tests(&self) -> Vec<&'a str> {
        let quoted = self.proof.split('`').skip(1).step_by(2);
        quoted.filter(|name| !name.contains(' ')).filter_map(|name| name.rsplit("::").next()).collect()
    }

    fn problems(&self, sources: &Sources) -> Vec<String> {
        let mut problems = Vec::new();
        if self.what.is_empty() {
            problems.push("does not say what it is".to_owned());
        }
        let tests = self.tests();
        match self.state {
            "works" | "partly" if tests.is_empty() => {
                problems.push(format!("is said to be `{}` but names no test that proves it", self.state));
            }
            "works" | "partly" | "not yet" => {}
            other => problems.push(format!("has the state `{other}`; write works, partly or not yet")),
        }
        for test in tests {
            if !sources.values().any(|text| defines(text, test)) {
                problems.push(format!("names the test `{test}`, which is nowhere"));
            }
        }
        problems
    }
}

fn defines(text: &str, function: &str) -> bool {
    text.match_indices(&format!("fn {function}"))
        .any(|(at, found)| text[at + found.len()..].starts_with(['(', '<']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(row: &str) -> Vec<String> {
        let mut table: String = "| ID | what | state | proving test |\n|---|---|---|---|\n".to_owned();
        for (letter, count) in REQUIREMENTS {
            for number in 1..=*count {
                let id = format!("{letter}{number}");
                if !row.starts_with(&format!("| {id} |")) {
                    table.push_str(&format!("| {id} | something | not yet | |\n"));
                }
            }
        }
        table.push_str(row);
        let sources = Sources::from([("a.rs".into(), "fn a_record_survives() {}".into())]);
        judge(&table, &sources).failures
    }

    #[test]
    fn a_full_table_with_real_tests_passes() {
        assert_eq!(failures("| L3 | append | works | `a_record_survives` |"), [""; 0]);
        assert_eq!(failures("| L3 | append | partly | `ledger::a_record_survives`, on ext4 |"), [""; 0]);
    }

    #[test]
    fn a_row_that_promises_without_proof_is_found() {
        assert!(failures("| L3 | append | works | |")[0].contains("names no test"));
        assert!(
            failures("| L3 | append | works | `cargo xtask bench ledger` |")[0].contains("names no test")
        );
        assert!(failures("| L3 | append | works | `a_record` |")[0].contains("nowhere"));
        assert!(failures("| L3 | append | nearly | |")[0].contains("nearly"));
        assert!(failures("| L3 | | not yet | |")[0].contains("does not say"));
    }

    #[test]
    fn missing_unknown_and_double_rows_are_found() {
        assert!(failures("| L3 | append | not yet |").last().unwrap().contains("no row for L3"));
        assert!(failures("| X9 | other | not yet | |")[0].contains("no requirement"));
        assert!(failures("| L3 | a | not yet | |\n| L3 | b | not yet | |")[0].contains("twice"));
    }
}
