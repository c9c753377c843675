//! The one who may write: holds the locks, the state and the ledger's writer.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use swarm_core::State;
use swarm_ledger::locks::{Acquired, Ownership, WriterLocks, acquire_for_write};
use swarm_ledger::owner::OwnerInfo;
use swarm_ledger::{Access, AppendError, Claim, Finding, Head, Ledger, Recovered};
use swarm_process::complain;

use super::absent::{self, Absence};
use super::error::{StoreError, copy_hint};
use super::load::{self, Loaded, load};
use super::options::OpenOptions;
use super::snapshot::LossKey;
use super::ticket::Progress;
use super::upkeep::Upkeep;
use crate::clock::SteadyClock;
use crate::notice::Notice;
use crate::paths::Paths;

/// What came of asking for the right to write.
pub enum Opened {
    Writer(Store),
    /// Somebody owns the ledger: ask them through the socket.
    Busy(Option<OwnerInfo>),
}

/// The state and the ledger, open for writing.
pub struct Store {
    pub(super) paths: Paths,
    pub(super) options: OpenOptions,
    pub(super) state: State,
    /// None before the first write of a new ledger.
    pub(super) ledger: Option<Ledger>,
    pub(super) absence: Option<Absence>,
    pub(super) progress: Arc<Progress>,
    pub(super) clock: SteadyClock,
    pub(super) losses: BTreeSet<LossKey>,
    pub(super) notices: Vec<Notice>,
    pub(super) upkeep: Upkeep,
    // Last: the locks are given back when everything else is done.
    pub(super) locks: Locks,
}

/// Held for their being held.
pub(super) enum Locks {
    Command(WriterLocks),
    Coordinator(Ownership),
    /// Only while one becomes the other.
    Between,
}

/// What the clock of the last coordinator showed.
fn clock_of(paths: &Paths) -> PathBuf {
    paths.state.join("clock.json")
}

impl Store {
    /// Takes both locks for one command. Recovery is done and recorded before this returns.
    pub fn open_writer(paths: &Paths, options: OpenOptions) -> Result<Opened, StoreError> {
        Self::open_writer_with(paths, options, None)
    }

    /// `reopening`: a closed plan of this name is brought out of the archive, and one that is closed stays open for the
    /// command that takes the closing back.
    pub(super) fn open_writer_with(
        paths: &Paths,
        options: OpenOptions,
        reopening: Option<&str>,
    ) -> Result<Opened, StoreError> {
        absent::refuse_foreign(paths)?;
        let me = OwnerInfo::of_this_process(&options.role);
        let locks =
            match acquire_for_write(&options.vfs, &paths.run, &me, options.wait).map_err(StoreError::Lock)? {
                Acquired::Writer(locks) => locks,
                Acquired::Busy(owner) => return Ok(Opened::Busy(owner)),
            };
        // Again, now that nobody else can be making one.
        absent::refuse_foreign(paths)?;
        if let Some(name) = reopening {
            Self::bring_out(paths, &options, name)?;
        }
        let (loaded, absence) = match load(paths, &options, Access::Write, None) {
            Ok(loaded) => (loaded, None),
            Err(error) => {
                let absence = absent::explain(paths, error)?;
                (load::nothing(Vec::new()), Some(absence))
            }
        };
        let mut store = Self::from_loaded(paths, options, loaded, absence, locks)?;
        if reopening.is_none() {
            store.finish_interrupted_close()?;
        }
        store.check_projections();
        if store.ledger.is_some() {
            // `git stash --include-untracked` takes it along, and the next `git add` would have all of ours.
            complain("write .swarm/.gitignore", super::gitignore::ensure_ignored(paths));
        }
        Ok(Opened::Writer(store))
    }

    /// As [`Store::open_writer`], but for a coordinator's life: the owner's lock is kept, the door opened.
    pub fn become_coordinator(paths: &Paths, options: OpenOptions) -> Result<Opened, StoreError> {
        let mut store = match Self::open_writer(paths, options)? {
            Opened::Writer(store) => store,
            busy => return Ok(busy),
        };
        store.locks = match std::mem::replace(&mut store.locks, Locks::Between) {
            Locks::Command(locks) => Locks::Coordinator(locks.become_owner()),
            other => other,
        };
        Ok(Opened::Writer(store))
    }

    fn from_loaded(
        paths: &Paths,
        options: OpenOptions,
        loaded: Loaded,
        absence: Option<Absence>,
        locks: WriterLocks,
    ) -> Result<Self, StoreError> {
        let Loaded { state, recovered, losses, archive, notices, snapshot_seq } = loaded;
        let head = recovered.as_ref().map(|r| r.head);
        let mut store = Self {
            paths: paths.clone(),
            options,
            // With nobody at work the calendar may be right again.
            clock: match state.runs.is_empty() {
                true => SteadyClock::starting_after(state.at),
                false => SteadyClock::going_on(state.at, &clock_of(paths)),
            },
            upkeep: Upkeep::new(snapshot_seq, archive),
            state,
            ledger: None,
            absence,
            progress: Progress::at(head),
            losses,
            notices,
            locks: Locks::Command(locks),
        };
        if let Some(recovered) = recovered {
            store.open_ledger(&recovered)?;
            // Only a ledger that was walked whole may be put over a copy that differs from it.
            if store.options.thorough && recovered.base.is_none() {
                let found = store.ledger.iter().flat_map(Ledger::mend_copy);
                store.notices.extend(found.map(|finding| notice_of(&store.paths, &finding)));
            }
            store.record_findings(&recovered)?;
        }
        Ok(store)
    }

    pub(super) fn open_ledger(&mut self, recovered: &Recovered) -> Result<(), StoreError> {
        let (ledger, findings) = Ledger::open(recovered).map_err(StoreError::Open)?;
        self.notices.extend(findings.iter().map(|finding| notice_of(&self.paths, finding)));
        ledger.write_only_while(self.claim()?);
        self.ledger = Some(ledger);
        Ok(())
    }

    /// The state, which may be ahead of the disk: nothing read from it may leave the process before
    /// [`Store::wait_durable`].
    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Whoever coordinates next goes on by the same clock. One that finds none begins by the calendar.
    pub fn leave_clock(&self) {
        complain("note the time for the next coordinator", self.clock.leave(&clock_of(&self.paths)));
    }

    pub fn clock(&self) -> &SteadyClock {
        &self.clock
    }

    /// The last durable record: what `refs/swarm/ledger` is to be set to.
    pub fn head(&self) -> Option<Head> {
        self.progress.durable()
    }

    pub fn ledger_id(&self) -> Option<&str> {
        self.state.plan.as_ref().map(|plan| plan.ledger_id.as_str())
    }

    /// What a person should know; each is given once.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        let mut notices = std::mem::take(&mut self.notices);
        let late = self.ledger.iter().flat_map(Ledger::take_findings);
        notices.extend(late.map(|finding| notice_of(&self.paths, &finding)));
        notices
    }

    /// Blocks until everything decided so far is durable.
    pub fn wait_durable(&self) -> Result<(), StoreError> {
        self.progress.wait_for(self.state.seq).map(drop).map_err(StoreError::from_append)
    }

    /// The proof that the ledger is ours, for all who act in our name.
    pub fn claim(&self) -> Result<Claim, StoreError> {
        let claim = match &self.locks {
            Locks::Command(locks) => locks.claim(),
            Locks::Coordinator(owner) => owner.claim(),
            Locks::Between => Err(std::io::ErrorKind::NotFound.into()),
        };
        claim.map_err(StoreError::io("look at", &self.paths.owner))
    }

    /// Refuses once another coordinator may own the ledger: the process must end, whatever it was about to do.
    pub fn still_owner(&self) -> Result<(), StoreError> {
        let claim = self.claim()?;
        match claim.holds() {
            true => Ok(()),
            false => Err(StoreError::Fatal(AppendError::NotOwner(claim.path().to_path_buf()))),
        }
    }

    /// Throws the memory away and takes what the disk has: after a write that found no room, or a record that was refused.
    /// What was decided before and is on its way to the disk gets there first, or the memory would lack it for good.
    pub fn reload(&mut self) -> Result<(), StoreError> {
        let durable = self.ledger.as_ref().map(Ledger::settled);
        let Some(durable) = durable else {
            self.state = State::default();
            self.progress.forget_failure();
            return Ok(());
        };
        let loaded = load(&self.paths, &self.options, Access::Read, Some(durable.seq))?;
        self.state = loaded.state;
        self.losses = loaded.losses;
        self.progress.forget_failure();
        self.upkeep.plan_changed();
        Ok(())
    }

    /// After [`StoreError::NoRoom`]: asks the disk again. True when records are taken again; with
    /// `emergency` also when only the room kept back is left.
    pub fn ask_for_room(&mut self, emergency: bool) -> Result<bool, StoreError> {
        let Some(ledger) = &self.ledger else { return Ok(true) };
        match ledger.resume().map_err(StoreError::from_append)? {
            swarm_ledger::Room::Plenty => Ok(true),
            swarm_ledger::Room::ReserveOnly => Ok(emergency),
            swarm_ledger::Room::Refusing => Ok(false),
        }
    }
}

/// What the writer of the ledger and its second copy came across.
fn notice_of(paths: &Paths, finding: &Finding) -> Notice {
    let hint = match finding {
        Finding::CopyFailed { .. } => copy_hint(&paths.second_copy),
        _ => String::new(),
    };
    Notice::new(finding.to_string(), hint)
}
