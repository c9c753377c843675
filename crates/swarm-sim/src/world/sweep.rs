//! Many seeds on all cores, and what they had in common.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::planted::Planted;
use super::story::{Failure, Summary, run};
use super::table::Table;

/// What many stories came to.
#[derive(Debug, Default)]
pub struct Sweep {
    pub seeds: u64,
    pub inputs: u64,
    pub inputs_least: u64,
    pub crashes: u64,
    pub crashes_least: u64,
    pub records: u64,
    pub tasks_done: u64,
    pub table: Table,
    /// The lowest seed that failed, once one has.
    pub failure: Option<Box<Failure>>,
}

impl Sweep {
    fn add(&mut self, summary: &Summary) {
        if self.seeds == 0 {
            (self.inputs_least, self.crashes_least) = (u64::MAX, u64::MAX);
        }
        self.seeds += 1;
        self.inputs += summary.inputs;
        self.inputs_least = self.inputs_least.min(summary.inputs);
        self.crashes += summary.crashes;
        self.crashes_least = self.crashes_least.min(summary.crashes);
        self.records += summary.records;
        self.tasks_done += summary.tasks_done;
        self.table.add(&summary.table);
    }

    fn fail(&mut self, failure: Box<Failure>) {
        if self.failure.as_ref().is_none_or(|known| known.seed > failure.seed) {
            self.failure = Some(failure);
        }
    }
}

/// Runs `count` seeds from `from` on; stops early when one fails.
pub fn sweep(from: u64, count: u64, planted: Option<Planted>) -> Sweep {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(from);
    let failed = AtomicBool::new(false);
    let total = Mutex::new(Sweep::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + count {
                        break;
                    }
                    let told = run(seed, planted);
                    let mut total = total.lock().expect("no thread panics while it adds");
                    match told {
                        Ok(summary) => total.add(&summary),
                        Err(failure) => {
                            failed.store(true, Ordering::Relaxed);
                            total.fail(failure);
                        }
                    }
                }
            });
        }
    });
    total.into_inner().expect("no thread panicked while it added")
}

/// Looks for a planted bug; the first seed that notices it.
pub fn find_planted(planted: Planted, within: u64) -> Option<Box<Failure>> {
    sweep(1, within, Some(planted)).failure
}
