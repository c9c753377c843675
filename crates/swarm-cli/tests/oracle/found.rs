//! Where content is: on trunk, in its history, or anywhere that a person would find it again.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::super::{Arena, files_below};
use super::marks::marks_in;

/// Every object that one of these refs leads to; older stashes are in the log of their ref.
fn objects_of(refs: &str) -> String {
    format!(
        "{{ git rev-list --objects {refs};
git rev-parse -q --verify refs/stash >/dev/null && git rev-list --objects $(git rev-list -g refs/stash); }} |
cut -d' ' -f1 | sort -u | git cat-file --batch"
    )
}

/// The ledger is not a place for work.
const EVERYTHING: &str = "--exclude=refs/swarm/ledger --all";
const OF_PEOPLE: &str = "--exclude=swarm/* --branches";

/// Marks in everything that a ref, a stash, a worktree or the trash still has.
pub fn found_marks(arena: &Arena) -> BTreeSet<String> {
    let mut marks = marks_that_people_see(arena);
    marks.extend(marks_in_objects(arena, EVERYTHING));
    let swarm = arena.root.join(".swarm");
    for place in [swarm.join("worktrees"), swarm.join("trash")] {
        marks.extend(marks_below(&place));
    }
    marks
}

/// Marks on the branches of people, in their stashes and in the checkout.
pub fn marks_that_people_see(arena: &Arena) -> BTreeSet<String> {
    let mut marks = marks_in_objects(arena, OF_PEOPLE);
    for entry in std::fs::read_dir(&arena.root).into_iter().flatten().flatten() {
        let path = entry.path();
        if ![".git", ".swarm"].iter().any(|name| path.ends_with(name)) {
            marks.extend(if path.is_dir() { marks_below(&path) } else { marks_of(&path) });
        }
    }
    marks
}

fn marks_in_objects(arena: &Arena, refs: &str) -> BTreeSet<String> {
    let mut command = Command::new("sh");
    let out = command.args(["-c", &objects_of(refs)]).current_dir(&arena.root).output().expect("sh runs");
    marks_in(&String::from_utf8_lossy(&out.stdout))
}

fn marks_below(dir: &Path) -> BTreeSet<String> {
    files_below(dir, "").iter().flat_map(|file| marks_of(file)).collect()
}

fn marks_of(file: &Path) -> BTreeSet<String> {
    // A pipe would be read for ever.
    let text = if file.is_file() { std::fs::read(file).unwrap_or_default() } else { vec![] };
    marks_in(&String::from_utf8_lossy(&text))
}

/// The branch that finished work belongs on.
pub struct Trunk<'a> {
    arena: &'a Arena,
    pub name: String,
    commits: BTreeSet<String>,
}

impl<'a> Trunk<'a> {
    pub fn of(arena: &'a Arena, name: &str) -> Self {
        let commits = arena.git(&["rev-list", name, "--"]);
        Self { arena, name: name.to_owned(), commits: commits.lines().map(str::to_owned).collect() }
    }

    pub fn has_commit(&self, commit: &str) -> bool {
        self.commits.contains(commit)
    }

    /// Git leaves the file out of every commit.
    fn is_ignored(&self, path: &str) -> bool {
        let root = &self.arena.root;
        let asked = Command::new("git").arg("-C").arg(root).args(["check-ignore", "-q", "--", path]).status();
        asked.is_ok_and(|status| status.success())
    }

    pub fn changes_a_file(&self, commit: &str) -> bool {
        let changed = ["diff-tree", "--root", "-m", "--name-only", "--no-commit-id", "-r", commit];
        !self.arena.git(&changed).trim().is_empty()
    }

    /// The line is in the file; or it was, and a change that is nobody's way back took it away.
    pub fn has_or_had(
        &self,
        path: &str,
        line: &str,
        is_another_task: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        if self.has_at(&self.name, path, line) || self.is_ignored(path) {
            return Ok(());
        }
        let log = self.arena.git(&["log", "--full-history", "--format=%H %s", &self.name, "--", path]);
        let mut taken_away_by = None;
        for (commit, subject) in log.lines().filter_map(|line| line.split_once(' ')) {
            if self.has_at(commit, path, line) {
                return match taken_away_by {
                    Some(by) if is_change_of_a_person(by) || is_another_task(by) => Ok(()),
                    Some(by) => Err(format!("taken off {} by {by:?}", self.name)),
                    None => Err(format!("lost from {} in a merge", self.name)),
                };
            }
            taken_away_by = Some(subject);
        }
        Err(format!("never was on {}", self.name))
    }

    fn has_at(&self, commit: &str, path: &str, line: &str) -> bool {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.arena.root).args(["cat-file", "blob", &format!("{commit}:{path}")]);
        let out = git.output().expect("git runs");
        out.status.success() && String::from_utf8_lossy(&out.stdout).lines().any(|found| found.trim() == line)
    }
}

/// People in these tests say so; a revert is a way back, whoever made it.
fn is_change_of_a_person(subject: &str) -> bool {
    subject.starts_with("person")
}

/// What git finds wrong with its own store; nothing: all is well.
pub fn fsck(arena: &Arena) -> String {
    let mut git = Command::new("git");
    let out = git
        .arg("-C")
        .arg(&arena.root)
        .args(["fsck", "--strict", "--no-dangling"])
        .output()
        .expect("git runs");
    if out.status.success() { String::new() } else { String::from_utf8_lossy(&out.stderr).into_owned() }
}
