//! What a merge of trees left undecided, side by side, and the tree with the decisions in it. No checkout is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::call::{Git, GitError, failed};
use super::commits::NewCommit;
use super::entry::path_of;
use super::entry::{Change, Entry};
use super::refs::parse_oid;
use swarm_process::Input;

/// What git says about a path that merges well, or whose lines alone conflict. Every other word (renamed, deleted,
/// binary, a folder in the way) means more than lines.
const ABOUT_LINES: [&str; 2] = ["Auto-merging", "CONFLICT (contents)"];

/// A merge that git could not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflicted {
    /// Everything that merged well; the files in conflict have marks of the style `diff3` in them.
    pub tree: Oid,
    pub files: BTreeMap<PathBuf, Sides>,
    /// Nothing but lines of files conflict.
    pub only_lines: bool,
}

/// One path in conflict. What is absent has no such file there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sides {
    pub base: Option<Entry>,
    pub ours: Option<Entry>,
    pub theirs: Option<Entry>,
}

impl Conflicted {
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files.keys().cloned().collect()
    }
}

impl Git {
    /// Merges as [`Git::merge_commits`] does and shows the conflict in full. None: there is none.
    pub async fn conflict_of(
        &self,
        base: &Oid,
        ours: &Oid,
        theirs: &Oid,
    ) -> Result<Option<Conflicted>, GitError> {
        let args = ["merge-tree", "--write-tree", "-z", "--messages"];
        let call = self.merge_call(&args, base, ours, theirs).await?;
        let call = call.global("-c").global("merge.conflictStyle=diff3");
        let ended = call.long_list().any().await?;
        match ended.status.code() {
            Some(0) => Ok(None),
            Some(1) => parse(&ended.stdout).map(Some).ok_or_else(|| GitError::Unreadable {
                command: "merge-tree".into(),
                what: "the conflict".into(),
            }),
            _ => Err(failed("merge-tree".into(), &ended)),
        }
    }

    /// The paths in which two commits conflict, both seen as changes of what they have in common.
    pub async fn conflicts_between(&self, ours: &Oid, theirs: &Oid) -> Result<Vec<PathBuf>, GitError> {
        let call = self.call(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]);
        let ended = call.args([ours.as_str(), theirs.as_str()]).long_list().any().await?;
        match ended.status.code() {
            Some(0) => Ok(Vec::new()),
            Some(1) => {
                let fields = ended.stdout.split(|b| *b == 0).filter(|field| !field.is_empty());
                let paths: BTreeSet<PathBuf> = fields.skip(1).map(path_of).collect();
                Ok(paths.into_iter().collect())
            }
            _ => Err(failed("merge-tree".into(), &ended)),
        }
    }

    /// The bytes of a blob as they are kept.
    pub async fn blob(&self, oid: &Oid) -> Result<Vec<u8>, GitError> {
        self.call(["cat-file", "blob", oid.as_str()]).long_list().ok().await
    }

    /// The blob at this path of a tree, with its mode; none: there is no file.
    pub async fn entry_at(&self, tree: &Oid, path: &Path) -> Result<Option<Entry>, GitError> {
        let call = self.call(["ls-tree", "-z", tree.as_str(), "--"]).arg(path);
        let output = call.global("--literal-pathspecs").ok().await?;
        let line = output.split(|b| *b == 0).next().unwrap_or_default();
        let head = line.split(|b| *b == b'\t').next().and_then(|head| std::str::from_utf8(head).ok());
        let words: Vec<&str> = head.unwrap_or_default().split(' ').collect();
        let [mode, "blob", oid] = words[..] else { return Ok(None) };
        Ok(entry_of(mode, oid))
    }

    /// Keeps bytes as a blob.
    pub async fn write_blob(&self, bytes: Vec<u8>) -> Result<Oid, GitError> {
        let line = self.call(["hash-object", "-w", "--stdin"]).stdin(Input::Bytes(bytes)).line().await?;
        parse_oid("hash-object", line.as_bytes())
    }

    /// A tree that no commit has, with these files in the place of its own.
    pub async fn decided(&self, tree: &Oid, files: BTreeMap<PathBuf, Entry>) -> Result<Oid, GitError> {
        let (message, at_secs) = (&b"conflicts\n"[..], 0);
        let commit = NewCommit { tree, parents: &[], author: None, encoding: None, message, at_secs };
        let commit = self.make_commit(commit).await?;
        let changed = files.into_iter().map(|(path, entry)| Change { path, old: None, new: Some(entry) });
        self.tree_with(&commit, &changed.collect::<Vec<_>>()).await
    }
}

/// `<tree>\0`, then `<mode> <oid> <stage>\t<path>\0` for each side, an empty field, and the messages:
/// `<count>\0<path>\0…<kind>\0<text>\0`.
fn parse(output: &[u8]) -> Option<Conflicted> {
    let mut fields = output.split(|b| *b == 0);
    let tree = Oid::new(std::str::from_utf8(fields.next()?).ok()?).ok()?;
    let mut files: BTreeMap<PathBuf, Sides> = BTreeMap::new();
    for record in fields.by_ref().take_while(|record| !record.is_empty()) {
        let tab = record.iter().position(|b| *b == b'\t')?;
        let head = std::str::from_utf8(&record[..tab]).ok()?;
        let words: Vec<&str> = head.split(' ').collect();
        let [mode, oid, stage] = words[..] else { return None };
        let sides = files.entry(path_of(&record[tab + 1..])).or_default();
        let side = match stage {
            "1" => &mut sides.base,
            "2" => &mut sides.ours,
            "3" => &mut sides.theirs,
            _ => return None,
        };
        *side = entry_of(mode, oid);
    }
    let mut only_lines = true;
    while let Some(count) = fields.next().filter(|count| !count.is_empty()) {
        let count: usize = std::str::from_utf8(count).ok()?.parse().ok()?;
        let kind = std::str::from_utf8(fields.nth(count)?).ok()?;
        only_lines &= ABOUT_LINES.contains(&kind);
        fields.next()?;
    }
    Some(Conflicted { tree, files, only_lines })
}

fn entry_of(mode: &str, oid: &str) -> Option<Entry> {
    Some(Entry { mode: u32::from_str_radix(mode, 8).ok()?, oid: Oid::new(oid).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: char) -> String {
        digit.to_string().repeat(40)
    }

    #[test]
    fn the_sides_and_the_messages_are_read() {
        let [tree, base, ours, theirs] = ['1', '2', '3', '4'].map(oid);
        let mut output = format!("{tree}\0");
        for (oid, stage) in [(&base, 1), (&ours, 2), (&theirs, 3)] {
            output += &format!("100644 {oid} {stage}\ta b.txt\0");
        }
        output += "\0";
        let lines = output.clone()
            + "1\0a b.txt\0Auto-merging\0Auto-merging a b.txt\n\0\
               1\0a b.txt\0CONFLICT (contents)\0CONFLICT (content): in a b.txt\n\0";
        let read = parse(lines.as_bytes()).expect("it is readable");
        assert_eq!((read.tree.as_str(), read.only_lines), (tree.as_str(), true));
        let sides = &read.files[Path::new("a b.txt")];
        assert_eq!(sides.theirs.as_ref().map(|e| (e.mode, e.oid.as_str())), Some((0o100644, &theirs[..])));
        let renamed = output + "2\0a b.txt\0c\0CONFLICT (rename/delete)\0text\0";
        assert!(!parse(renamed.as_bytes()).expect("it is readable").only_lines);
        assert_eq!(parse(b"nonsense\0"), None);
    }
}
