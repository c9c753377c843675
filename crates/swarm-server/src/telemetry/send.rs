//! One request of OTLP over a connection of its own.

use std::time::Duration;

use axum::http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use swarm_protocol::config::Collector;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

/// A collector that takes longer is as one that is away.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// More of an answer is of no interest.
const ANSWER_MAX: usize = 64 * 1024;

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    Taken,
    /// The collector cannot read it, now or later.
    Refused(String),
    /// Away, busy or not set up yet: to be sent again.
    Later(String),
}

pub async fn send(collector: &Collector, body: String) -> Sent {
    match tokio::time::timeout(ANSWER_WITHIN, exchange(collector, body)).await {
        Ok(Ok((status, answer))) => judged(status, &answer),
        Ok(Err(error)) => Sent::Later(error.to_string()),
        Err(_) => Sent::Later(format!("no answer within {} s", ANSWER_WITHIN.as_secs())),
    }
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(collector: &Collector, body: String) -> Result<(StatusCode, Bytes), Failed> {
    let stream = TcpStream::connect(collector.address).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::post(collector.path.as_str())
        .header(header::HOST, &collector.host)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, concat!("swarm/", env!("CARGO_PKG_VERSION")))
        .body(Full::new(Bytes::from(body)))?;
    // The connection is gone with this, also where it is given up.
    let _driver = AbortOnDropHandle::new(tokio::spawn(connection));
    let (head, body) = sender.send_request(request).await?.into_parts();
    let answer = Limited::new(body, ANSWER_MAX).collect().await?.to_bytes();
    Ok((head.status, answer))
}

/// What is said of the content counts for this request alone; everything else may be put right.
fn judged(status: StatusCode, answer: &[u8]) -> Sent {
    if status.is_success() {
        let said: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
        let partly = &said["partialSuccess"];
        let rejected = partly["rejectedSpans"]
            .as_str()
            .map_or_else(|| partly["rejectedSpans"].to_string(), str::to_owned);
        return match rejected.parse::<u64>() {
            Ok(rejected) if rejected > 0 => Sent::Refused(format!(
                "{rejected} spans: {}",
                partly["errorMessage"].as_str().unwrap_or_default()
            )),
            _ => Sent::Taken,
        };
    }
    match status {
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            Sent::Refused(format!("status {status}"))
        }
        status => Sent::Later(format!("status {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_of_the_content_is_final() {
        let judge = |status: u16, answer: &str| {
            judged(StatusCode::from_u16(status).expect("a status"), answer.as_bytes())
        };
        for answer in
            ["", "{}", "{\"partialSuccess\":{}}", "{\"partialSuccess\":{\"rejectedSpans\":\"0\"}}", "<"]
        {
            assert_eq!(judge(200, answer), Sent::Taken, "{answer}");
        }
        for answer in
            ["{\"partialSuccess\":{\"rejectedSpans\":\"2\"}}", "{\"partialSuccess\":{\"rejectedSpans\":2}}"]
        {
            assert!(matches!(judge(200, answer), Sent::Refused(_)), "{answer}");
        }
        assert!(matches!(judge(400, ""), Sent::Refused(_)));
        for status in [301, 401, 404, 429, 500, 503] {
            assert!(matches!(judge(status, ""), Sent::Later(_)), "{status}");
        }
    }
}
