//! `swarm_wait`: in place of push, which not every client knows.

use std::time::Duration;

use serde_json::{Value, json};
use swarm_protocol::api::{ApiError, Seen};
use swarm_server::client::Follow;
use swarm_server::ledger::Look;
use tokio::time::Instant;

use super::looking::status_sentence;
use super::{Caller, Told, members};
use crate::arguments::{Until, WaitArgs};
use crate::limits::{LOOK_AGAIN, WAIT_MAX};
use crate::wish::bad;

const SECONDS: u64 = 15;

impl Caller {
    pub(super) async fn wait(&self, args: WaitArgs) -> Result<Told, ApiError> {
        let what = look_of(&args)?;
        let ends = Instant::now() + Duration::from_secs(args.seconds.unwrap_or(SECONDS)).min(WAIT_MAX);
        let first = self.source.look(what.clone(), None).await?;
        let from = args.from.unwrap_or(first.seq);
        // What a person has seen before is no news.
        let before = match (args.from, args.until) {
            (Some(at), Until::Attention | Until::Task) if at < first.seq => {
                self.source.look(what.clone(), Some(at)).await?.view
            }
            _ => first.view.clone(),
        };
        let mut feed = self.source.client.events(Some(first.seq + 1));
        let mut seen = first;
        let mut happened = has_happened(&args, from, &before, &seen);
        while !happened && Instant::now() < ends {
            news(&mut feed, ends).await;
            seen = self.source.look(what.clone(), None).await?;
            happened = has_happened(&args, from, &before, &seen);
        }
        let status = self.source.look(Look::Status, None).await?;
        let sentence = status_sentence(&status.view);
        let text = if happened { sentence } else { format!("Not yet. {sentence}") };
        let facts = json!({ "seq": seen.seq, "happened": happened, "counts": status.view["counts"],
            "attention": status.view["attention"], "agents": status.view["agents"] });
        let mut facts = members(facts);
        if matches!(args.until, Until::Task | Until::Operation) {
            facts.insert(if args.until == Until::Task { "task" } else { "operation" }.into(), seen.view);
        }
        Ok((text, facts))
    }
}

fn look_of(args: &WaitArgs) -> Result<Look, ApiError> {
    Ok(match args.until {
        Until::Change | Until::Idle => Look::Status,
        Until::Attention => Look::Attention,
        Until::Task => Look::Task(args.task.clone().ok_or_else(|| bad("until: task needs `task`"))?),
        Until::Operation => {
            Look::Operation(args.operation.clone().ok_or_else(|| bad("until: operation needs `operation`"))?)
        }
    })
}

fn has_happened(args: &WaitArgs, from: u64, before: &Value, seen: &Seen<Value>) -> bool {
    match args.until {
        Until::Change => seen.seq > from,
        Until::Attention => {
            let known = before.as_array().map(Vec::as_slice).unwrap_or_default();
            let is_new = |entry: &Value| {
                !known.iter().any(|old| old["what"] == entry["what"] && old["since"] == entry["since"])
            };
            seen.view.as_array().is_some_and(|entries| entries.iter().any(is_new))
        }
        Until::Task => before["status"] != seen.view["status"],
        Until::Operation => seen.view["state"] != "under_way" && seen.view["state"] != "waits",
        Until::Idle => {
            let count = |name: &str| seen.view["counts"][name].as_u64().unwrap_or(0);
            count("active") + count("review") + count("merging") == 0
                && seen.view["agents"].as_array().is_none_or(Vec::is_empty)
        }
    }
}

/// Until a record comes, or for a moment where nobody tells of records.
async fn news(feed: &mut Follow, ends: Instant) {
    let again = (Instant::now() + LOOK_AGAIN * 5).min(ends);
    let nobody = match tokio::time::timeout_at(again, feed.next()).await {
        Ok(told) => told.is_err(),
        Err(_) => return,
    };
    if nobody {
        tokio::time::sleep_until((Instant::now() + LOOK_AGAIN).min(ends)).await;
    }
}
