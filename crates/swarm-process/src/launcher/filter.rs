//! Programs that git starts on its own for the content of a file: the person's filters. Where git works on files of an
//! agent they are started in the agent's folder, and many of them look there for their own code (`python -m`, a script of the
//! repository). So git is told to start us in their place, and we start them behind walls: they read everything that
//! is not hidden, write nothing but their answer, and have no way out.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::EXIT_NOT_BOXED;
use super::init::{die_with_parent, end_as};
use super::letter::{BoxSpec, Letter, Opened, Place, Trouble};
use crate::bound::plays_the_launcher;
use crate::complain;
use crate::identity::pid_in_proc;
use crate::limits::Limits;
use crate::sandbox::{SandboxSpec, make_tmp, remove_tmp};

/// The word that tells the part: `swarm boxed filter LETTER NUMBER [FILE]`.
pub(super) const FILTER: &str = "filter";

/// Variables that we have set for git alone: what the program starts in turn is not to be put behind walls again.
const FOR_GIT_ALONE: &str = "unset GIT_CONFIG_COUNT\n";

static STAND_IN: OnceLock<PathBuf> = OnceLock::new();

/// The binary that plays the launcher where the running one does not: for tests.
pub fn filters_start_through(program: impl Into<PathBuf>) {
    let _ = STAND_IN.set(program.into());
}

/// What one git may start, and the walls around each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterSpec {
    /// Of the folder that their temporary files lie in.
    pub nonce: String,
    pub commands: Vec<FilterCommand>,
    /// Places of the person that cannot be read.
    pub masked: Vec<PathBuf>,
    /// As in [`SandboxSpec`].
    pub hidden: Vec<PathBuf>,
    pub visible: Vec<PathBuf>,
    pub network: bool,
    pub limits: Limits,
}

/// One command as a person has configured it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterCommand {
    /// What git would hand to the shell.
    pub text: Vec<u8>,
    /// Of the file's path, which `%f` stands for.
    pub takes_path: bool,
    /// What it may write besides a temporary folder. Made if it is not there.
    pub writable: Vec<PathBuf>,
}

/// Lives as long as the git that was told of the commands.
#[derive(Debug)]
pub struct FilterLetter {
    letter: Letter,
    nonce: String,
}

impl Drop for FilterLetter {
    /// A git that fails ends what it has started, and with it whoever would have cleaned up.
    fn drop(&mut self) {
        complain("remove temporary files of a filter", remove_tmp(&self.nonce));
    }
}

impl FilterLetter {
    pub fn write(spec: &FilterSpec) -> io::Result<Self> {
        Ok(Self { letter: Letter::write(spec)?, nonce: spec.nonce.clone() })
    }

    /// What git is told in the place of the command of this number; none where nobody can put up the walls.
    pub fn words(&self, number: usize, takes_path: bool) -> Option<OsString> {
        let ourselves = || plays_the_launcher().then(|| format!("/proc/{}/exe", pid_in_proc()).into());
        let program: PathBuf = STAND_IN.get().cloned().or_else(ourselves)?;
        let mut words = quoted(program.as_os_str());
        words.extend(format!(" boxed {FILTER} {} {number}", self.letter.path().display()).bytes());
        if takes_path {
            words.extend(b" %f");
        }
        Some(OsString::from_vec(words))
    }

    /// Why one of them could not be started.
    pub fn trouble(&self) -> Option<String> {
        self.letter.trouble().map(|trouble| trouble.to_string())
    }

    /// The numbers of those that ended with an error.
    pub fn failed(&self) -> Vec<usize> {
        self.letter.failed()
    }
}

/// The part itself. Git waits for it as it would for the program.
pub(super) fn filter_process(args: &[OsString]) -> u8 {
    die_with_parent();
    let [letter, number, more @ ..] = args else { return EXIT_NOT_BOXED };
    let number = number.to_str().and_then(|number| number.parse::<usize>().ok());
    let opened = Opened::<FilterSpec>::read(Path::new(letter));
    let (Some(number), Ok(mut letter)) = (number, opened) else { return EXIT_NOT_BOXED };
    let Some(command) = letter.spec.commands.get(number).cloned() else { return EXIT_NOT_BOXED };
    match run(&letter.spec, &command, more.first()) {
        Ok(status) => {
            if !status.success() {
                letter.failed(number);
            }
            end_as(status).unwrap_or(EXIT_NOT_BOXED)
        }
        Err(trouble) => {
            letter.trouble(trouble);
            EXIT_NOT_BOXED
        }
    }
}

fn run(spec: &FilterSpec, command: &FilterCommand, path: Option<&OsString>) -> Result<ExitStatus, Trouble> {
    for folder in &command.writable {
        std::fs::create_dir_all(folder).map_err(|error| Trouble::cannot("make a folder of it", error))?;
    }
    let cannot = |error| Trouble::cannot("make a temporary folder", error);
    let tmp = make_tmp(&spec.nonce).map_err(cannot)?.join(ulid::Ulid::generate().to_string());
    std::fs::create_dir(&tmp).map_err(cannot)?;
    let ran = run_in(spec, command, path, &tmp);
    // What cannot be removed goes when git has ended.
    let _ = std::fs::remove_dir_all(&tmp);
    ran
}

fn run_in(
    spec: &FilterSpec,
    command: &FilterCommand,
    path: Option<&OsString>,
    tmp: &Path,
) -> Result<ExitStatus, Trouble> {
    let walls = SandboxSpec {
        covered: Vec::new(),
        // It finds the worktree where git left it, and changes nothing there.
        worktree: tmp.to_owned(),
        git: None,
        tmp: tmp.to_owned(),
        writable: command.writable.clone(),
        hidden: spec.hidden.clone(),
        listed: vec![],
        masked: spec.masked.clone(),
        visible: spec.visible.clone(),
        caches: vec![],
        binds: vec![],
        network: spec.network,
        limits: spec.limits,
        strict: false,
        best_effort: false,
    };
    let text = script(command, path, tmp);
    let mut why = None;
    for place in places() {
        let spec = BoxSpec { place, sandbox: Some(walls.clone()), leftover_grace_ms: 0 };
        let letter = Letter::write(&spec).map_err(|error| Trouble::cannot("write to the launcher", error))?;
        let mut launched = Command::new("/proc/self/exe");
        launched.arg("boxed").arg(letter.path()).args(["enter", "/bin/sh", "-c"]).arg(&text);
        let status = launched.status().map_err(|error| Trouble::cannot("start the launcher", error))?;
        match letter.trouble() {
            None if letter.is_ready() => return Ok(status),
            // It has read nothing of what git has for it, and the next place may do.
            trouble if !letter.is_ready() => {
                let ended = || io::Error::other(format!("the step before it ended with {status}"));
                why = Some(trouble.unwrap_or_else(|| Trouble::cannot("put up the walls", ended())));
            }
            trouble => return trouble.map_or(Ok(status), Err),
        }
    }
    Err(why.unwrap_or(Trouble::NotFound))
}

/// With a view of the files of its own where the machine lets us, and always with the kernel's rules.
fn places() -> impl Iterator<Item = Place> {
    let root = geteuid().is_root();
    let views = [false, true].into_iter().filter(move |user| root || *user);
    let views = views.map(|user_namespace| Place::Pidns { user_namespace, own_view: true });
    views.chain([Place::Guarded])
}

fn script(command: &FilterCommand, path: Option<&OsString>, tmp: &Path) -> OsString {
    let mut text = FOR_GIT_ALONE.as_bytes().to_vec();
    text.extend(b"export TMPDIR=");
    text.extend(quoted(tmp.as_os_str()));
    text.push(b'\n');
    match path.filter(|_| command.takes_path) {
        Some(path) => text.extend(expanded(&command.text, path)),
        None => text.extend(&command.text),
    }
    OsString::from_vec(text)
}

/// As git expands it: `%f` is the path as one word of the shell, `%%` a percent sign.
fn expanded(text: &[u8], path: &OsStr) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        out.extend(&rest[..at]);
        let taken = match rest.get(at + 1) {
            Some(b'f') => {
                out.extend(quoted(path));
                2
            }
            Some(b'%') => {
                out.push(b'%');
                2
            }
            _ => {
                out.push(b'%');
                1
            }
        };
        rest = &rest[at + taken..];
    }
    out.extend(rest);
    out
}

/// One word of the shell.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => out.extend(b"'\\''"),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_the_command_whatever_it_is_called() {
        let check = |text: &str, path: &str, expected: &str| {
            let found = expanded(text.as_bytes(), OsStr::new(path));
            assert_eq!(String::from_utf8(found).expect("UTF-8"), expected);
        };
        check("clean %f", "a b", "clean 'a b'");
        check("clean -- %f %%f %x", "';touch x;'", r"clean -- ''\'';touch x;'\''' %f %x");
        check("100%", "a", "100%");
        check("tr a-z A-Z", "a", "tr a-z A-Z");
    }
}
