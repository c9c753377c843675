//! JSON-RPC over lines, as little of it as a client needs: requests with our own ids, answers, and what
//! the other side asks or tells.

use serde_json::{Value, json};

use super::json::{event, text};
use super::reading::Outgoing;

/// Bytes that wait for the program to read them. It reads, or it is stalled and ended for that.
const QUEUE_MAX: usize = 64 << 20;

/// What came from the other side.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// To our request with this id.
    Answer {
        id: u64,
        result: Value,
    },
    Error {
        id: u64,
        error: Value,
    },
    /// Wants an answer under its own id.
    Asks {
        id: Value,
        method: String,
        params: Value,
    },
    Tells {
        method: String,
        params: Value,
    },
}

/// Our side of the talk.
#[derive(Debug, Default)]
pub struct Talk {
    queue: Vec<u8>,
    closing: bool,
    next: u64,
    /// ACP demands the version in each message; the app-server does without.
    versioned: bool,
}

impl Talk {
    /// One whose messages name the version of JSON-RPC.
    pub fn versioned() -> Self {
        Self { versioned: true, ..Self::default() }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.push(json!({ "id": id, "method": method, "params": params }));
        id
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.push(json!({ "method": method, "params": params }));
    }

    pub fn answer(&mut self, id: Value, result: Value) {
        self.push(json!({ "id": id, "result": result }));
    }

    /// What we do not do, said as the protocol wants it.
    pub fn decline(&mut self, id: Value, method: &str) {
        let error = json!({ "code": -32601, "message": format!("{method} is not supported") });
        self.push(json!({ "id": id, "error": error }));
    }

    /// After what was said so far nothing more comes.
    pub fn close(&mut self) {
        self.closing = true;
    }

    pub fn outgoing(&mut self) -> Outgoing {
        if !self.queue.is_empty() {
            return Outgoing::Bytes(std::mem::take(&mut self.queue));
        }
        if self.closing { Outgoing::Close } else { Outgoing::Nothing }
    }

    fn push(&mut self, mut message: Value) {
        if self.closing || self.queue.len() > QUEUE_MAX {
            return;
        }
        if let (true, Some(members)) = (self.versioned, message.as_object_mut()) {
            members.insert("jsonrpc".into(), "2.0".into());
        }
        self.queue.extend_from_slice(message.to_string().as_bytes());
        self.queue.push(b'\n');
    }
}

/// Reads one line; anything that is not a message is nothing.
pub fn incoming(line: &str) -> Option<Incoming> {
    let mut message = event(line)?;
    let mut take = |name: &str| message.get_mut(name).map(Value::take);
    let (id, result, error) = (take("id"), take("result"), take("error"));
    let params = take("params").unwrap_or_default();
    let method = text(&message, "method").map(str::to_owned);
    match (method, id) {
        (Some(method), Some(id)) if !id.is_null() => Some(Incoming::Asks { id, method, params }),
        (Some(method), _) => Some(Incoming::Tells { method, params }),
        (None, Some(id)) => match (id.as_u64()?, result, error) {
            (id, _, Some(error)) => Some(Incoming::Error { id, error }),
            (id, Some(result), None) => Some(Incoming::Answer { id, result }),
            (_, None, None) => None,
        },
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_message_is_told_apart() {
        let kinds = [
            r#"{"id":3,"result":{}}"#,
            r#"{"id":3,"error":{"code":-1}}"#,
            r#"{"id":"x","method":"m","params":{}}"#,
            r#"{"method":"m"}"#,
            r#"{"id":3}"#,
            "npm warn something",
        ]
        .map(|line| match incoming(line) {
            Some(Incoming::Answer { .. }) => "answer",
            Some(Incoming::Error { .. }) => "error",
            Some(Incoming::Asks { .. }) => "asks",
            Some(Incoming::Tells { .. }) => "tells",
            None => "nothing",
        });
        assert_eq!(kinds, ["answer", "error", "asks", "tells", "nothing", "nothing"]);
    }

    #[test]
    fn nothing_is_said_after_the_close() {
        let mut talk = Talk::versioned();
        assert_eq!(talk.ask("initialize", json!({})), 0);
        talk.close();
        talk.tell("late", json!({}));
        let Outgoing::Bytes(bytes) = talk.outgoing() else { panic!("bytes first") };
        let said = String::from_utf8(bytes).expect("text");
        assert!(
            said.contains(r#""jsonrpc":"2.0""#) && said.ends_with('\n') && !said.contains("late"),
            "{said}"
        );
        assert_eq!(talk.outgoing(), Outgoing::Close);
    }
}
