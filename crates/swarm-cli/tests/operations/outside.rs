//! What git and the files say, without asking the swarm about it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::arena::Arena;

/// Everything that an operation could change.
#[derive(Debug, Clone, PartialEq)]
pub struct Outside {
    /// Branches and where they are.
    pub refs: BTreeMap<String, String>,
    /// Files of the person's checkout.
    pub checkout: BTreeMap<String, Vec<u8>>,
    /// Files of each worktree.
    pub worktrees: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    /// The plan as a file would have it, with the statuses.
    pub plan: Value,
    pub mode: Value,
    pub paused: Value,
}

impl Outside {
    pub fn of(arena: &Arena) -> Self {
        let refs = arena.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"]);
        let refs = refs.lines().filter_map(|line| line.split_once(' '));
        let worktrees = arena.worktrees().into_iter().filter(|path| !path.ends_with("/merge"));
        let worktrees = worktrees.map(|path| (path.clone(), files(Path::new(&path))));
        let status = arena.json(&["status"]);
        Self {
            refs: refs.map(|(name, oid)| (name.to_owned(), oid.to_owned())).collect(),
            checkout: files(&arena.root),
            worktrees: worktrees.collect(),
            plan: plan(arena),
            mode: status["mode"].clone(),
            paused: status["paused"].clone(),
        }
    }

    /// Fails with what differs and nothing else.
    pub fn assert_is(&self, other: &Self, what: &str) {
        assert_eq!(self.refs, other.refs, "{what}: refs");
        assert_eq!(names(&self.checkout), names(&other.checkout), "{what}: the checkout's files");
        assert!(self.checkout == other.checkout, "{what}: bytes in the checkout");
        let of = |all: &Self| -> Vec<(String, Vec<String>)> {
            all.worktrees.iter().map(|(path, files)| (path.clone(), names(files))).collect()
        };
        assert_eq!(of(self), of(other), "{what}: the worktrees' files");
        assert!(self.worktrees == other.worktrees, "{what}: bytes in the worktrees");
        assert_eq!(self.plan, other.plan, "{what}: the plan");
        assert_eq!((&self.mode, &self.paused), (&other.mode, &other.paused), "{what}: mode and pauses");
    }
}

/// Stages and fields; ids of runs, counters and times apart.
fn plan(arena: &Arena) -> Value {
    let mut plan = arena.json(&["plan", "show"]);
    let statuses: BTreeMap<String, Value> = arena
        .tasks()
        .iter()
        .map(|task| (task["id"].as_str().unwrap_or_default().to_owned(), task["status"].clone()))
        .collect();
    plan["statuses"] = json!(statuses);
    plan
}

fn names(files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    files.keys().cloned().collect()
}

/// Without what belongs to git and to the swarm.
pub fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if name == ".git" || name == ".swarm" || name == ".worktrees" {
                continue;
            }
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let shown = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
                    found.insert(shown, std::fs::read(&path).unwrap_or_default());
                }
            }
        }
    }
    found
}
