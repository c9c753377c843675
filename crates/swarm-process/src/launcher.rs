//! `swarm boxed`: the step between the daemon and the program. Our own executable, single-threaded and
//! without a runtime, goes into the net and behind the walls and then becomes the program.
//!
//! A process of its own, because what it does to itself cannot be done to a child from outside without
//! running code between fork and exec in a process with threads.

mod letter;
mod enter;
mod filter;
mod namespace;
mod signals;
mod init;
mod guardian;

pub use enter::boxed_process;
pub use filter::{FilterCommand, FilterLetter, FilterSpec, filters_start_through};
pub(crate) use letter::Letter;
pub use letter::{BoxSpec, Place, Trouble};

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::run::Call;
use crate::complain;
use crate::sandbox::{SandboxSpec, make_tmp, remove_tmp};

/// The exit code of a launcher that did not become the program. Its letter says why.
pub const EXIT_NOT_BOXED: u8 = 125;

/// The executable that plays the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl Launcher {
    /// `swarm boxed` of the very file that is running, also after it was replaced by an update.
    pub fn myself() -> Self {
        Self { program: "/proc/self/exe".into(), args: vec!["boxed".into()] }
    }

    /// A binary that calls [`boxed_process`] when it is started with `boxed`.
    pub fn of(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: vec!["boxed".into()] }
    }

    /// The call as it is really started: the launcher with the letter, then the program.
    pub(crate) fn before(&self, call: Call, letter: &Letter) -> Call {
        let mut args = self.args.clone();
        args.push(letter.path().into());
        args.push("enter".into());
        args.push(call.program);
        args.extend(call.args);
        Call { program: self.program.clone().into(), args, ..call }
    }

    /// Goes into the place and out again.
    pub(crate) async fn try_out(&self, place: Place, within: Duration) -> Result<(), String> {
        self.try_spec(BoxSpec { place, sandbox: None, leftover_grace_ms: 0 }, within).await
    }

    /// Builds a view of the files of its own, with all walls, and leaves it.
    pub(crate) async fn try_view(&self, user_namespace: bool, within: Duration) -> Result<(), String> {
        let nonce = format!("trial-{}", ulid::Ulid::generate());
        let tmp = make_tmp(&nonce).map_err(|error| format!("no folder for temporary files: {error}"))?;
        let spec = BoxSpec {
            place: Place::Pidns { user_namespace, own_view: true },
            sandbox: Some(SandboxSpec::of_a_trial(tmp)),
            leftover_grace_ms: 0,
        };
        let tried = self.try_spec(spec, within).await;
        complain("remove the folder of a trial", remove_tmp(&nonce));
        tried
    }

    async fn try_spec(&self, spec: BoxSpec, within: Duration) -> Result<(), String> {
        let letter = Letter::write(&spec).map_err(|error| error.to_string())?;
        let mut call = Call::new(&self.program).args(&self.args).arg(letter.path()).arg("enter");
        call.timeout = within;
        let ended = call.run().await.map_err(|error| error.to_string())?;
        match letter.trouble() {
            Some(trouble) => Err(trouble.to_string()),
            None if ended.status.success() => Ok(()),
            None => Err(format!("the trial ended with {}", ended.status)),
        }
    }
}
