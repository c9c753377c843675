//! One seed: a ledger is made, lives several lives, each ended by a crash or by rot, and must tell
//! the same story every time it is opened again.

use std::path::Path;

use swarm_ledger::{Batch, Fragment, Head, LedgerPaths};

use crate::disk::fault::Fault;
use crate::disk::ledger::failure::Failure;
use crate::disk::ledger::model::{Bodies, Model};
use crate::disk::ledger::opening::Opened;
use crate::disk::ledger::rot::Expectation;
use crate::disk::ledger::tally::Tally;
use crate::disk::machine::Machine;
use crate::rng::Rng;

/// What a seed that holds leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub trace_hash: u64,
    pub tally: Tally,
}

pub(super) struct Run {
    pub rng: Rng,
    pub machine: Machine,
    pub paths: LedgerPaths,
    pub model: Model,
    pub tally: Tally,
    /// The last record known to be owed, with its place: what a snapshot would remember.
    pub head: Option<Head>,
    pub expectation: Expectation,
    /// A file has been spoilt in this run.
    pub rotten: bool,
    /// Notes of losses that earlier recoveries have handed over.
    pub notes: usize,
    /// The last recovery could not read everything, so it may not have heard every note.
    pub notes_unheard: bool,
    next_body: u64,
}

/// Runs one seed to its end.
pub fn run_seed(seed: u64) -> Result<Outcome, Failure> {
    let mut run = Run::new(seed);
    match run.live() {
        Ok(()) => Ok(Outcome { trace_hash: run.machine.trace_hash(), tally: run.tally }),
        Err(why) => Err(Failure::new(seed, why, &run.machine, &run.paths.main)),
    }
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        // Where the folder of the ledger is not there yet, making it is part of what must survive.
        let dirs: &[&str] = if rng.chance(70) { &["/repo/.swarm", "/repo/.git"] } else { &["/repo/.git"] };
        let machine = Machine::new(rng.next(), dirs);
        let git = Path::new("/repo/.git");
        let paths = LedgerPaths::standard(Path::new("/repo/.swarm"), rng.chance(75).then_some(git));
        Self {
            rng,
            machine,
            paths,
            model: Model::default(),
            tally: Tally::default(),
            head: None,
            expectation: Expectation::Lossless,
            rotten: false,
            notes: 0,
            notes_unheard: false,
            next_body: 1,
        }
    }

    fn live(&mut self) -> Result<(), String> {
        let lives = self.rng.between(4, 6);
        for _ in 0..lives {
            let Some(opened) = self.open(true)? else { return Ok(()) };
            self.write(opened)?;
            self.end_life();
        }
        // Once the faults stop, everything must come to rest.
        if let Some(Opened { writer, .. }) = self.open(false)? {
            drop(writer);
        }
        Ok(())
    }

    fn end_life(&mut self) {
        match self.rng.below(100) {
            0..45 => {
                self.tally.count("life ended by a power cut");
                self.machine.power_cut();
            }
            45..80 => {
                self.tally.count("life ended by a kill");
                self.machine.kill();
            }
            _ => {
                self.machine.kill();
                self.rot();
            }
        }
        self.machine.calm();
    }

    /// A process ends and leaves the machine running, or takes it along.
    pub fn end_process(&mut self) {
        if self.rng.chance(40) { self.machine.power_cut() } else { self.machine.kill() }
    }

    pub fn arm_some(&mut self, within: u64) {
        const FAULTS: [(&str, Fault); 12] = [
            ("fault: power cut", Fault::PowerCut),
            ("fault: power cut", Fault::PowerCut),
            ("fault: kill", Fault::Kill),
            ("fault: EIO", Fault::InputOutput),
            ("fault: read fails", Fault::ReadFails),
            ("fault: ENOSPC", Fault::NoSpace),
            ("fault: EINTR", Fault::Interrupted),
            ("fault: short write", Fault::ShortWrite),
            ("fault: sync fails, data dropped", Fault::SyncFails { device_took_it: false }),
            ("fault: sync fails, data kept", Fault::SyncFails { device_took_it: true }),
            ("fault: sync of a directory fails", Fault::SyncDirFails),
            ("fault: EROFS", Fault::ReadOnly),
        ];
        let (name, fault) = *self.rng.pick(&FAULTS);
        self.tally.count(name);
        let after = self.rng.below(within);
        self.machine.arm(after, fault);
    }

    /// A batch nobody has written before.
    pub fn make_batch(&mut self, epoch: u64) -> (Bodies, Batch) {
        let count = self.rng.between(1, 5);
        let bodies: Bodies = (0..count).map(|_| self.make_body()).collect();
        (bodies.clone(), batch_of(&bodies, epoch))
    }

    fn make_body(&mut self) -> String {
        let number = self.next_body;
        self.next_body += 1;
        let len = match self.rng.below(100) {
            0..80 => self.rng.between(0, 120),
            80..99 => self.rng.between(120, 1_500),
            _ => self.rng.between(1_500, 40_000),
        };
        let text: String = (0..len)
            .map(|at| char::from(b'a' + u8::try_from((at + number) % 26).expect("a letter")))
            .collect();
        format!("\"type\":\"note\",\"n\":{number},\"text\":\"{text}\",\"by\":\"sim\"")
    }

    pub fn first_batch(&mut self) -> (Bodies, Batch) {
        let id = format!("ledger-{:x}", self.rng.next());
        let (bodies, _) = self.make_batch(1);
        let mut bodies: Vec<String> = bodies.to_vec();
        bodies[0] = Fragment::first(&id, &bodies[0]).body;
        let bodies: Bodies = bodies.into();
        (bodies.clone(), batch_of(&bodies, 1))
    }
}

fn batch_of(bodies: &Bodies, epoch: u64) -> Batch {
    Batch::new(bodies.iter().map(Fragment::new).collect(), "2026-01-13T10:00:00Z", epoch)
}
