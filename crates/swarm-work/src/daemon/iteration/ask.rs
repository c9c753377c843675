//! One question to an agent that reads and changes nothing: its last message is the answer.

use std::time::Duration;

use swarm_protocol::answer::ANSWER_MAX;
use swarm_protocol::channel::{Answered, FromDaemon};
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use tokio::time::Instant;

use super::super::program::{How, StopWish};
use super::super::run_context::{RunContext, Yield};
use super::super::spec::Question;
use super::super::sums::Sums;
use super::probe::failure_of;
use super::spent;
use super::start::{Run, Start, once};
use swarm_agents::{Conclusion, Way};

/// Times that the program is asked: an answer in the wrong form is worth a second time, in the same conversation.
const ASKED_MAX: u32 = 2;

/// Asks what the run is there to ask.
pub async fn ask(context: &RunContext, timeout_secs: u64, stop: &mut StopWish) -> Yield {
    let Some(question) = &context.spec.question else {
        let failure = Some(Failure::new(FailureClass::Unknown, "there is nothing to ask"));
        return Yield::Report(FromDaemon::Answered(Answered { failure, ..Answered::default() }));
    };
    let limit = Duration::from_secs(timeout_secs.max(1));
    let mut asking = Asking {
        context,
        limit,
        deadline: Instant::now() + limit,
        session: question.session.clone(),
        usage: Usage::default(),
        told: None,
        sums: Sums::below(&context.spec.swarm_dir()),
    };
    let answered = asking.until_it_fits(question, stop).await;
    context.settle_journal();
    answered.map_or(Yield::Stopped, |answered| Yield::Report(FromDaemon::Answered(answered)))
}

struct Asking<'a> {
    context: &'a RunContext,
    limit: Duration,
    deadline: Instant,
    session: Option<String>,
    /// Of all times together.
    usage: Usage,
    /// What the program said the last time.
    told: Option<Usage>,
    /// What it said in other runs.
    sums: Sums,
}

impl Asking<'_> {
    /// None: told to stop.
    async fn until_it_fits(&mut self, question: &Question, stop: &mut StopWish) -> Option<Answered> {
        let mut prompt = question.prompt.clone();
        for time in 1.. {
            let run = self.put(&prompt, time, stop).await?;
            let text = bounded(run.heard.message());
            let failure = failure_of(&run, run.how(), self.limit);
            let fits = question.form.check(&text);
            let (None, Err(why), true) = (&failure, &fits, time < ASKED_MAX) else {
                self.context.note(&describe(failure.as_ref(), &fits));
                return Some(Answered { text, failure, usage: self.usage, session: self.session.clone() });
            };
            self.context.note(&format!("asked once more: {why}"));
            prompt = once_more(question, why, self.session.is_some());
        }
        None
    }

    /// Starts the program once; again where it does not know the conversation, or has to be started in another way.
    async fn put(&mut self, prompt: &str, time: u32, stop: &mut StopWish) -> Option<Run> {
        let setup = self.context.spec.agent_setup.clone().unwrap_or_default();
        let mut way = Way::Preferred;
        loop {
            let session = self.session.clone();
            let start = Start {
                iteration: time,
                prompt,
                session: session.as_deref(),
                way,
                deadline: Some(self.deadline),
                told: None,
            };
            let run = once(self.context, &setup, start, stop).await;
            if run.how() == Some(How::Stopped) {
                return None;
            }
            let failed = !matches!(run.conclusion, Conclusion::Done { .. });
            if failed && session.is_some() && run.heard.session_unknown {
                self.context.note("the program does not know the conversation: it begins a new one");
                self.session = None;
            } else if failed && way == Way::Preferred && run.wants_fallback {
                way = Way::Fallback;
            } else {
                // A sum over the conversation includes what was told the last time.
                let same = run.heard.session.is_none() || run.heard.session == session;
                let gone_on = session.as_deref().filter(|_| same && !run.heard.session_unknown);
                let known = gone_on.and_then(|session| self.told.or_else(|| self.sums.of(session)));
                let used = spent::in_this_iteration(&run.heard, known, gone_on.is_some());
                let used = spent::priced(used, self.context.spec.agent_setup.as_ref());
                self.usage = self.usage.plus(used);
                self.told = Some(run.heard.usage);
                self.session = run.heard.session.clone().or(session);
                if let Some(session) = &self.session
                    && (run.heard.cost_of_session || run.heard.tokens_of_session)
                {
                    self.sums.keep(session, run.heard.usage);
                }
                return Some(run);
            }
        }
    }
}

/// The whole question again where the program has forgotten it.
fn once_more(question: &Question, why: &str, remembers: bool) -> String {
    let again = format!(
        "Your answer cannot be used: {why}. Answer again, with nothing but the JSON object that was asked for."
    );
    if remembers { again } else { format!("{}\n\n{again}\n", question.prompt.trim_end()) }
}

fn describe(failure: Option<&Failure>, fits: &Result<(), String>) -> String {
    match (failure, fits) {
        (Some(failure), _) => failure.sentence(),
        (None, Err(why)) => format!("the answer cannot be used: {why}"),
        (None, Ok(())) => "answered".into(),
    }
}

/// So that it fits into a frame whatever it is: what is too long stays too long, and nothing in it grows sixfold when it is
/// written down.
fn bounded(message: &str) -> String {
    let mut text = String::new();
    for c in message.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')) {
        if text.len() > ANSWER_MAX {
            break;
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarm_protocol::channel::FRAME_MAX;

    #[test]
    fn the_worst_answer_fits_into_a_frame_and_is_still_too_long() {
        for worst in ["\u{1}", "\"", "\\", "\u{10ffff}", "\n"] {
            let text = bounded(&format!("x{}", worst.repeat(2 * ANSWER_MAX)));
            let report = FromDaemon::Answered(Answered { text: text.clone(), ..Answered::default() });
            let written = serde_json::to_string(&report).expect("plain data");
            assert!(written.len() < FRAME_MAX / 4 * 3, "{worst:?}: {}", written.len());
            assert!(text.len() > ANSWER_MAX || worst == "\u{1}", "{worst:?}");
        }
    }
}
