//! From the disk to the state: a snapshot that lies on the chain and the records behind it, or every
//! record from the first.

use std::collections::BTreeSet;

use swarm_core::State;
use swarm_ledger::{Access, Base, LedgerPaths, Line, OnDamage, OpenError, Recovered, Recovery, recover};
use swarm_protocol::event::Event;
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;

use super::error::StoreError;
use super::options::OpenOptions;
use super::snapshot::{self, LossKey, Snapshot};
use super::witnesses;
use crate::notice::Notice;
use crate::paths::Paths;

/// What was found on the disk.
pub(super) struct Loaded {
    pub state: State,
    /// None when there is no ledger, and rightly so.
    pub recovered: Option<Recovered>,
    pub losses: BTreeSet<LossKey>,
    /// The name a closed plan is to be archived under.
    pub archive: Option<String>,
    pub notices: Vec<Notice>,
    /// The record that the snapshot used here covers.
    pub snapshot_seq: u64,
}

/// Loads the state; `until` is the last record to take in.
pub(super) fn load(
    paths: &Paths,
    options: &OpenOptions,
    access: Access,
    until: Option<u64>,
) -> Result<Loaded, StoreError> {
    let ledger_paths = paths.ledger_paths();
    let mut base: Option<Snapshot> = None;
    let mut known = Vec::new();
    for candidate in snapshot::candidates(paths) {
        known.push(candidate.witness());
        let usable = until.is_none_or(|until| candidate.base.seq <= until);
        if usable && witnesses::lies_on_ledger(&*options.vfs, paths, &candidate.base) {
            base = Some(candidate);
            break;
        }
    }
    let mut known = witnesses::without_closed(paths, known);
    known.extend(witnesses::of_files(paths, options));
    if options.thorough {
        base = base.filter(|snapshot| !is_whole_up_to(&snapshot.base, options, &ledger_paths));
    }
    let bases: Vec<_> = base.iter().map(|snapshot| snapshot.base).collect();
    let request = Recovery {
        vfs: &options.vfs,
        paths: &ledger_paths,
        witnesses: &known,
        bases: &bases,
        on_damage: options.on_damage,
        access,
    };
    let mut replay = Replay::from(base, until);
    let recovered = recover(&request, &mut |line| replay.take(line)).map_err(StoreError::Open)?;
    replay.finish(recovered)
}

/// Whether the ledger and its copy together hold every record up to the one that a snapshot covers. Where they do not, the
/// snapshot is all there is of these records, and a walk from the first one would give up what lies behind the damage.
fn is_whole_up_to(base: &Base, options: &OpenOptions, paths: &LedgerPaths) -> bool {
    let request = Recovery {
        vfs: &options.vfs,
        paths,
        witnesses: &[],
        bases: &[],
        on_damage: OnDamage::Ask,
        access: Access::Read,
    };
    recover(&request, &mut |_| {}).is_ok_and(|whole| whole.head.seq >= base.seq)
}

struct Replay {
    /// Used until the first line shows that the walk began elsewhere.
    base_seq: u64,
    state: State,
    losses: BTreeSet<LossKey>,
    archive: Option<String>,
    until: Option<u64>,
    notices: Vec<Notice>,
    failed: Option<StoreError>,
}

impl Replay {
    fn from(base: Option<Snapshot>, until: Option<u64>) -> Self {
        let (state, losses) =
            base.map_or_else(Default::default, |snapshot| (snapshot.state, snapshot.losses));
        Self { base_seq: state.seq, state, losses, archive: None, until, notices: Vec::new(), failed: None }
    }

    fn take(&mut self, line: &Line<'_>) {
        if line.seq == 1 && self.base_seq > 0 {
            // The snapshot was not accepted after all: everything is taken from the ledger.
            *self = Self::from(None, self.until);
        }
        if self.failed.is_some() || self.until.is_some_and(|until| line.seq > until) {
            return;
        }
        match event_of(line.body) {
            Ok(event) => self.apply(line, &event),
            Err(error) => {
                self.failed = Some(StoreError::Unreadable { seq: line.seq, why: error.to_string() })
            }
        }
    }

    fn apply(&mut self, line: &Line<'_>, event: &Event) {
        match event {
            Event::LedgerLoss { last_good_seq, last_good_hash, quarantine, .. } => {
                self.losses.insert(LossKey {
                    last_good_seq: *last_good_seq,
                    last_good_hash: last_good_hash.clone(),
                    quarantine: quarantine.clone(),
                });
            }
            Event::PlanClosed { archive } => self.archive = Some(archive.clone()),
            // Behind a snapshot of ours only `verify` looks: a tail is read by every command.
            Event::Snapshot { data } if data.plan.is_some() && self.base_seq == 0 => {
                let here = serde_json::to_value(swarm_core::export::plan_file(&self.state)).ok();
                if here != data.plan {
                    let text = format!(
                        "The plan in record {} is not the plan that the records before it make",
                        line.seq
                    );
                    self.notices.push(Notice::new(text, "swarm plan verify"));
                }
            }
            _ => {}
        }
        self.state.apply(event, time_of(line).unwrap_or(self.state.at));
    }

    fn finish(mut self, recovered: Recovered) -> Result<Loaded, StoreError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let last = recovered.head.seq;
        if let Some(asked) = self.until.filter(|asked| *asked > last || *asked == 0) {
            return Err(StoreError::NoSuchRecord { asked, last });
        }
        let expected = self.until.unwrap_or(last);
        if self.state.seq != expected {
            let why = format!("the state came to record {} instead", self.state.seq);
            return Err(StoreError::Unreadable { seq: expected, why });
        }
        let plain = |finding: &swarm_ledger::Finding| Notice::new(finding.to_string(), hint_of(finding));
        self.notices.extend(recovered.findings.iter().filter(|f| is_news(f)).map(plain));
        Ok(Loaded {
            state: self.state,
            recovered: Some(recovered),
            losses: self.losses,
            archive: self.archive,
            notices: self.notices,
            snapshot_seq: self.base_seq,
        })
    }
}

pub(super) fn time_of(line: &Line<'_>) -> Option<Timestamp> {
    Timestamp::parse(std::str::from_utf8(line.ts).ok()?)
}

fn is_news(finding: &swarm_ledger::Finding) -> bool {
    !matches!(finding, swarm_ledger::Finding::BeingWritten { .. } | swarm_ledger::Finding::CopyCaughtUp)
}

fn hint_of(finding: &swarm_ledger::Finding) -> &'static str {
    use swarm_ledger::Finding;
    match finding {
        Finding::Damage(_) | Finding::Loss(_) => "swarm plan salvage",
        Finding::WitnessDisagrees { .. } | Finding::EpochFell { .. } => "swarm plan verify",
        Finding::StartDamaged { .. } => {
            "Put .swarm/plan-ledger.jsonl back from a backup that has it; until then keep .swarm/state"
        }
        Finding::Repairable { .. } => "swarm doctor --fix",
        Finding::QuarantineUnreadable { .. } => {
            "Make it readable, or move it out of .swarm: a loss that it may note is not heard of meanwhile"
        }
        _ => "",
    }
}

/// Nothing was there to load.
pub(super) fn nothing(notices: Vec<Notice>) -> Loaded {
    Loaded {
        state: State::default(),
        recovered: None,
        losses: BTreeSet::new(),
        archive: None,
        notices,
        snapshot_seq: 0,
    }
}

/// Whether the ledger is absent, whatever is left of it.
pub(super) fn is_absent(error: &StoreError) -> bool {
    matches!(error, StoreError::Open(OpenError::NoLedger(_) | OpenError::Missing { .. }))
}
