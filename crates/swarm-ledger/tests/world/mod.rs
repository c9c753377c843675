//! A ledger in a directory of its own, for the tests beside this file.
#![allow(dead_code)]

use std::path::PathBuf;
use std::sync::Arc;

use swarm_ledger::{
    Access, Base, Batch, Finding, Fragment, Hash, LedgerPaths, LedgerWriter, OnDamage, OpenError, RealFs,
    Recovered, Recovery, Vfs, Witness, create, recover,
};

pub struct World {
    pub dir: tempfile::TempDir,
    pub vfs: Arc<dyn Vfs>,
    pub paths: LedgerPaths,
}

pub fn record(n: u64) -> Fragment {
    Fragment::new(format!(
        "\"type\":\"task_added\",\"taskId\":\"t-{n}\",\"data\":{{\"n\":{n}}},\"by\":\"test\""
    ))
}

pub fn batch(numbers: impl IntoIterator<Item = u64>) -> Batch {
    Batch::new(numbers.into_iter().map(record).collect(), "2026-01-13T10:00:00Z", 1)
}

impl World {
    /// No ledger yet.
    pub fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let paths = LedgerPaths::standard(&dir.path().join(".swarm"), Some(&dir.path().join("git")));
        Self { dir, vfs: Arc::new(RealFs), paths }
    }

    pub fn without_copy(mut self) -> Self {
        self.paths.copy = None;
        self
    }

    /// Record 1 is the first; then batches of the sizes given.
    pub fn with(self, sizes: &[u64]) -> Self {
        self.create();
        self.append(sizes);
        self
    }

    pub fn create(&self) {
        let first = Fragment::first("ledger-a", "\"type\":\"plan_created\",\"by\":\"test\"");
        create(&self.vfs, &self.paths, &Batch::new(vec![first], "t", 1)).expect("a new ledger");
    }

    pub fn append(&self, sizes: &[u64]) {
        let recovered = self.write();
        let (mut writer, _) = LedgerWriter::open(&recovered).expect("a writer");
        for size in sizes {
            let next = writer.head().seq + 1;
            writer.append(batch(next..next + size)).expect("appended");
        }
    }

    pub fn request<'a>(
        &'a self,
        access: Access,
        on_damage: OnDamage,
        witnesses: &'a [Witness],
        bases: &'a [Base],
    ) -> Recovery<'a> {
        Recovery { vfs: &self.vfs, paths: &self.paths, witnesses, bases, on_damage, access }
    }

    pub fn try_open(
        &self,
        access: Access,
        on_damage: OnDamage,
        witnesses: &[Witness],
    ) -> Result<Recovered, OpenError> {
        recover(&self.request(access, on_damage, witnesses, &[]), &mut |_| {})
    }

    pub fn write(&self) -> Recovered {
        self.try_open(Access::Write, OnDamage::Quarantine, &[]).expect("opens for writing")
    }

    pub fn read(&self) -> Recovered {
        self.try_open(Access::Read, OnDamage::Quarantine, &[]).expect("opens for reading")
    }

    pub fn main(&self) -> Vec<u8> {
        std::fs::read(&self.paths.main).expect("the ledger")
    }

    pub fn copy(&self) -> Vec<u8> {
        std::fs::read(self.paths.copy.as_ref().expect("has a copy")).expect("the copy")
    }

    pub fn set_main(&self, bytes: &[u8]) {
        std::fs::write(&self.paths.main, bytes).expect("written");
    }

    pub fn set_copy(&self, bytes: &[u8]) {
        std::fs::write(self.paths.copy.as_ref().expect("has a copy"), bytes).expect("written");
    }

    pub fn quarantine(&self) -> Vec<(u64, PathBuf)> {
        swarm_ledger::quarantine::list(&*self.vfs, &self.paths).expect("listed")
    }

    /// Byte ranges of the lines of the ledger.
    pub fn lines(&self) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let main = self.main();
        main.split_inclusive(|b| *b == b'\n')
            .map(|line| {
                start += line.len();
                start - line.len()..start
            })
            .collect()
    }
}

pub fn witness(seq: u64, hash: Option<Hash>) -> Witness {
    Witness { seq, hash, ledger_id: None, source: "refs/swarm/ledger".into() }
}

/// The kinds of findings, for comparison.
pub fn kinds(findings: &[Finding]) -> Vec<String> {
    let name = |finding: &Finding| {
        let text = format!("{finding:?}");
        text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
    };
    findings.iter().map(name).collect()
}
