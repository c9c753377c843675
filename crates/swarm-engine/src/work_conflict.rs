//! Where the work of a task conflicts with trunk: the three sides of each file, bounded.
//! Reads only, needs no lock: asked beside a coordinator that works, or where there is none.

use std::path::Path;

use serde::Serialize;
use swarm_core::State;
use swarm_core::operation::{self, merged_itself};
use swarm_core::stage::Stage;
use swarm_git::{Conflicted, Entry, Git, GitError, MODE_GITLINK, MODE_SYMLINK, Sides};
use swarm_process::ProcessError;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::operation::{Force, Request};
use swarm_work::operation::moving::rebuild::{Making, Rebuilt, rebuild};
use swarm_work::resolve::places::places;

use crate::work_diff::stretch;

/// Files that are shown; more are counted.
const FILES_MAX: usize = 20;

/// Places of one file.
const PLACES_MAX: usize = 10;

/// Bytes of one side of one place, or of a whole file where its lines are not the matter.
const SIDE_BYTES_MAX: usize = 4 * 1024;

/// A larger file is named and not looked into.
const FILE_BYTES_MAX: usize = 4 << 20;

/// What came of looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// There is no work yet.
    NoWork,
    /// It is on trunk.
    Merged,
    /// It fits on trunk as that is now.
    Fits,
    Conflicts(Box<WorkConflict>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkConflict {
    pub task: TaskId,
    /// What trunk and the work of the task are both changes of.
    pub base: Oid,
    pub trunk: Oid,
    pub tip: Oid,
    pub files: Vec<FileConflict>,
    /// Files that conflict as well and are not shown.
    pub more_files: usize,
    /// The task is merged, and this is where taking it back conflicts: `base` is how it was left, `tip` how it was before. The
    /// command that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileConflict {
    pub path: String,
    pub base: FileSide,
    pub trunk: FileSide,
    pub task: FileSide,
    /// The lines that conflict. Without any, one side is gone, or another kind of file, or has no lines: then the sides have a text.
    pub places: Vec<PlaceView>,
    /// Places that are not shown.
    pub more_places: usize,
}

/// One file as one side has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileSide {
    /// `absent`, `file`, `executable`, `symbolic link`, `submodule`, `binary file`.
    pub is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Oid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<SideText>,
}

/// Lines that conflict, and what there is of them on each side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceView {
    /// Where it begins in the file of trunk.
    pub line: usize,
    pub base: SideText,
    pub trunk: SideText,
    pub task: SideText,
}

/// Bytes that are no text are replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SideText {
    pub text: String,
    /// There is more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Tries the work of the task against trunk, in the object database.
pub async fn work_conflict(git: &Git, trunk: &str, state: &State, id: &TaskId) -> Result<Looked, GitError> {
    let now = git.ref_value(&format!("refs/heads/{trunk}")).await?;
    if state.task(id).is_some_and(|task| matches!(task.stage, Stage::Done { .. })) {
        let Some(now) = now else { return Ok(Looked::Merged) };
        return taken_back(git, state, id, &now).await;
    }
    let Some((base, tip)) = stretch(git, trunk, state, id).await? else { return Ok(Looked::NoWork) };
    let Some(now) = now else { return Ok(Looked::Fits) };
    let found = laid_out(git, id, (base, now, tip)).await?;
    Ok(found.map_or(Looked::Fits, |conflict| Looked::Conflicts(Box::new(conflict))))
}

/// Where the commits of a merged task conflict with what is on trunk now, when they are taken back.
async fn taken_back(git: &Git, state: &State, id: &TaskId, now: &Oid) -> Result<Looked, GitError> {
    let mut commits = merged_itself(state, id);
    commits.reverse();
    if commits.is_empty() || !git.missing_commits(&commits).await?.is_empty() {
        return Ok(Looked::Merged);
    }
    let tried = rebuild(git, now, (&commits, &[]), 0, None, Making::Supposed(&[])).await?;
    let Rebuilt::Conflict { paths, open: Some(open), .. } = tried else { return Ok(Looked::Merged) };
    let (left, onto, before) = open.sides();
    let found = laid_out(git, id, (left.clone(), onto.clone(), before.clone())).await?;
    let request = Request::RollbackTask { tasks: vec![id.clone()], force: Force::default() };
    let (_, hint) = operation::conflicts(state, "", &request, &paths);
    Ok(found.map_or(Looked::Merged, |conflict| {
        Looked::Conflicts(Box::new(WorkConflict { taken_back: Some(hint), ..conflict }))
    }))
}

/// The three sides of each file. None: nothing conflicts.
async fn laid_out(
    git: &Git,
    id: &TaskId,
    (base, trunk, tip): (Oid, Oid, Oid),
) -> Result<Option<WorkConflict>, GitError> {
    let Some(conflicted) = git.conflict_of(&base, &trunk, &tip).await? else { return Ok(None) };
    let mut files = Vec::new();
    for (path, sides) in conflicted.files.iter().take(FILES_MAX) {
        files.push(file(git, &conflicted, path, sides).await?);
    }
    let more_files = conflicted.files.len() - files.len();
    let (task, taken_back) = (id.clone(), None);
    Ok(Some(WorkConflict { task, base, trunk, tip, files, more_files, taken_back }))
}

async fn file(
    git: &Git,
    conflicted: &Conflicted,
    path: &Path,
    sides: &Sides,
) -> Result<FileConflict, GitError> {
    let base = side(git, sides.base.as_ref()).await?;
    let trunk = side(git, sides.ours.as_ref()).await?;
    let task = side(git, sides.theirs.as_ref()).await?;
    let mut file = FileConflict {
        path: path.to_string_lossy().into_owned(),
        base,
        trunk,
        task,
        places: Vec::new(),
        more_places: 0,
    };
    let both_have_lines = [&file.trunk, &file.task].iter().all(|side| side.text.is_some());
    let marked = match git.entry_at(&conflicted.tree, path).await? {
        Some(marked) if both_have_lines => bounded(git, &marked.oid).await?,
        _ => None,
    };
    if let Some(found) = marked.as_deref().and_then(places) {
        file.more_places = found.len().saturating_sub(PLACES_MAX);
        file.places = found
            .iter()
            .take(PLACES_MAX)
            .map(|place| PlaceView {
                line: place.line,
                base: text(&place.base),
                trunk: text(&place.ours),
                task: text(&place.theirs),
            })
            .collect();
        // What is shown place by place is not shown a second time as a whole.
        for side in [&mut file.base, &mut file.trunk, &mut file.task] {
            side.text = None;
        }
    }
    Ok(file)
}

async fn side(git: &Git, entry: Option<&Entry>) -> Result<FileSide, GitError> {
    let Some(Entry { mode, oid }) = entry else {
        return Ok(FileSide { is: "absent", ..FileSide::default() });
    };
    let object = Some(oid.clone());
    let named = |is| FileSide { is, object: object.clone(), text: None };
    if *mode == MODE_GITLINK {
        return Ok(named("submodule"));
    }
    let is = match *mode {
        MODE_SYMLINK => "symbolic link",
        0o100_755 => "executable",
        _ => "file",
    };
    Ok(match bounded(git, oid).await? {
        Some(bytes) if bytes.contains(&0) => named("binary file"),
        Some(bytes) => FileSide { text: Some(text(&bytes)), ..named(is) },
        None => FileSide { text: Some(SideText { text: String::new(), cut: true }), ..named(is) },
    })
}

/// None: it is too large to be looked into.
async fn bounded(git: &Git, oid: &Oid) -> Result<Option<Vec<u8>>, GitError> {
    match git.blob(oid).await {
        Err(GitError::Process(ProcessError::TooMuchOutput { .. })) => Ok(None),
        bytes => Ok(Some(bytes?).filter(|bytes| bytes.len() <= FILE_BYTES_MAX)),
    }
}

fn text(bytes: &[u8]) -> SideText {
    let cut = bytes.len() > SIDE_BYTES_MAX;
    let bytes = &bytes[..bytes.len().min(SIDE_BYTES_MAX)];
    SideText { text: String::from_utf8_lossy(bytes).into_owned(), cut }
}
