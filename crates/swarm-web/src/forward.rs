//! Hands requests on to the coordinator as they are, and to the ledger where nobody coordinates (any more).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use axum::response::Response;
use swarm_protocol::api::CommandRequest;
use swarm_protocol::channel::REQUEST_MAX;
use swarm_protocol::deed::DeedRequest;
use swarm_server::api::body::{announced, read_up_to};
use swarm_server::api::{Fault, LEDGER_HEADER, NO_ANSWER, SEQ_HEADER};
use swarm_server::client::{Client, ClientError};
use swarm_server::limits::BODY_MAX;
use swarm_server::peer::{ROLE_HEADER, Role};
use tokio::sync::Semaphore;

use crate::tail::Tail;

/// Who asks, as the ledger names them.
const PERSON: &str = "person:web";

/// What is handed back besides status and body.
const KEPT: [HeaderName; 3] =
    [header::CONTENT_TYPE, HeaderName::from_static(SEQ_HEADER), HeaderName::from_static(LEDGER_HEADER)];

/// A request without what belongs to its connection.
pub struct Wish {
    pub method: Method,
    pub target: Uri,
    pub role: Role,
    pub last_event_id: Option<HeaderValue>,
    pub body: Bytes,
}

impl Wish {
    fn request(&self) -> Result<Request<Body>, Fault> {
        let target = self.target.path_and_query().map_or("/", |target| target.as_str());
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(target)
            .header(header::HOST, "swarm")
            .header(ROLE_HEADER, self.role.word());
        if self.method == Method::POST {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if let Some(id) = &self.last_event_id {
            request = request.header("last-event-id", id);
        }
        request.body(Body::from(self.body.clone())).map_err(|error| Fault::bad_request(error.to_string()))
    }

    /// Whether asking a second time does nothing that the first time has not done. A command has its id; what is done by
    /// hand (a hook, a folder brought back) has none.
    fn is_safe_twice(&self) -> bool {
        self.method == Method::GET
            || ["/v1/commands", "/v1/preview", "/v1/deeds/preview"].contains(&self.target.path())
    }

    fn changes(&self) -> bool {
        self.method == Method::POST && ["/v1/commands", "/v1/deeds"].contains(&self.target.path())
    }

    /// Nobody knows whether it was done: said with the way to find out.
    fn lost(&self, why: &str) -> Fault {
        match self.target.path() {
            "/v1/deeds" => match serde_json::from_slice::<DeedRequest>(&self.body) {
                Ok(asked) => Fault::lost_deed(why, &asked.deed),
                Err(_) => Fault::lost(why, "swarm status"),
            },
            _ => Fault::lost_command(why),
        }
    }
}

/// Carries it out where it can be carried out now. A command whose answer was lost is asked for again with its id, which
/// makes that safe.
pub async fn hand_on(client: &Client, tail: &Tail, wish: &Wish) -> Result<Response, Fault> {
    match client.pass(wish.request()?).await {
        Ok(response) => Ok(undressed(response)),
        Err(ClientError::Lost { source }) if !wish.is_safe_twice() => Err(wish.lost(instead(&source))),
        Err(ClientError::Lost { source }) if wish.changes() => {
            let again = beside(tail, wish).await?;
            // That the second try failed says nothing about the first.
            match again.status() == StatusCode::SERVICE_UNAVAILABLE {
                true => Err(wish.lost(instead(&source))),
                false => Ok(again),
            }
        }
        Err(ClientError::Nobody | ClientError::Lost { .. }) => beside(tail, wish).await,
        // What is to be done waits for it, and may be done when it goes on.
        Err(ClientError::Silent(silence)) if wish.changes() => {
            let why = silence.to_string();
            Err(wish.lost(&format!("T{}", why.strip_prefix('t').unwrap_or(&why))))
        }
        // Looking goes on without it: the ledger is there.
        Err(ClientError::Silent(_)) => beside(tail, wish).await,
        Err(error) => Err(Fault::world(error.to_string())),
    }
}

/// What came in place of an answer. One that took too long, as a hook may, need not have ended.
fn instead(lost: &io::Error) -> &'static str {
    match lost.kind() {
        io::ErrorKind::TimedOut => "The coordinator did not answer in time",
        _ => NO_ANSWER,
    }
}

/// From the ledger, where nobody coordinates.
async fn beside(tail: &Tail, wish: &Wish) -> Result<Response, Fault> {
    let era = Arc::clone(&tail.era.borrow());
    Ok(undressed(era.api.answer(wish.request()?).await))
}

fn undressed(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    let mut headers = HeaderMap::new();
    for name in KEPT {
        if let Some(value) = head.headers.remove(&name) {
            headers.insert(name, value);
        }
    }
    head.headers = headers;
    Response::from_parts(head, body)
}

/// The body of a command or a question about one. Only a plan may be large, and such bodies are read one or two at a
/// time.
pub async fn read_body(request: Request<Body>, heavy: &Semaphore, within: Duration) -> Result<Bytes, Fault> {
    if announced(request.headers()).is_some_and(|bytes| bytes > REQUEST_MAX) {
        return Err(Fault::too_large("The body", REQUEST_MAX));
    }
    let (mut body, mut bytes) = (request.into_body(), Vec::new());
    if read_up_to(&mut body, &mut bytes, BODY_MAX, within).await? {
        return Ok(bytes.into());
    }
    let _permit = heavy.acquire().await.map_err(|_| Fault::busy("The door is closing"))?;
    if read_up_to(&mut body, &mut bytes, REQUEST_MAX, within).await? {
        return Ok(bytes.into());
    }
    Err(Fault::too_large("The body", REQUEST_MAX))
}

/// The same command in the name of a person at the pages, whatever it says itself.
pub fn in_our_name(path: &str, body: Bytes) -> Result<Bytes, Fault> {
    let named = match path {
        "/v1/commands" => serde_json::from_slice(&body)
            .and_then(|asked| serde_json::to_vec(&CommandRequest { by: Some(PERSON.into()), ..asked })),
        "/v1/deeds" => serde_json::from_slice(&body)
            .and_then(|asked| serde_json::to_vec(&DeedRequest { by: Some(PERSON.into()), ..asked })),
        _ => return Ok(body),
    };
    named.map(Bytes::from).map_err(|error| {
        let mut fault = Fault::bad_request(format!("This is not a command: {error}"));
        fault.error.kind = "bad_command".into();
        fault
    })
}
