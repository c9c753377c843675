//! What stands between the pipes of a client and the protocol. Each line is looked at before it is handed on, so that
//! one which is no request is answered as JSON-RPC has it, and a client that broke does not wait for ever.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{Receiver, Sender};

use crate::limits::FRAME_MAX;

/// Requests that mean nothing without parameters.
const WITH_PARAMS: [&str; 4] = ["tools/call", "resources/read", "prompts/get", "completion/complete"];

const NOT_JSON: i64 = -32_700;
const NO_REQUEST: i64 = -32_600;
const BAD_PARAMS: i64 = -32_602;

/// One line of the client.
#[derive(Debug, PartialEq)]
enum Line {
    Whole(Vec<u8>),
    /// It was read to its end and dropped.
    TooLong,
}

/// Hands on what is a message, until the client closes its pipe. What is not one is answered by way of `answers`.
pub async fn read(
    client: impl AsyncRead + Unpin,
    mut server: impl AsyncWrite + Unpin,
    answers: Sender<Value>,
) {
    let mut client = BufReader::new(client);
    while let Ok(Some(line)) = next(&mut client).await {
        let answer = match &line {
            Line::TooLong => {
                let why = format!("A message of more than {} MiB is not read", FRAME_MAX >> 20);
                Some(refused(Value::Null, NO_REQUEST, &why))
            }
            Line::Whole(bytes) => match looked_at(bytes) {
                Looked::Nothing => None,
                Looked::Answer(answer) => Some(answer),
                Looked::Message => {
                    if hand_on(&mut server, bytes).await.is_err() {
                        return;
                    }
                    None
                }
            },
        };
        if let Some(answer) = answer
            && answers.send(answer).await.is_err()
        {
            return;
        }
    }
}

async fn hand_on(server: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    server.write_all(bytes).await?;
    server.write_all(b"\n").await?;
    server.flush().await
}

/// Writes whole lines: what the protocol says, and our own answers between them.
pub async fn write(
    server: impl AsyncRead + Unpin,
    mut answers: Receiver<Value>,
    mut client: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut lines = BufReader::new(server).lines();
    let mut reading = true;
    loop {
        let line = tokio::select! {
            line = lines.next_line() => match line? {
                Some(line) => line,
                None => break,
            },
            answer = answers.recv(), if reading => match answer {
                Some(answer) => answer.to_string(),
                None => {
                    reading = false;
                    continue;
                }
            },
        };
        client.write_all(format!("{line}\n").as_bytes()).await?;
        client.flush().await?;
    }
    Ok(())
}

/// The next line without its end; none: the client has left. A line that is too long costs no memory.
async fn next(client: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Line>> {
    let (mut line, mut long, mut any) = (Vec::new(), false, false);
    loop {
        let piece = client.fill_buf().await?;
        if piece.is_empty() {
            return Ok(any.then(|| ended(line, long)));
        }
        any = true;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(piece.len());
        if line.len() + taken > FRAME_MAX {
            (line, long) = (Vec::new(), true);
        } else if !long {
            line.extend_from_slice(&piece[..taken]);
        }
        client.consume(end.map_or(taken, |end| end + 1));
        if end.is_some() {
            return Ok(Some(ended(line, long)));
        }
    }
}

fn ended(line: Vec<u8>, long: bool) -> Line {
    if long { Line::TooLong } else { Line::Whole(line) }
}

#[derive(Debug, PartialEq)]
pub(crate) enum Looked {
    /// An empty line.
    Nothing,
    Message,
    Answer(Value),
}

pub(crate) fn looked_at(bytes: &[u8]) -> Looked {
    if bytes.trim_ascii().is_empty() {
        return Looked::Nothing;
    }
    let message: Value = match serde_json::from_slice(bytes) {
        Ok(message) => message,
        Err(error) => {
            return Looked::Answer(refused(Value::Null, NOT_JSON, &format!("This is not JSON: {error}")));
        }
    };
    let id = message["id"].clone();
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    match message["method"].as_str() {
        _ if message.is_array() || is_answer => Looked::Message,
        None => Looked::Answer(refused(id, NO_REQUEST, "A request names its method")),
        Some(method) if WITH_PARAMS.contains(&method) && !message["params"].is_object() => {
            Looked::Answer(refused(id, BAD_PARAMS, &format!("{method} needs params")))
        }
        Some(_) => Looked::Message,
    }
}

pub(crate) fn refused(id: Value, code: i64, message: &str) -> Value {
    let id = if id.is_string() || id.is_number() { id } else { Value::Null };
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Looked, looked_at};

    #[test]
    fn what_is_no_request_is_told_apart() {
        for (line, wanted) in [
            ("", json!(null)),
            ("garbage", json!([null, -32_700])),
            ("{\"id\":3}", json!([3, -32_600])),
            ("7", json!([null, -32_600])),
            ("{\"id\":\"a\",\"method\":\"tools/call\"}", json!(["a", -32_602])),
            ("{\"id\":1,\"method\":\"tools/list\"}", json!("handed on")),
            ("{\"id\":1,\"result\":{}}", json!("handed on")),
            ("[{}]", json!("handed on")),
        ] {
            let told = match looked_at(line.as_bytes()) {
                Looked::Nothing => json!(null),
                Looked::Message => json!("handed on"),
                Looked::Answer(answer) => json!([answer["id"], answer["error"]["code"]]),
            };
            assert_eq!(told, wanted, "{line}");
        }
    }
}
