//! One live connection per tab: records in order and without a gap, news of agents, followed journals.

mod journals;
mod outbox;
mod records;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use serde::Deserialize;
use serde_json::{Value, json};
use swarm_protocol::ids::RunId;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::limits::{FOLLOWED_MAX, Limits};
use crate::sessions::{Clock, Session, Sessions};
use crate::tail::{Era, Tail};
use outbox::Outbox;

/// What a page says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Said {
    Hello {
        from: Option<u64>,
        ledger: Option<String>,
    },
    Follow {
        run: RunId,
        from: Option<u64>,
    },
    Unfollow {
        run: RunId,
    },
    /// It answered a ping.
    #[serde(skip)]
    Alive,
}

/// Everything that one live connection needs.
pub struct Page {
    pub session: Session,
    pub sessions: Arc<Sessions>,
    pub clock: Clock,
    pub tail: Tail,
    pub limits: Limits,
    /// The door closes.
    pub end: CancellationToken,
    /// Places among all live connections and among those of the session.
    pub places: [OwnedSemaphorePermit; 2],
}

/// Why we end a connection, with what is said last.
struct Ending {
    last: Option<Value>,
    code: u16,
    reason: &'static str,
}

impl Ending {
    fn bad(reason: &'static str) -> Self {
        Self { last: None, code: close_code::POLICY, reason }
    }

    fn another(ledger: Option<&String>) -> Self {
        let last = Some(json!({ "type": "another_ledger", "ledger": ledger }));
        Self { last, code: close_code::NORMAL, reason: "another ledger" }
    }

    fn away(reason: &'static str) -> Self {
        Self { last: None, code: close_code::AWAY, reason }
    }
}

/// The peer has gone.
struct Gone;

/// Serves one page until it goes or is told to.
pub async fn serve(mut socket: WebSocket, page: Page) {
    let (session_end, door_end) = (page.session.end.clone(), page.end.clone());
    let ended = tokio::select! {
        ended = converse(&mut socket, &page) => ended,
        () = session_end.cancelled() => Ok(Ending { last: None, code: close_code::POLICY, reason: "the session is over" }),
        () = door_end.cancelled() => Ok(Ending::away("the door closes")),
    };
    let Ok(Ending { last, code, reason }) = ended else { return };
    let tells = last.is_some();
    let farewell = async {
        if let Some(last) = last {
            socket.send(Message::text(last.to_string())).await?;
        }
        socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await
    };
    // Whoever is told why has to take what came before it first.
    let _ =
        tokio::time::timeout(if tells { page.limits.stall } else { page.limits.farewell }, farewell).await;
    drop(page.places);
}

async fn converse(socket: &mut WebSocket, page: &Page) -> Result<Ending, Gone> {
    let hello = match tokio::time::timeout(page.limits.hello_within, next(socket)).await {
        Ok(said) => said?,
        Err(_) => return Ok(Ending::bad("no hello came")),
    };
    let Some(Said::Hello { from, ledger }) = hello else { return Ok(Ending::bad("a hello comes first")) };
    let mut tail = page.tail.clone();
    let (era, up) = (Arc::clone(&tail.era.borrow_and_update()), *tail.up.borrow_and_update());
    let last = era.position().seq;
    let next = from.unwrap_or(last + 1).max(1);
    if ledger.is_some_and(|ledger| Some(&ledger) != era.ledger.as_ref()) || next > last + 1 {
        return Ok(Ending::another(era.ledger.as_ref()));
    }
    let role = page.session.role.word();
    let word = json!({ "type": "hello", "ledger": era.ledger, "seq": last, "coordinator": up, "role": role });
    send(socket, word.to_string()).await?;
    let (outbox, queue) = Outbox::new(next, page.limits.slow_after);
    let _records = AbortOnDropHandle::new(tokio::spawn(records::give(Arc::clone(&era), outbox.clone())));
    let followed = Followed { era, outbox, runs: BTreeMap::new() };
    go_on(socket, page, tail, followed, queue).await
}

/// Journals that the page follows.
struct Followed {
    era: Arc<Era>,
    outbox: Arc<Outbox>,
    runs: BTreeMap<RunId, AbortOnDropHandle<()>>,
}

impl Followed {
    fn take(&mut self, said: Said) -> Result<(), Ending> {
        match said {
            Said::Alive => {}
            Said::Hello { .. } => return Err(Ending::bad("a hello comes once")),
            Said::Unfollow { run } => drop(self.runs.remove(&run)),
            Said::Follow { run, from } => {
                self.runs.retain(|_, task| !task.is_finished());
                self.runs.remove(&run);
                if self.runs.len() >= FOLLOWED_MAX {
                    return Err(Ending::bad("too many journals are followed"));
                }
                let giving = journals::give(
                    Arc::clone(&self.era),
                    run.clone(),
                    from.unwrap_or(0),
                    Arc::clone(&self.outbox),
                );
                self.runs.insert(run, AbortOnDropHandle::new(tokio::spawn(giving)));
            }
        }
        Ok(())
    }
}

async fn go_on(
    socket: &mut WebSocket,
    page: &Page,
    mut tail: Tail,
    mut followed: Followed,
    mut queue: mpsc::Receiver<String>,
) -> Result<Ending, Gone> {
    let mut pings = tokio::time::interval(page.limits.ping_every);
    let mut heard = Instant::now();
    loop {
        tokio::select! {
            said = next(socket) => {
                heard = Instant::now();
                match said? {
                    Some(said) => if let Err(ending) = followed.take(said) { return Ok(ending) },
                    None => return Ok(Ending::bad("not understood")),
                }
            }
            Some(word) = queue.recv() => send(socket, word).await?,
            // Only once what waited before it is out.
            () = followed.outbox.cut.cancelled(), if queue.is_empty() => {
                let last = json!({ "type": "cut", "resume": followed.outbox.next() });
                return Ok(Ending { last: Some(last), code: close_code::AGAIN, reason: "too slow" });
            }
            Ok(()) = tail.up.changed() => {
                let up = *tail.up.borrow_and_update();
                send(socket, json!({ "type": "coordinator", "up": up }).to_string()).await?;
            }
            Ok(()) = tail.era.changed() => return Ok(Ending::another(tail.era.borrow().ledger.as_ref())),
            _ = pings.tick() => {
                if heard.elapsed() > page.limits.ping_every * 3 {
                    return Ok(Ending::away("nobody answers"));
                }
                page.sessions.touch(&page.session.id, (page.clock)());
                socket.send(Message::Ping(Default::default())).await.map_err(|_| Gone)?;
            }
        }
    }
}

async fn send(socket: &mut WebSocket, word: String) -> Result<(), Gone> {
    socket.send(Message::text(word)).await.map_err(|_| Gone)
}

/// The next thing that the page says; none when it cannot be understood.
async fn next(socket: &mut WebSocket) -> Result<Option<Said>, Gone> {
    loop {
        match socket.recv().await {
            Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).ok()),
            Some(Ok(Message::Ping(_))) => {}
            Some(Ok(Message::Pong(_))) => return Ok(Some(Said::Alive)),
            Some(Ok(Message::Binary(_))) => return Ok(None),
            Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(Gone),
        }
    }
}
