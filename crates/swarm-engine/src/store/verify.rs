//! `swarm plan verify`: everything that can be checked, checked. Integrity (what is there is sound)
//! and completeness (all is there) are told apart, so that a cut at the end of a batch shows.

use swarm_core::State;
use swarm_core::hash::plan_hash;
use swarm_ledger::verify::{CopyState, verify};
use swarm_ledger::{Hash, Head, Line, Vfs, payload};
use swarm_protocol::event::{Event, SnapshotData};
use swarm_protocol::record::{Margin, event_of};

use super::error::StoreError;
use super::load::time_of;
use super::options::OpenOptions;
use super::snapshot;
use super::witnesses;
use super::writer::Store;
use crate::paths::Paths;
use crate::projection;

/// Digests of tasks computed for plan hashes before only every snapshot is checked: a ledger of ten
/// thousand single additions would otherwise cost fifty million.
const DIGESTS_MAX: usize = 5_000_000;
/// A plan of 20,000 tasks of half a MiB each cannot be; this can.
const PAYLOAD_MAX: u64 = 1 << 30;

/// What was checked and what is wrong.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Report {
    pub ledger_id: String,
    pub records: u64,
    pub head: String,
    pub plan_hashes_checked: u64,
    pub snapshots_checked: u64,
    /// What is there and not sound.
    pub integrity: Vec<String>,
    /// What shows that something is missing.
    pub completeness: Vec<String>,
    /// Derived files that do not show the present ledger: the next write makes them anew.
    pub projections: Vec<String>,
    pub second_copy: String,
}

impl Report {
    pub fn is_good(&self) -> bool {
        self.integrity.is_empty() && self.completeness.is_empty()
    }
}

impl Store {
    /// Walks the whole ledger from its first record. Needs no lock and changes nothing.
    pub fn verify(paths: &Paths, options: &OpenOptions) -> Result<Report, StoreError> {
        super::absent::refuse_foreign(paths)?;
        let mut known: Vec<_> = snapshot::candidates(paths).map(|snapshot| snapshot.witness()).collect();
        known.extend(witnesses::beyond(paths, options, 0));
        let mut check = Check {
            state: State::default(),
            vfs: &*options.vfs,
            paths,
            expected: None,
            digests: 0,
            hashes: 0,
            snapshots: 0,
            wrong: Vec::new(),
        };
        let ledger_paths = paths.ledger_paths();
        let verified = verify(&options.vfs, &ledger_paths, &known, &mut |line| check.take(line))
            .map_err(StoreError::Open)?;
        let mut integrity: Vec<String> = verified.integrity.iter().map(ToString::to_string).collect();
        let second_copy = match verified.copy {
            CopyState::Absent => "absent; the next write makes it".into(),
            CopyState::Agrees { behind: 0 } => "agrees".into(),
            CopyState::Agrees { behind } => format!("agrees, {behind} bytes behind"),
            CopyState::Differs { at } => {
                integrity.push(format!("The second copy differs from the ledger at byte {at}"));
                format!("differs at byte {at}")
            }
            CopyState::Unreadable { why } => {
                integrity.push(format!("The second copy cannot be read: {why}"));
                format!("cannot be read: {why}")
            }
        };
        integrity.append(&mut check.wrong);
        Ok(Report {
            ledger_id: verified.ledger_id,
            records: verified.head.seq,
            head: verified.head.hash.to_string(),
            plan_hashes_checked: check.hashes,
            snapshots_checked: check.snapshots,
            integrity,
            completeness: verified.completeness.iter().map(ToString::to_string).collect(),
            projections: stale_projections(paths, &verified.head),
            second_copy,
        })
    }
}

fn stale_projections(paths: &Paths, head: &Head) -> Vec<String> {
    projection::conditions(paths, head)
        .into_iter()
        .filter_map(|(path, condition)| condition.describe(paths.shown(&path)))
        .collect()
}

struct Check<'a> {
    state: State,
    vfs: &'a dyn Vfs,
    paths: &'a Paths,
    /// The hash that the plan must have at the end of this batch.
    expected: Option<String>,
    digests: usize,
    hashes: u64,
    snapshots: u64,
    wrong: Vec<String>,
}

impl Check<'_> {
    fn take(&mut self, line: &Line<'_>) {
        let (event, margin) = match (event_of(line.body), Margin::read(line.bytes)) {
            (Ok(event), Ok(margin)) => (event, margin),
            (Err(error), _) | (_, Err(error)) => {
                self.wrong.push(format!("Record {} cannot be understood: {error}", line.seq));
                return;
            }
        };
        let mut is_snapshot = false;
        if let Event::Snapshot { data } = &event {
            is_snapshot = true;
            self.snapshots += 1;
            if let Err(why) = self.check_snapshot(data) {
                self.wrong.push(format!("The snapshot in record {} is wrong: {why}", line.seq));
            }
        }
        self.state.apply(&event, time_of(line).unwrap_or(self.state.at));
        if let Some(hash) = margin.plan_hash_after {
            self.expected = Some(hash.into_owned());
        }
        if line.ends_batch() {
            self.check_hash(line.seq, is_snapshot);
        }
    }

    fn check_hash(&mut self, seq: u64, always: bool) {
        let Some(expected) = self.expected.take() else { return };
        self.digests = self.digests.saturating_add(self.state.tasks.len());
        if self.digests > DIGESTS_MAX && !always {
            return;
        }
        self.hashes += 1;
        if plan_hash(&self.state) != expected {
            self.wrong.push(format!("The plan after record {seq} is not the one whose hash was recorded"));
        }
    }

    fn check_snapshot(&self, data: &SnapshotData) -> Result<(), String> {
        let here =
            serde_json::to_value(swarm_core::export::plan_file(&self.state)).map_err(|e| e.to_string())?;
        let there = match (&data.plan, &data.file) {
            (Some(plan), _) => plan.clone(),
            (None, Some(file)) => {
                let hash: Hash =
                    file.parse().map_err(|_| format!("{file:?} is not the name of a payload"))?;
                let bytes = payload::get(self.vfs, &self.paths.ledger_paths(), &hash, PAYLOAD_MAX)
                    .map_err(|e| e.to_string())?;
                serde_json::from_slice(&bytes).map_err(|e| e.to_string())?
            }
            (None, None) => return Err("it holds no plan".into()),
        };
        if here == there { Ok(()) } else { Err("the records before it make another plan".into()) }
    }
}
