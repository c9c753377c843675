//! What the trees of commits unfold to. A tree that names another one ten times, nine times over, is a few hundred bytes
//! in a pack and a thousand million files in a list: git would hold each of them in memory.

use std::collections::HashMap;

use super::take::{Limits, Stranger};
use crate::call::GitError;
use swarm_process::Input;

/// Of what git writes for a path of a list, beside the path: modes, objects, what became of it.
const LINE_BYTES: u64 = 100;

/// How git writes the mode of a folder into a tree.
const FOLDER: &[u8] = b"40000";

/// By their names as they stand in trees: what is in them.
type Trees = HashMap<Vec<u8>, Vec<u8>>;

/// A list of all files of a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct List {
    files: u64,
    bytes: u64,
}

impl Stranger<'_> {
    /// Why nobody may list the files of these commits; none where a list of each stays within bounds.
    pub(super) async fn unfolds_to_too_much(&self, limits: Limits) -> Result<Option<String>, GitError> {
        let all = ["cat-file", "--batch-all-objects", "--unordered", "--buffer"];
        let all = self.checked(all).arg("--batch-check=%(objecttype) %(objectname)");
        // What was taken, without what the person has.
        let all = all.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").long_list().ok().await?;
        let trees = all.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"tree "));
        let names: Vec<u8> = trees.flat_map(|name| [name, b"\n"].concat()).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let read = self.checked(["cat-file", "--batch", "--buffer"]).stdin(Input::Bytes(names));
        let trees = parsed(&read.long_list().ok().await?);
        let largest = lists(&trees).into_values().max_by_key(|list| list.bytes).unwrap_or_default();
        Ok((largest.bytes > limits.listed_bytes).then(|| {
            format!(
                "a commit holds {} files, more than can be listed: take it out of the commits with `git rebase`",
                largest.files
            )
        }))
    }
}

/// What `cat-file --batch` has printed: `<name> tree <bytes>`, the tree, an end of line.
fn parsed(mut batch: &[u8]) -> Trees {
    let mut trees = Trees::new();
    while let Some(end) = batch.iter().position(|byte| *byte == b'\n') {
        let Ok(head) = std::str::from_utf8(&batch[..end]) else { break };
        let mut words = head.split(' ');
        let (name, bytes) = (words.next().unwrap_or_default(), words.nth(1));
        let Some(bytes) = bytes.and_then(|bytes| bytes.parse::<usize>().ok()) else { break };
        let Some(tree) = batch.get(end + 1..).and_then(|rest| rest.get(..bytes)) else { break };
        trees.insert(unhex(name), tree.to_vec());
        batch = batch.get(end + bytes + 2..).unwrap_or_default();
    }
    trees
}

fn unhex(name: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        name.chars().filter_map(|c| c.to_digit(16)).filter_map(|d| u8::try_from(d).ok()).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] << 4) | pair[1]).collect()
}

/// Each entry's length of its name, and its object where it is a folder.
fn entries(tree: &[u8], name_bytes: usize) -> impl Iterator<Item = (u64, Option<&[u8]>)> {
    let mut rest = tree;
    std::iter::from_fn(move || {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let end = space + rest[space..].iter().position(|byte| *byte == 0)?;
        let object = rest.get(end + 1..end + 1 + name_bytes)?;
        let is_folder = &rest[..space] == FOLDER;
        rest = &rest[end + 1 + name_bytes..];
        Some(((end - space - 1) as u64, is_folder.then_some(object)))
    })
}

/// Of each tree, from the bottom up: none is looked at more than twice, however often it is named. A folder that the
/// person has already is counted like a file.
fn lists(trees: &Trees) -> HashMap<&[u8], List> {
    let mut lists: HashMap<&[u8], List> = HashMap::new();
    for start in trees.keys() {
        let mut under_way = vec![start.as_slice()];
        while let Some(name) = under_way.last().copied() {
            let Some(tree) = trees.get(name).filter(|_| !lists.contains_key(name)) else {
                under_way.pop();
                continue;
            };
            let before = under_way.len();
            let folders = entries(tree, name.len()).filter_map(|(_, folder)| folder);
            let to_do =
                folders.filter_map(|folder| trees.get_key_value(folder).map(|(name, _)| name.as_slice()));
            under_way.extend(to_do.filter(|folder| !lists.contains_key(folder)));
            if under_way.len() == before {
                lists.insert(name, list_of(tree, name.len(), &lists));
            }
        }
    }
    lists
}

fn list_of(tree: &[u8], name_bytes: usize, known: &HashMap<&[u8], List>) -> List {
    entries(tree, name_bytes).fold(List::default(), |sum, (length, folder)| {
        let below = match folder.and_then(|folder| known.get(folder)) {
            // Each of its paths begins with the folder's name and a slash.
            Some(list) => List {
                files: list.files,
                bytes: list.bytes.saturating_add(list.files.saturating_mul(length + 1)),
            },
            None => List { files: 1, bytes: LINE_BYTES + length },
        };
        List { files: sum.files.saturating_add(below.files), bytes: sum.bytes.saturating_add(below.bytes) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(&str, &str, u8)]) -> Vec<u8> {
        let entry = |(mode, name, object): &(&str, &str, u8)| {
            [format!("{mode} {name}\0").as_bytes(), &[*object; 20]].concat()
        };
        entries.iter().flat_map(entry).collect()
    }

    #[test]
    fn each_file_is_counted_as_often_as_a_list_would_name_it() {
        let trees = Trees::from([
            (vec![1; 20], tree(&[("100644", "ab", 9), ("160000", "link", 9)])),
            (vec![2; 20], tree(&[("40000", "x", 1), ("40000", "yy", 1), ("40000", "theirs", 8)])),
        ]);
        let lists = lists(&trees);
        let small = List { files: 2, bytes: 2 * LINE_BYTES + 6 };
        assert_eq!(lists[&[1; 20][..]], small);
        let bytes = small.bytes + 2 * 2 + small.bytes + 2 * 3 + LINE_BYTES + 6;
        assert_eq!(lists[&[2; 20][..]], List { files: 5, bytes });
    }

    #[test]
    fn no_number_of_levels_takes_long_or_more_than_there_are_numbers() {
        let level = |n: u8| {
            let names: Vec<String> = (0..10).map(|name| name.to_string()).collect();
            let mode = if n == 0 { "100644" } else { "40000" };
            let entries: Vec<_> = names.iter().map(|name| (mode, name.as_str(), n)).collect();
            (vec![n + 1; 20], tree(&entries))
        };
        let trees: Trees = (0..100).map(level).collect();
        let lists = lists(&trees);
        assert_eq!(lists[&[9; 20][..]].files, 1_000_000_000);
        assert_eq!(lists[&[100; 20][..]].files, u64::MAX);
    }

    #[test]
    fn what_git_prints_of_trees_is_read_to_its_end_and_no_further() {
        let name = "01".repeat(20);
        let one = tree(&[("100644", "a\nb", 10)]);
        let text = [format!("{name} tree {}\n", one.len()).as_bytes(), &one[..], b"\n"].concat();
        let whole = [&text[..], format!("{} tree 900\nshort", "02".repeat(20)).as_bytes()].concat();
        assert_eq!(parsed(&whole), Trees::from([(vec![1; 20], one)]));
        assert_eq!(parsed(b"01 missing\n"), Trees::new());
    }
}
