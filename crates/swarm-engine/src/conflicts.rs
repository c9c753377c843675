//! What will conflict when branches meet, as the coordinator found it: shown in views, and kept in a small file for front
//! ends that read the ledger themselves. It is derived; without it nothing is lost but the warning.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use swarm_core::predict::Branch;
use swarm_core::show;
use swarm_protocol::any_view::AnyView;
use swarm_protocol::board::BoardView;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::view::{ConflictView, ConflictsWith, StatusView, TaskView};

use swarm_git::{Git, GitError, read_marker, write_note};

/// Files named of each conflict.
pub const FILES_MAX: usize = 20;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflicts {
    pub clashes: Vec<Clash>,
}

/// Two commits that conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clash {
    pub task: TaskId,
    /// None: trunk.
    pub with: Option<TaskId>,
    /// Of `with` or trunk, and of the task, in the order they were tried in.
    pub tips: (Oid, Oid),
    pub files: Vec<String>,
}

fn file(git: &Git) -> PathBuf {
    git.swarm_dir().join("conflicts.json")
}

impl Conflicts {
    pub fn write(&self, git: &Git) -> Result<(), GitError> {
        write_note(&file(git), self)
    }

    /// What was kept, as far as the branches are still where they were.
    pub async fn read(git: &Git, trunk: Option<&str>) -> Self {
        let kept: Self = read_marker(&file(git)).unwrap_or_default();
        let mut clashes = Vec::new();
        for clash in kept.clashes {
            if is_current(git, trunk, &clash).await {
                clashes.push(clash);
            }
        }
        Self { clashes }
    }

    /// Puts into a view what it has a place for.
    pub fn show_in(&self, view: &mut AnyView, branches: &[Branch]) {
        match view {
            AnyView::Status(view) => self.show_in_status(view, branches),
            AnyView::Board(view) => self.show_in_board(view, branches),
            AnyView::Task(view) => self.show_in_task(view, branches),
            AnyView::Handoff(view) => show::foresee(view, self.shown(branches)),
            _ => {}
        }
    }

    /// Each pair once.
    pub fn shown(&self, branches: &[Branch]) -> Vec<ConflictView> {
        let shown = self.of(branches).map(|clash| ConflictView {
            task: clash.task.clone(),
            conflict: clash.with(clash.with.as_ref()),
        });
        shown.collect()
    }

    pub fn show_in_status(&self, view: &mut StatusView, branches: &[Branch]) {
        view.conflicts = self.shown(branches);
    }

    pub fn show_in_task(&self, view: &mut TaskView, branches: &[Branch]) {
        view.conflicts_with = self.of_task(&view.row.id, branches);
    }

    pub fn show_in_board(&self, view: &mut BoardView, branches: &[Branch]) {
        self.show_in_status(&mut view.status, branches);
        if !view.status.conflicts.is_empty() {
            view.rows.iter_mut().for_each(|row| row.conflicts_with = self.of_task(&row.row.id, branches));
        }
    }

    fn of_task(&self, id: &TaskId, branches: &[Branch]) -> Vec<ConflictsWith> {
        let shown = self.of(branches).filter_map(|clash| match &clash.with {
            Some(other) if other == id => Some(clash.with(Some(&clash.task))),
            with if clash.task == *id => Some(clash.with(with.as_ref())),
            _ => None,
        });
        shown.collect()
    }

    /// Those whose branches are on their way still.
    fn of<'a>(&'a self, branches: &'a [Branch]) -> impl Iterator<Item = &'a Clash> {
        let there = |task: &TaskId| branches.iter().any(|branch| branch.task == *task);
        self.clashes.iter().filter(move |clash| there(&clash.task) && clash.with.as_ref().is_none_or(there))
    }
}

impl Clash {
    fn with(&self, other: Option<&TaskId>) -> ConflictsWith {
        let with = other.map_or_else(|| "trunk".to_owned(), ToString::to_string);
        ConflictsWith { with, files: self.files.clone() }
    }
}

async fn is_current(git: &Git, trunk: Option<&str>, clash: &Clash) -> bool {
    let (first, second) = match &clash.with {
        None => (trunk.map(str::to_owned), Some(clash.task.branch())),
        Some(with) => (Some(clash.task.branch()), Some(with.branch())),
    };
    for (branch, tip) in [(first, &clash.tips.0), (second, &clash.tips.1)] {
        let Some(branch) = branch else { return false };
        let now = git.ref_value(&format!("refs/heads/{branch}")).await;
        if !now.is_ok_and(|now| now.as_ref() == Some(tip)) {
            return false;
        }
    }
    true
}
