//! The value of one ref, read from git's own files instead of starting git for it.
//!
//! Only what is plain is answered here: an object's name in a loose file, or a line of `packed-refs`. Whatever
//! is anything else (a symbolic ref, a ref that each worktree has for itself, another storage, something planted)
//! is left to git.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};
use swarm_protocol::ids::Oid;

use super::call::Git;

/// A loose ref is one object's name.
pub(super) const LOOSE_BYTES_MAX: u64 = 256;

/// A longer list is searched by git, which does not read all of it.
pub(super) const PACKED_BYTES_MAX: u64 = 4 << 20;

/// Each worktree has its own of these, and they are not where the others are.
const OF_ONE_WORKTREE: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// What the files say of a ref.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InFiles {
    Value(Oid),
    Absent,
    /// Only git can say.
    AskGit,
}

impl Git {
    pub(super) fn ref_in_files(&self, name: &str) -> InFiles {
        if !is_plain(name) {
            return InFiles::AskGit;
        }
        let loose = self.common_dir.join(name);
        // A ref that is being packed is written to the list before its file goes. So whoever finds neither, in
        // this order, finds none; one that is made meanwhile is found by the second look at its file.
        for look in [Self::loose_ref, Self::packed_ref, Self::loose_ref] {
            match look(self, &loose, name) {
                InFiles::Absent => {}
                found => return found,
            }
        }
        InFiles::Absent
    }

    fn loose_ref(&self, file: &Path, _name: &str) -> InFiles {
        match read_plain(file, LOOSE_BYTES_MAX) {
            Plain::Bytes(bytes) => oid(bytes.trim_ascii()).map_or(InFiles::AskGit, InFiles::Value),
            Plain::Nothing => InFiles::Absent,
            Plain::Other => InFiles::AskGit,
        }
    }

    fn packed_ref(&self, _file: &Path, name: &str) -> InFiles {
        match read_plain(&self.common_dir.join("packed-refs"), PACKED_BYTES_MAX) {
            Plain::Bytes(list) => packed_value(&list, name),
            Plain::Nothing => InFiles::Absent,
            Plain::Other => InFiles::AskGit,
        }
    }

    /// Whether objects may stand for others (`git replace`), or commits have other parents (`info/grafts`): then only git
    /// knows what a commit is.
    pub(super) fn may_replace_objects(&self) -> bool {
        let loose = std::fs::read_dir(self.common_dir.join("refs/replace"));
        let any_loose = loose.is_ok_and(|mut entries| entries.next().is_some());
        let any_packed = || match read_plain(&self.common_dir.join("packed-refs"), PACKED_BYTES_MAX) {
            Plain::Bytes(list) => lines_of(&list).any(|line| name_in(line).starts_with(b"refs/replace/")),
            Plain::Nothing => false,
            Plain::Other => true,
        };
        let any_grafts = || std::fs::symlink_metadata(self.common_dir.join("info/grafts")).is_ok();
        any_loose || any_grafts() || any_packed()
    }
}

/// Whether the name is that of an ordinary ref, so that its file lies where its name says.
pub(super) fn is_plain(name: &str) -> bool {
    let odd = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    name.starts_with("refs/")
        && name.bytes().all(|byte| byte > b' ' && byte != 0x7f && !b"*?[\\^:~".contains(&byte))
        && !name.split('/').any(odd)
        && !OF_ONE_WORKTREE.iter().any(|own| name.starts_with(own))
}

fn packed_value(list: &[u8], name: &str) -> InFiles {
    match lines_of(list).find(|line| name_in(line) == name.as_bytes()) {
        Some(line) => oid(value_in(line)).map_or(InFiles::AskGit, InFiles::Value),
        None => InFiles::Absent,
    }
}

/// Lines that name a ref: neither the head of the list nor what a tag stands for.
pub(super) fn lines_of(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#") && !line.starts_with(b"^"))
}

pub(super) fn name_in(line: &[u8]) -> &[u8] {
    line.iter().position(|byte| *byte == b' ').map_or(&[], |blank| line[blank + 1..].trim_ascii_end())
}

pub(super) fn value_in(line: &[u8]) -> &[u8] {
    line.split(|byte| *byte == b' ').next().unwrap_or_default()
}

pub(super) fn oid(bytes: &[u8]) -> Option<Oid> {
    let oid = Oid::new(std::str::from_utf8(bytes).ok()?).ok()?;
    oid.as_str().bytes().any(|byte| byte != b'0').then_some(oid)
}

pub(super) enum Plain {
    Bytes(Vec<u8>),
    Nothing,
    /// A link, a pipe, too long, not readable.
    Other,
}

/// The bytes of an ordinary file. Neither a link nor a pipe in its place is followed or waited for.
pub(super) fn read_plain(path: &Path, bytes_max: u64) -> Plain {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(error) if std::io::Error::from(error).kind() == ErrorKind::NotFound => return Plain::Nothing,
        Err(_) => return Plain::Other,
    };
    match file.metadata() {
        // Where a ref `a/b` is, `a` is a folder and no ref.
        Ok(meta) if meta.is_dir() => return Plain::Nothing,
        Ok(meta) if meta.is_file() && meta.len() <= bytes_max => {}
        _ => return Plain::Other,
    }
    let mut bytes = Vec::new();
    match file.take(bytes_max + 1).read_to_end(&mut bytes) {
        Ok(read) if read as u64 <= bytes_max => Plain::Bytes(bytes),
        _ => Plain::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordinary_names_are_looked_up_in_files() {
        for name in ["refs/heads/main", "refs/heads/swarm/1.2", "refs/swarm/wip/a/r1", "refs/tags/v1"] {
            assert!(is_plain(name), "{name}");
        }
        let odd = ["HEAD", "refs/heads/a..b/../c", "refs/heads//a", "refs/heads/a.lock", "refs/bisect/bad"];
        for name in odd.into_iter().chain(["refs/worktree/x", "refs/heads/*", "refs/heads/a b", "../refs/x"])
        {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn a_packed_list_is_read_as_git_writes_it() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let list = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{a} refs/heads/main\n{b} refs/tags/v1\n^{a}\n"
        );
        let check = |name, expected| assert_eq!(packed_value(list.as_bytes(), name), expected, "{name}");
        check("refs/heads/main", InFiles::Value(Oid::new(&a).expect("a name")));
        check("refs/tags/v1", InFiles::Value(Oid::new(&b).expect("a name")));
        check("refs/heads/mai", InFiles::Absent);
        check("refs/heads", InFiles::Absent);
        assert_eq!(packed_value(b"torn refs/heads/main\n", "refs/heads/main"), InFiles::AskGit);
    }
}
