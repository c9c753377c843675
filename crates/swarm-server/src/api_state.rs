//! What all routes share: the way to the coordinator's loop, and the little that has to be remembered on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use swarm_engine::channel::{FromSocket, LinkId};
use swarm_engine::look::{Look, Looked};
use swarm_engine::paths::Paths;
use swarm_engine::{OverTime, Tally};
use swarm_protocol::api::{Delivery, Seen};
use swarm_protocol::channel::Response;
use swarm_protocol::command::Envelope;
use swarm_protocol::ids::CommandId;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::fault::Fault;
use crate::hub::Hub;
use crate::ledger::{Ledger, beside};
use crate::limits::Limits;
use crate::once::Deeds;
use crate::pace::Pace;
use crate::peer::Inside;
use crate::places::Places;

/// Large bodies that are worked on at once: each may take much memory.
const HEAVY_AT_ONCE: usize = 2;

/// Looks into the past and into git at once, and looks at what a command would do. Those who wait for one kind do not
/// wait for the other: whoever is about to do something goes before whoever only reads.
const LOOKS_AT_ONCE: usize = 2;

/// Requests at once that are worked on beside the ledger: examinations, worktrees, hooks.
const HANDS: usize = 4;

/// Different things of one attempt that people are told of. An agent that tries more is known well enough.
const OVERSTEPS_MAX: usize = 32;

/// Attempts that are remembered for it.
const OVERSTEPPERS_MAX: usize = 1024;

pub struct ApiState {
    pub paths: Paths,
    pub limits: Limits,
    pub hub: Arc<Hub>,
    pub places: Arc<Places>,
    pub end: CancellationToken,
    pub heavy: Semaphore,
    pub(crate) looks: Arc<Semaphore>,
    pub(crate) previews: Arc<Semaphore>,
    /// Agents that look where it costs.
    pub(crate) agents: Arc<Semaphore>,
    pub(crate) pace: Pace,
    pub(crate) deeds: Deeds,
    /// Deeds and commands under way, their clients gone or not.
    pub(crate) tended: Arc<Semaphore>,
    pub(crate) hands: Arc<Semaphore>,
    queue: mpsc::Sender<FromSocket>,
    /// Answers where there is no loop.
    pub(crate) ledger: Option<Arc<dyn Ledger>>,
    links: AtomicU64,
    /// Commands that are on their way to the loop or wait for the disk.
    in_flight: Mutex<BTreeSet<CommandId>>,
    overstepped: Mutex<BTreeMap<Inside, BTreeSet<String>>>,
    /// What the records add up to, as far as somebody has asked.
    pub tally: tokio::sync::Mutex<Counted>,
}

/// Records that are counted, up to the last one.
#[derive(Debug, Default)]
pub struct Counted {
    pub seq: u64,
    pub tally: Tally,
    pub over_time: OverTime,
}

/// The coordinator ended before it answered; nobody knows whether it did what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost;

impl ApiState {
    pub fn new(
        paths: Paths,
        limits: Limits,
        hub: Arc<Hub>,
        queue: mpsc::Sender<FromSocket>,
        end: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self::made(paths, limits, hub, queue, end, None))
    }

    /// The same where nobody coordinates: nothing is queued, the ledger itself is asked.
    pub fn unattended(
        paths: Paths,
        limits: Limits,
        hub: Arc<Hub>,
        ledger: Arc<dyn Ledger>,
        end: CancellationToken,
    ) -> Arc<Self> {
        let (queue, _) = mpsc::channel(1);
        Arc::new(Self::made(paths, limits, hub, queue, end, Some(ledger)))
    }

    fn made(
        paths: Paths,
        limits: Limits,
        hub: Arc<Hub>,
        queue: mpsc::Sender<FromSocket>,
        end: CancellationToken,
        ledger: Option<Arc<dyn Ledger>>,
    ) -> Self {
        Self {
            places: Places::new(&limits),
            paths,
            limits,
            hub,
            end,
            pace: Pace::new(&limits),
            heavy: Semaphore::new(HEAVY_AT_ONCE),
            looks: Arc::new(Semaphore::new(LOOKS_AT_ONCE)),
            previews: Arc::new(Semaphore::new(LOOKS_AT_ONCE)),
            agents: Arc::new(Semaphore::new(1)),
            deeds: Deeds::default(),
            tended: Arc::new(Semaphore::new(limits.callers)),
            hands: Arc::new(Semaphore::new(HANDS)),
            queue,
            ledger,
            links: AtomicU64::new(1),
            in_flight: Mutex::default(),
            overstepped: Mutex::default(),
            tally: tokio::sync::Mutex::default(),
        }
    }

    /// Whether a coordinator is behind it.
    pub fn is_attended(&self) -> bool {
        self.ledger.is_none()
    }

    pub async fn send(&self, knock: FromSocket) -> Result<(), Lost> {
        tokio::select! {
            sent = self.queue.send(knock) => sent.map_err(|_| Lost),
            () = self.end.cancelled() => Err(Lost),
        }
    }

    /// For daemons: also what comes after the end of the listener is still worth a try.
    pub fn queue(&self) -> mpsc::Sender<FromSocket> {
        self.queue.clone()
    }

    pub fn next_link(&self) -> LinkId {
        LinkId(self.links.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) async fn ask<T>(
        &self,
        knock: impl FnOnce(oneshot::Sender<T>) -> FromSocket,
    ) -> Result<T, Lost> {
        let (reply, answer) = oneshot::channel();
        self.send(knock(reply)).await?;
        tokio::select! {
            // What is answered already is told even at the end.
            biased;
            answer = answer => answer.map_err(|_| Lost),
            () = self.end.cancelled() => Err(Lost),
        }
    }

    /// Carries a command out; answered after the ledger's sync.
    pub async fn command(&self, envelope: Envelope) -> Result<Response, Fault> {
        let _flying = InFlight::note(self, envelope.id.clone());
        if let Some(ledger) = &self.ledger {
            return Ok(Response::Answer(beside(ledger, move |ledger| ledger.ask(envelope)).await?));
        }
        Ok(self.ask(|reply| FromSocket::Command { envelope, reply }).await?)
    }

    pub async fn delivery(&self, id: CommandId) -> Result<Delivery, Fault> {
        let queued = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).contains(&id);
        if queued {
            return Ok(Delivery::Queued);
        }
        if let Some(ledger) = &self.ledger {
            let answer = beside(ledger, move |ledger| Ok(ledger.past_answer(&id))).await?;
            return Ok(answer.map_or(Delivery::Unknown, |answer| Delivery::Landed { answer }));
        }
        Ok(self.ask(|reply| FromSocket::Delivery { id, reply }).await?)
    }

    pub async fn look(&self, what: Look) -> Result<Looked, Fault> {
        if let Some(ledger) = &self.ledger {
            let Seen { seq, view } = beside(ledger, move |ledger| ledger.look(&what, None)).await?;
            return Ok(Looked { seq, view: Ok(view) });
        }
        Ok(self.ask(|reply| FromSocket::Look { what, reply }).await?)
    }

    /// Tells people that an agent tried what is not its to do; the same thing once.
    pub async fn overstep(&self, inside: &Inside, what: &str) {
        let is_new = {
            let mut overstepped = self.overstepped.lock().unwrap_or_else(PoisonError::into_inner);
            if overstepped.len() >= OVERSTEPPERS_MAX && !overstepped.contains_key(inside) {
                overstepped.clear();
            }
            let told = overstepped.entry(inside.clone()).or_default();
            told.len() < OVERSTEPS_MAX && told.insert(what.to_owned())
        };
        if is_new {
            let (run, nonce) = (inside.run.clone(), inside.nonce.clone());
            let _ = self.send(FromSocket::Overstep { run, nonce, what: what.to_owned() }).await;
        }
    }
}

/// Notes a command as long as nobody knows what became of it.
struct InFlight<'a> {
    api: &'a ApiState,
    id: CommandId,
}

impl<'a> InFlight<'a> {
    fn note(api: &'a ApiState, id: CommandId) -> Self {
        api.in_flight.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        Self { api, id }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.api.in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
