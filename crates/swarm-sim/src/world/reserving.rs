//! Worlds in which tasks and people reserve files. Their chance is a stream of its own: the other worlds stay as they were.

use swarm_core::input::Report;
use swarm_core::state::State;
use swarm_protocol::command::Command;
use swarm_protocol::ids::{Oid, RunId};
use swarm_protocol::plan::TaskSpec;
use swarm_protocol::policy::Policy;
use swarm_protocol::reservation::{Isolation, Overlap};

use crate::rng::Rng;

/// Every file there is.
const PATHS: [&str; 4] = ["src/a.rs", "src/b.rs", "lib/c.rs", "docs/d.md"];

/// What people write, and which of the files each of them means: said here by hand, so that nobody's matching is believed.
const GLOBS: [(&str, &[usize]); 7] = [
    ("src/**", &[0, 1]),
    ("src/a.rs", &[0]),
    ("lib", &[2]),
    ("**/*.md", &[3]),
    ("*/?.rs", &[0, 1, 2]),
    ("docs/", &[3]),
    ("src/b.*", &[1]),
];

/// What a task has that shares a tree and does not say which files are its own.
const EVERYTHING: &str = "**";

const SALT: u64 = 0x7265_7365_7276_6564;

#[derive(Debug, Default)]
pub struct Reserving {
    rng: Option<Rng>,
}

impl Reserving {
    /// One world in four has reservations.
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ SALT);
        Self { rng: rng.chance(25).then_some(rng) }
    }

    pub fn rules(&mut self, policy: &mut Policy) {
        let Some(rng) = &mut self.rng else { return };
        policy.overlap = *rng.pick(&[Overlap::Wait, Overlap::Wait, Overlap::Deny, Overlap::Warn]);
        policy.reservation_secs = rng.between(30, 900);
        policy.shared_tree = rng.chance(20);
    }

    /// What a new task reserves.
    pub fn task(&mut self, spec: &mut TaskSpec) {
        let Some(rng) = &mut self.rng else { return };
        spec.reserve = globs(rng, 40);
        spec.share = globs(rng, 15);
        spec.isolation = rng.chance(25).then(|| rng.pick(&Isolation::ALL).word().into());
    }

    /// An agent at work asks for more than its task has.
    pub fn needs(&mut self, run: &RunId) -> Option<Report> {
        let rng = self.rng.as_mut()?;
        if !rng.chance(25) {
            return None;
        }
        let (files, shared) = (globs(rng, 60), rng.chance(25));
        Some(Report::NeedsFiles { run: run.clone(), files, shared })
    }

    /// A person reserves files, or takes them from whoever has them.
    pub fn wish(&mut self, state: &State) -> Option<Command> {
        let rng = self.rng.as_mut()?;
        match rng.below(100) {
            0..8 => {
                let (shared, secs) = (rng.chance(30), rng.chance(70).then(|| rng.between(10, 1_200)));
                Some(Command::Reserve { files: globs(rng, 30), shared, secs, reason: None })
            }
            8..13 => {
                let number = rng.between(1, state.reservations_ever + 1);
                Some(Command::ReleaseReservation { number })
            }
            _ => None,
        }
    }
}

fn globs(rng: &mut Rng, percent: u64) -> Vec<String> {
    GLOBS.iter().filter(|_| rng.chance(percent / 2)).map(|(glob, _)| (*glob).to_owned()).collect()
}

/// The files that these mean.
pub fn meant(globs: &[String]) -> impl Iterator<Item = usize> {
    let of = |glob: &String| match glob.as_str() {
        EVERYTHING => Some([0, 1, 2, 3].as_slice()),
        _ => GLOBS.iter().find(|(known, _)| known == glob).map(|(_, files)| *files),
    };
    globs.iter().filter_map(of).flatten().copied()
}

/// The file that a commit changes.
pub fn changed_by(commit: &Oid) -> usize {
    (u64::from_str_radix(&commit.as_str()[24..], 16).unwrap_or(0) % PATHS.len() as u64) as usize
}

pub fn path(file: usize) -> String {
    PATHS[file].into()
}
