//! A call of a tool ends in what the tag would have ended in: it is heard at this moment, and nothing else is kept.

use swarm_protocol::attempt::{AgentCall, CallAnswer, LearningScope, ReserveArgs};

use super::super::context::Write;
use super::super::tools::{Called, Wanted};
use super::agent::Agent;
use swarm_agents::signals::AgentSignal;

impl Agent<'_> {
    pub(super) fn answers(&mut self, called: Called) {
        let Called { call, answer } = called;
        let text = match call {
            AgentCall::Context => {
                let _ = answer.send(self.tells_context());
                return;
            }
            AgentCall::Reserve(files) => return self.wants(files, answer),
            AgentCall::Complete { summary } => {
                if let Some(summary) = summary {
                    let line = self.context.redactor.redact(&summary).into_owned();
                    self.context.note(&format!("done, says the agent: {line}"));
                    self.context.remember(Write::Soon, |left| left.said(&line));
                }
                self.hears("swarm_complete", AgentSignal::Complete);
                "Heard. End your turn now: what you leave uncommitted is committed, and then it is checked"
            }
            AgentCall::Blocked { reason } => {
                self.hears("swarm_blocked", AgentSignal::Blocked(reason));
                "Heard. End your turn now: a person is told"
            }
            AgentCall::Ask { question } => {
                self.hears("swarm_ask", AgentSignal::NeedsHelp(question));
                "Asked. End your turn now: the answer comes with your next prompt"
            }
            AgentCall::Progress { percent } => {
                self.hears("swarm_progress", AgentSignal::Progress(percent));
                "Noted"
            }
            AgentCall::Learning { text, scope } => {
                let signal = match scope {
                    LearningScope::Persona => AgentSignal::Learning(text),
                    LearningScope::All => AgentSignal::LearningGlobal(text),
                };
                self.hears("swarm_learning", signal);
                "Noted for the next time"
            }
        };
        let _ = answer.send(CallAnswer::done(text));
    }

    fn hears(&mut self, tool: &str, signal: AgentSignal) {
        self.context.note(&format!("{tool}: {}", signal.describe()));
        self.reading.heard.calls_out(signal);
        self.shows_what_came();
    }

    fn tells_context(&self) -> CallAnswer {
        match self.told {
            Some(told) => {
                let text = format!("Task {}: {}", told.task, told.title);
                CallAnswer { context: Some(Box::new(told.clone())), ..CallAnswer::done(text) }
            }
            None => CallAnswer::refused("nothing more is known than your prompt says"),
        }
    }

    /// Said of the task of this run, whatever else was sent.
    fn wants(&self, files: ReserveArgs, answer: tokio::sync::oneshot::Sender<CallAnswer>) {
        let globs: Vec<String> = files.globs.iter().map(|glob| self.context.sentence(glob)).collect();
        self.context.note(&format!("swarm_reserve: {}", globs.join(", ")));
        self.context.wants(Wanted { files: ReserveArgs { globs, ..files }, answer });
    }
}
