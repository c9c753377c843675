//! What a run of an agent program has told so far, whatever the program.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use swarm_protocol::answer::ANSWER_MAX;
use swarm_protocol::failure::{Failure, FailureClass, Usage};

use super::failing::without_colours;
use super::signals::{AgentSignal, signal_in};

/// Announced retries without progress in between after which waiting is our business: there a person
/// sees it.
const RETRIES_MAX: u32 = 3;

/// How long a program that has said after how many times it gives up may take until then: its last word knows more
/// than any announcement before it.
const GIVES_UP_WITHIN: Duration = Duration::from_secs(150);

/// Lines of stderr that are kept, and characters of each.
const LAST_WORDS_LINES: usize = 60;
const LAST_WORDS_MAX: usize = 1000;

/// Bounds of what is kept until somebody takes it.
const EVENTS_MAX: usize = 1000;
const DENIED_MAX: usize = 50;
const TOOLS_MAX: usize = 1000;
/// Events of one call come close together; agents that help it are at theirs meanwhile.
const STEPS_KEPT: usize = 100;
const LINE_MAX: usize = 64 * 1024;

/// Characters of a tool's input that are shown.
const INPUT_MAX: usize = 200;

/// Something worth showing while the program works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    ToolStarted {
        name: String,
        input: String,
        /// Equal for equal calls; none where the program does not tell enough.
        same: Option<u64>,
    },
    /// More is known now of a tool that was started.
    ToolKnown {
        name: String,
        input: String,
        same: u64,
    },
    ToolEnded {
        name: String,
        ok: bool,
    },
    /// The program asks its service again.
    Retries {
        text: String,
    },
    Signal(AgentSignal),
    /// A line of what the agent says.
    Says {
        text: String,
    },
}

#[derive(Debug, Default)]
pub struct Heard {
    /// Taken by whoever shows them.
    pub events: VecDeque<AgentEvent>,
    /// The last of its final words counts.
    pub signal: Option<AgentSignal>,
    /// It is a question that was asked by a tool.
    asked: bool,
    pub usage: Usage,
    /// The program tells the sum over the session's life, not what this run cost.
    pub cost_of_session: bool,
    pub tokens_of_session: bool,
    pub session: Option<String>,
    /// What the program's own rules did not let the agent do.
    pub denied: Vec<String>,
    /// Nothing that the agent tried after the last denial came to a good end.
    pub denied_last: bool,
    /// The tool that ended last.
    pub ended_last: Option<String>,
    /// The program has said its last word, and may go.
    pub said_all: bool,
    /// Why there is no use in waiting for its end.
    pub enough: Option<Failure>,
    /// The session to be resumed is not known to the program.
    pub session_unknown: bool,
    /// Anything at all came on its standard output.
    pub spoke: bool,
    last_retry: Option<Failure>,
    retries: u32,
    retries_since: Option<Instant>,
    running: BTreeMap<String, String>,
    line: String,
    /// What was said since the last tool ended: in the end, the answer.
    message: String,
    said_anything: bool,
    last_words: VecDeque<String>,
    /// The newest of them, oldest first.
    steps_seen: VecDeque<String>,
    /// Tools that were begun.
    pub calls: u64,
}

impl Heard {
    /// A whole message of the agent.
    pub fn says(&mut self, text: &str) {
        self.says_part(text);
        self.sentence_ends();
        if !text.is_empty() && self.message.len() <= ANSWER_MAX {
            self.message.push('\n');
        }
    }

    /// What was said last, after everything that was done: a little more than `ANSWER_MAX` where it is too long.
    pub fn message(&self) -> &str {
        self.message.trim()
    }

    /// A piece of what the agent says: a line may go on in the next piece.
    pub fn says_part(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.goes_on();
        self.said_anything |= !text.trim().is_empty();
        if self.message.len() <= ANSWER_MAX {
            self.message.push_str(text);
        }
        for (n, piece) in text.split('\n').enumerate() {
            if n > 0 {
                self.sentence_ends();
            }
            // A longer line is no signal, and nobody waits for its end.
            if self.line.len() + piece.len() <= LINE_MAX {
                self.line.push_str(piece);
            }
        }
    }

    /// What was said so far is a line, whether or not a newline came.
    pub fn sentence_ends(&mut self) {
        let line = std::mem::take(&mut self.line);
        let Some(signal) = signal_in(&line) else {
            if !line.trim().is_empty() {
                self.show(AgentEvent::Says { text: cut(&line) });
            }
            return;
        };
        self.signals(signal);
    }

    /// A call of a tool is a word as well; one on the way ends no question.
    pub fn calls_out(&mut self, signal: AgentSignal) {
        let asks = matches!(signal, AgentSignal::NeedsHelp(_));
        let asked = std::mem::take(&mut self.asked) && is_on_the_way(&signal);
        self.signals(signal);
        self.asked = asks || asked;
    }

    /// A signal, however it came. Whoever has asked by a tool and then says by a tag that it is blocked, is blocked by that
    /// question: the question stays.
    pub fn signals(&mut self, signal: AgentSignal) {
        self.goes_on();
        self.said_anything = true;
        let by_the_question = self.asked && matches!(signal, AgentSignal::Blocked(_));
        if !is_on_the_way(&signal) && !by_the_question {
            self.signal = Some(signal.clone());
            self.asked = false;
        }
        self.show(AgentEvent::Signal(signal));
    }

    pub fn has_said_anything(&self) -> bool {
        self.said_anything
    }

    /// Whether the agent itself showed any sign of life. Lines that are no event of the program do not count: a script
    /// around it may say anything before it finds that there is nothing to start.
    pub fn has_begun(&self) -> bool {
        let worked = self.usage.steps > 0 || self.calls > 0 || self.said_all;
        self.said_anything || self.session.is_some() || worked
    }

    /// A tool begins; `id` is the program's own. `whole` is all that makes two calls equal, where that is known.
    pub fn tool_starts(&mut self, id: &str, name: &str, input: &str, whole: Option<&str>) {
        self.goes_on();
        self.sentence_ends();
        self.message.clear();
        // One that is never told to have ended must not keep the newer ones from being seen.
        if self.running.len() >= TOOLS_MAX && !self.running.contains_key(id) {
            self.running.pop_first();
        }
        if self.running.insert(id.to_owned(), name.to_owned()).is_none() {
            self.calls += 1;
            let (name, same) = (name.to_owned(), whole.map(|whole| same(name, whole)));
            self.show(AgentEvent::ToolStarted { name, input: cut(input), same });
        }
    }

    /// What a tool that has begun is about; only where that was not told with its start.
    pub fn tool_is_about(&mut self, name: &str, input: &str, whole: &str) {
        let (name, same) = (name.to_owned(), same(name, whole));
        self.show(AgentEvent::ToolKnown { name, input: cut(input), same });
    }

    pub fn tool_ends(&mut self, id: &str, ok: bool) {
        self.goes_on();
        if let Some(name) = self.running.remove(id) {
            self.denied_last &= !ok;
            self.ended_last = Some(id.to_owned());
            self.show(AgentEvent::ToolEnded { name, ok });
        }
    }

    /// A tool of which only the end is told.
    pub fn tool_ran(&mut self, name: &str, input: &str, whole: Option<&str>, ok: bool) {
        self.tool_starts("", name, input, whole);
        self.tool_ends("", ok);
    }

    pub fn tool_runs(&self) -> bool {
        !self.running.is_empty()
    }

    pub fn denies(&mut self, what: impl Into<String>) {
        self.denied_last = true;
        if self.denied.len() < DENIED_MAX {
            self.denied.push(what.into().chars().take(INPUT_MAX).collect());
        }
    }

    /// One call of the model.
    pub fn steps(&mut self) {
        self.usage.steps += 1;
    }

    /// One call of the model, told by several events with the same id.
    pub fn steps_as(&mut self, id: &str) {
        if self.steps_seen.iter().any(|seen| seen == id) {
            return;
        }
        self.steps_seen.push_back(id.to_owned());
        if self.steps_seen.len() > STEPS_KEPT {
            self.steps_seen.pop_front();
        }
        self.steps();
    }

    /// The service failed and the program asks again, who knows how often. A wrong key is not worth a second time.
    pub fn retries(&mut self, failure: Failure, weight: u32) {
        self.retries += weight;
        self.asks_again(failure, self.retries >= RETRIES_MAX);
    }

    /// The same of a program that has said after how many times it gives up: then its end is worth the wait.
    pub fn retries_to_an_end(&mut self, failure: Failure, now: Instant) {
        let since = *self.retries_since.get_or_insert(now);
        self.asks_again(failure, now.saturating_duration_since(since) >= GIVES_UP_WITHIN);
    }

    fn asks_again(&mut self, mut failure: Failure, too_often: bool) {
        // What a program tries again is no defect of the program: without a reason it is the way to the service.
        if failure.class == FailureClass::Unknown {
            failure.class = FailureClass::Network;
        }
        self.show(AgentEvent::Retries { text: failure.sentence() });
        let hopeless =
            matches!(failure.class, FailureClass::Key | FailureClass::Billing | FailureClass::Quota);
        if hopeless || too_often {
            self.enough.get_or_insert_with(|| failure.clone());
        }
        self.last_retry = Some(failure);
    }

    /// Why the program asks again, while nothing else has come.
    pub fn last_retry(&self) -> Option<&Failure> {
        self.last_retry.as_ref()
    }

    /// The service answers: earlier trouble is over.
    pub fn goes_on(&mut self) {
        self.retries = 0;
        self.retries_since = None;
        self.last_retry = None;
    }

    pub fn complains(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let line: String = line.chars().take(LAST_WORDS_MAX).collect();
        self.last_words.push_back(without_colours(&line));
        if self.last_words.len() > LAST_WORDS_LINES {
            self.last_words.pop_front();
        }
    }

    /// What came last on its standard error.
    pub fn last_words(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.last_words.iter().map(String::as_str)
    }

    pub fn last_words_text(&self, lines: usize) -> String {
        let skip = self.last_words.len().saturating_sub(lines);
        self.last_words.iter().skip(skip).map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    fn show(&mut self, event: AgentEvent) {
        if self.events.len() < EVENTS_MAX {
            self.events.push_back(event);
        }
    }
}

/// No final word: the agent goes on after it.
fn is_on_the_way(signal: &AgentSignal) -> bool {
    matches!(signal, AgentSignal::Progress(_) | AgentSignal::Learning(_) | AgentSignal::LearningGlobal(_))
}

fn cut(input: &str) -> String {
    input.chars().take(INPUT_MAX).collect()
}

fn same(name: &str, whole: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, whole).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_may_come_in_pieces_but_stands_alone_on_its_line() {
        let mut heard = Heard::default();
        heard.says_part("Done.\n<swarm>COM");
        heard.says_part("PLETE</swarm>");
        assert_eq!(heard.signal, None);
        heard.sentence_ends();
        assert_eq!(heard.signal, Some(AgentSignal::Complete));
        let mut heard = Heard::default();
        heard.says_part("I print <swarm>COMPLETE</swarm>");
        heard.says("\nlater");
        assert_eq!(heard.signal, None);
    }

    #[test]
    fn a_question_asked_by_a_tool_outlives_the_tag_that_says_the_agent_is_blocked() {
        let asked = || AgentSignal::NeedsHelp("which port?".into());
        let mut heard = Heard::default();
        heard.calls_out(asked());
        heard.signals(AgentSignal::Progress(40));
        heard.calls_out(AgentSignal::Learning("ports are configured".into()));
        heard.says("I wait for the answer.\n<swarm>BLOCKED: no port yet</swarm>");
        assert_eq!(heard.signal, Some(asked()));
        // A later word of another kind counts, and so does a call.
        heard.says("<swarm>COMPLETE</swarm>");
        assert_eq!(heard.signal, Some(AgentSignal::Complete));
        heard.calls_out(asked());
        heard.calls_out(AgentSignal::Blocked("no disk".into()));
        assert_eq!(heard.signal, Some(AgentSignal::Blocked("no disk".into())));
        // Two tags are two words of the same kind.
        heard.says("<swarm>NEEDS_HELP: which port?</swarm>");
        heard.says("<swarm>BLOCKED: no port yet</swarm>");
        assert_eq!(heard.signal, Some(AgentSignal::Blocked("no port yet".into())));
    }

    #[test]
    fn the_answer_is_what_is_said_after_the_last_tool_and_it_is_bounded() {
        let mut heard = Heard::default();
        heard.says("I look first.");
        heard.tool_ran("Read", "a.rs", None, true);
        heard.says_part("one ");
        heard.says_part("two");
        heard.says("\nthree");
        assert_eq!(heard.message(), "one two\nthree");
        for _ in 0..100 {
            heard.says(&"x".repeat(10_000));
        }
        assert!(heard.message().len() < ANSWER_MAX + 20_000);
    }

    #[test]
    fn a_wrong_key_is_enough_at_once_and_trouble_after_three_times() {
        let mut heard = Heard::default();
        heard.retries(Failure::new(FailureClass::Overloaded, ""), 1);
        heard.retries(Failure::new(FailureClass::Overloaded, ""), 1);
        heard.says("an answer");
        heard.retries(Failure::new(FailureClass::Overloaded, ""), 1);
        assert_eq!(heard.enough, None);
        heard.retries(Failure::new(FailureClass::Key, ""), 1);
        assert_eq!(heard.enough.map(|failure| failure.class), Some(FailureClass::Key));
    }

    #[test]
    fn a_program_that_says_when_it_gives_up_is_waited_for_but_not_for_ever() {
        let begun = Instant::now();
        let after = |secs| begun + Duration::from_secs(secs);
        let mut heard = Heard::default();
        for secs in [0, 4, 8, 12, 149] {
            heard.retries_to_an_end(Failure::new(FailureClass::Unknown, "Reconnecting"), after(secs));
            assert_eq!(heard.enough, None, "{secs}");
        }
        heard.goes_on();
        heard.retries_to_an_end(Failure::new(FailureClass::Unknown, ""), after(151));
        assert_eq!(heard.enough, None, "the service had answered meanwhile");
        heard.retries_to_an_end(Failure::new(FailureClass::Unknown, ""), after(301));
        assert_eq!(heard.enough.map(|failure| failure.class), Some(FailureClass::Network));
    }
}
