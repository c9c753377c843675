//! What waits for what: nothing waits for something that is not there, and nothing for itself.

use std::collections::BTreeMap;

use super::listed;
use crate::planfile::error::PlanFileError;

/// Each id with its line and the ids it waits for.
pub(super) type Waits<'a> = BTreeMap<&'a str, (usize, Vec<&'a str>)>;

/// Refuses a wait for something that the file does not have.
pub(super) fn refuse_dangling(file: &str, waits: &Waits<'_>) -> Result<(), PlanFileError> {
    // In the order of the file: a person repairs it from the top.
    let mut by_line: Vec<_> = waits.iter().collect();
    by_line.sort_by_key(|(_, (line, _))| *line);
    for (id, (line, depends)) in by_line {
        if let Some(missing) = depends.iter().find(|wanted| !waits.contains_key(**wanted)) {
            let why = format!("{id} depends on {missing}, which is not in the file");
            let hint =
                "Export the other tool's plan whole, or take this dependency out; nothing was imported";
            return Err(PlanFileError::at(file, *line, why, hint));
        }
    }
    Ok(())
}

/// Refuses a circle, and names it. Everything waited for must be there.
pub(super) fn refuse_circles(file: &str, waits: &Waits<'_>) -> Result<(), PlanFileError> {
    let mut open: BTreeMap<&str, usize> = waits.iter().map(|(id, (_, d))| (*id, d.len())).collect();
    let mut awaited_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, (_, depends)) in waits {
        depends.iter().for_each(|wanted| awaited_by.entry(wanted).or_default().push(id));
    }
    let mut free: Vec<&str> = open.iter().filter(|(_, n)| **n == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        open.remove(id);
        for waiting in awaited_by.get(id).into_iter().flatten() {
            let left = open.get_mut(waiting).expect("it waits, so it is open");
            *left -= 1;
            if *left == 0 {
                free.push(waiting);
            }
        }
    }
    // Whatever is left waits for something that is left: following that comes back to where it was.
    let Some(start) = open.keys().min_by_key(|id| waits[**id].0) else { return Ok(()) };
    let (mut path, mut places) = (vec![*start], BTreeMap::from([(*start, 0)]));
    loop {
        let last = path[path.len() - 1];
        let next = waits[last].1.iter().find(|wanted| open.contains_key(**wanted));
        let next = *next.expect("what is left waits for something that is left");
        path.push(next);
        if let Some(from) = places.insert(next, path.len() - 1) {
            path.drain(..from);
            break;
        }
    }
    let (line, _) = waits[path[0]];
    let circle = if path.len() > 9 { listed(&path) } else { path.join(" waits for ") };
    let why = format!("its dependencies form a cycle: {circle}");
    Err(PlanFileError::at(file, line, why, "Take one of these dependencies out; nothing was imported"))
}
