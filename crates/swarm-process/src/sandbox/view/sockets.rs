//! Sockets with a name in the file system: whoever can name one can speak with the program behind it, also through a
//! read-only mount. So those that are there when a program starts are covered.
//!
//! The kernel tells by what name each was bound. That is not always where it is: the name may be relative, lead through a
//! descriptor of its program, or have been changed since. Then the folders around are looked through as well.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// More than this no machine has in places that are not covered anyway.
const SOCKETS_MAX: usize = 4096;

/// Networks of this machine that are asked: each container has one.
const NETWORKS_MAX: usize = 1024;

/// Entries of folders that are looked at, the nearest first.
const ENTRIES_MAX: usize = 10_000;

/// What the kernel tells of the sockets in each network of this machine. A name is reached from all of them.
#[derive(Debug, Default)]
pub struct Known(Vec<Vec<u8>>);

impl Known {
    /// To be asked while every process can be seen.
    pub fn now() -> Self {
        let (mut networks, mut tables) = (BTreeSet::new(), Vec::new());
        let is_number = |name: &OsStr| name.as_bytes().iter().all(u8::is_ascii_digit);
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let all = all.filter(|entry| is_number(&entry.file_name())).map(|entry| entry.path());
        for process in std::iter::once(PathBuf::from("/proc/self")).chain(all) {
            if networks.len() >= NETWORKS_MAX {
                break;
            }
            let table = process.join("net/unix");
            // The files of one network are the same, whichever of its processes shows them.
            if std::fs::metadata(&table).is_ok_and(|meta| networks.insert(meta.ino())) {
                tables.extend(std::fs::read(&table));
            }
        }
        Self(tables)
    }

    fn names(&self) -> BTreeSet<PathBuf> {
        let entries = self.0.iter().flat_map(|table| entries(table));
        entries.filter_map(|entry| Some(OsString::from_vec(name_in(&entry)?.to_vec()).into())).collect()
    }
}

/// Every one that the kernel knows of, but for those that `skip` names. `near`: where people have things, to be looked
/// through for one that is not where its name says.
pub fn named(known: &Known, near: &[PathBuf], skip: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut all = BTreeSet::new();
    let (mut around, mut lost) = (BTreeSet::new(), false);
    for name in known.names() {
        if !name.is_absolute() || name.starts_with("/proc") {
            lost = true;
            continue;
        }
        if skip(&name) {
            continue;
        }
        let meta = std::fs::symlink_metadata(&name).ok().filter(|meta| meta.file_type().is_socket());
        // It has another name, or another name instead of this one, most likely in the same folder.
        if meta.as_ref().is_none_or(|meta| meta.nlink() != 1) {
            lost = true;
            around.extend(name.parent().map(Path::to_path_buf));
        }
        if meta.is_some() {
            all.insert(name);
        }
    }
    if lost {
        // Each by itself: where names lie that lead nowhere is for others to choose.
        all.extend(found_in(near.iter().cloned().collect(), skip));
        all.extend(found_in(around, skip));
    }
    all.into_iter().filter(|path| !skip(path)).take(SOCKETS_MAX).collect()
}

/// The sockets in these folders and below them, as far as one comes.
fn found_in(folders: BTreeSet<PathBuf>, skip: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let elsewhere = mount_points();
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let mut queue: VecDeque<PathBuf> = folders.iter().cloned().collect();
    while let Some(folder) = queue.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > ENTRIES_MAX {
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_socket() {
                found.push(path);
                continue;
            }
            // What is mounted may be a network that does not answer.
            if kind.is_dir() && !skip(&path) && !elsewhere.contains(&path) && !folders.contains(&path) {
                queue.push_back(path);
            }
        }
    }
    found
}

fn mount_points() -> BTreeSet<PathBuf> {
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let points =
        mounts.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    points.map(|point| OsString::from_vec(unescaped(point)).into()).collect()
}

/// Blanks and the like stand there as three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::new(), text);
    while let Some((first, others)) = rest.split_first() {
        let digits =
            others.get(..3).filter(|_| *first == b'\\').and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &others[3..];
            }
            None => {
                plain.push(*first);
                rest = others;
            }
        }
    }
    plain
}

/// One for each socket. A name may hold any letter, the end of a line included.
fn entries(table: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for line in table.strip_suffix(b"\n").unwrap_or(table).split(|byte| *byte == b'\n').skip(1) {
        match all.last_mut() {
            Some(entry) if !begins_an_entry(line) => {
                entry.push(b'\n');
                entry.extend_from_slice(line);
            }
            _ => all.push(line.to_vec()),
        }
    }
    all
}

/// An address in hexadecimal digits and a colon.
fn begins_an_entry(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    digits >= 8 && line.get(digits) == Some(&b':')
}

/// The last of eight columns; abstract names begin with `@`.
fn name_in(entry: &[u8]) -> Option<&[u8]> {
    let mut rest = entry;
    for _ in 0..7 {
        let word = &rest[rest.iter().position(|byte| *byte != b' ')?..];
        rest = &word[word.iter().position(|byte| *byte == b' ')? + 1..];
    }
    rest.first().is_some_and(|first| *first != b'@').then_some(rest)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    const HEAD: &str = "Num       RefCount Protocol Flags    Type St Inode Path\n";
    const LINE: &str = "0000000000000000: 00000002 00000000 00010000 0001 01  4242";

    fn told(names: &[&[u8]]) -> Known {
        let mut table = HEAD.as_bytes().to_vec();
        for name in names {
            table.extend_from_slice(LINE.as_bytes());
            table.extend_from_slice(name);
            table.push(b'\n');
        }
        Known(vec![table])
    }

    #[test]
    fn names_are_found_whatever_letters_they_have_and_abstract_ones_are_not() {
        let names =
            told(&[b" /srv/u/a b/sock", b" @abstract", b"", b" /srv/a\nb", b" /srv/\xff", b" rel.sock"])
                .names();
        let expected = [b"/srv/a\nb".as_slice(), b"/srv/u/a b/sock", b"/srv/\xff", b"rel.sock"];
        assert_eq!(names, expected.map(|name| PathBuf::from(OsStr::from_bytes(name))).into());
        assert!(Known(vec![HEAD.into()]).names().is_empty());
    }

    #[test]
    fn one_that_is_not_where_its_name_says_is_looked_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().canonicalize().expect("a path");
        std::fs::create_dir_all(home.join("deep/er")).expect("made");
        std::fs::create_dir(home.join("open")).expect("made");
        let bind = |name: &str| UnixListener::bind(home.join(name)).expect("it listens");
        let _listeners = ["plain", "moved", "deep/er/rel", "first", "open/own"].map(bind);
        std::fs::rename(home.join("moved"), home.join("deep/there")).expect("moved");
        std::fs::hard_link(home.join("first"), home.join("second")).expect("linked");
        let bytes = |name: &str| [b" ", home.join(name).as_os_str().as_bytes()].concat();
        let skip = |path: &Path| path.starts_with(home.join("open"));
        let check = |known: &[Vec<u8>], near: &[PathBuf], expected: &[&str]| {
            let known: Vec<&[u8]> = known.iter().map(Vec::as_slice).collect();
            let expected: Vec<PathBuf> = expected.iter().map(|name| home.join(name)).collect();
            assert_eq!(named(&told(&known), near, &skip), expected, "{known:?}");
        };
        let everything = ["deep/er/rel", "deep/there", "first", "plain", "second"];
        check(&[bytes("plain")], std::slice::from_ref(&home), &["plain"]);
        check(&[bytes("plain"), b" rel".to_vec()], std::slice::from_ref(&home), &everything);
        check(&[b" /proc/self/fd/7/rel".to_vec()], std::slice::from_ref(&home), &everything);
        check(&[bytes("moved")], &[], &everything);
        check(&[bytes("first")], &[], &everything);
        check(&[bytes("open/gone")], &[], &[]);
    }

    #[test]
    fn places_of_mounts_are_read_as_they_are() {
        assert_eq!(unescaped(br"/a\040b\134c\"), br"/a b\c\");
        assert!(mount_points().contains(Path::new("/")));
    }

    #[test]
    fn a_socket_of_ours_is_known() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().canonicalize().expect("a path").join("a\nb");
        let _listener = UnixListener::bind(&path).expect("it listens");
        assert!(Known::now().names().contains(&path));
    }
}
