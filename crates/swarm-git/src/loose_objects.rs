//! Commits that lie in the object database as files of their own, which young ones do: read without starting git.
//!
//! What is packed, borrowed from another repository, replaced or not as it should be is left to git.

use std::path::PathBuf;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use swarm_protocol::ids::Oid;

use super::call::Git;
use super::ref_files::{Plain, read_plain};

/// A commit is a few lines and a message. A longer one is git's business.
const COMMIT_BYTES_MAX: usize = 256 * 1024;

/// More than so many are asked of git at once: each file that is opened costs, and most of many are packed.
const ONE_BY_ONE_MAX: usize = 32;

impl Git {
    /// The commit as git stores it, without its head; none when only git can say.
    pub(super) fn loose_commit(&self, commit: &Oid) -> Option<Vec<u8>> {
        if self.may_replace_objects() {
            return None;
        }
        self.loose_object(commit)
    }

    /// Those of these that cannot be read here as commits: git is to be asked about them.
    pub(super) fn not_loose<'a>(&self, objects: &'a [Oid]) -> Vec<&'a Oid> {
        if objects.len() > ONE_BY_ONE_MAX || self.may_replace_objects() {
            return objects.iter().collect();
        }
        objects.iter().filter(|oid| self.loose_object(oid).is_none()).collect()
    }

    fn loose_object(&self, commit: &Oid) -> Option<Vec<u8>> {
        let Plain::Bytes(packed) = read_plain(&self.loose_path(commit), COMMIT_BYTES_MAX as u64) else {
            return None;
        };
        let whole = decompress_to_vec_zlib_with_limit(&packed, COMMIT_BYTES_MAX).ok()?;
        let end = whole.iter().position(|byte| *byte == 0)?;
        let size = std::str::from_utf8(whole[..end].strip_prefix(b"commit ")?).ok()?;
        let body = &whole[end + 1..];
        (size.parse() == Ok(body.len())).then(|| body.to_vec())
    }

    fn loose_path(&self, oid: &Oid) -> PathBuf {
        let (folder, name) = oid.as_str().split_at(2);
        self.common_dir.join("objects").join(folder).join(name)
    }

    /// The commits after `base` up to `tip` along the first parents, newest first; none when they do not lead
    /// there, or when only git can say. Whatever lies between descends from `base`, so this is what git would list.
    /// After `steps_max` commits it is quicker to ask git.
    pub(super) fn loose_line(&self, base: &Oid, tip: &Oid, steps_max: usize) -> Option<Vec<Oid>> {
        if self.may_replace_objects() {
            return None;
        }
        let (mut line, mut at) = (Vec::new(), tip.clone());
        while at != *base {
            if line.len() == steps_max {
                return None;
            }
            let parent =
                super::commits::parse_commit(&self.loose_object(&at)?)?.parents.into_iter().next()?;
            line.push(std::mem::replace(&mut at, parent));
        }
        Some(line)
    }
}
