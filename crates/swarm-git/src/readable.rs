//! Files and folders of a worktree that an agent has locked to itself. They are its user's and so ours: the right to read is
//! given back, which git does not record. What belongs to somebody else stays as it is, and a person is told.

use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, accessat, chmod, fstat, open};

/// Whether it can be read now. A link is not followed; what is no file and no folder is left to others.
pub fn make_readable(path: &Path) -> bool {
    let Ok(meta) = std::fs::symlink_metadata(path) else { return true };
    let (wanted, rights) = match (meta.is_file(), meta.is_dir()) {
        (true, _) => (Access::READ_OK, Mode::RUSR | Mode::WUSR),
        (_, true) => (Access::READ_OK | Access::EXEC_OK, Mode::RWXU),
        _ => return true,
    };
    // With the rights that files are opened with, not those of the real user.
    let may = || accessat(CWD, path, wanted, AtFlags::EACCESS).is_ok();
    may() || (give(path, rights).is_ok() && may())
}

/// The very thing that was looked at: by the time its rights are changed a link may have taken its name.
fn give(path: &Path, rights: Mode) -> rustix::io::Result<()> {
    use std::os::fd::AsRawFd;
    let held = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let now = Mode::from_raw_mode(fstat(&held)?.st_mode);
    chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), now | rights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn locked_files_and_folders_are_opened_and_links_lead_nowhere() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, folder, link) = (dir.path().join("f"), dir.path().join("d"), dir.path().join("l"));
        std::fs::write(&file, "x").expect("written");
        std::fs::create_dir(&folder).expect("made");
        std::os::unix::fs::symlink("/etc/shadow", &link).expect("linked");
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        for path in [&file, &folder] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).expect("ours");
            assert!(make_readable(path), "{}", path.display());
            // Root may read whatever it likes, and nothing has to be changed for it.
            let root = rustix::process::geteuid().is_root();
            assert!(root || mode(path) & 0o600 == 0o600, "{:o}", mode(path));
            give(path, Mode::RUSR).expect("ours");
            assert_eq!(mode(path) & 0o400, 0o400);
        }
        assert!(make_readable(&link) && make_readable(&dir.path().join("nothing")));
        assert!(give(&link, Mode::RUSR).is_err(), "the link itself has no rights to change");
    }
}
