//! Refs: read, and changed only by compare-and-swap.

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError, failed};
use super::ref_files::InFiles;
use swarm_process::Input;

/// One ref of a transaction. `old: None` means it must not exist, `new: None` deletes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefChange {
    pub name: String,
    pub old: Option<Oid>,
    pub new: Option<Oid>,
}

impl RefChange {
    pub fn create(name: impl Into<String>, new: &Oid) -> Self {
        Self { name: name.into(), old: None, new: Some(new.clone()) }
    }
    pub fn modify(name: impl Into<String>, old: &Oid, new: &Oid) -> Self {
        Self { name: name.into(), old: Some(old.clone()), new: Some(new.clone()) }
    }
    pub fn delete(name: impl Into<String>, old: &Oid) -> Self {
        Self { name: name.into(), old: Some(old.clone()), new: None }
    }
}

/// How a transaction ended when git itself worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefOutcome {
    Changed,
    /// A ref did not have its expected value: nothing was changed.
    Lost {
        name: String,
        now: Option<Oid>,
    },
}

impl Git {
    /// The commit a name stands for; `None` when there is no such name.
    pub async fn resolve(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let asked = format!("{name}^{{commit}}");
        let found =
            self.call(["rev-parse", "--verify", "--quiet", "--end-of-options", &asked]).if_yes().await?;
        found.map(|bytes| parse_oid("rev-parse", &bytes)).transpose()
    }

    /// The value of exactly this ref, without the guessing that `resolve` does.
    pub async fn ref_value(&self, full_name: &str) -> Result<Option<Oid>, GitError> {
        match self.ref_in_files(full_name) {
            InFiles::Value(oid) => return Ok(Some(oid)),
            InFiles::Absent => return Ok(None),
            InFiles::AskGit => {}
        }
        let listed = self.refs_under(full_name).await?;
        Ok(listed.into_iter().find(|(name, _)| name == full_name).map(|(_, oid)| oid))
    }

    /// All refs that have this prefix (at a slash), by name.
    pub async fn refs_under(&self, prefix: &str) -> Result<Vec<(String, Oid)>, GitError> {
        self.refs_under_all(&[prefix]).await
    }

    /// As [`Git::refs_under`], of several prefixes by one question.
    pub async fn refs_under_all(&self, prefixes: &[&str]) -> Result<Vec<(String, Oid)>, GitError> {
        if let Some(found) = self.refs_in_files(prefixes) {
            return Ok(found);
        }
        let call = self.call(["for-each-ref", "--format=%(objectname) %(refname)"]).args(prefixes);
        let output = call.long_list().ok().await?;
        let lines = String::from_utf8_lossy(&output).into_owned();
        lines
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(oid, name)| Ok((name.to_owned(), parse_oid("for-each-ref", oid.as_bytes())?)))
            .collect()
    }

    /// Changes all refs or none. `reason` goes to the reflogs.
    ///
    /// Asked again after a crash it finds the refs at their new values and says `Changed`.
    pub async fn update_refs(&self, changes: &[RefChange], reason: &str) -> Result<RefOutcome, GitError> {
        self.update_refs_from(&self.common_dir, changes, reason, Input::Null).await
    }

    /// As [`Git::update_refs`], speaking for one checkout so that its HEAD's reflog gets the entry too.
    /// `held` is an open file the git process keeps open as long as it lives.
    pub async fn update_refs_from(
        &self,
        git_dir: &std::path::Path,
        changes: &[RefChange],
        reason: &str,
        held: Input,
    ) -> Result<RefOutcome, GitError> {
        let held = if let Input::File(file) = held { Some(file) } else { None };
        let mut left = changes.to_vec();
        let mut last = None;
        // A few times, because a try may meet a lock file left by a git that was killed, or a
        // transaction of which the killed one had done a part.
        for _ in 0..3 {
            self.may_act()?;
            let call = self.call::<[&str; 0], _>([]).git_dir(git_dir);
            let call = match (&held, &left[..]) {
                // Its input is needed as a sign of life: the single change goes as arguments.
                (Some(file), [one]) => {
                    let file = file.try_clone().map_err(GitError::io("duplicate a handle of", git_dir))?;
                    call.args(["update-ref", "-m", reason]).args(as_arguments(one)).stdin(Input::File(file))
                }
                _ => call
                    .args(["update-ref", "-m", reason, "--stdin", "-z"])
                    .stdin(Input::Bytes(as_script(&left))),
            };
            let ended = call.any().await?;
            if ended.status.success() {
                return Ok(RefOutcome::Changed);
            }
            let before = left.len();
            // Before looking: a git killed after the change of the ref may still have left HEAD's lock.
            let cleared = self.clear_abandoned_ref_locks(git_dir, &left).await;
            if let Some(lost) = self.drop_done(&mut left).await? {
                return Ok(lost);
            }
            if left.is_empty() {
                return Ok(RefOutcome::Changed);
            }
            last = Some(ended);
            if left.len() == before && !cleared {
                break;
            }
        }
        Err(failed("update-ref".into(), &last.expect("the loop ran")))
    }

    /// Takes out of the list what has its new value already; says so when one has neither value.
    async fn drop_done(&self, left: &mut Vec<RefChange>) -> Result<Option<RefOutcome>, GitError> {
        let mut undone = Vec::new();
        for change in std::mem::take(left) {
            let now = self.ref_value(&change.name).await?;
            if now == change.new {
                continue;
            }
            if now != change.old {
                return Ok(Some(RefOutcome::Lost { name: change.name, now }));
            }
            undone.push(change);
        }
        *left = undone;
        Ok(None)
    }
}

fn as_arguments(change: &RefChange) -> Vec<String> {
    // The empty word means: must not exist.
    let old = change.old.as_ref().map_or_else(String::new, Oid::to_string);
    match &change.new {
        Some(new) => vec![change.name.clone(), new.to_string(), old],
        None => vec!["-d".into(), change.name.clone(), old],
    }
}

fn as_script(changes: &[RefChange]) -> Vec<u8> {
    let mut script = Vec::new();
    let mut add = |words: String| {
        script.extend_from_slice(words.as_bytes());
        script.push(0);
    };
    for RefChange { name, old, new } in changes {
        match (old, new) {
            (None, Some(new)) => {
                ["create ".to_owned() + name, new.to_string()].into_iter().for_each(&mut add)
            }
            (Some(old), Some(new)) => {
                ["update ".to_owned() + name, new.to_string(), old.to_string()].into_iter().for_each(&mut add)
            }
            (Some(old), None) => {
                ["delete ".to_owned() + name, old.to_string()].into_iter().for_each(&mut add)
            }
            (None, None) => add("verify ".to_owned() + name + "\0"),
        }
    }
    script
}

pub(super) fn parse_oid(command: &str, bytes: &[u8]) -> Result<Oid, GitError> {
    let text = String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
    Oid::new(&text)
        .map_err(|error| GitError::Unreadable { command: command.to_owned(), what: error.to_string() })
}
