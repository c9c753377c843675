//! Reads a run of an agent program as it goes, and says at the end what it was.

use std::time::Duration;

use swarm_protocol::failure::{Consequence, Failure, FailureClass};

use super::failing::{class_of, failed};
use super::heard::Heard;
use super::hint::hint;
use super::resets::Moment;
use super::{AgentProgram, AgentSetup};
use crate::journal::Stream;

/// A longer line of output is no event of any program: it is passed over.
const LINE_MAX: usize = 8 << 20;

/// What a shell, `env` and the loader end with when there is no such program, and when it may not be run.
const NOT_FOUND: i32 = 127;
const NOT_EXECUTABLE: i32 = 126;

/// Tools that one call of the model asks for at once, where a program tells both.
const TOOLS_AT_ONCE: u64 = 5;

/// A mistake in what the program was given or in how it was installed: its line may name a `--timeout` or the module of a
/// connection without being about either.
const MISTAKES: &[&str] = &[
    "unknown option",
    "unknown argument",
    "unexpected argument",
    "unrecognized",
    "invalid value",
    "invalid configuration",
    "unknown field",
    "unknown variant",
    "config.toml",
    "settings.json",
    "cannot find module",
    "no such file or directory",
];

/// The longest wait in bad weather that a sentence is believed.
const WEATHER_MAX_SECS: u64 = 3600;

/// How long a program that has said its last word may take to go by itself.
const FAREWELL: Duration = Duration::from_secs(10);

/// How the program came to its end, as far as we had to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    ByItself,
    /// Somebody wanted it to stop.
    Stopped,
    TimedOut,
    /// Our clock for silence ran out.
    Silent,
    /// We had heard enough.
    Enough,
}

/// The facts about an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitFacts {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub ending: Ending,
    pub now: Moment,
}

/// What a run of the program was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// The program came to its own good end. Not: the task is done, which only the agent can say.
    Done {
        denied: Vec<String>,
    },
    Failed(Failure),
    /// Ended by somebody from outside: says nothing about the program.
    Interrupted,
}

/// Bytes for the program's standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Outgoing {
    #[default]
    Nothing,
    Bytes(Vec<u8>),
    Close,
}

/// How one program speaks.
pub trait Transcript: Send {
    /// One whole line of its standard output.
    fn out(&mut self, line: &str, heard: &mut Heard);

    /// One whole line of its standard error.
    fn err(&mut self, line: &str, heard: &mut Heard) {
        heard.complains(line);
    }

    /// What is to be said to it next, for those that are spoken with.
    fn outgoing(&mut self) -> Outgoing {
        Outgoing::Nothing
    }

    /// It did not come far enough for this way of starting it to be of use: another is worth a try.
    fn wants_fallback(&self) -> bool {
        false
    }

    /// The end, by its final event first, then the exit code, then stderr. `exit.code` is not known where
    /// we ended a program that had said its last word.
    fn conclude(&self, heard: &Heard, exit: &ExitFacts) -> Conclusion;
}

pub struct Reading {
    pub heard: Heard,
    program: AgentProgram,
    transcript: Box<dyn Transcript>,
    stall: Duration,
    steps_max: u64,
    partial: [Partial; 2],
}

#[derive(Default)]
struct Partial {
    text: String,
    too_long: bool,
}

impl Reading {
    pub fn new(setup: &AgentSetup, transcript: Box<dyn Transcript>) -> Self {
        Self {
            heard: Heard::default(),
            program: setup.program,
            transcript,
            stall: Duration::from_secs(setup.stall_secs.max(1)),
            steps_max: u64::from(setup.max_steps),
            partial: [Partial::default(), Partial::default()],
        }
    }

    /// Takes a piece of output; `more`: the line goes on in the next one.
    pub fn line(&mut self, stream: Stream, text: &str, more: bool) {
        let partial = match stream {
            Stream::Out => &mut self.partial[0],
            Stream::Err => &mut self.partial[1],
            Stream::Swarm => return,
        };
        if partial.text.len() + text.len() > LINE_MAX {
            partial.too_long = true;
            partial.text = String::new();
        }
        if more || !partial.text.is_empty() {
            if !partial.too_long {
                partial.text.push_str(text);
            }
            if more {
                return;
            }
        }
        let partial = std::mem::take(partial);
        if partial.too_long {
            return;
        }
        let whole = if partial.text.is_empty() { text } else { partial.text.as_str() };
        self.whole_line(stream, whole.trim_end_matches('\r'));
    }

    fn whole_line(&mut self, stream: Stream, line: &str) {
        match stream {
            Stream::Out => {
                self.heard.spoke |= !line.trim().is_empty();
                self.transcript.out(line, &mut self.heard);
            }
            Stream::Err => self.transcript.err(line, &mut self.heard),
            Stream::Swarm => {}
        }
        let steps = self.steps();
        if self.steps_max > 0 && steps > self.steps_max && !self.heard.said_all {
            let text = format!("{steps} calls of the model in one iteration");
            self.heard.enough.get_or_insert_with(|| failed(FailureClass::OwnLimit, &text));
        }
    }

    /// Calls of the model so far. A tool is asked for by one of them, so whoever does not tell the calls cannot hide
    /// behind that; but one call may ask for several tools at once.
    fn steps(&self) -> u64 {
        let told_apart =
            !matches!(self.program, AgentProgram::Acp | AgentProgram::Exec | AgentProgram::Script);
        let at_once = if told_apart { TOOLS_AT_ONCE } else { 1 };
        self.heard.usage.steps.max(self.heard.calls / at_once)
    }

    pub fn outgoing(&mut self) -> Outgoing {
        self.transcript.outgoing()
    }

    /// How long it may be silent from now on; `None`: a tool runs, and how long that takes is not ours to say.
    pub fn patience(&self) -> Option<Duration> {
        if self.heard.said_all {
            return Some(FAREWELL.min(self.stall));
        }
        (!self.heard.tool_runs()).then_some(self.stall)
    }

    /// Why the program should be ended now.
    pub fn enough(&self) -> Option<String> {
        self.heard.enough.as_ref().map(Failure::sentence)
    }

    /// The program knows another way to be started, and this one led nowhere. One that is not there at all is not
    /// there either way.
    pub fn wants_fallback(&self, exit: &ExitFacts) -> bool {
        self.transcript.wants_fallback() && could_not_start(&self.heard, exit).is_none()
    }

    /// Order of the tests: our own signal or clock, the final event, the exit code, stderr.
    pub fn conclude(&mut self, exit: &ExitFacts) -> Conclusion {
        self.heard.sentence_ends();
        let conclusion = match exit.ending {
            Ending::Stopped | Ending::TimedOut => Conclusion::Interrupted,
            Ending::Silent if !self.heard.said_all => Conclusion::Failed(self.silence()),
            Ending::Enough if self.heard.enough.is_some() && !self.heard.said_all => {
                self.heard.enough.clone().map_or(Conclusion::Interrupted, Conclusion::Failed)
            }
            Ending::Silent | Ending::Enough => {
                let exit = ExitFacts { code: None, signal: None, ..*exit };
                self.ended_by_us(self.transcript.conclude(&self.heard, &exit), exit.ending)
            }
            Ending::ByItself => match could_not_start(&self.heard, exit) {
                Some(failure) => Conclusion::Failed(failure),
                None => self.transcript.conclude(&self.heard, exit),
            },
        };
        match conclusion {
            Conclusion::Failed(mut failure) => {
                failure.hint = failure.hint.or_else(|| hint(self.program, failure.class));
                // Where no field of the program names the moment, its sentence may.
                if failure.resets_in_secs.is_none() {
                    let longest = longest_wait(failure.class);
                    let said = longest.and_then(|_| exit.now.until_said(&failure.text));
                    failure.resets_in_secs = said.filter(|secs| Some(*secs) <= longest);
                }
                Conclusion::Failed(failure)
            }
            other => other,
        }
    }

    /// One that we ended may say that it was cancelled: it was, for our reason.
    fn ended_by_us(&self, told: Conclusion, ending: Ending) -> Conclusion {
        match (told, ending) {
            (Conclusion::Interrupted, Ending::Silent) => Conclusion::Failed(self.silence()),
            (Conclusion::Interrupted, _) => {
                self.heard.enough.clone().map_or(Conclusion::Interrupted, Conclusion::Failed)
            }
            (told, _) => told,
        }
    }

    /// A program that waits for its service in silence: what it last said about that, or that nothing came.
    fn silence(&self) -> Failure {
        match self.heard.last_retry() {
            Some(failure) => failure.clone(),
            None => {
                let text = format!("no output for {} s while no tool ran", self.stall.as_secs());
                failed(FailureClass::Stalled, &text)
            }
        }
    }
}

/// How long a sentence may make somebody wait. Weather that lasts longer than this was misread, and nobody asks for
/// it in between as for a quota.
fn longest_wait(class: FailureClass) -> Option<u64> {
    match class.consequence() {
        Consequence::Quota => Some(u64::MAX),
        Consequence::Transient => Some(WEATHER_MAX_SECS),
        _ => None,
    }
}

/// The program never came to life: it, its interpreter or a library of it is missing or must not be executed. Trying
/// again changes nothing about that, whatever program it was to be.
fn could_not_start(heard: &Heard, exit: &ExitFacts) -> Option<Failure> {
    let why = match (exit.code, exit.signal) {
        (Some(NOT_FOUND), None) => "the program, or what it needs to run, was not found",
        (Some(NOT_EXECUTABLE), None) => "the program cannot be executed",
        _ => return None,
    };
    if heard.has_begun() {
        return None;
    }
    let words = heard.last_words_text(3);
    let said = if words.trim().is_empty() { why.to_owned() } else { format!("{words} ({why})") };
    Some(failed(FailureClass::Configuration, &said))
}

/// The end of a program that left without its final word.
pub fn gone(heard: &Heard, exit: &ExitFacts) -> Failure {
    // It had trouble with its service, and left over it: that is weather, not a crash.
    if let (Some(retry), None) = (heard.last_retry(), exit.signal) {
        return retry.clone();
    }
    let words = heard.last_words_text(5);
    let how = match (exit.code, exit.signal) {
        (_, Some(signal)) => format!("killed by signal {signal}, which the swarm did not send"),
        (Some(code), None) => format!("exit code {code} without a final event"),
        (None, None) => "ended without a final event".to_owned(),
    };
    let text = if words.trim().is_empty() { how } else { format!("{how}: {words}") };
    failed(FailureClass::Crashed, &text)
}

/// The program printed nothing and failed: it did not get as far as its service, unless it says that it is its service
/// that kept it from beginning.
pub fn not_set_up(heard: &Heard) -> Failure {
    let first = heard
        .last_words()
        .find(|line| line.to_lowercase().contains("error") || line.to_lowercase().contains("unknown"));
    let text = first.map_or_else(|| heard.last_words_text(3), str::to_owned);
    let of_its_service = |class: &FailureClass| {
        let waits = matches!(class.consequence(), Consequence::Transient | Consequence::Quota);
        waits || matches!(class, FailureClass::Key | FailureClass::Billing)
    };
    let lower = text.to_lowercase();
    let told = class_of(None, &text).filter(|_| !MISTAKES.iter().any(|mistake| lower.contains(mistake)));
    failed(told.filter(of_its_service).unwrap_or(FailureClass::Configuration), &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_program_from_beginning_may_be_the_weather() {
        for (line, class) in [
            ("error: unknown option '--no-such-flag'", FailureClass::Configuration),
            ("Error: Session not found", FailureClass::Configuration),
            ("error: unknown option '--timeout'", FailureClass::Configuration),
            ("error: unexpected argument '--connection' found", FailureClass::Configuration),
            (
                "Error loading config.toml: invalid type: string, expected u64 in `stream_idle_timeout_ms`",
                FailureClass::Configuration,
            ),
            ("Error: Cannot find module '/opt/agent/lib/connection.js'", FailureClass::Configuration),
            (
                "Error authenticating: FetchError: request failed, reason: getaddrinfo ENOTFOUND example.invalid",
                FailureClass::Network,
            ),
            ("Error: error sending request for url (https://example.invalid/models)", FailureClass::Network),
            ("Error: 503 Service Unavailable", FailureClass::Overloaded),
            ("Error: Not logged in", FailureClass::Key),
        ] {
            let mut heard = Heard::default();
            heard.complains(line);
            assert_eq!(not_set_up(&heard).class, class, "{line}");
        }
    }
}
