//! What the agent says while it works: to the journal, to the reader, and at once to whoever watches.

use std::time::Duration;

use swarm_protocol::attempt::TaskContext;
use swarm_protocol::channel::FromDaemon;
use swarm_protocol::failure::{Failure, FailureClass};

use super::super::context::Write;
use super::super::program::{Listener, Outgoing};
use super::super::run_context::RunContext;
use super::super::tools::{Called, Tools};
use super::commits::CommitLog;
use swarm_agents::handover::Handover;
use swarm_agents::journal::{Calls, Stream};
use swarm_agents::signals::AgentSignal;
use swarm_agents::{AgentEvent, Circles, Reading, Seen};

pub use swarm_agents::Heard;
use tokio::sync::mpsc;

/// Learnings of one iteration.
const LEARNINGS_MAX: usize = 100;

pub struct Agent<'a> {
    pub context: &'a RunContext,
    pub reading: Reading,
    pub learnings: Vec<FromDaemon>,
    /// A program that is not known may think in silence for as long as its attempt lasts.
    pub may_be_silent: bool,
    pub circles: Circles,
    pub commits: CommitLog,
    /// Where its tools are served.
    pub tools: Option<Tools>,
    /// What it is told of its task.
    pub told: Option<&'a TaskContext>,
    pub tool_calls: Calls,
    /// The program's session, as it is kept for the next attempt.
    session: Option<String>,
    quiet_noted: bool,
    in_a_circle: bool,
}

impl<'a> Agent<'a> {
    pub fn new(context: &'a RunContext, reading: Reading, circles: Circles, commits: CommitLog) -> Self {
        Self {
            context,
            reading,
            learnings: Vec::new(),
            may_be_silent: false,
            circles,
            commits,
            tools: None,
            told: None,
            tool_calls: Calls::default(),
            session: None,
            quiet_noted: false,
            in_a_circle: false,
        }
    }
}

impl Listener for Agent<'_> {
    fn line(&mut self, stream: Stream, text: &str, more: bool) {
        self.context.print(stream, text, more);
        self.reading.line(stream, text, more);
        self.shows_what_came();
    }

    fn calls(&mut self) -> Option<&mut mpsc::Receiver<Called>> {
        self.tools.as_mut().map(|tools| &mut tools.calls)
    }

    fn called(&mut self, called: Called) {
        self.answers(called);
    }

    fn outgoing(&mut self) -> Outgoing {
        match self.reading.outgoing() {
            swarm_agents::Outgoing::Nothing => Outgoing::Nothing,
            swarm_agents::Outgoing::Bytes(bytes) => Outgoing::Bytes(bytes),
            swarm_agents::Outgoing::Close => Outgoing::Close,
        }
    }

    fn patience(&self) -> Option<Duration> {
        if self.may_be_silent { None } else { self.reading.patience() }
    }

    fn enough(&self) -> Option<String> {
        self.reading.enough()
    }

    fn at_once(&self) -> bool {
        self.in_a_circle
    }

    fn is_quiet(&mut self, for_how_long: Duration) {
        // One that has said its last word may take its time to leave.
        if self.quiet_noted || self.reading.heard.said_all {
            return;
        }
        self.quiet_noted = true;
        let secs = for_how_long.as_secs().max(1);
        self.context.tell(format!("neither output nor work for {secs} s while no tool ran"));
    }
}

impl Agent<'_> {
    pub(super) fn shows_what_came(&mut self) {
        while let Some(event) = self.reading.heard.events.pop_front() {
            self.shows(event);
        }
        // At once: whoever is stopped or killed in the middle goes on in it. One that tells another with each line is not
        // followed with each line.
        if self.reading.heard.session != self.session {
            let write = if self.session.is_none() { Write::Now } else { Write::Soon };
            self.session.clone_from(&self.reading.heard.session);
            self.context.remember(write, |left| left.in_session(self.session.as_deref()));
        }
    }

    fn shows(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Signal(AgentSignal::Progress(percent)) => {
                self.context.progress.send_replace(percent);
            }
            AgentEvent::Signal(AgentSignal::Learning(text)) => self.learns("LEARNING", text),
            AgentEvent::Signal(AgentSignal::LearningGlobal(text)) => self.learns("LEARNING_GLOBAL", text),
            AgentEvent::Signal(_) => {}
            AgentEvent::Says { text } => {
                let line = self.context.redactor.redact(&text);
                self.context.remember(Write::Soon, |left| left.said(&line));
            }
            AgentEvent::ToolStarted { name, input, same } => {
                self.tool_calls.begins(&self.context.redactor.redact(&name));
                let shown = format!("{name} {input}");
                self.context.note(shown.trim_end());
                let call = self.context.redactor.redact(shown.trim_end());
                self.context.remember(Write::Soon, |left| left.tool(&call));
                if let Some(same) = same {
                    self.calls(same, shown.trim_end());
                }
            }
            AgentEvent::ToolKnown { name, input, same } => {
                self.calls(same, format!("{name} {input}").trim_end());
            }
            AgentEvent::ToolEnded { name, ok: false } => {
                self.tool_calls.ends(&self.context.redactor.redact(&name), false);
                self.context.note(&format!("{name} failed"));
                self.context.remember(Write::Soon, Handover::tool_failed);
            }
            AgentEvent::ToolEnded { name, ok: true } => {
                self.tool_calls.ends(&self.context.redactor.redact(&name), true);
            }
            AgentEvent::Retries { text } => {
                self.context.note(&format!("the program asks its service again: {text}"))
            }
        }
    }

    fn calls(&mut self, same: u64, shown: &str) {
        if self.commits.is_longer() {
            self.circles.progress();
        }
        match self.circles.called(same, shown) {
            Seen::Nothing => {}
            Seen::Note(text) => self.context.tell(text),
            Seen::Enough(text) => {
                let failure = Failure::new(FailureClass::Looping, text);
                self.in_a_circle |= self.reading.heard.enough.is_none();
                self.reading.heard.enough.get_or_insert(failure);
            }
        }
    }

    fn learns(&mut self, signal: &str, text: String) {
        if self.learnings.len() < LEARNINGS_MAX {
            self.learnings.push(FromDaemon::Signal { signal: signal.to_owned(), text });
        }
    }
}
