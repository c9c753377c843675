//! Tables without borders. In a pipe each row is one line, whole; where the width is known, the columns with long texts become
//! narrower, and when that is not enough one of them stands below its row.

use std::fmt::Write;
use std::io::IsTerminal;

use super::harmless;
use super::layout::{broken, columns, widest_unit, width_of};
use super::paint::{of_state, paint};
use super::wants_colour;

const GAP: usize = 2;

/// A column this wide need not become narrower; below it a text would be hard to read.
const READABLE: usize = 20;

/// How far in a text stands that is below its row.
const BELOW: usize = 4;

/// Rows under a head, as text with no blanks at line ends.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    table_in(head, rows, columns(std::io::stdout()), states(head))
}

/// The same for a table that is to be put further in by so many columns.
pub fn table_within(margin: usize, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    table_in(head, rows, columns(std::io::stdout()).map(|width| width.saturating_sub(margin)), states(head))
}

/// The column with states, which have colours where colours are wanted.
fn states(head: &[&str]) -> Option<usize> {
    let at = head.iter().position(|name| ["status", "state"].contains(name))?;
    wants_colour(std::io::stdout().is_terminal()).then_some(at)
}

fn table_in(
    head: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    width: Option<usize>,
    states: Option<usize>,
) -> String {
    let clean = |row: Vec<String>| row.iter().map(|cell| harmless(cell)).collect::<Vec<_>>();
    let head = head.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows.into_iter().map(clean)).collect();
    let natural = measured(&rows, width_of);
    let plan = width.map_or(Plan { widths: natural.clone(), below: vec![] }, |width| {
        Plan::made(&natural, &measured(&rows, widest_unit), &measured(&rows, words), width)
    });
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        plan.write(row, width, states.filter(|_| at > 0), &mut text);
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

fn words(cell: &str) -> usize {
    cell.split_whitespace().count()
}

/// For each column the largest of what its cells measure.
fn measured(rows: &[Vec<String>], measure: impl Fn(&str) -> usize) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let largest =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| measure(cell)).max().unwrap_or(0);
    (0..count).map(largest).collect()
}

struct Plan {
    widths: Vec<usize>,
    /// Columns that stand below their row.
    below: Vec<usize>,
}

impl Plan {
    fn made(natural: &[usize], least: &[usize], words: &[usize], width: usize) -> Self {
        let mut below = vec![];
        loop {
            let mut widths = natural.to_vec();
            let beside: Vec<usize> = (0..widths.len()).filter(|at| !below.contains(at)).collect();
            let floor = |at: usize| least[at].max(natural[at].min(READABLE));
            let total = |widths: &[usize]| {
                beside.iter().map(|at| widths[*at]).sum::<usize>() + GAP * beside.len().saturating_sub(1)
            };
            while total(&widths) > width {
                let Some(at) =
                    beside.iter().copied().filter(|at| widths[*at] > floor(*at)).max_by_key(|at| widths[*at])
                else {
                    break;
                };
                widths[at] -= 1;
            }
            // The first column says what the row is about. Best is a text, and one whose place is enough.
            let enough = |at: usize| total(&widths) <= width + widths[at] + GAP;
            let candidates = beside.iter().copied().filter(|at| *at > 0);
            let longest = candidates.max_by_key(|at| (enough(*at), words[*at], *at));
            match longest {
                Some(at) if total(&widths) > width => below.push(at),
                _ => {
                    below.sort_unstable();
                    return Self { widths, below };
                }
            }
        }
    }

    /// `state`: the column whose text has the colour of the state that it names.
    fn write(&self, row: &[String], width: Option<usize>, state: Option<usize>, text: &mut String) {
        let beside: Vec<usize> = (0..row.len()).filter(|at| !self.below.contains(at)).collect();
        let cells: Vec<Vec<String>> = beside
            .iter()
            .map(|at| match width {
                Some(_) => broken(&row[*at], self.widths[*at]),
                None => vec![row[*at].clone()],
            })
            .collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut out = String::new();
            let mut end = 0;
            for (cell, at) in cells.iter().zip(&beside) {
                let part = cell.get(line).map_or("", String::as_str);
                let pad = (self.widths[*at] + GAP).saturating_sub(width_of(part));
                let colour = of_state(&row[*at]).filter(|_| state == Some(*at));
                let part = colour.map_or(part.to_owned(), |colour| paint(true, colour, part));
                let _ = write!(out, "{part}{:pad$}", "");
                end = if part.is_empty() { end } else { out.trim_end().len() };
            }
            text.push_str(&out[..end]);
            text.push('\n');
        }
        for cell in self.below.iter().map(|at| &row[*at]).filter(|cell| !cell.is_empty()) {
            for line in broken(cell, width.unwrap_or(usize::MAX).saturating_sub(BELOW)) {
                let _ = writeln!(text, "{:BELOW$}{line}", "");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let long = "a title that goes on for longer than anybody would like to read in a list";
        vec![
            vec!["1.1".into(), "a".into(), "ready".into()],
            vec!["long-id".into(), long.into(), "waits for 1.1".into()],
        ]
    }

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let text = table_in(
            &["task", "title"],
            [vec!["1.1".into(), "a".into()], vec!["long-id".into(), "b\u{1b}[2J".into()]],
            None,
            None,
        );
        assert_eq!(text, "task     title\n1.1      a\nlong-id  b\\u{1b}[2J");
    }

    #[test]
    fn the_column_with_texts_becomes_narrower_and_then_stands_below() {
        let wide = table_in(&["task", "title", "stage"], rows(), Some(60), None);
        same(
            &wide,
            "task     title                                 stage
1.1      a                                     ready
long-id  a title that goes on for longer than  waits for 1.1
         anybody would like to read in a list
",
        );
        let narrow = table_in(&["task", "title", "stage"], rows(), Some(40), None);
        same(
            &narrow,
            "task     stage
    title
1.1      ready
    a
long-id  waits for 1.1
    a title that goes on for longer than
    anybody would like to read in a list
",
        );
    }

    #[track_caller]
    fn same(found: &str, wanted: &str) {
        assert_eq!(found, wanted.trim_end(), "\n{found}");
    }

    #[test]
    fn ids_are_whole_and_a_pipe_gets_one_line_for_each_row() {
        let id = "a".repeat(50);
        let text = table_in(
            &["id", "text"],
            [vec![id.clone(), "one two three four five six".into()]],
            Some(40),
            None,
        );
        assert!(text.lines().any(|line| line == id), "{text}");
        assert_eq!(
            table_in(&["id", "text"], rows().into_iter().map(|row| row[..2].to_vec()), None, None)
                .lines()
                .count(),
            3
        );
    }

    #[test]
    fn a_state_has_its_colour_and_stays_in_line() {
        let rows =
            [vec!["1.1".into(), "done".into(), "a".into()], vec!["1.2".into(), "pending".into(), "b".into()]];
        let text = table_in(&["task", "status", "title"], rows, None, Some(1));
        assert_eq!(text, "task  status   title\n1.1   \u{1b}[32mdone\u{1b}[0m     a\n1.2   pending  b");
    }
}
