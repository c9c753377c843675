//! What the agent says while it works: to the journal, to the reader, and at once to whoever watches.

use std::time::Duration;

use swarm_protocol::channel::FromDaemon;

use super::super::program::{Listener, Outgoing};
use super::super::workshop::Workshop;
use crate::agents::signals::AgentSignal;
use crate::agents::{self, AgentEvent, Reading};
use crate::journal::Stream;

pub use crate::agents::Heard;

/// Learnings of one iteration.
const LEARNINGS_MAX: usize = 100;

pub struct Agent<'a> {
    pub shop: &'a Workshop,
    pub reading: Reading,
    pub learnings: Vec<FromDaemon>,
    /// Programs that speak plain text are their own journal.
    pub tells_events: bool,
}

impl Listener for Agent<'_> {
    fn line(&mut self, stream: Stream, text: &str, more: bool) {
        self.shop.print(stream, text, more);
        self.reading.line(stream, text, more);
        while let Some(event) = self.reading.heard.events.pop_front() {
            self.shows(event);
        }
    }

    fn outgoing(&mut self) -> Outgoing {
        match self.reading.outgoing() {
            agents::Outgoing::Nothing => Outgoing::Nothing,
            agents::Outgoing::Bytes(bytes) => Outgoing::Bytes(bytes),
            agents::Outgoing::Close => Outgoing::Close,
        }
    }

    fn patience(&self) -> Option<Duration> {
        // A program that is not known may think in silence for as long as its attempt lasts.
        self.tells_events.then(|| self.reading.patience()).flatten()
    }

    fn enough(&self) -> Option<String> {
        self.reading.enough()
    }
}

impl Agent<'_> {
    fn shows(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Signal(AgentSignal::Progress(percent)) => {
                self.shop.progress.send_replace(percent);
            }
            AgentEvent::Signal(AgentSignal::Learning(text)) => self.learns("LEARNING", text),
            AgentEvent::Signal(AgentSignal::LearningGlobal(text)) => self.learns("LEARNING_GLOBAL", text),
            AgentEvent::Signal(_) => {}
            AgentEvent::ToolStarted { name, input } => {
                self.shop.note(format!("{name} {input}").trim_end());
            }
            AgentEvent::ToolEnded { name, ok: false } => self.shop.note(&format!("{name} failed")),
            AgentEvent::ToolEnded { .. } => {}
            AgentEvent::Retries { text } => {
                self.shop.note(&format!("the program asks its service again: {text}"))
            }
        }
    }

    fn learns(&mut self, signal: &str, text: String) {
        if self.learnings.len() < LEARNINGS_MAX {
            self.learnings.push(FromDaemon::Signal { signal: signal.to_owned(), text });
        }
    }
}
