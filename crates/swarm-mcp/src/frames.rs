//! What stands between the pipes of a client and the protocol. Each line is looked at before it is handed on, so that
//! one which is no request is answered as JSON-RPC has it, and a client that broke does not wait for ever.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{Receiver, Sender};

use crate::limits::FRAME_MAX;

/// Requests that mean nothing without these parameters: texts, and objects.
const WITH_PARAMS: [(&str, &[&str], &[&str]); 5] = [
    ("initialize", &["protocolVersion"], &["capabilities", "clientInfo"]),
    ("tools/call", &["name"], &[]),
    ("resources/read", &["uri"], &[]),
    ("prompts/get", &["name"], &[]),
    ("completion/complete", &[], &["ref", "argument"]),
];

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
        put(&mut client, &line).await?;
    }
    // What was refused while a slow client read the rest.
    while let Ok(answer) = answers.try_recv() {
        put(&mut client, &answer.to_string()).await?;
    }
    Ok(())
}

async fn put(client: &mut (impl AsyncWrite + Unpin), line: &str) -> io::Result<()> {
    client.write_all(format!("{line}\n").as_bytes()).await?;
    client.flush().await
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
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    if is_answer && message.get("method").is_none() {
        return Looked::Message;
    }
    match wrong_with(&message) {
        Some((code, why)) => Looked::Answer(refused(message["id"].clone(), code, &why)),
        None => Looked::Message,
    }
}

/// Why a message is no request, as far as the protocol behind us would not say it.
fn wrong_with(message: &Value) -> Option<(i64, String)> {
    let no_request = |why: &str| Some((NO_REQUEST, why.to_owned()));
    if message.is_array() {
        return no_request("One message at a time: lists of them are not read");
    }
    let Some(method) = message["method"].as_str() else { return no_request("A request names its method") };
    if message["jsonrpc"] != "2.0" {
        return no_request("A message says \"jsonrpc\": \"2.0\"");
    }
    if message.get("id").is_some_and(|id| !is_id(id)) {
        return no_request("An id is a text or a whole number");
    }
    let params = &message["params"];
    if !params.is_object() && !params.is_null() {
        return Some((BAD_PARAMS, "params are an object".into()));
    }
    let (_, texts, objects) = WITH_PARAMS.iter().find(|(known, ..)| *known == method)?;
    let missing = texts.iter().find(|name| !params[**name].is_string()).map(|name| (name, "text"));
    let missing = missing
        .or_else(|| objects.iter().find(|name| !params[**name].is_object()).map(|name| (name, "object")));
    if let Some((name, kind)) = missing {
        return Some((BAD_PARAMS, format!("{method} needs params with {name:?}, as {kind}")));
    }
    let arguments = &params["arguments"];
    let strange = !arguments.is_null() && !arguments.is_object();
    strange.then(|| (BAD_PARAMS, "arguments are an object".into()))
}

/// Larger numbers are not read behind us, and nobody would answer by them.
fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64()
}

pub(crate) fn refused(id: Value, code: i64, message: &str) -> Value {
    let id = if is_id(&id) { id } else { Value::Null };
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::sync::mpsc::channel;

    use super::{Looked, looked_at, write};

    #[tokio::test]
    async fn what_was_refused_last_is_written_though_the_server_has_ended() {
        // Which of two that are ready comes first is drawn.
        for _ in 0..32 {
            let (answers, waiting) = channel(1);
            answers.send(json!(1)).await.expect("there is room");
            let mut written = Vec::<u8>::new();
            write(tokio::io::empty(), waiting, &mut written).await.expect("written");
            assert_eq!(written, b"1\n");
        }
    }

    #[test]
    fn what_is_no_request_is_told_apart() {
        for (line, wanted) in [
            ("", json!(null)),
            ("garbage", json!([null, -32_700])),
            (r#"{"id":3}"#, json!([3, -32_600])),
            ("7", json!([null, -32_600])),
            ("[]", json!([null, -32_600])),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, json!([null, -32_600])),
            (r#"{"id":1,"method":"ping"}"#, json!([1, -32_600])),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, json!([1, -32_600])),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, json!([1, -32_600])),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!([null, -32_600])),
            (r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}"#, json!([null, -32_600])),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!([null, -32_600])),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!([null, -32_600])),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, json!([1, -32_602])),
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools/call"}"#, json!(["a", -32_602])),
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{}}"#, json!(["a", -32_602])),
            (r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7}}"#, json!([2, -32_602])),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":[]}}"#,
                json!([2, -32_602]),
            ),
            (r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#, json!([2, -32_602])),
            (r#"{"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{}}"#, json!([2, -32_602])),
            (r#"{"jsonrpc":"2.0","id":9223372036854775807,"method":"ping"}"#, json!("handed on")),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, json!("handed on")),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#, json!("handed on")),
            (r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}"#, json!("handed on")),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, json!("handed on")),
            (r#"{"id":1,"result":{}}"#, json!("handed on")),
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
