//! What the person does while an attacker runs: logs in, in ways that write the file anew or make it.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};

use crate::attacker::{ANSWERED, ASKS};

/// Where a log-in is, and none but the first is there from the beginning.
const LOG_INS: [&str; 4] = [".netrc", ".aws/credentials", ".config/gh/hosts.yml", ".cargo/credentials.toml"];

/// What is hidden there.
pub fn hidden(home: &Path) -> Vec<PathBuf> {
    [".netrc", ".aws", ".config/gh", ".cargo/credentials.toml"].map(|name| home.join(name)).into()
}

/// As it is before each attack.
pub fn begin(home: &Path) {
    let _ = fs::remove_dir_all(home);
    for folder in [".cargo", ".config"] {
        fs::create_dir_all(home.join(folder)).expect("made");
    }
    fs::write(home.join(LOG_INS[0]), "a password").expect("written");
}

/// Answers in the background, as long as we run.
pub fn wait(home: PathBuf, worktree: PathBuf) {
    let watch = init(CreateFlags::CLOEXEC).expect("a watch");
    add_watch(&watch, &worktree, WatchFlags::CREATE).expect("watched");
    std::thread::spawn(move || {
        let mut room = [std::mem::MaybeUninit::uninit(); 1024];
        let mut made = Reader::new(&watch, &mut room);
        while let Ok(event) = made.next() {
            if event.file_name().is_some_and(|name| name.to_bytes() == ASKS.as_bytes()) {
                log_in(&home);
                let _ = fs::write(worktree.join(ANSWERED), "");
            }
        }
    });
}

/// As `git credential-store`, `aws configure` and `gh auth login` do: beside it, and then over it.
fn log_in(home: &Path) {
    for name in LOG_INS {
        let (place, beside) = (home.join(name), home.join(".new"));
        let _ = fs::create_dir_all(place.parent().expect("a parent"));
        let _ = fs::write(&beside, "another password").and_then(|()| fs::rename(beside, place));
    }
}
