//! The body of a ledger record: an event, who caused it, and the hash of the plan after it.
//!
//! ```
//! use swarm_protocol::event::Event;
//! use swarm_protocol::ids::TaskId;
//! use swarm_protocol::record::{Margin, body, event_of};
//!
//! let event = Event::TaskRemoved { task: TaskId::new("1.1").unwrap() };
//! let line = body(&event, "person:cli", None);
//! assert_eq!(line, r#""type":"task_removed","taskId":"1.1","by":"person:cli""#);
//!
//! assert_eq!(event_of(line.as_bytes())?, event);
//! let whole = format!("{{{line}}}");
//! assert_eq!(Margin::read(whole.as_bytes())?.by, "person:cli");
//! # Ok::<(), swarm_protocol::record::RecordError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::event::Event;

/// A record that cannot be read as an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error("the event type {0:?} is not known to this version of swarm")]
    UnknownKind(String),
    #[error("the record has no data")]
    NoData,
    #[error("the record's members do not fit its type: {0}")]
    Members(String),
}

/// Appends `,"name":value`; a value that is `null` is left out.
pub(crate) fn member<T: Serialize>(out: &mut Vec<u8>, name: &str, value: &T) {
    let start = out.len();
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    let at = out.len();
    // Our types have string keys and no failing serializers, and a Vec takes every write.
    serde_json::to_writer(&mut *out, value).expect("plain data serialises");
    if &out[at..] == b"null" {
        out.truncate(start);
    }
}

/// The members of a record from `"type"` through `"by"`, without braces, as the ledger takes them.
pub fn body(event: &Event, by: &str, plan_hash_after: Option<&str>) -> String {
    let mut out = Vec::with_capacity(256);
    event.write(&mut out);
    if let Some(hash) = plan_hash_after {
        member(&mut out, "plan_hash_after", &hash);
    }
    member(&mut out, "by", &by);
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// The members of a record that are not the event's own.
#[derive(Debug, Clone, Deserialize)]
pub struct Margin<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    pub by: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    pub plan_hash_after: Option<std::borrow::Cow<'a, str>>,
}

impl<'a> Margin<'a> {
    pub fn read(line: &'a [u8]) -> Result<Self, RecordError> {
        serde_json::from_slice(line).map_err(|e| RecordError::Members(e.to_string()))
    }
}

/// The event of a record. `body` is the part that begins with `"type":"` and ends with the `by` member;
/// the ledger's own members around it are not looked at again.
pub fn event_of(body: &[u8]) -> Result<Event, RecordError> {
    let unframed = || RecordError::Members("the body does not begin with its type".into());
    let rest = body.strip_prefix(b"\"type\":\"").ok_or_else(unframed)?;
    let end = rest.iter().position(|b| *b == b'"').ok_or_else(unframed)?;
    let kind = std::str::from_utf8(&rest[..end]).map_err(|_| unframed())?;
    let members = rest[end + 1..].strip_prefix(b",").ok_or_else(unframed)?;
    let mut object = Vec::with_capacity(members.len() + 2);
    object.push(b'{');
    object.extend_from_slice(members);
    object.push(b'}');
    Event::read(kind, &object)
}
