//! A span, and the ids that are the same however often it is made.

use std::ops::{Deref, DerefMut};

use sha2::{Digest, Sha256};
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::TaskId;
use swarm_protocol::time::Timestamp;

use super::names;
use crate::hash::hex;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceId(pub [u8; 16]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanId(pub [u8; 8]);

impl TraceId {
    pub fn hex(self) -> String {
        hex(&self.0)
    }
}

impl SpanId {
    pub fn hex(self) -> String {
        hex(&self.0)
    }
}

/// What an attribute may be.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Whole(u64),
    Real(f64),
    Yes,
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

/// Something that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub trace: TraceId,
    pub id: SpanId,
    /// None: the first of its trace.
    pub parent: Option<SpanId>,
    pub name: String,
    /// What it is, without the name of a plan or an agent.
    pub kind: &'static str,
    pub task: Option<TaskId>,
    pub start: Timestamp,
    pub end: Timestamp,
    pub attributes: Vec<(&'static str, Value)>,
    /// A word of a closed list; none when nothing went wrong.
    pub error: Option<&'static str>,
}

impl Span {
    /// What it came to, for attempts and merges.
    pub fn outcome(&self) -> Option<&str> {
        self.attributes.iter().find_map(|(name, value)| match value {
            Value::Text(word) if *name == names::OUTCOME => Some(word.as_str()),
            _ => None,
        })
    }
}

/// Something under way: a span that ends where it began, until it is known when.
#[derive(Debug, Clone)]
pub(super) struct Open(Span);

impl Deref for Open {
    type Target = Span;

    fn deref(&self) -> &Span {
        &self.0
    }
}

impl DerefMut for Open {
    fn deref_mut(&mut self) -> &mut Span {
        &mut self.0
    }
}

/// Where a new span belongs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a> {
    pub ledger: &'a str,
    pub within: Option<(TraceId, SpanId)>,
}

impl Key<'_> {
    /// `parts` are said once in a ledger: what they name is the same whenever it is asked.
    pub fn open(self, kind: &'static str, parts: &[&str], start: Timestamp) -> Open {
        let (own, id) = ids(self.ledger, parts);
        let (trace, parent) = match self.within {
            Some((trace, parent)) => (trace, Some(parent)),
            None => (own, None),
        };
        let (name, end) = (kind.to_owned(), start);
        Open(Span {
            trace,
            id,
            parent,
            name,
            kind,
            task: None,
            start,
            end,
            attributes: Vec::new(),
            error: None,
        })
    }
}

impl Open {
    /// A span inside this one.
    pub fn open(&self, ledger: &str, kind: &'static str, parts: &[&str], start: Timestamp) -> Self {
        let within = Some((self.trace, self.id));
        let mut span = Key { ledger, within }.open(kind, parts, start);
        span.task.clone_from(&self.task);
        span
    }

    pub fn say(&mut self, name: &'static str, value: impl Into<Value>) {
        self.attributes.push((name, value.into()));
    }

    /// Which program, whose models it asks, and which of them.
    pub fn say_program(&mut self, program: &str, model: Option<&str>) {
        if !program.is_empty() {
            self.say(names::PROGRAM, program);
        }
        if let Some(provider) = names::provider_of(program) {
            self.say(names::PROVIDER_NAME, provider);
        }
        if let Some(model) = model {
            self.say(names::REQUEST_MODEL, model);
        }
    }

    /// What was used; nothing where no program said it.
    pub fn say_usage(&mut self, usage: &Usage) {
        if usage.is_none() {
            return;
        }
        self.say(names::INPUT_TOKENS, usage.input_tokens);
        self.say(names::OUTPUT_TOKENS, usage.output_tokens);
        self.say(names::CACHED_TOKENS, usage.cached_tokens);
        // Exact up to 2^53 millionths of a dollar.
        self.attributes.push((names::COST, Value::Real(usage.cost_micros as f64 / 1_000_000.0)));
    }

    pub fn end(mut self, at: Timestamp, error: Option<&'static str>) -> Span {
        if let Some(error) = error {
            self.say(names::ERROR_TYPE, error);
        }
        (self.0.end, self.0.error) = (at.max(self.start), error);
        self.0
    }
}

/// The id of the span that `parts` name, and that of the trace which it begins where it is inside no other.
pub(super) fn ids(ledger: &str, parts: &[&str]) -> (TraceId, SpanId) {
    let digest = digest(ledger, parts);
    let (trace, id) = digest.split_at(16);
    (TraceId(first(trace)), SpanId(first(id)))
}

/// Parts are of fixed kinds or ids without a zero byte, so no two lists of them hash alike.
fn digest(ledger: &str, parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update("swarm span\0");
    hash.update(ledger);
    for part in parts {
        hash.update("\0");
        hash.update(part);
    }
    hash.finalize().into()
}

/// Zeros are no id, and no hash that anybody will ever see.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut id = [0; N];
    id.copy_from_slice(&bytes[..N]);
    id
}
