//! Journals of runs: by byte, or followed line by line.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use swarm_agents::journal::{Growth, RawLine, read_raw};
use swarm_protocol::api::GivenPrompt;
use swarm_protocol::ids::{AgentId, RunId};
use swarm_work::daemon::RunFiles;

use super::events::last_event_id;
use super::views::{Asked, asked};
use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::limits::{FILE_MAX, LOG_LINES_MAX, PAGE_BYTES};
use crate::peer::Caller;
use crate::sse::{self, Gone, Outlet};

/// Lines read at once for a stream.
const AT_ONCE: usize = 64;

/// Which lines.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// The byte to begin at: 0, or the `cursor` of an earlier answer
    pub from: Option<u64>,
    /// How many lines at most, up to 1000
    pub limit: Option<usize>,
    /// 1: a stream of server-sent events that goes on as the journal grows, `id` being the cursor
    pub follow: Option<u8>,
}

#[derive(Serialize)]
struct Lines {
    run: RunId,
    lines: Vec<Box<RawValue>>,
    cursor: u64,
    end: bool,
}

/// A journal and whose it is.
struct Journal {
    run: RunId,
    path: PathBuf,
}

/// What the newest run of an agent has printed
#[utoipa::path(
    get, path = "/v1/agents/{agent}/log", tag = "logs",
    params(("agent" = String, Path, description = "The agent"), Which,
        ("Last-Event-ID" = Option<u64>, Header, description = "The cursor of the last line that was seen")),
    responses(
        (status = 200, description = "Lines, or a stream of them", body = ref("#/components/schemas/LogPage")),
        (status = 400, description = "Not an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 403, description = "An agent may read only its own", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "It has printed nothing yet", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn of_agent(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    Path(agent): Path<String>,
    headers: HeaderMap,
    which: Asked<Which>,
) -> Result<Response, Fault> {
    let agent = AgentId::new(agent).map_err(|error| Fault::bad_request(error.to_string()))?;
    let folder = api.paths.agents.join(agent.as_str()).join("logs");
    let newest = journals(&folder).max_by_key(|journal| number(&journal.run));
    let journal = newest.ok_or_else(|| nothing(agent.as_str()))?;
    show(api, &caller, journal, &headers, asked(which)?).await
}

/// What a run has printed
#[utoipa::path(
    get, path = "/v1/runs/{run}/log", tag = "logs",
    params(("run" = String, Path, description = "The run"), Which,
        ("Last-Event-ID" = Option<u64>, Header, description = "The cursor of the last line that was seen")),
    responses(
        (status = 200, description = "Lines, or a stream of them", body = ref("#/components/schemas/LogPage")),
        (status = 400, description = "Not a run", body = ref("#/components/schemas/ErrorBody")),
        (status = 403, description = "An agent may read only its own", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "It has printed nothing yet", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn of_run(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    headers: HeaderMap,
    which: Asked<Which>,
) -> Result<Response, Fault> {
    let run = RunId::new(run).map_err(|error| Fault::bad_request(error.to_string()))?;
    let path = beside_a_journal(&api, &format!("{run}.jsonl")).ok_or_else(|| nothing(run.as_str()))?;
    show(api, &caller, Journal { run, path }, &headers, asked(which)?).await
}

/// What the program was given at the beginning of an iteration
#[utoipa::path(
    get, path = "/v1/runs/{run}/prompts/{iteration}", tag = "logs",
    params(("run" = String, Path, description = "The run"),
        ("iteration" = u32, Path, description = "Which iteration, from 1")),
    responses(
        (status = 200, description = "The prompt, secrets covered", body = ref("#/components/schemas/GivenPrompt")),
        (status = 400, description = "Not a run, or not a number", body = ref("#/components/schemas/ErrorBody")),
        (status = 403, description = "An agent may read only its own", body = ref("#/components/schemas/ErrorBody")),
        (status = 404, description = "None is kept", body = ref("#/components/schemas/ErrorBody")),
        (status = 413, description = "Too large to be shown", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn prompt(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    Path((run, iteration)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let run = RunId::new(run).map_err(|error| Fault::bad_request(error.to_string()))?;
    let iteration: u32 =
        iteration.parse().map_err(|_| Fault::bad_request(format!("{iteration:?} is no number")))?;
    may_read(&caller, &run)?;
    let name = format!("{run}.prompt-{iteration}.json");
    let reading = tokio::task::spawn_blocking(move || kept_prompt(&api, &name));
    let view = reading.await.map_err(|error| Fault::world(error.to_string()))??;
    let none = || {
        let what = format!("No prompt of iteration {iteration} of {run} is kept");
        Fault::new(StatusCode::NOT_FOUND, "no_prompt", what, "Runs of earlier versions kept none")
    };
    Ok(Json(view.ok_or_else(none)?).into_response())
}

/// What was kept under this name, if it is of a size that can be shown.
fn kept_prompt(api: &ApiState, name: &str) -> Result<Option<GivenPrompt>, Fault> {
    let Some(mut file) = beside_a_journal(api, name).and_then(|path| File::open(path).ok()) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let read = Read::by_ref(&mut file).take(FILE_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::world(format!("The prompt cannot be read: {error}")))?;
    if bytes.len() as u64 > FILE_MAX {
        let message = format!("{name} has more than {FILE_MAX} bytes");
        let hint = "Look at the file itself, in the folder .swarm/agents";
        return Err(Fault::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, hint));
    }
    Ok(serde_json::from_slice(&bytes).ok())
}

/// A file of this name among what agents, planners and verifications have left.
fn beside_a_journal(api: &ApiState, name: &str) -> Option<PathBuf> {
    let agents = std::fs::read_dir(&api.paths.agents).into_iter().flatten().flatten();
    agents.map(|agent| agent.path().join("logs").join(name)).find(|path| path.is_file())
}

fn may_read(caller: &Caller, run: &RunId) -> Result<(), Fault> {
    match caller.inside() {
        Some(inside) if inside.run.as_ref() != Some(run) => {
            Err(Fault::not_for_agents(format!("The journal of {run} is not yours to read")))
        }
        _ => Ok(()),
    }
}

fn journals(folder: &std::path::Path) -> impl Iterator<Item = Journal> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let path = entry.path();
        let run = RunId::new(path.file_name()?.to_str()?.strip_suffix(".jsonl")?).ok()?;
        Some(Journal { run, path })
    })
}

fn number(run: &RunId) -> u64 {
    run.as_str().trim_start_matches('r').parse().unwrap_or(0)
}

fn nothing(of: &str) -> Fault {
    Fault::new(StatusCode::NOT_FOUND, "no_log", format!("{of} has printed nothing yet"), "GET /v1/agents")
}

async fn show(
    api: Arc<ApiState>,
    caller: &Caller,
    journal: Journal,
    headers: &HeaderMap,
    which: Which,
) -> Result<Response, Fault> {
    may_read(caller, &journal.run)?;
    let from = last_event_id(headers)?.or(which.from).unwrap_or(0);
    if which.follow.is_some_and(|follow| follow != 0) {
        let (outlet, response) = Outlet::open(api.limits.stall);
        let end = api.end.clone();
        tokio::spawn(end.run_until_cancelled_owned(follow(api, journal, from, outlet)));
        return Ok(response);
    }
    let limit = which.limit.unwrap_or(LOG_LINES_MAX).clamp(1, LOG_LINES_MAX);
    let read = read(&journal, from, limit).await;
    let raw = read.map_err(|error| Fault::world(format!("The journal cannot be read: {error}")))?;
    let cursor = raw.last().map_or(from, |line| line.cursor);
    let length = std::fs::metadata(&journal.path).map_or(cursor, |file| file.len());
    let lines = raw.into_iter().filter_map(|line| RawValue::from_string(line.text).ok()).collect();
    Ok(Json(Lines { run: journal.run, lines, cursor, end: cursor >= length }).into_response())
}

async fn read(journal: &Journal, from: u64, limit: usize) -> std::io::Result<Vec<RawLine>> {
    let path = journal.path.clone();
    let reading = tokio::task::spawn_blocking(move || read_raw(&path, from, limit, PAGE_BYTES));
    reading.await.unwrap_or_else(|_| Err(std::io::ErrorKind::Interrupted.into()))
}

/// Gives lines until the run is over or the reader goes.
async fn follow(api: Arc<ApiState>, journal: Journal, mut cursor: u64, outlet: Outlet) {
    let (over, last) = match give(&api, &journal, &mut cursor, &outlet).await {
        Ok(()) => (true, "the run is over".to_owned()),
        Err(None) => return,
        Err(Some(error)) => (false, format!("the journal cannot be read: {error}")),
    };
    let data = serde_json::json!({ "resume": cursor, "over": over, "why": last }).to_string();
    let _ = outlet.send(sse::event(None, "end", &data)).await;
}

async fn give(
    api: &ApiState,
    journal: &Journal,
    cursor: &mut u64,
    outlet: &Outlet,
) -> Result<(), Option<std::io::Error>> {
    let gone = |_: Gone| None;
    // Watched before it is read, so that nothing falls in between.
    let growth = Growth::of(&journal.path)?;
    let mut feed = api.hub.feed.clone();
    let files = RunFiles::new(&api.paths.swarm, &journal.run);
    outlet.send(sse::heartbeat()).await.map_err(gone)?;
    loop {
        // Asked before the reading: what was printed before the end is still read.
        let over = !files.record().exists() || files.exit().exists();
        let lines = read(journal, *cursor, AT_ONCE).await?;
        let none = lines.is_empty();
        for line in lines {
            if !line.text.is_empty() {
                outlet.send(sse::event(Some(line.cursor), "line", &line.text)).await.map_err(gone)?;
            }
            *cursor = line.cursor;
        }
        match (none, over) {
            (false, _) => {}
            (true, true) => return Ok(()),
            (true, false) => tokio::select! {
                more = growth.more() => more?,
                true = feed.moved() => {}
                () = tokio::time::sleep(api.limits.heartbeat) => {
                    outlet.send(sse::heartbeat()).await.map_err(gone)?;
                }
                () = outlet.gone() => return Err(None),
            },
        }
    }
}
