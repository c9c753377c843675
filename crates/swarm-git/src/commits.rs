//! Commits: their order, their parts, and making new ones.

use serde::{Deserialize, Serialize};
use swarm_protocol::ids::Oid;

use super::call::{Git, GitError};
use super::refs::parse_oid;
use swarm_process::Input;

/// Commits that are followed one by one, each a small file, before git is asked.
const LOOSE_STEPS_MAX: usize = 64;

/// Names are handed to git by its environment, which has a bound.
const NAME_BYTES_MAX: usize = 1024;
const ENCODING_BYTES_MAX: usize = 64;

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

/// As git reads it: the tree first, the parents right behind it. Whoever believed a second tree further down, which git passes
/// over, would judge another commit than the one that is merged.
pub(super) fn parse_commit(raw: &[u8]) -> Option<CommitParts> {
    // A commit may do without a message, and without the empty line above it.
    let (head, message) = match raw.windows(2).position(|two| two == b"\n\n") {
        Some(split) => (&raw[..split], raw[split + 2..].to_vec()),
        None => (raw.strip_suffix(b"\n").unwrap_or(raw), vec![]),
    };
    let oid = |name: &[u8]| Oid::new(std::str::from_utf8(name).ok()?).ok();
    let mut lines = head.split(|b| *b == b'\n').peekable();
    let tree = oid(lines.next()?.strip_prefix(b"tree ")?)?;
    let mut parents = vec![];
    while let Some(line) = lines.next_if(|line| line.starts_with(b"parent ")) {
        parents.push(oid(&line[7..])?);
    }
    let (mut author, mut encoding) = (None, None);
    for line in lines {
        if author.is_none() && line.starts_with(b"author ") {
            author = Some(parse_signature(&line[7..])?);
        } else if encoding.is_none() && line.starts_with(b"encoding ") {
            encoding = Some(String::from_utf8_lossy(&line[9..]).into_owned());
        }
    }
    let author = author.map_or_else(|| parse_signature(b""), Some)?;
    let encoding = encoding.filter(|name| name.len() <= ENCODING_BYTES_MAX);
    Some(CommitParts { tree, parents, author, encoding, message })
}

/// `A U Thor <a@example.org> 1700000000 +0100`. What a broken import left out is filled in, because
/// git refuses to make a commit without it; also in place of a name that it reads and would not write.
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
        let bytes = bytes[..bytes.len().min(NAME_BYTES_MAX)].trim_ascii();
        let named = bytes.iter().any(|b| *b > b' ' && !b".,:;<>\"\\'".contains(b));
        if named { bytes.to_vec() } else { other.as_bytes().to_vec() }
    };
    let date = String::from_utf8(or(date, "0 +0000")).ok()?;
    let date = with_a_zone(date);
    Some(Signature { who: or(who, "unknown"), email: or(email, "unknown@localhost"), date })
}

/// Git reads `+9999` as a hundred hours and writes five digits for them, which `git fsck` and servers refuse.
fn with_a_zone(date: String) -> String {
    let minutes = |zone: &str| Some(zone.get(1..)?.parse::<u32>().ok()? % 100);
    match date.split_once(' ') {
        Some((at, zone)) if minutes(zone).is_some_and(|minutes| minutes > 59) => format!("{at} +0000"),
        _ => date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_what_git_takes_it_for() {
        let [a, b, c] = ["a", "b", "c"].map(|letter| letter.repeat(40));
        let parsed = |raw: String| parse_commit(raw.as_bytes()).expect("a commit");
        let person = "A <a@b> 1 +0100";
        let head = format!("tree {a}\nparent {b}\nauthor {person}\ncommitter {person}\n");
        let plain = parsed(format!("{head}\nwords\n"));
        let told = (plain.tree.as_str(), plain.parents.len(), &plain.message[..]);
        assert_eq!(told, (&a[..], 1, &b"words\n"[..]));
        let more = format!("{head}tree {c}\nparent {c}\nauthor B <b@b> 2 +0000\nencoding x\n");
        let more = parsed(more);
        assert_eq!((&more.tree, &more.parents, &more.author), (&plain.tree, &plain.parents, &plain.author));
        assert_eq!((more.encoding.as_deref(), more.message.len()), (Some("x"), 0));
        assert_eq!(parsed(format!("{head}encoding {}\n\n", "x".repeat(99))).encoding, None);
        assert_eq!(parse_commit(format!("parent {b}\ntree {a}\n\n").as_bytes()), None);
    }

    #[test]
    fn an_author_is_one_that_git_writes() {
        let read = |line: &str| {
            let Signature { who, email, date } = parse_signature(line.as_bytes()).expect("a signature");
            format!("{} <{}> {date}", String::from_utf8_lossy(&who), String::from_utf8_lossy(&email))
        };
        assert_eq!(read("A. Thor <a@b> 17 -0330"), "A. Thor <a@b> 17 -0330");
        assert_eq!(read(". <a@b> 17 +9999"), "unknown <a@b> 17 +0000");
        assert_eq!(read(""), "unknown <unknown@localhost> 0 +0000");
        assert_eq!(read(&format!("{} <a@b> 1 +0000", "x".repeat(9999))).len(), NAME_BYTES_MAX + 14);
    }
}
