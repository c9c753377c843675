//! The launcher's own life: read the letter, go in, put up the walls, become the program.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::filter::{FILTER, filter_process};
use super::guardian::{INSIDE, guard, inside};
use super::init::{die_with_parent, first_process, outside};
use super::letter::{Opened, Place, Trouble};
use super::{EXIT_NOT_BOXED, namespace, signals};
use crate::bound::{BOUND, become_bound};
use crate::containment::Namespaces;
use crate::descriptors::hand_on_no_files;
use crate::sandbox;

/// The whole process `swarm boxed LETTER ROLE [PROGRAM [ARG…]]`. To be called before any thread was started.
pub fn boxed_process(args: &[OsString]) -> u8 {
    // Before anything else: from here on there are starts that nobody looks at one by one.
    let alone = hand_on_no_files();
    if let Some(rest) = args.split_first().and_then(|(word, rest)| (word == BOUND).then_some(rest)) {
        return match alone {
            Ok(()) => become_bound(rest),
            Err(error) => {
                eprintln!("Cannot keep open files to ourselves: {error}");
                EXIT_NOT_BOXED
            }
        };
    }
    if let Some(rest) = args.split_first().and_then(|(word, rest)| (word == FILTER).then_some(rest)) {
        return filter_process(rest);
    }
    let (Some(path), Some(role)) = (args.first(), args.get(1)) else { return EXIT_NOT_BOXED };
    let path = Path::new(path);
    let mut letter: Opened = match Opened::read(path) {
        Ok(letter) => letter,
        Err(error) => {
            eprintln!("Cannot read the letter of the daemon: {error}");
            return EXIT_NOT_BOXED;
        }
    };
    let alone = alone.map_err(|error| Trouble::cannot("keep open files to ourselves", error));
    let result = alone.and_then(|()| match role.to_str() {
        Some("enter") => enter(&mut letter, path, &args[2..]),
        Some("first") => first_process(&mut letter, &args[2..]),
        Some(INSIDE) => inside(&mut letter, &args[2..]),
        _ => Err(Trouble::Cannot { what: "play this part".into(), why: "unknown".into(), errno: None }),
    });
    match result {
        Ok(code) => code,
        Err(trouble) => {
            letter.trouble(trouble);
            EXIT_NOT_BOXED
        }
    }
}

fn enter(letter: &mut Opened, path: &Path, program: &[OsString]) -> Result<u8, Trouble> {
    no_core_files();
    match letter.spec.place.clone() {
        Place::Guarded => return guard(letter, path, program),
        Place::Cgroup { procs_file, own_view } => {
            std::fs::write(&procs_file, "0")
                .map_err(|error| Trouble::cannot("join the control group", error))?;
            if let Some(Namespaces { user }) = own_view {
                return enter_namespaces(letter, path, user, program);
            }
        }
        Place::Pidns { user_namespace, .. } => {
            return enter_namespaces(letter, path, user_namespace, program);
        }
    }
    become_program(letter, program)
}

fn enter_namespaces(
    letter: &mut Opened,
    path: &Path,
    user: bool,
    program: &[OsString],
) -> Result<u8, Trouble> {
    // We go with the daemon, and the namespace with us.
    die_with_parent();
    // A daemon that died before that was said would be waited for in vain.
    if !path.exists() {
        return Ok(EXIT_NOT_BOXED);
    }
    // A request to everybody of the run is for the program: we stay until it has gone.
    signals::outlive_requests();
    namespace::new_pid_namespace(user, letter.wants_own_view())
        .map_err(|error| Trouble::cannot("make a pid namespace", error))?;
    outside(letter, program)
}

/// Comes back only if it could not, or if there is no program to become (a trial).
pub fn become_program(letter: &mut Opened, program: &[OsString]) -> Result<u8, Trouble> {
    put_up_walls(letter)?;
    let Some((name, args)) = program.split_first() else { return Ok(0) };
    Err(not_begun(Command::new(name).args(args).exec()))
}

pub fn put_up_walls(letter: &mut Opened) -> Result<(), Trouble> {
    if let Some(spec) = &letter.spec.sandbox {
        let failed = |why| Trouble::Cannot { what: "enter the sandbox".into(), why, errno: None };
        for dir in spec.git.iter().flat_map(sandbox::GitRights::folders) {
            std::fs::create_dir_all(&dir).map_err(|error| Trouble::cannot("make a folder of git", error))?;
        }
        spec.limits.hand_on(letter.counts_alone());
        let seen = letter.wants_own_view().then(|| sandbox::build_view(spec)).transpose().map_err(failed)?;
        let status = sandbox::enforce(spec, seen.as_ref()).map_err(failed)?;
        letter.walls(status);
    }
    letter.ready();
    Ok(())
}

pub fn not_begun(error: io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::NotFound => Trouble::NotFound,
        _ => Trouble::cannot("start it", error),
    }
}

/// A crash would leave the memory of the program in the worktree, and from there in a commit.
fn no_core_files() {
    let limit = getrlimit(Resource::Core);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), ..limit });
}
