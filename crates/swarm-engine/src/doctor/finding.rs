//! One thing that was looked at, and how it is.

use serde::Serialize;

use super::cure::Cure;

/// How bad it is, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Ok,
    /// Worth knowing; nothing is wrong with it.
    Note,
    Problem,
}

impl Health {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which check it comes from: one of [`CHECKS`].
    pub id: &'static str,
    pub title: &'static str,
    /// What it is about (a file, a task, a program), where the check looks at several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
    pub state: Health,
    /// What was seen, one sentence without a full stop.
    pub what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// It was out of order, and is not any more.
    pub fixed: bool,
}

/// One thing that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    pub id: &'static str,
    pub title: &'static str,
    /// What `--fix` does about it; none where only a person can.
    pub cure: Option<&'static str>,
}

const fn check(id: &'static str, title: &'static str, cure: Option<&'static str>) -> Check {
    Check { id, title, cure }
}

/// Everything that is looked at, in the order of the report.
pub const CHECKS: &[Check] = &[
    check("git", "git", None),
    check("landlock", "sandbox of the kernel", None),
    check("containment", "process trees", None),
    check("disk", "room on the disk", None),
    check("inotify", "file watches", None),
    check("filesystem", "file system", None),
    check("clock", "clock", None),
    check("agent", "agent programs", None),
    check("repository", "repository", None),
    check("identity", "your name for commits", None),
    check("history", "history", None),
    check("submodules", "submodules", None),
    check("branch-in-the-way", "room for the branches of tasks", None),
    check("trunk", "trunk", None),
    check("config", "configuration", None),
    check(
        "ledger",
        "ledger",
        Some(
            "cuts an unfinished batch off, repairs from the second copy; what is cut lies in a quarantine file",
        ),
    ),
    check("second-copy", "second copy of the ledger", Some("brings it up to date")),
    check("snapshot", "snapshots", Some("makes them anew from the ledger")),
    check("projections", "plan.json and plan.md", Some("makes them anew; an edited one is kept beside")),
    check("coordinator", "coordinator", None),
    check("socket", "socket", Some("removes a socket that nobody listens on")),
    check("permissions", "files that only you may read", Some("takes the rights of others away")),
    check("git-lock", "locks of git", Some("removes a lock whose owner is gone")),
    check(
        "worktree-gone",
        "worktrees whose folder is gone",
        Some("moves git's record of it to the trash; commits it alone held are kept by a ref"),
    ),
    check(
        "worktree-orphan",
        "worktrees of no task",
        Some("saves what is in it to refs, then moves it to the trash; keeps it where that cannot be proven"),
    ),
    check(
        "worktree-integrity",
        "git's files of worktrees",
        Some(
            "saves files that are not committed to a ref, then puts pointers, HEAD, index and branch right; no file is touched",
        ),
    ),
    check("done-on-trunk", "work of tasks that are done", None),
    check("task-branch", "branches of tasks", Some("makes the branch again at its last known commit")),
    check(
        "leftover-process",
        "processes of ended runs",
        Some("saves unfinished work to a ref and ends them"),
    ),
    check("leftover-run", "files of ended runs", Some("saves unfinished work to a ref and removes them")),
    check(
        "trash",
        "trash",
        Some(
            "deletes what has lain there longer than `worktree.trash`, and the oldest while there is too much",
        ),
    ),
    check("temporary", "half-written files", Some("moves them to the trash")),
];

fn title_of(id: &str) -> &'static str {
    CHECKS.iter().find(|check| check.id == id).map_or("", |check| check.title)
}

impl Finding {
    fn new(id: &'static str, state: Health, what: impl Into<String>) -> Self {
        let title = title_of(id);
        debug_assert!(!title.is_empty(), "{id} is not in the list of checks");
        Self { id, title, subject: String::new(), state, what: what.into(), fix: None, fixed: false }
    }

    pub(super) fn ok(id: &'static str, what: impl Into<String>) -> Found {
        Found { finding: Self::new(id, Health::Ok, what), cure: None }
    }

    pub(super) fn note(id: &'static str, what: impl Into<String>) -> Found {
        Found { finding: Self::new(id, Health::Note, what), cure: None }
    }

    pub(super) fn problem(id: &'static str, what: impl Into<String>) -> Found {
        Found { finding: Self::new(id, Health::Problem, what), cure: None }
    }
}

/// A finding on its way to its cure.
#[derive(Debug)]
pub(super) struct Found {
    pub finding: Finding,
    pub cure: Option<Cure>,
}

impl Found {
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.finding.subject = subject.into();
        self
    }

    /// What a person can do.
    pub fn by_hand(mut self, fix: impl Into<String>) -> Self {
        self.finding.fix = Some(fix.into());
        self
    }

    /// What `--fix` does.
    pub fn curable(mut self, cure: Cure) -> Self {
        self.finding.fix = Some("swarm doctor --fix".into());
        self.cure = Some(cure);
        self
    }
}
