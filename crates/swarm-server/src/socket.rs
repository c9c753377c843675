//! The socket's place in the file system, however long its path is.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, openat};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::Instant;

/// What fits into `sun_path` with its closing NUL.
const SOCKET_PATH_MAX: usize = 107;

/// `.swarm/run/coordinator.sock`.
pub fn coordinator_socket(swarm_dir: &Path) -> PathBuf {
    swarm_dir.join("run").join("coordinator.sock")
}

/// A name for the path that the kernel takes: the path itself, or one that leads through an open
/// folder. Valid as long as it is kept.
struct Reachable {
    path: PathBuf,
    _folder: Option<OwnedFd>,
}

impl Reachable {
    fn new(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() <= SOCKET_PATH_MAX {
            return Ok(Self { path: path.to_owned(), _folder: None });
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{} is no socket's path", path.display()),
            ));
        };
        let folder = openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }
}

/// How long somebody stands before a queue that is full, and between two tries to get into it.
const QUEUE_WITHIN: Duration = Duration::from_secs(5);
const TRY_EVERY: Duration = Duration::from_millis(2);

pub async fn connect(path: &Path) -> io::Result<UnixStream> {
    let reachable = Reachable::new(path)?;
    let began = Instant::now();
    loop {
        match UnixStream::connect(&reachable.path).await {
            // Thousands have come at once. They are looked at one after the other, so there is room again in a moment.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if began.elapsed() >= QUEUE_WITHIN {
                    return Err(io::Error::new(error.kind(), "its queue is full"));
                }
                tokio::time::sleep(TRY_EVERY).await;
            }
            other => return other,
        }
    }
}

/// Takes the place of whatever socket is there: the caller holds the owner lock, so that one is dead.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    keep_to_ourselves(path.parent().unwrap_or(Path::new(".")))?;
    let unfinished = path.with_file_name(new_name(path.file_name().unwrap_or_default()));
    let _ = std::fs::remove_file(&unfinished);
    let listener = UnixListener::bind(&Reachable::new(&unfinished)?.path)?;
    // Nobody else may speak to it, and it appears under its name only when that is so.
    std::fs::set_permissions(&unfinished, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    std::fs::rename(&unfinished, path)?;
    Ok(listener)
}

/// The folder is ours and nobody else's: whoever could write in it could put another socket in the place of ours.
fn keep_to_ourselves(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let found = std::fs::metadata(folder)?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        let text = format!("{} belongs to another user", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700))?;
    }
    Ok(())
}

fn new_name(name: &OsStr) -> std::ffi::OsString {
    let mut new = name.to_owned();
    new.push(".new");
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_comes_to_a_full_queue_waits_for_a_place_in_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("s.sock");
        let socket = tokio::net::UnixSocket::new_stream().expect("a socket");
        socket.bind(&path).expect("bound");
        let listener = socket.listen(1).expect("it listens");
        let mut queue = Vec::new();
        while let Ok(stream) = UnixStream::connect(&path).await {
            queue.push(stream);
        }
        let (one, other) = tokio::join!(connect(&path), listener.accept());
        assert!(one.is_ok() && other.is_ok(), "{one:?}");
    }

    #[tokio::test]
    async fn a_socket_is_reached_whatever_the_length_of_its_path() {
        let dir = tempfile::tempdir().expect("a folder");
        for depth in [0, 1, 4] {
            let folder = (0..depth).fold(dir.path().to_owned(), |path, _| path.join("f".repeat(60)));
            std::fs::create_dir_all(&folder).expect("made");
            let path = folder.join("coordinator.sock");
            for _ in 0..2 {
                let listener = bind(&path).expect("bound, also over a dead one");
                let (one, other) = tokio::join!(connect(&path), listener.accept());
                assert!(one.is_ok() && other.is_ok(), "{}", path.display());
            }
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            let mode = std::fs::metadata(&folder).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }
}
