//! One turn: everything that has arrived is decided, made durable together, and only then told.

use std::collections::VecDeque;
use std::time::Instant;

use swarm_core::effect::Key;
use swarm_core::input::{Input, Report};
use swarm_core::predict;
use swarm_protocol::api::Delivery;
use swarm_protocol::attempt::CallAnswer;
use swarm_protocol::channel::{LedgerMark, Response};
use swarm_protocol::command::{Answer, Command, Envelope};
use swarm_protocol::event::Event;
use swarm_protocol::ids::{CommandId, RunId};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::executors::FromExecutor;
use super::{Coordinator, Told, Urge};
use crate::channel::FromSocket;
use crate::look::{Look, Looked, look, show_around};
use crate::store::{Store, StoreError};
use swarm_ledger::{AppendError, Committed};

/// Inputs decided in one turn, at most: answers of the first must not wait for an endless stream.
const TURN_MAX: usize = 256;

pub(super) enum Incoming {
    Urge(Urge),
    Executor(FromExecutor),
    Socket(FromSocket),
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
pub(super) struct Afterwards {
    pub disk: Option<Disk>,
    pub replies: Vec<(oneshot::Sender<Response>, Response)>,
    pub acks: Vec<(RunId, u64)>,
    /// What agents asked their daemons for.
    pub answers: Vec<(RunId, u64, CallAnswer)>,
    pub looks: Vec<(Look, oneshot::Sender<Looked>)>,
    pub deliveries: Vec<(CommandId, oneshot::Sender<Delivery>)>,
    pub told: Vec<(u64, Timestamp, Event)>,
    pub leave: bool,
    /// Somebody wants it to stop.
    pub stops: bool,
}

impl Coordinator {
    pub(super) async fn turn(
        &mut self,
        first: Incoming,
        socket: &mut mpsc::Receiver<FromSocket>,
        tell: &mut impl FnMut(Told<'_>),
    ) -> Result<Then, StoreError> {
        self.store.still_owner()?;
        // Before anything is taken in: nobody is to blame for it, and the next process looks at what the disk has.
        if self.world.git.sync_failed() {
            return Err(StoreError::GitSync);
        }
        let mut after = Afterwards::default();
        let begun = Instant::now();
        let taken = self.take_all(first, socket, &mut after);
        self.told_to_stop |= after.stops;
        let durable = match (taken, after.disk.take()) {
            (Ok(()), Some(disk)) => {
                let had = has_it(disk).await;
                self.feed.meters.appended(begun.elapsed());
                self.has_room_to_stop(had.is_ok());
                had
            }
            (taken, _) => taken,
        };
        match durable {
            Ok(()) => {}
            Err(StoreError::NoRoom(error)) => {
                tracing::warn!(%error, "no room for records");
                let stops = after.stops || self.store.state().draining;
                let (told_to, late) = (after.leave, self.stops_anyway(stops));
                self.without_room(after, &error.to_string(), tell).await?;
                // There may be room again by now.
                let leaves = told_to || (late && self.stops_without_room.is_some());
                return Ok(if leaves { Then::Leave } else { Then::GoOn });
            }
            Err(error) => return Err(error),
        }
        after.leave |= self.stops_anyway(false);
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
        for (run, ask, answer) in after.answers {
            self.links.answer(&run, ask, answer);
        }
        Ok(if after.leave { Then::Leave } else { Then::GoOn })
    }

    /// Answers those who look. The disk has everything that the state holds by now.
    pub(super) fn show(
        &self,
        looks: Vec<(Look, oneshot::Sender<Looked>)>,
        deliveries: Vec<(CommandId, oneshot::Sender<Delivery>)>,
    ) {
        for (what, reply) in looks {
            let mut looked = look(self.store.state(), &what, self.clock.now(), |run| self.feed.latest(run));
            if let Ok(view) = &mut looked.view {
                self.predicting.conflicts().show_in(view, &predict::branches(self.store.state()));
                show_around(view, &self.world.config, true);
            }
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
        socket: &mut mpsc::Receiver<FromSocket>,
        after: &mut Afterwards,
    ) -> Result<(), StoreError> {
        self.take(first, after)?;
        for _ in 0..TURN_MAX {
            if let Ok(said) = self.hands_in.try_recv() {
                self.take(Incoming::Executor(said), after)?;
            } else if let Ok(request) = socket.try_recv() {
                self.take(Incoming::Socket(request), after)?;
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
            Incoming::Urge(Urge::Awake) | Incoming::Executor(FromExecutor::Look) => Ok(()),
            Incoming::Urge(Urge::Drain(why)) => self.drain("person:terminal", why, after),
            Incoming::Urge(Urge::Leave) => {
                after.leave = true;
                Ok(())
            }
            Incoming::Executor(FromExecutor::News(report)) => self.news(report, after),
            Incoming::Executor(FromExecutor::Over { key, report }) => {
                let taken = self.report_or_failure(&key, report, after);
                // Also where its report found no room: it has ended, and nobody else would ask for it again.
                self.over(&key);
                taken
            }
            Incoming::Socket(FromSocket::Command { envelope, reply }) => self.command(envelope, reply, after),
            Incoming::Socket(FromSocket::Daemon { hello, link }) => self.hello(hello, link, after),
            Incoming::Socket(FromSocket::Frame { link, run, frame }) => {
                if self.links.is_current(&run, link) {
                    self.frame(run, frame, after)
                } else {
                    Ok(())
                }
            }
            Incoming::Socket(FromSocket::Lost { link, run }) => {
                if self.links.lost(&run, link)
                    && let Some(known) = self.hellos.get(&run)
                {
                    known.send_replace(false);
                }
                Ok(())
            }
            Incoming::Socket(FromSocket::Look { what, reply }) => {
                after.looks.push((what, reply));
                Ok(())
            }
            Incoming::Socket(FromSocket::Preview { command, reply }) => {
                self.preview(command, reply);
                Ok(())
            }
            Incoming::Socket(FromSocket::Diff { task, part, reply }) => {
                self.work_diff(task, part, reply);
                Ok(())
            }
            Incoming::Socket(FromSocket::Trunk { ask, reply }) => {
                self.trunk_lines(ask, reply);
                Ok(())
            }
            Incoming::Socket(FromSocket::Delivery { id, reply }) => {
                after.deliveries.push((id, reply));
                Ok(())
            }
            Incoming::Socket(FromSocket::Overstep { run, nonce, what }) => {
                self.overstep(run.as_ref(), nonce.as_deref(), what, after)
            }
        }
    }

    /// The effect has reported. If the state still owes it, it rests a little before it is asked for again.
    fn over(&mut self, key: &Key) {
        let owed = swarm_core::owed(self.store.state()).iter().any(|effect| effect.key() == *key);
        self.flights.ended(key, owed, self.clock.now());
        self.cancels.remove(key);
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

    pub(super) fn report(&mut self, report: Report, after: &mut Afterwards) -> Result<(), StoreError> {
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
        after.stops |= matches!(envelope.command, Command::Drain { .. } | Command::CheckpointAndDrain { .. });
        let response = match self.decide(Input::Command(envelope), &by, after) {
            Ok(_) => self.answer(&id, repeated),
            Err(StoreError::Refused(refusal)) => {
                tracing::info!(command = %id, by, refusal = refusal.kind(), "refused");
                self.refused.note(id, refusal.clone());
                Response::Refused { refusal }
            }
            Err(StoreError::NotTaken(error)) => Response::Failed { text: error.to_string() },
            Err(error) => {
                // Whoever asked hears it too, and does not ask for ever.
                after.replies.push((reply, Response::Failed { text: error.to_string() }));
                return Err(error);
            }
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

    pub(super) fn drain(&mut self, by: &str, why: &str, after: &mut Afterwards) -> Result<(), StoreError> {
        after.stops = true;
        let id = CommandId::new(ulid::Ulid::generate().to_string()).expect("an ulid is a command id");
        let command = Command::Drain { why: why.into() };
        let envelope = Envelope { id, by: by.into(), command };
        match self.decide(Input::Command(envelope), by, after) {
            Ok(_) | Err(StoreError::Refused(_)) => Ok(()), // it drains already
            Err(error) => Err(error),
        }
    }
}

/// Decides one input of our own and waits for the disk.
pub(super) async fn durable(
    store: &mut Store,
    input: Input,
    now: Timestamp,
) -> Result<Vec<(u64, Timestamp, Event)>, StoreError> {
    let (done, disk) = oneshot::channel();
    let resolve = Box::new(|result| drop(done.send(result)));
    let (events, last) = store.submit_then(input, now, "swarm:coordinator", resolve)?;
    if !events.is_empty() {
        has_it(disk).await?;
    }
    let first = last + 1 - events.len() as u64;
    Ok((first..).zip(events).map(|(seq, event)| (seq, now, event)).collect())
}
