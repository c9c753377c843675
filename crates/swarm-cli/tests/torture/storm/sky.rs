//! What all parties of a storm share.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;

use crate::arena::Arena;
use crate::loop_disk::LoopDisk;

pub struct Sky {
    pub arena: Arena,
    // Behind the arena: what lies on the disk goes first.
    pub disk: Option<LoopDisk>,
    pub seed: u64,
    pub agents: u64,
    /// The weather is good again: everything is to come to its end.
    clear: AtomicBool,
    /// Somebody failed: all are to leave.
    lost: AtomicBool,
    began: Instant,
    diary: Mutex<Vec<String>>,
    counts: Mutex<BTreeMap<String, u64>>,
    /// Tasks whose adding was answered.
    pub acknowledged: Mutex<Vec<String>>,
    wrong: Mutex<Vec<String>>,
}

/// Lines of the diary and of the ledger that are shown when something went wrong.
const TAIL: usize = 60;

impl Sky {
    pub fn new(disk: Option<LoopDisk>, seed: u64, agents: u64) -> Self {
        let config = json!({
            "agent": "script",
            "mode": "autopilot",
            "check": { "commands": ["test -d work"] },
            "verify": { "commands": ["test -d work"] },
            "recovery": { "maxRetries": 100, "backoffMax": "1s" },
            "stop": { "grace": "1s", "drain": "1s" },
        });
        let place = disk.as_ref().map_or_else(std::env::temp_dir, LoopDisk::mount_point);
        let arena = Arena::inside(tempfile::tempdir_in(place).expect("a folder"), &config.to_string());
        Self {
            arena,
            disk,
            seed,
            agents,
            clear: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            began: Instant::now(),
            diary: Mutex::default(),
            counts: Mutex::default(),
            acknowledged: Mutex::default(),
            wrong: Mutex::default(),
        }
    }

    pub fn is_clear(&self) -> bool {
        self.clear.load(Ordering::SeqCst) || self.is_lost()
    }

    pub fn clear_up(&self) {
        self.clear.store(true, Ordering::SeqCst);
    }

    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    /// Writes down what was done; the first word is counted.
    pub fn note(&self, what: &str) {
        let kind = what.split_whitespace().next().unwrap_or_default().to_owned();
        *self.counts.lock().expect("no panic").entry(kind).or_default() += 1;
        let line = format!("{:8.2} {what}", self.began.elapsed().as_secs_f64());
        self.diary.lock().expect("no panic").push(line);
    }

    pub fn wrong(&self, what: String) {
        self.note(&format!("WRONG {what}"));
        self.wrong.lock().expect("no panic").push(what);
        self.lost.store(true, Ordering::SeqCst);
    }

    /// A party that panics is noted, and the others leave.
    pub fn guard(&self, who: &str, act: impl FnOnce()) {
        if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)) {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            self.wrong(format!("{who}: {}", text.unwrap_or_default()));
        }
        if who == "tormentor" {
            self.clear_up();
        }
    }

    pub fn assert_all_went_well(&self) {
        for (kind, times) in &*self.counts.lock().expect("no panic") {
            println!("{times:6}  {kind}");
        }
        let wrong = self.wrong.lock().expect("no panic").clone();
        if !wrong.is_empty() {
            self.fail(&wrong.join("\n"));
        }
    }

    /// Says everything that helps to find out, and ends the test.
    pub fn fail(&self, why: &str) -> ! {
        let diary = self.diary.lock().map(|diary| diary.clone()).unwrap_or_default();
        eprintln!("the last of what was done:");
        diary.iter().skip(diary.len().saturating_sub(TAIL)).for_each(|line| eprintln!("{line}"));
        let ledger = std::fs::read_to_string(self.arena.ledger()).unwrap_or_default();
        let lines: Vec<&str> = ledger.lines().collect();
        eprintln!("the last of {} records:", lines.len());
        for line in lines.iter().skip(lines.len().saturating_sub(TAIL)) {
            eprintln!("{}", line.chars().take(400).collect::<String>());
        }
        let seed = self.seed;
        panic!("seed {seed}: {why}\nagain: cargo xtask torture --minutes 1 --seed {seed} --only storm");
    }
}
