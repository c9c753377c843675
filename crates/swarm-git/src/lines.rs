//! What stands at a path of a commit, and which commit brought each line of it.

use std::time::Duration;

use swarm_protocol::ids::Oid;
use swarm_protocol::time::Timestamp;
use swarm_protocol::trunk::{TrunkEntry, TrunkKind};

use super::call::{Git, GitError};

/// The history of one file may be the history of everything; nobody waits longer for it.
const BLAME_WITHIN: Duration = Duration::from_secs(15);

/// Something that a tree names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    pub kind: TrunkKind,
    pub oid: Oid,
    /// Of a file.
    pub bytes: u64,
}

/// A line and the commit that brought it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    pub commit: Oid,
    pub text: Vec<u8>,
}

/// What a commit says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub commit: Oid,
    pub author: String,
    pub at: Timestamp,
    pub summary: String,
    /// What its trailers name, from the last of each.
    pub task: Option<String>,
    pub agent: Option<String>,
}

impl Git {
    /// What stands at this path; none: nothing does.
    pub async fn placed(&self, commit: &Oid, path: &str) -> Result<Option<Placed>, GitError> {
        let call = self.call(["ls-tree", "-z", "-l", commit.as_str(), "--", path]);
        let output = call.global("--literal-pathspecs").ok().await?;
        Ok(output.split(|b| *b == 0).find_map(entry).map(|(_, placed)| placed))
    }

    /// What a folder holds, folders first; more than so many are left out, which is then said.
    pub async fn folder(&self, tree: &Oid, most: usize) -> Result<(Vec<TrunkEntry>, bool), GitError> {
        let output = self.call(["ls-tree", "-z", "-l", tree.as_str()]).long_list().ok().await?;
        let found = output.split(|b| *b == 0).filter_map(entry);
        let mut entries: Vec<TrunkEntry> =
            found.map(|(name, placed)| TrunkEntry { name, kind: placed.kind }).collect();
        entries.sort_by_key(|entry| entry.kind != TrunkKind::Folder);
        let more = entries.len() > most;
        entries.truncate(most);
        Ok((entries, more))
    }

    /// Lines of a file from one to another, both counted from 1 and there. Told by git alone: no program that the repository
    /// names is run on them, and no list of commits to pass over is believed.
    pub async fn brought(
        &self,
        commit: &Oid,
        path: &str,
        from: u64,
        to: u64,
    ) -> Result<Vec<Brought>, GitError> {
        let call = self.call(["blame", "--porcelain", "--no-textconv", "-L"]).arg(format!("{from},{to}"));
        let call = call.args([commit.as_str(), "--", path]).timeout(BLAME_WITHIN).long_list();
        let call = call.global("--literal-pathspecs").global("-c").global("blame.ignoreRevsFile=");
        parse(&call.ok().await?)
            .ok_or_else(|| GitError::Unreadable { command: "blame".into(), what: "no lines".into() })
    }

    /// What these commits say of themselves, in no order.
    pub async fn told(&self, commits: &[Oid]) -> Result<Vec<Told>, GitError> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let trailer = |name: &str| format!("%(trailers:key={name},valueonly,separator=%x1f)");
        let [task, agent] = ["Swarm-Task", "Swarm-Agent"].map(trailer);
        let format = format!("--format=%H%x00%an%x00%at%x00%s%x00{task}%x00{agent}%x00");
        let call =
            self.call(["log", "--no-walk=unsorted", "--no-color", "--no-show-signature", "-z", &format]);
        let output = call.args(commits.iter().map(Oid::as_str)).arg("--").long_list().ok().await?;
        let text = String::from_utf8_lossy(&output);
        let fields: Vec<&str> = text.split('\0').collect();
        Ok(fields.chunks(7).filter_map(told).collect())
    }
}

/// `<mode> <type> <oid> <size>\t<name>`.
fn entry(line: &[u8]) -> Option<(String, Placed)> {
    let tab = line.iter().position(|b| *b == b'\t')?;
    let words: Vec<&str> = std::str::from_utf8(&line[..tab]).ok()?.split_ascii_whitespace().collect();
    let [mode, kind, oid, size] = words[..] else { return None };
    let kind = match (mode, kind) {
        (_, "tree") => TrunkKind::Folder,
        (_, "commit") => TrunkKind::Submodule,
        ("120000", _) => TrunkKind::Link,
        _ => TrunkKind::File,
    };
    let name = String::from_utf8_lossy(&line[tab + 1..]).into_owned();
    Some((name, Placed { kind, oid: Oid::new(oid).ok()?, bytes: size.parse().unwrap_or(0) }))
}

/// Each line: `<oid> <line then> <line now> …`, some words about the commit, and behind a tab the line itself.
fn parse(output: &[u8]) -> Option<Vec<Brought>> {
    let (mut found, mut commit) = (Vec::new(), None);
    for line in output.strip_suffix(b"\n").unwrap_or(output).split(|b| *b == b'\n') {
        match (&commit, line.strip_prefix(b"\t")) {
            (None, _) => {
                let oid = line.split(|b| *b == b' ').next().and_then(|oid| std::str::from_utf8(oid).ok())?;
                commit = Some(Oid::new(oid).ok()?);
            }
            (Some(_), None) => {}
            (Some(_), Some(text)) => found.push(Brought { commit: commit.take()?, text: text.to_vec() }),
        }
    }
    commit.is_none().then_some(found)
}

fn told(fields: &[&str]) -> Option<Told> {
    let [commit, author, at, summary, task, agent, _] = fields else { return None };
    let last = |names: &str| {
        names.rsplit('\u{1f}').next().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
    };
    Some(Told {
        commit: Oid::new(commit.trim()).ok()?,
        author: (*author).to_owned(),
        at: Timestamp::ZERO.plus_secs(at.parse().unwrap_or(0)),
        summary: (*summary).to_owned(),
        task: last(task),
        agent: last(agent),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_looks_like_the_head_of_one_is_a_line() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let output =
            format!("{a} 1 1 2\nauthor x\nsummary {b} 1 1\n\t{b} 1 1\n{a} 2 2\n\t\tdeep\n{b} 1 3 1\n\t");
        let found = parse(output.as_bytes()).expect("lines");
        let told: Vec<_> =
            found.iter().map(|one| (one.commit.as_str(), String::from_utf8_lossy(&one.text))).collect();
        let wanted =
            [(a.as_str(), format!("{b} 1 1")), (a.as_str(), "\tdeep".into()), (b.as_str(), String::new())];
        assert_eq!(told, wanted.map(|(commit, text)| (commit, text.into())));
        assert_eq!(parse(format!("{a} 1 1\nauthor x\n").as_bytes()), None);
    }
}
