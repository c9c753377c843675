//! A log file of bounded size: when it is full it is set aside under a number, and few of those are kept.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Logs of daemons that are kept, newest first. More than the agents that can work at once: none loses its file under it.
const DAEMONS_MAX: usize = 100;
const OF_DAEMONS: &str = "daemon-";

/// What is kept of one process.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The file's name, without `.log`.
    pub name: String,
    pub bytes_max: u64,
    /// With the one that is written.
    pub files_max: u32,
}

#[derive(Debug)]
pub struct LogFile {
    file: File,
    path: PathBuf,
    kept: Kept,
}

impl LogFile {
    /// Opens `logs/NAME.log`. The folder is made, the one it lies in is not: without a swarm there is no log.
    pub fn open(logs: &Path, kept: &Kept) -> io::Result<Self> {
        make_folder(logs)?;
        if kept.name.starts_with(OF_DAEMONS) {
            prune(logs, &kept.name);
        }
        let path = logs.join(format!("{}.log", kept.name));
        Ok(Self { file: open(&path)?, path, kept: kept.clone() })
    }

    pub fn line(&mut self, line: &str) -> io::Result<()> {
        let text = format!("{line}\n");
        // Asked each time: another process of the same kind may write here too.
        let size = self.file.metadata()?.len();
        if size > 0 && size + text.len() as u64 > self.kept.bytes_max {
            self.set_aside()?;
        }
        self.file.write_all(text.as_bytes())
    }

    /// `NAME.log` becomes `NAME.1.log`, that one `NAME.2.log`, and the oldest goes.
    fn set_aside(&mut self) -> io::Result<()> {
        let ours = self.file.metadata()?.ino();
        // Where another process has done it already, ours is the one set aside.
        if fs::symlink_metadata(&self.path).is_ok_and(|now| now.ino() == ours) {
            let name = |n: u32| match n {
                0 => self.path.clone(),
                n => self.path.with_file_name(format!("{}.{n}.log", self.kept.name)),
            };
            let last = self.kept.files_max.saturating_sub(1);
            if last == 0 {
                fs::remove_file(name(0))?;
            }
            for n in (0..last).rev() {
                match fs::rename(name(n), name(n + 1)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        self.file = open(&self.path)?;
        Ok(())
    }
}

/// Readable by nobody else. A link or a pipe that somebody put there is neither followed nor waited for.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    Ok(file)
}

/// With a file that keeps it out of git, whatever people made of the one above.
fn make_folder(logs: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(logs) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !fs::symlink_metadata(logs)?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
    }
    match OpenOptions::new().write(true).create_new(true).open(logs.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The logs of daemons that ended long ago go.
fn prune(logs: &Path, mine: &str) {
    let all = fs::read_dir(logs).into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_mine = name.strip_prefix(mine).is_some_and(|rest| rest.starts_with('.'));
        let is_one = name.starts_with(OF_DAEMONS) && name.ends_with(".log") && !is_mine;
        is_one.then_some((entry.metadata().ok()?.modified().ok()?, entry.path()))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by(|a, b| b.cmp(a));
    for (_, path) in all.into_iter().skip(DAEMONS_MAX - 1) {
        // Another daemon may have been quicker; what stays is tried again by the next.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str) -> Kept {
        Kept { name: name.into(), bytes_max: 1000, files_max: 3 }
    }

    fn size(path: &Path) -> u64 {
        fs::metadata(path).map_or(0, |meta| meta.len())
    }

    #[test]
    fn however_much_is_logged_the_files_stay_under_their_bound() {
        let dir = tempfile::tempdir().expect("a folder");
        let logs = dir.path().join("logs");
        let mut log = LogFile::open(&logs, &kept("coordinator")).expect("opened");
        let mut other = LogFile::open(&logs, &kept("coordinator")).expect("opened twice");
        for n in 0..500 {
            log.line(&format!("line {n} of the one")).expect("written");
            other.line(&format!("line {n} of the other")).expect("written");
        }
        let mut names: Vec<_> = fs::read_dir(&logs).expect("a folder").flatten().collect();
        names.sort_by_key(|entry| entry.file_name());
        let shown: Vec<_> =
            names.iter().map(|entry| entry.file_name().into_string().expect("text")).collect();
        assert_eq!(shown, [".gitignore", "coordinator.1.log", "coordinator.2.log", "coordinator.log"]);
        assert!(names.iter().all(|entry| size(&entry.path()) <= 1000));
        let newest = fs::read_to_string(logs.join("coordinator.log")).expect("text");
        assert!(newest.contains("line 499"), "{newest}");
    }

    #[test]
    fn the_logs_of_old_daemons_go_and_others_stay() {
        let dir = tempfile::tempdir().expect("a folder");
        let logs = dir.path().join("logs");
        LogFile::open(&logs, &kept("coordinator")).expect("opened");
        // The last one is called `daemon-r1`, as the beginning of many others is.
        for n in (2..DAEMONS_MAX + 20).chain([1]) {
            LogFile::open(&logs, &kept(&format!("daemon-r{n}"))).expect("opened");
        }
        let names = fs::read_dir(&logs).expect("a folder").flatten().map(|entry| entry.file_name());
        let names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
        assert_eq!(names.iter().filter(|name| name.starts_with(OF_DAEMONS)).count(), DAEMONS_MAX);
        assert!(names.contains(&"coordinator.log".into()));
        assert!(names.contains(&"daemon-r1.log".into()));
    }

    #[test]
    fn a_link_in_the_place_of_a_log_is_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let (logs, target) = (dir.path().join("logs"), dir.path().join("precious"));
        fs::write(&target, "mine").expect("a file");
        fs::create_dir(&logs).expect("a folder");
        std::os::unix::fs::symlink(&target, logs.join("coordinator.log")).expect("a link");
        assert!(LogFile::open(&logs, &kept("coordinator")).is_err());
        assert_eq!(fs::read_to_string(&target).expect("text"), "mine");
        assert!(LogFile::open(&dir.path().join("no/swarm/logs"), &kept("x")).is_err(), "nothing is made");
    }
}
