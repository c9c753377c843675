//! The way of a worktree's HEAD since it was last known to be right, and where somebody else has cut in.

use std::path::Path;

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::Oid;

use super::head_log::{Step, length, steps};

/// Steps made after somebody else had moved the branch under the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutIn {
    /// Where the branch had been put; none: it was deleted, and the next commit had no parent.
    pub foreign: Option<Oid>,
    /// Where HEAD went from there, one after the other; never empty.
    pub then: Vec<Oid>,
}

/// A tip that the swarm itself has set; the worktree's own log does not know of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SetByUs {
    pub from: Oid,
    pub to: Oid,
    /// How long the log was then: what stands before is settled. Notes of earlier versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Where the log ended then. That is not `from` when we have set the tip before and nothing was done there since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<Oid>,
}

impl SetByUs {
    pub fn now(record: Option<&Path>, from: &Oid, to: &Oid) -> Self {
        let logged = record.and_then(|record| Some(steps(record).pop()?.new));
        Self { from: from.clone(), to: to.clone(), log_bytes: record.map(length), logged }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    /// The last commit that is certainly the worktree's own.
    pub own: Oid,
    /// Everything it was at by its own doing, as far as the log goes back.
    pub been_at: Vec<Oid>,
    pub cut_ins: Vec<CutIn>,
    /// The swarm has noted a tip, and nothing was done in the worktree since.
    pub rests_on_note: bool,
    last: Oid,
}

impl Way {
    /// Where HEAD was last, by the log and what the swarm has added since.
    pub fn last(&self) -> &Oid {
        self.cut_ins.last().and_then(|cut| cut.then.last()).unwrap_or(&self.last)
    }
}

/// None: there is no log.
pub(super) fn way_of(record: &Path, note: Option<&SetByUs>) -> Option<Way> {
    let steps = steps(record);
    let (settled, start) = settled(&steps, note)?;
    let mut been_at: Vec<Oid> = steps[..settled].iter().map(|step| step.new.clone()).collect();
    been_at.push(start.clone());
    let mut way = Way { own: start.clone(), been_at, cut_ins: vec![], rests_on_note: false, last: start };
    way.rests_on_note = note.is_some_and(|note| note.to == way.own) && settled == steps.len();
    for step in &steps[settled..] {
        let before = way.last();
        let follows = step.old.as_ref() == Some(before);
        match way.cut_ins.last_mut() {
            Some(cut) if follows => cut.then.push(step.new.clone()),
            None if follows => {
                (way.own, way.last) = (step.new.clone(), step.new.clone());
                way.been_at.push(step.new.clone());
            }
            _ => way.cut_ins.push(CutIn { foreign: step.old.clone(), then: vec![step.new.clone()] }),
        }
    }
    Some(way)
}

/// How many steps lie before the last moment at which the swarm knew that all was right, and where HEAD was then.
fn settled(steps: &[Step], note: Option<&SetByUs>) -> Option<(usize, Oid)> {
    let first = (1, steps.first()?.new.clone());
    let Some(note) = note else { return Some(first) };
    let settled = match note.log_bytes {
        Some(bytes) => Some(steps.iter().take_while(|step| step.at < bytes).count()),
        // The last step that led to where we started from.
        None => steps.iter().rposition(|step| step.new == note.from).map(|at| at + 1),
    };
    // A log that was made anew since then has nothing to do with the note.
    let ended = note.logged.as_ref().unwrap_or(&note.from);
    let settled = settled.filter(|count| count.checked_sub(1).is_some_and(|at| steps[at].new == *ended));
    Some(settled.map_or(first, |count| (count, note.to.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(c: char) -> Oid {
        Oid::new(c.to_string().repeat(40)).expect("an object name")
    }

    fn logs(record: &Path, steps: &[(char, char)]) {
        std::fs::create_dir_all(record.join("logs")).expect("a folder");
        let line = |(old, new): &(char, char)| format!("{} {} a <a> 0 +0000\tcommit\n", oid(*old), oid(*new));
        std::fs::write(record.join("logs/HEAD"), steps.iter().map(line).collect::<String>()).expect("a log");
    }

    /// A rollback and its undo, nothing done in the worktree between them: the second move does not begin where the log
    /// ends, and neither is somebody else's.
    #[test]
    fn moves_of_our_own_one_after_the_other_are_our_own() {
        let dir = tempfile::tempdir().expect("a folder");
        let record = dir.path();
        logs(record, &[('0', 'a'), ('a', 'b')]);
        let there = SetByUs::now(Some(record), &oid('b'), &oid('a'));
        assert_eq!(way_of(record, Some(&there)).expect("a log").own, oid('a'));
        logs(record, &[('0', 'a'), ('a', 'b'), ('a', 'c')]);
        let back = SetByUs::now(Some(record), &oid('c'), &oid('b'));
        let again = SetByUs::now(Some(record), &oid('b'), &oid('c'));
        for (note, from) in [(back, 'b'), (again, 'c')] {
            logs(record, &[('0', 'a'), ('a', 'b'), ('a', 'c'), (from, 'd')]);
            let way = way_of(record, Some(&note)).expect("a log");
            assert_eq!((way.cut_ins, way.own), (vec![], oid('d')));
            logs(record, &[('0', 'a'), ('a', 'b'), ('a', 'c')]);
        }
    }
}
