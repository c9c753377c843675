//! What git stores without a word and what harms whoever gets it: names that cannot be written or would rule a terminal,
//! and links to commits of repositories that nobody else has. What git's own checks find is left to them.

use std::collections::BTreeMap;

use swarm_protocol::ids::Oid;

use super::OwnRepository;
use super::quarantine::Copied;
use super::take::{Limits, Stranger, revs};
use crate::call::GitError;
use crate::entry::ALL_LINKS;
use crate::entry::path_of;
use swarm_process::Input;

/// File systems take no longer names.
const NAME_BYTES_MAX: usize = 255;
const PATH_BYTES_MAX: usize = 4000;
/// The mode of a link to a commit of another repository, as git prints it.
pub(super) const LINK: &[u8] = b"160000";

impl Stranger<'_> {
    /// Why these commits are not taken; none where nothing is wrong with what they add.
    pub(super) async fn harm_in(
        &self,
        own: &OwnRepository,
        tips: &[&Oid],
        known: &[Oid],
        limits: Limits,
    ) -> Result<Option<String>, GitError> {
        // Before anything goes through their files.
        if let Some(why) = self.unfolds_to_too_much(limits).await? {
            return Ok(Some(why));
        }
        let list = self.checked(["rev-list", "--stdin"]).stdin(Input::Bytes(revs(tips, known)));
        let commits = list.long_list().ok().await?;
        // Of a merge what none of its parents has: what it took over from one was looked at there, or is the person's.
        let diff =
            ["diff-tree", "--stdin", "-r", "-z", "-c", "--root", "--raw", "--no-renames", "--no-abbrev"];
        let diff = self.checked(diff).arg(ALL_LINKS).stdin(Input::Bytes(commits));
        let raw = diff.long_list().ok().await?;
        let (mut linked, mut files) = (Vec::new(), BTreeMap::new());
        let mut words = raw.split(|byte| *byte == 0);
        while let Some(word) = words.next() {
            if !word.starts_with(b":") {
                continue;
            }
            let path = words.next().unwrap_or_default();
            let Some((mode, blob)) = brought(word) else { continue };
            if let Some(what) = bad_name(path) {
                return Ok(Some(format!("the name {} {what}", shown(path))));
            }
            match mode == LINK {
                true => linked.push(path.to_vec()),
                false => drop(files.insert(blob.to_vec(), path.to_vec())),
            }
        }
        // Each by itself, wherever it came from: what was refused once may be in the person's store since.
        if let Some(why) = self.larger_than(limits, &files).await? {
            return Ok(Some(why));
        }
        linked.sort();
        linked.dedup();
        self.unusable_link(own, tips, &linked, limits).await
    }

    /// By object: a file that has it.
    async fn larger_than(
        &self,
        limits: Limits,
        files: &BTreeMap<Vec<u8>, Vec<u8>>,
    ) -> Result<Option<String>, GitError> {
        let names: Vec<u8> = files.keys().flat_map(|blob| [blob, &b"\n"[..]].concat()).collect();
        let sizes = self.checked(["cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"]);
        let sizes = sizes.stdin(Input::Bytes(names)).long_list().ok().await?;
        Ok(sizes.split(|byte| *byte == b'\n').find_map(|line| {
            let (blob, size) = std::str::from_utf8(line).ok()?.split_once(' ')?;
            let size = size.parse::<u64>().ok().filter(|size| *size > limits.file_bytes)?;
            Some(too_large(files.get(blob.as_bytes())?, size))
        }))
    }

    /// The name of a file that was left out because of its size.
    pub(super) async fn too_large(&self, tips: &[&Oid], copied: &Copied) -> Result<Option<String>, GitError> {
        for tip in tips {
            // Only for the name: a list that does not end says none.
            let listed = self.unchecked(["ls-tree", "-r", "-z", tip.as_str()]).long_list().any().await;
            let Ok(listed) = listed else { continue };
            for entry in listed.stdout.split(|byte| *byte == 0) {
                let mut parts = entry.splitn(2, |byte| *byte == b'\t');
                let (head, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let oid =
                    String::from_utf8_lossy(head.rsplit(|byte| *byte == b' ').next().unwrap_or_default());
                if let Some(bytes) = copied.too_large.get(oid.as_ref()) {
                    return Ok(Some(too_large(path, *bytes)));
                }
            }
        }
        let in_history = copied.too_large.values().max();
        Ok(in_history.map(|bytes| {
            format!(
                "a commit holds a file of {} MB, which is more than `worktree.maxFile` allows: take it out of \
                 the commits with `git rebase`, or raise that limit",
                bytes >> 20
            )
        }))
    }
}

fn too_large(path: &[u8], bytes: u64) -> String {
    format!(
        "{} has {} MB, which is more than `worktree.maxFile` allows: take it out of the commits \
         (`git rm --cached`, then `git commit --amend`), or raise that limit",
        shown(path),
        bytes >> 20
    )
}

/// Mode and object that a change leads to: `:<mode> <mode> <oid> <oid> M`, with a colon, a mode and an object more for each
/// further parent. None: the path is gone.
fn brought(change: &[u8]) -> Option<(&[u8], &[u8])> {
    let parents = change.iter().take_while(|byte| **byte == b':').count();
    let fields: Vec<&[u8]> = change[parents..].split(|byte| *byte == b' ').collect();
    let (mode, blob) = (*fields.get(parents)?, *fields.get(2 * parents + 1)?);
    mode.iter().any(|byte| *byte != b'0').then_some((mode, blob))
}

fn bad_name(path: &[u8]) -> Option<&'static str> {
    // Ends of lines and tabs are odd, and do no harm.
    if path.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t' | b'\r')) {
        return Some("holds control characters");
    }
    let parts = path.split(|byte| *byte == b'/');
    let too_long = path.len() > PATH_BYTES_MAX || parts.into_iter().any(|part| part.len() > NAME_BYTES_MAX);
    too_long.then_some("is too long for a file system")
}

pub(super) fn shown(path: &[u8]) -> String {
    path_of(path).to_string_lossy().chars().take(200).flat_map(char::escape_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_leads_to_what_the_commit_has_whatever_it_had_before() {
        let check = |change: &str, expected: Option<(&str, &str)>| {
            let expected = expected.map(|(mode, oid)| (mode.as_bytes(), oid.as_bytes()));
            assert_eq!(brought(change.as_bytes()), expected, "{change}");
        };
        check(":000000 100644 00 aa A", Some(("100644", "aa")));
        check(":100644 160000 aa bb T", Some(("160000", "bb")));
        check(":100644 000000 aa 00 D", None);
        check("::100644 000000 100755 aa 00 cc MA", Some(("100755", "cc")));
        check(":::100644 100644 100644 000000 aa bb cc 00 DDD", None);
        check(":torn", None);
    }
}
