//! Everything that is looked at, and a finding on its way to its cure.

use swarm_protocol::doctor::{Finding, Health};

use super::cure::Cure;

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
    check("landlock", "kernel sandbox", None),
    check("view", "view of its own", None),
    check("containment", "process trees", None),
    check("disk", "disk space", None),
    check("inotify", "file watches", None),
    check("filesystem", "file system", None),
    check("clock", "clock", None),
    check("agent", "agent programs", None),
    check("repository", "repository", None),
    check("identity", "your name for commits", None),
    check("history", "history", None),
    check("submodules", "submodules", None),
    check("branch-in-the-way", "branch names", None),
    check("trunk", "trunk", None),
    check("config", "configuration", None),
    check(
        "ledger",
        "ledger",
        Some(
            "cuts off an unfinished batch, repairs from the second copy; cut bytes are kept in a quarantine file",
        ),
    ),
    check("second-copy", "second copy of the ledger", Some("updates it, and recreates it if it is damaged")),
    check("snapshot", "snapshots", Some("rebuilds them from the ledger")),
    check(
        "projections",
        "plan.json and plan.md",
        Some("rebuilds them; an edited file is kept beside the new one"),
    ),
    check("coordinator", "coordinator", None),
    check("socket", "socket", Some("removes an unused socket")),
    check("permissions", "permissions of private files", Some("removes the permissions of others")),
    check("git-lock", "git locks", Some("removes a lock whose owner is gone")),
    check(
        "worktree-gone",
        "worktrees whose folder is gone",
        Some("moves git's record of it to the trash; commits that only it referenced are kept by a ref"),
    ),
    check(
        "worktree-orphan",
        "orphaned worktrees",
        Some("saves its contents to refs, then moves it to the trash; keeps it if that cannot be proven"),
    ),
    check(
        "worktree-integrity",
        "git's files of worktrees",
        Some(
            "saves uncommitted files to a ref, then repairs pointers, HEAD, index and branch; no file is touched",
        ),
    ),
    check("done-on-trunk", "work of tasks that are done", None),
    check("task-branch", "branches of tasks", Some("restores the branch at its last known commit")),
    check("kept-refs", "refs of the swarm", None),
    check(
        "leftover-process",
        "processes of ended runs",
        Some("saves unfinished work to a ref and ends them"),
    ),
    check("leftover-run", "files of ended runs", Some("saves unfinished work to a ref and removes them")),
    check(
        "trash",
        "trash",
        Some("deletes entries older than `worktree.trash`, and the oldest if there is too much"),
    ),
    check("temporary", "half-written files", Some("moves them to the trash")),
];

fn title_of(id: &str) -> &'static str {
    CHECKS.iter().find(|check| check.id == id).map_or("", |check| check.title)
}

/// A finding on its way to its cure.
#[derive(Debug)]
pub(super) struct Found {
    pub finding: Finding,
    pub cure: Option<Cure>,
}

impl Found {
    fn new(id: &'static str, state: Health, what: impl Into<String>) -> Self {
        let title = title_of(id);
        debug_assert!(!title.is_empty(), "{id} is not in the list of checks");
        let finding = Finding {
            id: id.into(),
            title: title.into(),
            subject: String::new(),
            state,
            what: what.into(),
            fix: None,
            fixed: false,
        };
        Self { finding, cure: None }
    }

    pub fn ok(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(id, Health::Ok, what)
    }

    pub fn note(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(id, Health::Note, what)
    }

    pub fn problem(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(id, Health::Problem, what)
    }

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
