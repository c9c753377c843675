//! The lines of the picture of a diff, and where things stand among them.

use super::SIDE_BY_SIDE;
use crate::model::Model;

/// One line of the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    File(String),
    Hunk(String),
    Both(String),
    Old(String),
    New(String),
    /// An old line and the new one in its place; one of them may be missing.
    Pair(Option<String>, Option<String>),
    Note(String),
    Folded(String),
}

pub fn rows(model: &Model) -> Vec<Row> {
    let Some(Ok(diff)) = &model.diff else { return vec![] };
    let mut rows = Vec::new();
    // What a line begins with means something else above the first hunk of a file than below it.
    let mut inside = false;
    for line in diff.patch.lines() {
        match line {
            line if line.starts_with("diff --git ") => {
                inside = false;
                let name = line.rsplit(" b/").next().unwrap_or(line);
                rows.push(Row::File(name.to_owned()));
            }
            line if line.starts_with("@@") => {
                inside = true;
                rows.push(Row::Hunk(line.to_owned()));
            }
            line if inside && line.starts_with('+') => rows.push(Row::New(line[1..].to_owned())),
            line if inside && line.starts_with('-') => rows.push(Row::Old(line[1..].to_owned())),
            line if inside && line.starts_with(' ') => rows.push(Row::Both(line[1..].to_owned())),
            line if ["+++", "---", "index "].iter().any(|head| line.starts_with(head)) => {}
            line => rows.push(Row::Note(line.to_owned())),
        }
    }
    if diff.cut {
        rows.push(Row::Note(format!("The rest is too long for a screen: swarm task diff {}", diff.task)));
    }
    let rows = folded(model, rows);
    if model.size.0 >= SIDE_BY_SIDE { paired(rows) } else { rows }
}

/// More changed lines of a file than these are shown when they are asked for.
const FOLD_FROM: usize = 500;

/// Written by programs, and read by nobody.
fn is_generated(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.ends_with(".lock")
        || file.ends_with(".min.js")
        || file.ends_with(".snap")
        || matches!(file, "package-lock.json" | "pnpm-lock.yaml" | "go.sum")
}

/// A folded file is one line with counts. Long and generated ones are folded until the person unfolds them.
fn folded(model: &Model, rows: Vec<Row>) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::with_capacity(rows.len());
    let mut rest = rows.into_iter().peekable();
    while let Some(row) = rest.next() {
        let Row::File(name) = row else {
            out.push(row);
            continue;
        };
        let mut body = Vec::new();
        while let Some(row) = rest.next_if(|row| !matches!(row, Row::File(_))) {
            body.push(row);
        }
        let added = body.iter().filter(|row| matches!(row, Row::New(_))).count();
        let gone = body.iter().filter(|row| matches!(row, Row::Old(_))).count();
        let by_itself = is_generated(&name) || added + gone > FOLD_FROM;
        let is_folded = by_itself != model.turned.contains(&name);
        out.push(Row::File(name));
        if is_folded {
            out.push(Row::Folded(format!(
                "{} added, {gone} removed; Enter unfolds",
                crate::said::count(added as u64, "line")
            )));
        } else {
            out.extend(body);
        }
    }
    out
}

/// The file whose head, or whose folded line, the person is at.
pub fn head_at(model: &Model) -> Option<String> {
    let rows = rows(model);
    let at = model.scroll.min(rows.len().saturating_sub(1));
    match rows.get(at)? {
        Row::File(name) => Some(name.clone()),
        Row::Folded(_) => match rows.get(at.checked_sub(1)?)? {
            Row::File(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The line that stands in place of this one: the first old line of a run belongs to the first new one, and so on.
pub fn partner(rows: &[Row], at: usize) -> Option<&str> {
    let run = |from: usize, is: fn(&Row) -> bool| rows[from..].iter().take_while(|row| is(row)).count();
    let start = |from: usize, is: fn(&Row) -> bool| {
        from - rows[..from].iter().rev().take_while(|row| is(row)).count()
    };
    let is_old: fn(&Row) -> bool = |row| matches!(row, Row::Old(_));
    let is_new: fn(&Row) -> bool = |row| matches!(row, Row::New(_));
    let found = match rows.get(at)? {
        Row::Old(_) => {
            let first = start(at, is_old);
            let news = first + run(first, is_old);
            let other = news + (at - first);
            (other < news + run(news, is_new)).then_some(other)?
        }
        Row::New(_) => {
            let first = start(at, is_new);
            let olds = start(first, is_old);
            let other = olds + (at - first);
            (other < first).then_some(other)?
        }
        _ => return None,
    };
    match rows.get(found)? {
        Row::Old(text) | Row::New(text) => Some(text),
        _ => None,
    }
}

/// A run of old lines beside the run of new ones that follows it.
fn paired(rows: Vec<Row>) -> Vec<Row> {
    let (mut out, mut old, mut new) = (Vec::new(), Vec::new(), Vec::new());
    let flush = |out: &mut Vec<Row>, old: &mut Vec<String>, new: &mut Vec<String>| {
        let (mut left, mut right) = (old.drain(..), new.drain(..));
        loop {
            match (left.next(), right.next()) {
                (None, None) => break,
                (a, b) => out.push(Row::Pair(a, b)),
            }
        }
    };
    for row in rows {
        match row {
            Row::Old(text) if new.is_empty() => old.push(text),
            Row::New(text) => new.push(text),
            other => {
                flush(&mut out, &mut old, &mut new);
                match other {
                    Row::Old(text) => old.push(text),
                    other => out.push(other),
                }
            }
        }
    }
    flush(&mut out, &mut old, &mut new);
    out
}

/// The line that the person is at, as it stands in its file.
pub fn text_at(model: &Model) -> Option<String> {
    let row = rows(model).into_iter().nth(model.scroll)?;
    Some(match row {
        Row::Pair(old, new) => new.or(old).unwrap_or_default(),
        Row::File(text) | Row::Hunk(text) | Row::Both(text) => text,
        Row::Old(text) | Row::New(text) | Row::Note(text) | Row::Folded(text) => text,
    })
}

/// All that is changed in the file that the person is at, folded or not.
pub fn file_at(model: &Model) -> Option<String> {
    let Some(Ok(diff)) = &model.diff else { return None };
    let is_head = |row: &&Row| matches!(row, Row::File(_));
    let before = rows(model).iter().take(model.scroll + 1).filter(is_head).count();
    let files = swarm_protocol::patch::files(&diff.patch);
    Some(files.get(before.checked_sub(1)?)?.text.to_owned())
}

pub fn length(model: &Model) -> usize {
    rows(model).len()
}

/// Where files, or hunks, begin.
pub fn marks(model: &Model, files: bool) -> Vec<usize> {
    let wanted = |row: &Row| match row {
        Row::File(_) => true,
        Row::Hunk(_) => !files,
        _ => false,
    };
    rows(model).iter().enumerate().filter(|(_, row)| wanted(row)).map(|(at, _)| at).collect()
}

/// The file and the line in it, as it would be, where the person is.
pub fn place(model: &Model) -> Option<(String, Option<u32>)> {
    let (mut file, mut next, mut here) = (None, None, None);
    for row in rows(model).into_iter().take(model.scroll + 1) {
        match row {
            Row::File(name) => (file, next, here) = (Some(name), None, None),
            Row::Hunk(text) => {
                let start =
                    text.split('+').nth(1).and_then(|rest| rest.split([',', ' ']).next()?.parse().ok());
                (next, here) = (start, start);
            }
            Row::Both(_) | Row::New(_) | Row::Pair(_, Some(_)) => {
                here = next;
                next = next.map(|line: u32| line + 1);
            }
            // What goes away has no place in the new file but the one that follows it.
            Row::Old(_) | Row::Pair(_, None) => here = next,
            Row::Note(_) | Row::Folded(_) => {}
        }
    }
    file.map(|file| (file, here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_run_belong_together_one_by_one() {
        let (old, new) = (|text: &str| Row::Old(text.into()), |text: &str| Row::New(text.into()));
        let rows = [old("a"), old("b"), new("c"), Row::Both("d".into()), new("e")];
        let partners: Vec<Option<&str>> = (0..rows.len()).map(|at| partner(&rows, at)).collect();
        assert_eq!(partners, [Some("c"), None, Some("a"), None, None]);
    }
}
