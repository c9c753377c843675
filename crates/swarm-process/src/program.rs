//! Where a program is, found before it is started.
//!
//! The standard library starts a child by `posix_spawn`, which shares memory with us until the child has become
//! the program, only where it need not search along the child's own PATH itself. Otherwise it forks, and
//! a process that holds much memory pays for copying its page tables each time.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Where programs are looked for when the environment names no PATH, as the C library does it.
const PATH_WITHOUT_A_NAME: &str = "/bin:/usr/bin";

/// The file that a search along the child's own PATH would find. None when the name needs no search, or when only
/// the search itself can say (a relative place on the PATH, nothing found): then the kernel's answer counts.
pub(super) fn found_on_path(program: &OsStr, env: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    if program.is_empty() || program.as_bytes().contains(&b'/') {
        return None;
    }
    let unnamed = OsStr::new(PATH_WITHOUT_A_NAME);
    let path = env.get(OsStr::new("PATH")).map_or(unnamed, OsString::as_os_str);
    for place in path.as_bytes().split(|byte| *byte == b':').map(OsStr::from_bytes).map(Path::new) {
        if !place.is_absolute() {
            return None;
        }
        let file = place.join(program);
        if file.is_file() && access(&file, Access::EXEC_OK).is_ok() {
            return Some(file);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_first_file_that_can_be_executed_is_the_program() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = |name: &str| dir.path().join(name);
        for (folder, mode) in [("plain", 0o644), ("first", 0o755), ("second", 0o755)] {
            std::fs::create_dir(place(folder)).expect("a folder");
            let file = place(folder).join("tool");
            std::fs::write(&file, "").expect("written");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
        }
        std::fs::create_dir_all(place("folder/tool")).expect("a folder");
        let check = |program: &str, path: &[&str], expected: Option<&str>| {
            let path: Vec<String> = path
                .iter()
                .map(|one| match *one {
                    "." | "" => (*one).to_owned(),
                    name => place(name).display().to_string(),
                })
                .collect();
            let env = BTreeMap::from([("PATH".into(), path.join(":").into())]);
            let expected = expected.map(|folder| place(folder).join("tool"));
            assert_eq!(found_on_path(OsStr::new(program), &env), expected, "{program} along {path:?}");
        };
        check("tool", &["missing", "folder", "plain", "first", "second"], Some("first"));
        check("tool", &["second", "."], Some("second"));
        // Relative to the child's folder, not to ours.
        check("tool", &[".", "first"], None);
        check("tool", &["", "first"], None);
        check("tool", &["plain"], None);
        check("./tool", &["first"], None);
        check("", &["first"], None);
        assert_eq!(found_on_path(OsStr::new("sh"), &BTreeMap::new()), Some("/bin/sh".into()));
    }
}
