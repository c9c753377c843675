//! One turn: everything that has arrived is decided, made durable together, and only then told.

use std::collections::VecDeque;

use swarm_core::effect::Key;
use swarm_core::input::{Input, Report};
use swarm_protocol::api::{AgentNews, Delivery};
use swarm_protocol::channel::{Downward, FromDaemon, Greeting, Hello, LedgerMark, Response, Upward};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, RunId};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::carry_out::{FromHand, report_of};
use super::{Coordinator, Told, Urge};
use crate::channel::{AtDoor, DaemonLink};
use crate::complain::complain;
use crate::look::{Look, Looked, look};
use crate::store::StoreError;
use crate::supervisor::{is_secret, secret_of};
use swarm_ledger::{AppendError, Committed};

/// Inputs decided in one turn, at most: answers of the first must not wait for an endless stream.
const TURN_MAX: usize = 256;

pub(super) enum Incoming {
    Urge(Urge),
    Hand(FromHand),
    Door(AtDoor),
    Clock,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Then {
    GoOn,
    Leave,
}

/// Resolved by the ledger's writer when it has synced.
pub(super) type Disk = oneshot::Receiver<Result<Committed, AppendError>>;

/// Waits until the disk has it. A writer that ended without a word has failed.
pub(super) async fn has_it(disk: Disk) -> Result<(), StoreError> {
    match disk.await {
        Ok(done) => done.map(drop).map_err(StoreError::from_append),
        Err(_) => Err(StoreError::from_append(AppendError::Closed)),
    }
}

/// Refusals that are remembered: as many as answers are.
const REFUSED_KEPT: usize = 1000;

/// Commands refused by this coordinator, newest last. Nothing was recorded of them, so they are forgotten
/// with it.
#[derive(Debug, Default)]
pub(super) struct Refused(VecDeque<(CommandId, Refusal)>);

impl Refused {
    fn note(&mut self, id: CommandId, refusal: Refusal) {
        if self.0.len() == REFUSED_KEPT {
            self.0.pop_front();
        }
        self.0.push_back((id, refusal));
    }

    fn find(&self, id: &CommandId) -> Option<&Refusal> {
        self.0.iter().rev().find(|(of, _)| of == id).map(|(_, refusal)| refusal)
    }
}

/// What waits for the disk.
#[derive(Default)]
struct Afterwards {
    disk: Option<Disk>,
    replies: Vec<(oneshot::Sender<Response>, Response)>,
    acks: Vec<(RunId, u64)>,
    looks: Vec<(Look, oneshot::Sender<Looked>)>,
    deliveries: Vec<(CommandId, oneshot::Sender<Delivery>)>,
    told: Vec<(u64, Timestamp, Event)>,
    leave: bool,
}

impl Coordinator {
    pub(super) async fn turn(
        &mut self,
        first: Incoming,
        door: &mut mpsc::Receiver<AtDoor>,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<Then, StoreError> {
        self.store.still_owner()?;
        let mut after = Afterwards::default();
        let taken = self.take_all(first, door, &mut after);
        let durable = match (taken, after.disk.take()) {
            (Ok(()), Some(disk)) => has_it(disk).await,
            (taken, _) => taken,
        };
        match durable {
            Ok(()) => {}
            Err(StoreError::NoRoom(error)) => {
                self.without_room(after, &error.to_string(), tell).await?;
                return Ok(Then::GoOn);
            }
            Err(error) => return Err(error),
        }
        self.feed.durable(super::position(&self.store));
        tell(&after.told);
        self.show(after.looks, after.deliveries);
        for (reply, response) in after.replies {
            let _ = reply.send(response); // a client that left will ask again
        }
        let mark = self.mark();
        for (run, n) in after.acks {
            self.links.acknowledge(&run, n, mark.clone());
        }
        Ok(if after.leave { Then::Leave } else { Then::GoOn })
    }

    /// Answers those who look. The disk has everything that the state holds by now.
    fn show(
        &self,
        looks: Vec<(Look, oneshot::Sender<Looked>)>,
        deliveries: Vec<(CommandId, oneshot::Sender<Delivery>)>,
    ) {
        for (what, reply) in looks {
            let looked = look(self.store.state(), &what, self.clock.now(), |run| self.feed.latest(run));
            let _ = reply.send(looked);
        }
        for (id, reply) in deliveries {
            let delivery = match (self.answer(&id, true), self.refused.find(&id)) {
                (Response::Answer(answer), _) => Delivery::Landed { answer },
                (_, Some(refusal)) => Delivery::Refused { error: refusal.clone().into() },
                _ => Delivery::Unknown,
            };
            let _ = reply.send(delivery);
        }
    }

    /// How far the ledger is durable now.
    fn mark(&self) -> Option<LedgerMark> {
        let (head, id) = (self.store.head()?, self.store.ledger_id()?);
        Some(LedgerMark { id: id.into(), seq: head.seq, hash: head.hash.to_string() })
    }

    fn take_all(
        &mut self,
        first: Incoming,
        door: &mut mpsc::Receiver<AtDoor>,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        self.take(first, after)?;
        for _ in 0..TURN_MAX {
            if let Ok(said) = self.hands_in.try_recv() {
                self.take(Incoming::Hand(said), after)?;
            } else if let Ok(knock) = door.try_recv() {
                self.take(Incoming::Door(knock), after)?;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self, incoming: Incoming, after: &mut Afterwards) -> Result<(), StoreError> {
        match incoming {
            Incoming::Clock => {
                self.ticked = self.clock.now();
                self.decide(Input::Tick, "swarm:coordinator", after).map(|_| ())
            }
            Incoming::Urge(Urge::Awake) => Ok(()),
            Incoming::Urge(Urge::Drain) => self.drain(after),
            Incoming::Urge(Urge::Leave) => {
                after.leave = true;
                Ok(())
            }
            Incoming::Hand(FromHand::News(report)) => self.report(report, after),
            Incoming::Hand(FromHand::Over { key, report }) => {
                self.report(report, after)?;
                self.over(&key);
                Ok(())
            }
            Incoming::Door(AtDoor::Command { envelope, reply }) => self.command(envelope, reply, after),
            Incoming::Door(AtDoor::Daemon { hello, link }) => self.hello(hello, link, after),
            Incoming::Door(AtDoor::Frame { link, run, frame }) => {
                if self.links.is_current(&run, link) {
                    self.frame(run, frame, after)
                } else {
                    Ok(())
                }
            }
            Incoming::Door(AtDoor::Lost { link, run }) => {
                if self.links.lost(&run, link)
                    && let Some(hand) = self.hellos.get(&run)
                {
                    hand.send_replace(false);
                }
                Ok(())
            }
            Incoming::Door(AtDoor::Look { what, reply }) => {
                after.looks.push((what, reply));
                Ok(())
            }
            Incoming::Door(AtDoor::Delivery { id, reply }) => {
                after.deliveries.push((id, reply));
                Ok(())
            }
            Incoming::Door(AtDoor::Overstep { run, nonce, what }) => {
                self.overstep(run.as_ref(), nonce.as_deref(), what, after)
            }
        }
    }

    /// The effect has reported. If the state still owes it, it rests a little before it is asked for again.
    fn over(&mut self, key: &Key) {
        self.flights.ended(key, Instant::now());
        if !swarm_core::owed(self.store.state()).iter().any(|effect| effect.key() == *key) {
            self.flights.settled(key);
        }
    }

    fn decide(&mut self, input: Input, by: &str, after: &mut Afterwards) -> Result<u64, StoreError> {
        let now = self.clock.now();
        let (done, disk) = oneshot::channel();
        let (events, last) =
            self.store.submit_then(input, now, by, Box::new(|result| drop(done.send(result))))?;
        if !events.is_empty() {
            after.disk = Some(disk); // the last one is durable after all before it
        }
        let first = last + 1 - events.len() as u64;
        after.told.extend((first..).zip(events).map(|(seq, event)| (seq, now, event)));
        Ok(last)
    }

    fn report(&mut self, report: Report, after: &mut Afterwards) -> Result<(), StoreError> {
        self.decide(Input::Report(report), "swarm:coordinator", after).map(|_| ())
    }

    fn command(
        &mut self,
        envelope: Envelope,
        reply: oneshot::Sender<Response>,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        let id = envelope.id.clone();
        let repeated = self.store.state().answer_of(&id).is_some();
        let by = envelope.by.clone();
        let response = match self.decide(Input::Command(envelope), &by, after) {
            Ok(_) => self.answer(&id, repeated),
            Err(StoreError::Refused(refusal)) => {
                self.refused.note(id, refusal.clone());
                Response::Refused { refusal }
            }
            Err(StoreError::NotTaken(error)) => Response::Failed { text: error.to_string() },
            Err(error) => return Err(error),
        };
        after.replies.push((reply, response));
        Ok(())
    }

    fn answer(&self, id: &CommandId, repeated: bool) -> Response {
        match self.store.state().answer_of(id) {
            Some(past) => {
                Response::Answer(Answer { id: id.clone(), seq: past.seq, text: past.text.clone(), repeated })
            }
            None => Response::Failed { text: "the command left no answer".into() },
        }
    }

    fn drain(&mut self, after: &mut Afterwards) -> Result<(), StoreError> {
        let id = CommandId::new(ulid::Ulid::generate().to_string()).expect("an ulid is a command id");
        let command = Command::Drain { why: "Ctrl+C".into() };
        let envelope = Envelope { id, by: "person:terminal".into(), command };
        match self.decide(Input::Command(envelope), "person:terminal", after) {
            Ok(_) | Err(StoreError::Refused(_)) => Ok(()), // it drains already
            Err(error) => Err(error),
        }
    }

    fn hello(&mut self, hello: Hello, link: DaemonLink, after: &mut Afterwards) -> Result<(), StoreError> {
        let state = self.store.state();
        let Some(run) = state.runs.get(&hello.run) else {
            let why = "this run is over".into();
            link.send(Downward::Greeting(Greeting::Stop { epoch: state.epoch, why }));
            return Ok(());
        };
        let secret = secret_of(&self.world.key, &hello.run, &run.nonce);
        if !is_secret(&secret, &hello.secret) || hello.epoch > state.epoch {
            return Ok(()); // not ours, or we are not its newest coordinator: the link is dropped
        }
        let received = self.links.received(&hello.run);
        self.links.welcome(link, state.epoch, received);
        if let Some(hand) = self.hellos.get(&hello.run) {
            hand.send_replace(true);
        }
        self.report(Report::Spawned { run: hello.run, host: hello.host }, after)
    }

    fn frame(&mut self, run: RunId, frame: Upward, after: &mut Afterwards) -> Result<(), StoreError> {
        let Upward::Report { n, report } = frame else {
            self.heard(&run, frame);
            return Ok(());
        };
        if n > self.links.received(&run) {
            self.remember_learning(&run, &report);
            let known = self.store.state().runs.get(&run).map(|r| (r.kind, r.task.clone()));
            if let Some(report) = known.and_then(|(kind, task)| report_of(&run, kind, &task, report)) {
                self.report(report, after)?;
            }
        }
        after.acks.push((run, n));
        Ok(())
    }

    /// What an agent learned is kept in files that people read and edit too; the next prompt tells it.
    fn remember_learning(&self, run: &RunId, report: &FromDaemon) {
        let FromDaemon::Signal { signal, text } = report else { return };
        let Some(agent) = self.store.state().runs.get(run).and_then(|run| run.agent.as_ref()) else { return };
        let kept = self.world.learnings.take_in(agent, signal, text);
        complain(&format!("keep what {agent} learned"), kept);
    }

    /// News that never enters the ledger.
    fn heard(&self, run: &RunId, frame: Upward) {
        let Some(known) = self.store.state().runs.get(run) else { return };
        let now = self.clock.now();
        let first = || AgentNews {
            run: run.clone(),
            task: known.task.clone(),
            agent: known.agent.clone(),
            iteration: 0,
            percent: None,
            doing: None,
            journal_bytes: 0,
            heard: now,
        };
        self.feed.heard(run, first, |news| {
            news.heard = now;
            match frame {
                Upward::Heartbeat { iteration, journal_bytes } => {
                    (news.iteration, news.journal_bytes) = (iteration, journal_bytes);
                }
                Upward::Progress { percent } => news.percent = Some(percent.min(100)),
                Upward::Doing { text } => news.doing = Some(text),
                Upward::Hello(_) | Upward::Report { .. } => {}
            }
        });
    }

    /// An agent tried what is not its to do. It was refused; people learn of it.
    fn overstep(
        &mut self,
        run: Option<&RunId>,
        nonce: Option<&str>,
        what: String,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        let is_it = |id: &RunId, nonce_of: &str| match nonce {
            Some(nonce) => nonce == nonce_of, // names itself by what only it was given
            None => run == Some(id),
        };
        let found = self.store.state().runs.iter().find(|(id, run)| is_it(id, &run.nonce));
        let Some((run, task)) = found.map(|(id, run)| (id.clone(), run.task.clone())) else { return Ok(()) };
        self.report(Report::Overstep { task, run: Some(run), what }, after)
    }

    /// The disk is full or read-only: nothing of this turn happened. Clients are told, daemons will
    /// say it again, hands will be asked again; meanwhile the state serves reads. That it pauses is written into the
    /// room that is kept for this.
    async fn without_room(
        &mut self,
        after: Afterwards,
        why: &str,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<(), StoreError> {
        for (reply, _) in after.replies {
            let _ = reply.send(Response::Failed { text: why.into() });
        }
        self.links.keep_only(|_| false);
        self.store.reload()?;
        if self.store.ask_for_room(true)? {
            self.pause_for_room(why, tell).await?;
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        self.store.ask_for_room(false).map(drop)
    }

    async fn pause_for_room(&mut self, why: &str, tell: &mut impl FnMut(Told<'_>)) -> Result<(), StoreError> {
        let mut after = Afterwards::default();
        let why = self.world.without_root(why);
        let decided = self.report(Report::Disk { low: true, why }, &mut after);
        let durable = match (decided, after.disk.take()) {
            (Ok(()), Some(disk)) => has_it(disk).await,
            (decided, _) => decided,
        };
        match durable {
            Ok(()) => {
                self.feed.durable(super::position(&self.store));
                tell(&after.told);
                Ok(())
            }
            // Not even that fits: it is tried again with the next thing that does not.
            Err(StoreError::NoRoom(_)) => self.store.reload(),
            Err(error) => Err(error),
        }
    }
}
