//! A place on trunk, and for each line of a file the commit that brought it and the task that the commit was made for.
//! Reads only, needs no lock: asked beside a coordinator that works, or where there is none.

use std::collections::BTreeMap;

use swarm_core::State;
use swarm_git::{Git, GitError, Told};
use swarm_process::ProcessError;
use swarm_protocol::api::ApiError;
use swarm_protocol::ids::{Oid, TaskId};
use swarm_protocol::trunk::{CauseView, TrunkAsk, TrunkFile, TrunkKind, TrunkLine, TrunkView};

/// What is given at once: names of a folder, lines of a file, characters of a line.
const ENTRIES_MAX: usize = 2000;
const LINES_MAX: u64 = 500;
const LINE_CHARS_MAX: usize = 2000;

/// Larger files are no text that somebody reads line by line.
const FILE_BYTES_MAX: u64 = 2 << 20;

/// Looks at a place on trunk as it is now.
pub async fn trunk_lines(
    git: &Git,
    trunk: &str,
    state: &State,
    ask: &TrunkAsk,
) -> Result<TrunkView, ApiError> {
    let path = ask.path();
    let not_there = |what: String, hint: &str| Err(ApiError::new("not_found", what, hint));
    let Some(commit) = git.ref_value(&format!("refs/heads/{trunk}")).await.map_err(|error| told(&error))?
    else {
        return not_there(format!("There is no branch {trunk}"), "swarm doctor");
    };
    let mut view = TrunkView {
        trunk: trunk.to_owned(),
        commit: commit.clone(),
        path: path.to_owned(),
        entries: None,
        file: None,
        cut: false,
    };
    let (kind, oid, bytes) = match path {
        "" => (TrunkKind::Folder, commit.clone(), 0),
        _ => match git.placed(&commit, path).await.map_err(|error| told(&error))? {
            Some(placed) => (placed.kind, placed.oid, placed.bytes),
            None => {
                return not_there(
                    format!("There is no {path} on {trunk}"),
                    &format!("git ls-tree -r {trunk}"),
                );
            }
        },
    };
    if kind == TrunkKind::Folder {
        let (entries, more) = git.folder(&oid, ENTRIES_MAX).await.map_err(|error| told(&error))?;
        (view.entries, view.cut) = (Some(entries), more);
        return Ok(view);
    }
    let lines = Lines { git, state, commit: &commit, path, from: ask.from };
    let file = match kind {
        TrunkKind::Submodule => Ok(unshown("it is another repository")),
        _ if bytes > FILE_BYTES_MAX => Ok(unshown(&format!("it has {bytes} bytes"))),
        _ => lines.read(&oid).await,
    };
    view.file = Some(file.map_err(|error| told(&error))?);
    Ok(view)
}

fn unshown(why: &str) -> TrunkFile {
    TrunkFile { unshown: Some(why.to_owned()), ..TrunkFile::default() }
}

fn told(error: &GitError) -> ApiError {
    if let GitError::Process(ProcessError::TimedOut { .. }) = error {
        let message = "Git needs too long to find out what brought these lines";
        return ApiError::new("failed", message, "git blame PATH, in a terminal");
    }
    ApiError::new("failed", error.to_string(), "swarm doctor")
}

/// Some lines of a file that somebody asked for.
struct Lines<'a> {
    git: &'a Git,
    state: &'a State,
    commit: &'a Oid,
    path: &'a str,
    from: u64,
}

impl Lines<'_> {
    async fn read(&self, blob: &Oid) -> Result<TrunkFile, GitError> {
        let text = self.git.blob(blob).await?;
        if text.contains(&0) {
            return Ok(unshown("its bytes are no text"));
        }
        let lines_total = text.strip_suffix(b"\n").unwrap_or(&text).split(|b| *b == b'\n').count() as u64;
        let lines_total = if text.is_empty() { 0 } else { lines_total };
        let mut file = TrunkFile { lines_total, ..TrunkFile::default() };
        if self.from > lines_total {
            return Ok(file);
        }
        let to = lines_total.min(self.from + LINES_MAX - 1);
        let brought = self.git.brought(self.commit, self.path, self.from, to).await?;
        let mut causes: BTreeMap<Oid, usize> = BTreeMap::new();
        for (line, n) in brought.into_iter().zip(self.from..) {
            let next = causes.len();
            let cause = *causes.entry(line.commit).or_insert(next);
            let text = String::from_utf8_lossy(&line.text).chars().take(LINE_CHARS_MAX).collect();
            file.lines.push(TrunkLine { n, text, cause });
        }
        file.causes = self.causes(causes).await?;
        Ok(file)
    }

    /// In the order of their numbers.
    async fn causes(&self, numbered: BTreeMap<Oid, usize>) -> Result<Vec<CauseView>, GitError> {
        let commits: Vec<Oid> = numbered.keys().cloned().collect();
        let mut told = self.git.told(&commits).await?;
        told.sort_by_key(|told| numbered.get(&told.commit).copied());
        if told.len() != numbered.len() {
            return Err(GitError::Unreadable { command: "log".into(), what: "not every commit".into() });
        }
        Ok(told.into_iter().map(|told| self.cause(told)).collect())
    }

    fn cause(&self, told: Told) -> CauseView {
        let task = task_of(self.state, &told.commit);
        CauseView {
            says_task: told.task.filter(|said| task.as_ref().is_none_or(|task| task.as_str() != said)),
            task,
            commit: told.commit,
            author: told.author,
            at: told.at,
            summary: told.summary,
            says_agent: told.agent,
        }
    }
}

/// Whose work this commit of trunk is: as the ledger has it, which no commit can say otherwise.
fn task_of(state: &State, commit: &Oid) -> Option<TaskId> {
    let found = state.tasks.iter().find(|(_, task)| {
        task.stage.proof().is_some_and(|proof| proof.commits.contains(commit) || proof.made.contains(commit))
    });
    found.map(|(id, _)| id.clone())
}
