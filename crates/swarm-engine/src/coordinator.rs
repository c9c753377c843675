//! The coordinator's loop: the one place where the circle is closed.
//!
//! An input comes in (a command from the socket, a report of an executor or a daemon, the clock); the store
//! decides it and hands the events to the ledger; when the disk has them, and not before, answers go
//! out, daemons are told, and what the state owes is compared with what is in flight. That is all:
//! there is no recovery code, because a start is nothing but the first comparison.

mod outfit;
mod workplace;
mod world;
mod prompt;
mod links;
mod attend;
mod executors;
mod disk;
mod predicting;
mod operate;
mod orders;
mod resolving;
mod reviewing;
mod sharing;
mod secrets;
mod turn;
mod traced;
mod daemons;
mod decided;
mod without_room;
mod leaving;
mod not_taken;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use swarm_core::effect::{Effect, Key};
use swarm_core::flight::{Flights, is_cut_short};
use swarm_core::input::Input;
use swarm_core::predict;
use swarm_core::trace::traceparent;
use swarm_core::{
    State, nothing_left, owed, rests, stops_short, waits_for_review, waits_for_start, wakes_at,
};
use swarm_protocol::config::Config;
use swarm_protocol::event::Event;
use swarm_protocol::ids::RunId;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::policy::Policy;
use swarm_protocol::time::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::channel::FromSocket;
use crate::clock::SteadyClock;
use crate::feed::{Feed, FeedSource, Position};
use crate::store::{LedgerClaim, Store, StoreError};
pub use disk::{few, files, free_bytes, is_read_only};
use executors::{ExecutorContext, FromExecutor, execute_and_report};
pub use leaving::Finished;
use links::Links;
use operate::Background;
pub use outfit::{NoOutfit, Outfit};
use turn::durable;
pub use world::{SharedWorld, World};

/// Reports that may wait for the loop; an executor that finds it full waits with its report.
const HAND_QUEUE: usize = 256;

/// The longest sleep of an idle loop. Nothing depends on it; it bounds the effect of a lost wake-up.
const SLEEP_MAX: Duration = Duration::from_secs(3600);

/// A record that is durable, for whoever shows what happens.
pub type Told<'a> = &'a [(u64, Timestamp, Event)];

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Nothing more happens without a person.
    Rests,
    /// It was asked to stop, and everything has stopped.
    Drained,
}

/// What a person at the terminal wants from the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urge {
    /// The first signal, by the name that a person knows it by.
    Drain(&'static str),
    /// The second: the order to drain stands with the daemons, we leave now.
    Leave,
    /// The process was stopped by a signal and goes on: another coordinator may have come meanwhile.
    Awake,
}

pub struct Coordinator {
    store: Store,
    clock: SteadyClock,
    world: SharedWorld,
    flights: Flights,
    /// By which what is in flight is told to stop.
    cancels: BTreeMap<Key, CancellationToken>,
    links: Links,
    /// What front ends wait for.
    feed: FeedSource,
    /// Refused not long ago, so that whoever lost the answer can ask.
    refused: turn::Refused,
    hands_out: mpsc::Sender<FromExecutor>,
    hands_in: mpsc::Receiver<FromExecutor>,
    /// Tells the executor that stays with a daemon whether that is connected.
    hellos: BTreeMap<RunId, watch::Sender<bool>>,
    /// Runs that were claimed before we took over.
    inherited: BTreeSet<RunId>,
    disk: disk::Watching,
    predicting: predicting::Predicting,
    look_again: Option<Timestamp>,
    /// Somebody wants it to stop: also a command that drains from its first moment on.
    told_to_stop: bool,
    /// Since when it is to stop and nothing can be recorded.
    stops_without_room: Option<Instant>,
    ticked: Timestamp,
    /// Records of the start itself, for the first who listens.
    untold: Vec<(u64, Timestamp, Event)>,
}

impl Coordinator {
    /// Takes over: the epoch is raised, and everything after carries it. Without `dispatch` nothing new
    /// is started and what runs is brought to rest.
    pub async fn start(mut store: Store, world: SharedWorld, dispatch: bool) -> Result<Self, StoreError> {
        let clock = store.clock().clone();
        store.leave_clock();
        let inherited = store.state().runs.keys().cloned().collect();
        world.git.act_only_while(LedgerClaim(store.claim()?));
        operate::end_old_hooks(&world, store.state()).await;
        resolving::end_old_question(&world, store.state()).await;
        let started = Input::Started {
            epoch: store.state().epoch + 1,
            version: swarm_process::release(),
            host: swarm_process::host::name(),
            trunk: world.trunk(),
            // The profile of this session, which may be another one than the configuration names.
            policy: Policy {
                dispatch,
                profile_chosen: world.agent_chosen,
                reviewer_chosen: world.reviewer_chosen,
                hooks: operate::hooks_found(&world),
                place: world.place(),
                ..Config { agent: world.agent.clone(), ..world.config.clone() }.policy()
            },
        };
        let told = durable(&mut store, started, clock.now()).await?;
        let (hands_out, hands_in) = mpsc::channel(HAND_QUEUE);
        let feed = FeedSource::default();
        feed.durable(position(&store));
        let disk = disk::Watching::start(&world, hands_out.clone());
        let predicting = predicting::Predicting::start(&world);
        Ok(Self {
            ticked: clock.now(),
            store,
            clock,
            world,
            flights: Flights::default(),
            cancels: BTreeMap::new(),
            links: Links::default(),
            feed,
            refused: turn::Refused::default(),
            hands_out,
            hands_in,
            hellos: BTreeMap::new(),
            inherited,
            disk,
            predicting,
            look_again: None,
            told_to_stop: false,
            stops_without_room: None,
            untold: told,
        })
    }

    pub fn state(&self) -> &State {
        self.store.state()
    }

    /// For front ends: how far the ledger is durable, and what agents are at.
    pub fn feed(&self) -> Feed {
        self.feed.feed()
    }

    /// Runs until nothing is left to do, or until it was asked to stop and has.
    pub async fn run(
        &mut self,
        socket: &mut mpsc::Receiver<FromSocket>,
        urges: &mut mpsc::Receiver<Urge>,
        mut tell: impl FnMut(Told<'_>),
    ) -> Result<Finish, StoreError> {
        let mut tell = |told: Told<'_>| {
            traced::durable(told);
            tell(told);
        };
        tell(&std::mem::take(&mut self.untold));
        loop {
            self.drive();
            if let Some(finish) = self.finished() {
                tracing::info!(?finish, "nothing more happens without a person");
                return Ok(finish);
            }
            let wake = self.next_wake();
            let first = tokio::select! {
                biased;
                Some(urge) = urges.recv() => turn::Incoming::Urge(urge),
                Some(said) = self.hands_in.recv() => turn::Incoming::Executor(said),
                Some(request) = socket.recv() => turn::Incoming::Socket(request),
                () = tokio::time::sleep_until(wake) => turn::Incoming::Clock,
            };
            if self.turn(first, socket, &mut tell).await? == turn::Then::Leave {
                return Ok(Finish::Drained);
            }
            self.store.maybe_snapshot(self.clock.now())?;
        }
    }

    fn finished(&self) -> Option<Finish> {
        let state = self.store.state();
        if stops_short(state, &self.flights) {
            return Some(Finish::Drained);
        }
        if !self.flights.is_idle() || !rests(state) {
            return None;
        }
        match (state.draining, state.paused.is_empty()) {
            (true, _) => Some(Finish::Drained),
            // A paused swarm waits to be resumed, unless there is nothing to resume.
            (false, false) if !nothing_left(state) => None,
            (false, false) => Some(Finish::Rests),
            (false, true) if waits_for_a_word(state) => None,
            (false, true) => Some(Finish::Rests),
        }
    }

    fn next_wake(&self) -> Instant {
        let now = Instant::now();
        let clock = wakes_at(self.store.state(), self.ticked).map(|at| now + self.clock.until(at));
        let upkeep = self.store.upkeep_due().map(|at| now + self.clock.until(at));
        let look = self.look_again.map(|at| now + self.clock.until(at));
        let stops = self.stops_without_room.map(|since| since + without_room::STOP_WITHOUT_ROOM_WITHIN);
        let wake = [clock, upkeep, look, stops].into_iter().flatten().min();
        wake.unwrap_or(now + SLEEP_MAX).min(now + SLEEP_MAX)
    }

    /// Compares what is owed with what is in flight; starts, cancels, gives orders.
    fn drive(&mut self) {
        let owed = owed(self.store.state());
        if let Some(trunk) = &self.store.state().trunk {
            self.world.work_for(trunk);
        }
        self.give_orders(&owed);
        let moves = self.flights.moves(owed, self.clock.now());
        self.look_again = moves.look_again;
        // What changed in flight is an order, and those have been given.
        for key in &moves.cancel {
            if let Some(cancel) = self.cancels.get(key) {
                cancel.cancel();
            }
        }
        moves.start.into_iter().for_each(|effect| self.begin(effect));
        let cut_short = self.cancels.iter().filter(|(key, _)| is_cut_short(self.store.state(), key));
        cut_short.for_each(|(_, cancel)| cancel.cancel());
        if self.told_to_stop {
            // An agent that is asked in an operation may think for an hour.
            let asked = self.cancels.iter().filter(|(key, _)| matches!(key, Key::Resolve(_)));
            asked.for_each(|(_, cancel)| cancel.cancel());
        }
        let runs = &self.store.state().runs;
        self.hellos.retain(|run, _| runs.contains_key(run));
        self.inherited.retain(|run| runs.contains_key(run));
        self.disk.tell(self.store.state().paused.contains_key(&PauseReason::Disk));
        self.predicting.tell(predict::branches(self.store.state()));
        self.links.keep_only(|run| runs.contains_key(run));
        self.feed.keep_only(|run| runs.contains_key(run));
    }

    /// Lets an executor carry the effect out.
    fn begin(&mut self, effect: Effect) {
        let run = orders::run_of(&effect);
        let connected = match run {
            Some(run) => {
                let already = self.links.is_connected(run);
                self.hellos.entry(run.clone()).or_insert_with(|| watch::channel(already).0).subscribe()
            }
            None => watch::channel(false).1,
        };
        let task = effect.task().and_then(|id| self.store.state().task(id));
        let about = self.world.about(task);
        let inherited = run.is_some_and(|run| self.inherited.contains(run));
        let (world, out) = (self.world.clone(), self.hands_out.clone());
        let background = Background::of(&self.store, &effect);
        let cancel = CancellationToken::new();
        self.cancels.insert(effect.key(), cancel.clone());
        let context = ExecutorContext { world, cancel, out, connected, about, inherited, background };
        let parent = traceparent(self.store.state(), &effect);
        let span = traced::effect_span(&effect, parent.as_deref());
        let meter = self.feed.meters.effect(effect.verb());
        let carried_out = async move {
            execute_and_report(effect, context).await;
            drop(meter);
        };
        tokio::spawn(carried_out.instrument(span));
    }
}

/// How far the ledger is durable.
fn position(store: &Store) -> Position {
    store.head().map_or_else(Position::default, |head| Position { seq: head.seq, end: head.end })
}

/// In semi-auto a ready task waits until a person lets it start, submitted work until a person has reviewed it; the swarm
/// waits with them.
fn waits_for_a_word(state: &State) -> bool {
    state.policy.dispatch && (waits_for_start(state) || waits_for_review(state))
}
