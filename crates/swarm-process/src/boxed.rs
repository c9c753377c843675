//! A program started through the launcher: in its net, behind its walls.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use super::containment::cgroup::{Leaf, leaf_name};
use super::containment::{Containment, Held};
use super::launcher::{BoxSpec, Launcher, Letter, Place, Trouble};
use super::limits::is_shortage;
use super::run::{Call, ProcessError, Running};
use crate::sandbox::{SandboxSpec, SandboxStatus};

/// What a program is put into.
pub struct Enclosure<'a> {
    pub launcher: &'a Launcher,
    pub containment: &'a Containment,
    pub sandbox: Option<&'a SandboxSpec>,
    /// `.swarm` of the swarm that the run belongs to.
    pub swarm_dir: &'a Path,
    pub nonce: &'a str,
    /// What outlives the program gets this much time to go.
    pub leftover_grace: Duration,
}

/// A started program, or a launcher that will not become it.
#[derive(Debug)]
pub struct Boxed {
    pub running: Running,
    pub held: Held,
    program: String,
    letter: Letter,
}

impl Enclosure<'_> {
    /// Starts the program. That it could not begin is known when it has ended: see [`Boxed::begun`].
    pub fn start(&self, call: Call) -> Result<Boxed, ProcessError> {
        let program = call.program.to_string_lossy().into_owned();
        let failed = |why| ProcessError::Spawn { program: program.clone(), why };
        // Whoever wants no walls wants the machine as it is.
        let walled = self.sandbox.is_some();
        let (place, leaf) = match self.containment {
            Containment::Cgroup { parent, own_view } => {
                let leaf = Leaf::create(parent, &leaf_name(self.swarm_dir, self.nonce)).map_err(failed)?;
                if let Some(spec) = self.sandbox {
                    leaf.limit(&spec.limits);
                }
                let own_view = own_view.filter(|_| walled);
                (Place::Cgroup { procs_file: leaf.procs_file(), own_view }, Some(leaf))
            }
            Containment::Pidns { user_namespace, own_view } => {
                let own_view = *own_view && walled;
                (Place::Pidns { user_namespace: *user_namespace, own_view }, None)
            }
            Containment::Group => (Place::Guarded, None),
        };
        let spec = BoxSpec {
            place,
            sandbox: self.sandbox.cloned(),
            leftover_grace_ms: u64::try_from(self.leftover_grace.as_millis()).unwrap_or(u64::MAX),
        };
        let started = Letter::write(&spec).map_err(failed).and_then(|letter| {
            let running = self.launcher.before(call, &letter).spawn(Stdio::piped(), Stdio::piped())?;
            Ok((running, letter))
        });
        let (running, letter) = match (started, &leaf) {
            (Ok(started), _) => started,
            (Err(error), leaf) => {
                if let Some(leaf) = leaf {
                    leaf.remove_now();
                }
                return Err(error);
            }
        };
        let held = match (leaf, self.containment) {
            (Some(leaf), _) => Held::Leaf(leaf),
            (None, Containment::Pidns { .. }) => Held::Namespace { launcher: running.child.id() },
            (None, _) => Held::Guarded { launcher: running.child.id() },
        };
        Ok(Boxed { running, held, program, letter })
    }
}

impl Boxed {
    /// To be asked after its end: whether it ever was the program. `disturbed`: it was ended by us, so
    /// that it did not come that far says nothing.
    pub fn begun(&self, status: ExitStatus, disturbed: bool) -> Result<(), ProcessError> {
        let program = self.program.clone();
        match self.letter.trouble() {
            // Killed on the way (by a person, for want of memory): that is a crash, and no program that cannot be started.
            None if disturbed || self.letter.is_ready() || status.signal().is_some() => Ok(()),
            None => {
                let why = std::io::Error::other(format!("the step before it ended with {status}"));
                Err(ProcessError::Spawn { program, why })
            }
            Some(Trouble::NotFound) => Err(ProcessError::NotFound { program }),
            Some(trouble) => {
                let code = trouble.errno().map(std::io::Error::from_raw_os_error);
                let why = code.filter(is_shortage).unwrap_or_else(|| std::io::Error::other(trouble));
                Err(ProcessError::Spawn { program, why })
            }
        }
    }

    /// What the kernel enforces around it; none without a sandbox.
    pub fn walls(&self) -> Option<SandboxStatus> {
        self.letter.walls()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a launcher that does this is taken.
    async fn begun_with(script: &str) -> Result<(), ProcessError> {
        let launcher = Launcher { program: "/bin/sh".into(), args: vec!["-c".into(), script.into()] };
        let dir = tempfile::tempdir().expect("a folder");
        let enclosure = Enclosure {
            launcher: &launcher,
            containment: &Containment::Group,
            sandbox: None,
            swarm_dir: dir.path(),
            nonce: "0123456789abcdef0123456789abcdef",
            leftover_grace: Duration::ZERO,
        };
        let mut boxed = enclosure.start(Call::new("true")).expect("a launcher");
        let status = boxed.running.wait().await.expect("its end");
        boxed.begun(status, false)
    }

    #[tokio::test]
    async fn a_launcher_that_is_killed_is_a_crash_and_one_that_fails_is_no_program() {
        assert!(
            begun_with("kill -9 $$").await.is_ok(),
            "whoever killed it did not make the program unusable"
        );
        let failed = begun_with("exit 3").await.expect_err("it never became the program");
        assert!(failed.to_string().contains("exit status: 3"), "{failed}");
    }
}
