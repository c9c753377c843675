//! Resources: the views, by address, for a person who attaches them to a conversation.

use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};
use swarm_protocol::api::ApiError;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_server::ledger::Look;

use crate::call::record_row;
use crate::limits::LINES_MAX;
use crate::source::Source;

const SCHEME: &str = "swarm://";

/// Views that have one address, with what they show.
const FIXED: [(&str, &str); 7] = [
    ("status", "The swarm at a glance"),
    ("plan", "The plan, as a plan file"),
    ("attention", "Everything that waits for a person"),
    ("handoff", "Summary for a new agent or person"),
    ("checkpoints", "Checkpoints"),
    ("operations", "What people and the swarm did, newest first"),
    ("history", "The last records of the ledger"),
];

/// Views that need a name, and what completes it.
const NAMED: [(&str, &str); 5] = [
    ("tasks/{task}", "Everything about one task"),
    ("tasks/{task}/diff", "What the work of a task changes, as a patch"),
    ("runs/{run}/log", "What a run has printed"),
    ("operations/{operation}", "One operation and every fact it changed"),
    ("at/{seq}/{view}", "status, plan, attention, handoff or tasks/ID as it was at a record"),
];

pub fn resources() -> Vec<Resource> {
    let made = |(name, about): (&str, &str)| {
        Resource::new(format!("{SCHEME}{name}"), name)
            .with_description(about)
            .with_mime_type("application/json")
    };
    FIXED.into_iter().map(made).collect()
}

pub fn templates() -> Vec<ResourceTemplate> {
    let made = |(name, about): (&str, &str)| {
        let mime = if name.ends_with("/diff") { "text/x-diff" } else { "application/json" };
        ResourceTemplate::new(format!("{SCHEME}{name}"), name).with_description(about).with_mime_type(mime)
    };
    NAMED.into_iter().map(made).collect()
}

/// What an address shows.
pub enum Shown {
    Json(Value),
    Patch(String),
}

pub async fn read(source: &Source, uri: &str) -> Result<Shown, ApiError> {
    let path = uri.strip_prefix(SCHEME).ok_or_else(|| unknown(uri))?;
    let (path, at) = match path.strip_prefix("at/").and_then(|rest| rest.split_once('/')) {
        Some((seq, path)) => (path, Some(seq.parse::<u64>().map_err(|_| unknown(uri))?)),
        None => (path, None),
    };
    let parts: Vec<&str> = path.split('/').collect();
    let task = |name: &str| TaskId::new(name).map_err(|_| unknown(uri));
    let look = match parts.as_slice() {
        ["history"] if at.is_none() => return history(source).await,
        ["runs", run, "log"] if at.is_none() => return log(source, run).await,
        ["tasks", id, "diff"] if at.is_none() => {
            return Ok(Shown::Patch(source.diff(task(id)?).await?.patch));
        }
        ["status"] => Look::Status,
        ["plan"] => Look::Plan,
        ["attention"] => Look::Attention,
        ["handoff"] => Look::Handoff,
        ["checkpoints"] => Look::Checkpoints,
        ["operations"] => Look::Operations,
        ["tasks"] => Look::Tasks,
        ["tasks", id] => Look::Task(task(id)?),
        ["operations", id] => Look::Operation(CommandId::new(id).map_err(|_| unknown(uri))?),
        _ => return Err(unknown(uri)),
    };
    let seen = source.look(look, at).await?;
    Ok(Shown::Json(json!({ "seq": seen.seq, "view": seen.view })))
}

async fn history(source: &Source) -> Result<Shown, ApiError> {
    let last = source.look(Look::Attention, None).await?.seq;
    let page = source.history(last.saturating_sub(99).max(1), 100).await?;
    let rows: Vec<Value> = page.records.iter().map(record_row).collect();
    Ok(Shown::Json(json!({ "seq": page.seq, "records": rows })))
}

async fn log(source: &Source, run: &str) -> Result<Shown, ApiError> {
    let who = run.to_owned();
    let page = source.beside(move |desk| desk.log(&who, 0, LINES_MAX)).await?;
    let page = serde_json::to_value(page).map_err(|error| ApiError::new("bug", error.to_string(), ""))?;
    Ok(Shown::Json(page))
}

fn unknown(uri: &str) -> ApiError {
    let uri: String = uri.chars().take(200).collect();
    ApiError::new("not_found", format!("There is no resource {uri}"), "resources/templates/list")
}

/// Names that an argument could be, of those that begin like this.
pub async fn complete(source: &Source, argument: &str, begun: &str) -> Vec<String> {
    let (look, member) = match argument {
        "task" => (Look::Tasks, "id"),
        "operation" => (Look::Operations, "id"),
        "run" => (Look::Agents, "run"),
        "checkpoint" => (Look::Checkpoints, "name"),
        "view" => {
            let views = ["status", "plan", "attention", "handoff", "checkpoints", "operations", "tasks"];
            return views.into_iter().filter(|view| view.starts_with(begun)).map(str::to_owned).collect();
        }
        _ => return vec![],
    };
    let Ok(seen) = source.look(look, None).await else { return vec![] };
    let names = seen.view.as_array().cloned().unwrap_or_default();
    let names = names.iter().filter_map(|row| row[member].as_str()).filter(|name| name.starts_with(begun));
    names.take(100).map(str::to_owned).collect()
}
