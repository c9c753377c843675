//! One stream from the coordinator; where there is none, the ledger is watched.

use std::time::Duration;

use swarm_protocol::api::{AgentNews, LogPage};
use swarm_protocol::ids::RunId;
use swarm_server::client::{Client, ClientError, Event};
use tokio::sync::mpsc;

use crate::input::{Input, Link, LogLine};
use crate::source::{Source, event_line};

/// Records that come within this time are told together.
const TOGETHER: Duration = Duration::from_millis(50);
const AT_ONCE: usize = 500;

/// A worktree that is set up first may take a while.
const TRY_AGAIN: Duration = Duration::from_millis(250);
const TRIES_MAX: u32 = 240;

/// Which ledger the screen shows: nobody knows yet, none where there is no plan, or its id.
type Known = Option<Option<String>>;

/// Takes note of the ledger that is there now; true where the screen shows another one.
fn is_another(known: &mut Known, now: Option<&str>) -> bool {
    let before = known.replace(now.map(str::to_owned));
    before.is_some_and(|before| before.as_deref() != now)
}

/// Tells of everything that happens, until nobody listens.
pub async fn follow(source: Source, told: mpsc::Sender<Input>) {
    let mut known = None;
    let before = source.before().await;
    if told.send(Input::Events(before)).await.is_err() {
        return;
    }
    loop {
        if source.client.ping().await.is_ok() {
            if told.send(Input::Link(Link::Online)).await.is_err() {
                return;
            }
            if online(&source, &told, &mut known).await.is_none() {
                return;
            }
        }
        if told.send(Input::Link(Link::Offline)).await.is_err() {
            return;
        }
        if offline(&source, &told, &mut known).await.is_none() {
            return;
        }
    }
}

/// Until the coordinator has gone; none when nobody listens.
async fn online(source: &Source, told: &mpsc::Sender<Input>, known: &mut Known) -> Option<()> {
    let mut feed = source.client.events(None);
    loop {
        let next = feed.next().await;
        if feed.ledger().is_some_and(|ledger| is_another(known, Some(ledger))) {
            anew(source, told).await?;
        }
        let first = match next {
            Ok(Some(event)) => event,
            Ok(None) | Err(ClientError::Nobody) => return Some(()),
            // Another plan by now: its records are numbered from one again.
            Err(_) => {
                *known = None;
                anew(source, told).await?;
                feed = source.client.events(None);
                continue;
            }
        };
        let mut events = vec![first];
        while events.len() < AT_ONCE {
            match tokio::time::timeout(TOGETHER, feed.next()).await {
                Ok(Ok(Some(event))) => events.push(event),
                _ => break,
            }
        }
        tell(events, told).await?;
    }
}

/// Everything that is shown is of another plan.
async fn anew(source: &Source, told: &mpsc::Sender<Input>) -> Option<()> {
    told.send(Input::Anew).await.ok()?;
    told.send(Input::Events(source.before().await)).await.ok()
}

async fn tell(events: Vec<Event>, told: &mpsc::Sender<Input>) -> Option<()> {
    let mut lines = Vec::new();
    for event in events {
        if event.id.is_some() {
            lines.extend(event_line(&event.data));
        } else if let Ok(news) = serde_json::from_str::<AgentNews>(&event.data) {
            told.send(Input::News(news)).await.ok()?;
        }
    }
    if !lines.is_empty() {
        told.send(Input::Events(lines)).await.ok()?;
    }
    Some(())
}

/// Until somebody coordinates; none when nobody listens.
async fn offline(source: &Source, told: &mpsc::Sender<Input>, known: &mut Known) -> Option<()> {
    // Another plan may have come while nobody was heard.
    if is_another(known, which(source).await.as_deref()) {
        anew(source, told).await?;
    }
    loop {
        let changed = source.beside(|ledger| Ok(ledger.changed())).await.unwrap_or_default();
        if told.is_closed() {
            return None;
        }
        // Before a coordinator is asked, which would tell of its own ledger as if it had been there all the time.
        if changed {
            if is_another(known, which(source).await.as_deref()) {
                told.send(Input::Anew).await.ok()?;
            }
            told.send(Input::Events(source.before().await)).await.ok()?;
        }
        if source.client.ping().await.is_ok() {
            return Some(());
        }
    }
}

/// The id of the ledger that is there now.
async fn which(source: &Source) -> Option<String> {
    let position = source.beside(|ledger| Ok(ledger.position())).await.ok().flatten();
    position.map(|(ledger, _)| ledger)
}

/// The journal of a run, from its last lines on.
pub async fn log(client: Client, run: RunId, told: mpsc::Sender<Input>) {
    let mut feed = client.follow_log(&run, 0);
    let mut reader = swarm_agents::said::Reader::default();
    let (mut tries, mut byte) = (0, 0);
    loop {
        let first = match feed.next().await {
            Ok(Some(event)) => event,
            Ok(None) => return,
            // A run that has just begun has no journal yet.
            Err(_) if feed.seen().is_none() && tries < TRIES_MAX => {
                tries += 1;
                tokio::time::sleep(TRY_AGAIN).await;
                feed = client.follow_log(&run, 0);
                continue;
            }
            Err(_) => return,
        };
        let mut events = vec![first];
        while events.len() < AT_ONCE {
            match tokio::time::timeout(TOGETHER, feed.next()).await {
                Ok(Ok(Some(event))) => events.push(event),
                _ => break,
            }
        }
        let mut lines: Vec<LogLine> = Vec::new();
        for event in &events {
            lines.extend(read(&mut reader, &event.data, byte));
            byte = event.id.unwrap_or(byte);
        }
        if !lines.is_empty() && told.send(Input::Log(run.clone(), lines)).await.is_err() {
            return;
        }
    }
}

/// Bytes of a journal that are read backwards at once.
const OLDER_BYTES: u64 = 256 * 1024;

/// Pages of it: a journal of short lines has more of them in so many bytes.
const OLDER_PAGES: usize = 16;

/// Lines before the one of this number, which begins at this byte or behind it. None where they cannot be had.
pub async fn older(client: &Client, run: &RunId, before: u64, byte: u64) -> Vec<LogLine> {
    let begin = byte.saturating_sub(OLDER_BYTES);
    let (mut from, mut lines) = (begin, Vec::new());
    let mut reader = swarm_agents::said::Reader::default();
    for _ in 0..OLDER_PAGES {
        let page: Result<LogPage, _> =
            client.get(&format!("/v1/runs/{run}/log?from={from}&limit=1000")).await;
        let Ok(page) = page else { break };
        for line in &page.lines {
            lines.extend(read(&mut reader, &line.to_string(), begin).into_iter().filter(|l| l.n < before));
        }
        let reached =
            page.lines.last().and_then(|line| line.get("n")?.as_u64()).is_none_or(|n| n + 1 >= before);
        if reached || page.end || page.cursor <= from {
            return lines;
        }
        from = page.cursor;
    }
    // With a gap behind them they would be told in a wrong order.
    vec![]
}

fn read(reader: &mut swarm_agents::said::Reader, text: &str, byte: u64) -> Vec<LogLine> {
    use crate::input::Tone;
    use swarm_agents::said::Tone as Said;
    let Ok(line) = serde_json::from_str::<swarm_agents::journal::Line>(text) else { return vec![] };
    let tone = |tone| match tone {
        Said::Text => Tone::Said,
        Said::Tool => Tone::Tool,
        Said::Failed | Said::ToolFailed | Said::Stderr => Tone::Error,
        Said::Swarm => Tone::Swarm,
    };
    let said = reader.line(&line).into_iter();
    said.map(|said| LogLine { n: line.n, byte, at: line.ts, tone: tone(said.tone), text: said.text })
        .collect()
}
