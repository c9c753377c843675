//! Commits: their order, their parts, and making new ones.

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::refs::parse_oid;
use swarm_process::Input;

/// Commits that are followed one by one, each a small file, before git is asked.
const LOOSE_STEPS_MAX: usize = 64;

/// A name and an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub name: String,
    pub email: String,
}

impl Identity {
    /// Used when the person has configured none, so that a commit never fails for want of a name.
    pub fn of_the_swarm() -> Self {
        Self { name: "Swarm".into(), email: "swarm@localhost".into() }
    }

    pub(super) fn is_usable(&self) -> bool {
        let has_letters = |text: &str| text.chars().any(|c| !c.is_whitespace() && !"<>.,:;\"'".contains(c));
        has_letters(&self.name) && has_letters(&self.email)
    }
}

/// Who did something when, with git's date as it stands in the object: `1700000000 +0100`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub who: Vec<u8>,
    pub email: Vec<u8>,
    pub date: String,
}

/// The parts of a commit that are carried over when it is built onto another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitParts {
    pub tree: Oid,
    pub parents: Vec<Oid>,
    pub author: Signature,
    pub encoding: Option<String>,
    pub message: Vec<u8>,
}

/// A commit to be made. The same parts give the same id.
pub struct NewCommit<'a> {
    pub tree: &'a Oid,
    pub parents: &'a [Oid],
    pub author: Option<&'a Signature>,
    pub encoding: Option<&'a str>,
    pub message: &'a [u8],
    /// Committer's date (and the author's, when no author is given), seconds since 1970.
    pub at_secs: i64,
}

impl Git {
    /// `git rev-list --first-parent --reverse base..tip`: oldest first.
    pub async fn first_parent_range(&self, base: &Oid, tip: &Oid) -> Result<Vec<Oid>, GitError> {
        if let Some(mut line) = self.loose_line(base, tip, LOOSE_STEPS_MAX) {
            line.reverse();
            return Ok(line);
        }
        let range = format!("{base}..{tip}");
        let output =
            self.call(["rev-list", "--first-parent", "--reverse", &range, "--"]).long_list().ok().await?;
        output
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| parse_oid("rev-list", line))
            .collect()
    }

    pub async fn is_ancestor(&self, older: &Oid, newer: &Oid) -> Result<bool, GitError> {
        if self.loose_line(older, newer, LOOSE_STEPS_MAX).is_some() {
            return Ok(true);
        }
        Ok(self
            .call(["merge-base", "--is-ancestor", older.as_str(), newer.as_str()])
            .if_yes()
            .await?
            .is_some())
    }

    pub async fn merge_base(&self, one: &Oid, other: &Oid) -> Result<Option<Oid>, GitError> {
        let found = self.call(["merge-base", one.as_str(), other.as_str()]).if_yes().await?;
        found
            .map(|bytes| parse_oid("merge-base", bytes.split(|b| *b == b'\n').next().unwrap_or_default()))
            .transpose()
    }

    pub async fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        if let Some(parts) = self.loose_commit(commit).and_then(|raw| parse_commit(&raw)) {
            return Ok(parts.tree);
        }
        let line = self
            .call(["rev-parse", "--verify", "--end-of-options", &format!("{commit}^{{tree}}")])
            .line()
            .await?;
        parse_oid("rev-parse", line.as_bytes())
    }

    pub async fn commit_parts(&self, commit: &Oid) -> Result<CommitParts, GitError> {
        let raw = match self.loose_commit(commit) {
            Some(raw) => raw,
            None => self.call(["cat-file", "commit", commit.as_str()]).ok().await?,
        };
        parse_commit(&raw).ok_or_else(|| GitError::Unreadable {
            command: "cat-file commit".into(),
            what: commit.to_string(),
        })
    }

    pub async fn make_commit(&self, commit: NewCommit<'_>) -> Result<Oid, GitError> {
        use std::os::unix::ffi::OsStrExt;
        let now = format!("{} +0000", commit.at_secs);
        let mut call = self.call(["commit-tree", commit.tree.as_str()]);
        for parent in commit.parents {
            call = call.args(["-p", parent.as_str()]);
        }
        if let Some(encoding) = commit.encoding {
            call = call.global("-c").global(format!("i18n.commitEncoding={encoding}"));
        }
        let bytes = std::ffi::OsStr::from_bytes;
        call = match commit.author {
            Some(author) => call
                .env("GIT_AUTHOR_NAME", bytes(&author.who))
                .env("GIT_AUTHOR_EMAIL", bytes(&author.email))
                .env("GIT_AUTHOR_DATE", format!("@{}", author.date)),
            None => call
                .env("GIT_AUTHOR_NAME", &self.identity.name)
                .env("GIT_AUTHOR_EMAIL", &self.identity.email)
                .env("GIT_AUTHOR_DATE", format!("@{now}")),
        };
        let line = call
            .env("GIT_COMMITTER_NAME", &self.identity.name)
            .env("GIT_COMMITTER_EMAIL", &self.identity.email)
            .env("GIT_COMMITTER_DATE", format!("@{now}"))
            .stdin(Input::Bytes(commit.message.to_vec()))
            .line()
            .await?;
        parse_oid("commit-tree", line.as_bytes())
    }
}

pub(super) fn parse_commit(raw: &[u8]) -> Option<CommitParts> {
    let split = raw.windows(2).position(|two| two == b"\n\n")?;
    let (head, message) = (&raw[..split], raw[split + 2..].to_vec());
    let mut parts = CommitParts {
        tree: Oid::new("0".repeat(40)).ok()?,
        parents: vec![],
        author: parse_signature(b"")?,
        encoding: None,
        message,
    };
    let mut seen_author = false;
    for line in head.split(|b| *b == b'\n') {
        let text = || std::str::from_utf8(line).ok();
        if line.starts_with(b"tree ") {
            parts.tree = Oid::new(&text()?[5..]).ok()?;
        } else if line.starts_with(b"parent ") {
            parts.parents.push(Oid::new(&text()?[7..]).ok()?);
        } else if let (Some(rest), false) = (line.strip_prefix(b"author "), seen_author) {
            parts.author = parse_signature(rest)?;
            seen_author = true;
        } else if line.starts_with(b"encoding ") {
            parts.encoding = Some(text()?[9..].to_owned());
        }
    }
    Some(parts)
}

/// `A U Thor <a@example.org> 1700000000 +0100`. What a broken import left out is filled in, because
/// git refuses to make a commit without it.
fn parse_signature(line: &[u8]) -> Option<Signature> {
    let open = line.iter().position(|b| *b == b'<');
    let close = line.iter().rposition(|b| *b == b'>');
    let (who, email, date) = match (open, close) {
        (Some(open), Some(close)) if open < close => {
            (&line[..open], &line[open + 1..close], &line[close + 1..])
        }
        _ => (line, &b""[..], &b""[..]),
    };
    let or = |bytes: &[u8], other: &str| {
        if bytes.trim_ascii().is_empty() { other.as_bytes().to_vec() } else { bytes.trim_ascii().to_vec() }
    };
    let date = String::from_utf8(or(date, "0 +0000")).ok()?;
    Some(Signature { who: or(who, "unknown"), email: or(email, "unknown@localhost"), date })
}
