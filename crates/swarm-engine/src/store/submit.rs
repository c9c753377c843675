//! One decision: from the input to events in memory, and on to the disk.

use swarm_core::first_step;
use swarm_core::input::Input;
use swarm_ledger::{Access, AppendError, Batch, Ledger, create};
use swarm_protocol::command::{Answer, Command, Envelope, SaveKind};
use swarm_protocol::event::Event;
use swarm_protocol::ids::CommandId;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use super::absent::{Absence, plan_to_take_over};
use super::encode;
use super::error::StoreError;
use super::load::load;
use super::ticket::{Resolve, Ticket};
use super::writer::Store;

/// A decision that has been taken in memory. Nothing about it may leave before its ticket resolves.
pub struct Decided {
    pub events: Vec<Event>,
    /// The last record of the decision.
    pub last_seq: u64,
    pub ticket: Ticket,
}

impl Store {
    /// Decides an input. On an error nothing was decided, and the state is what the disk has.
    pub fn submit(&mut self, input: Input, now: Timestamp, by: &str) -> Result<Decided, StoreError> {
        let (ticket, resolve) = Ticket::open();
        let (events, last_seq) = self.submit_then(input, now, by, resolve)?;
        let ticket = if events.is_empty() { Ticket::ready() } else { ticket };
        Ok(Decided { events, last_seq, ticket })
    }

    /// As [`Store::submit`], for callers that wait in their own way: `done` is called on the writer's
    /// thread when the disk has the events (never when there are none to write).
    pub fn submit_then(
        &mut self,
        input: Input,
        now: Timestamp,
        by: &str,
        done: Resolve,
    ) -> Result<(Vec<Event>, u64), StoreError> {
        if let Some(error) = self.progress.failed() {
            return Err(self.give_up(error));
        }
        self.take_over_plan_json(now)?;
        let by = if let Input::Command(envelope) = &input { envelope.by.clone() } else { by.to_owned() };
        self.decide(input, now, &by, done)
    }

    /// Carries out a command and waits until the disk has it. Asked again under the same id, it
    /// gives the old answer.
    pub fn submit_blocking(&mut self, envelope: Envelope, now: Timestamp) -> Result<Answer, StoreError> {
        let id = envelope.id.clone();
        let past = self.past_answer(&id);
        let by = envelope.by.clone();
        // The rules say whether it is the same wish; then nothing is decided anew.
        let decided = self.submit(Input::Command(envelope), now, &by)?;
        if let Some(answer) = past {
            self.wait_durable()?;
            return Ok(answer);
        }
        if let Some(ledger) = &self.ledger {
            ledger.write_here(); // we wait for nothing else
        }
        if let Err(error) = decided.ticket.wait() {
            return Err(self.give_up(error));
        }
        let text = decided.events.iter().find_map(|event| match event {
            Event::Operation { id: of, answer, .. } | Event::OperationAsked { id: of, answer, .. }
                if *of == id =>
            {
                Some(answer.clone())
            }
            _ => None,
        });
        Ok(Answer { id, seq: decided.last_seq, text: text.unwrap_or_default(), repeated: false })
    }

    /// The answer a command with this id got before.
    pub fn past_answer(&self, id: &CommandId) -> Option<Answer> {
        let past = self.state.answer_of(id)?;
        Some(Answer { id: id.clone(), seq: past.seq, text: past.text.clone(), repeated: true })
    }

    pub(super) fn decide(
        &mut self,
        input: Input,
        now: Timestamp,
        by: &str,
        done: Resolve,
    ) -> Result<(Vec<Event>, u64), StoreError> {
        let ledger_id = if self.state.plan.is_none() { encode::draw_ledger_id()? } else { String::new() };
        let mut events = first_step(&mut self.state, input, now, &ledger_id).map_err(StoreError::Refused)?;
        if events.is_empty() {
            return Ok((events, self.state.seq));
        }
        self.hand_over(&mut events, by, done)?;
        self.upkeep.note(&events);
        Ok((events, self.state.seq))
    }

    /// Gives the events to the disk. If it does not take them the memory goes back to what it has.
    fn hand_over(&mut self, events: &mut [Event], by: &str, done: Resolve) -> Result<(), StoreError> {
        if self.ledger.is_none() && !matches!(events.first(), Some(Event::PlanCreated { .. })) {
            // A ledger begins with its plan; anything else needs one first.
            self.state = Default::default();
            return Err(StoreError::Refused(Refusal::NoPlan));
        }
        let ledger_paths = self.paths.ledger_paths();
        let fragments = match encode::fragments(&self.state, events, by, &*self.options.vfs, &ledger_paths) {
            Ok(fragments) => fragments,
            Err(error) => {
                self.reload()?;
                return Err(error);
            }
        };
        let mut batch = Batch::new(fragments, self.state.at.to_string(), self.state.epoch);
        batch.emergency = events.iter().any(says_that_work_stops);
        let handed = match &self.ledger {
            Some(ledger) => self.queue(ledger, batch, done),
            None => return self.begin_ledger(&batch, done),
        };
        handed.map_err(|error| self.give_up(error))
    }

    fn queue(&self, ledger: &Ledger, batch: Batch, done: Resolve) -> Result<(), AppendError> {
        let progress = self.progress.clone();
        let assigned = ledger.submit(
            batch,
            Box::new(move |result| {
                progress.note(&result);
                done(result);
            }),
        )?;
        assert_eq!(assigned.last_seq, self.state.seq, "the ledger and the state count the same records");
        Ok(())
    }

    /// The first batch of a ledger: it appears complete, or not at all.
    fn begin_ledger(&mut self, batch: &Batch, done: Resolve) -> Result<(), StoreError> {
        let ledger_paths = self.paths.ledger_paths();
        let begun = super::gitignore::ensure_ignored(&self.paths)
            .map_err(StoreError::io("write", &self.paths.swarm.join(".gitignore")))
            .and_then(|()| create(&self.options.vfs, &ledger_paths, batch).map_err(StoreError::Open));
        let created = begun.inspect_err(|_| self.state = Default::default())?;
        // Opened like any other, so that there is one way in.
        let loaded = load(&self.paths, &self.options, Access::Write, None)?;
        let recovered = loaded.recovered.expect("it was made a moment ago, under our lock");
        self.open_ledger(&recovered)?;
        self.absence = None;
        self.progress.note(&Ok(created));
        done(Ok(created));
        Ok(())
    }

    /// The disk did not take it: the memory goes back to what the disk has, where that is known.
    fn give_up(&mut self, error: AppendError) -> StoreError {
        let error = StoreError::from_append(error);
        if matches!(error, StoreError::Fatal(_)) {
            return error;
        }
        match self.reload() {
            Ok(()) => error,
            Err(worse) => worse,
        }
    }

    /// The one-time migration: a plan.json, and nothing that shows there ever was a ledger.
    fn take_over_plan_json(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if self.ledger.is_some() || self.absence != Some(Absence::Never) {
            return Ok(());
        }
        let Some(plan) = plan_to_take_over(&self.paths)? else { return Ok(()) };
        let source = self.paths.shown(&self.paths.plan_json).to_string();
        let command = Command::SavePlan {
            plan,
            kind: SaveKind::Migrate,
            source: source.clone(),
            reset_statuses: false,
            planning: None,
        };
        let id = CommandId::new("migration").expect("a plain word");
        let envelope = Envelope { id, by: "swarm:migration".into(), command };
        let (ticket, resolve) = Ticket::open();
        self.decide(Input::Command(envelope), now, "swarm:migration", resolve).map_err(
            |error| match error {
                StoreError::Refused(refusal) => {
                    StoreError::Migration { path: self.paths.plan_json.clone(), why: refusal.message() }
                }
                other => other,
            },
        )?;
        ticket.wait().map_err(StoreError::from_append)?;
        self.notices
            .push(super::Notice::new(format!("{source} was taken over: the ledger is now the truth"), ""));
        Ok(())
    }
}

/// Records for which room is kept back: without them a full disk could be neither told nor left.
fn says_that_work_stops(event: &Event) -> bool {
    matches!(
        event,
        Event::Paused { reason: PauseReason::Disk, .. }
            | Event::DrainStarted { .. }
            | Event::CoordinatorStopped { .. }
    )
}
