//! `swarm agent list`: who works, and who has.

use std::collections::BTreeMap;

use serde::Serialize;
use swarm_protocol::api::{AgentNews, AgentNow};
use swarm_protocol::ids::RunId;
use swarm_protocol::time::Timestamp;

use crate::context::Context;
use crate::error::CliError;
use crate::output::harmless;
use crate::output::money::{cost, tokens};
use crate::output::table::table;
use crate::output::time::{length, moment};
use crate::swarm::runs::RunRow;
use crate::swarm::{Presence, Swarm};

/// List agents at work and earlier runs
///
/// One line per run: its agent, task, state, iteration, start, duration, and the cost as far as the program reports it. Runs that
/// verify or review are shown with `--all`.
///
/// Example: swarm agent list --json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of earlier runs to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Show all earlier runs, and runs that verify or review
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    run: RunRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    news: Option<AgentNews>,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let mut runs = swarm.runs()?;
    runs.retain(|run| args.all || run.kind == "work");
    let (working, past): (Vec<RunRow>, Vec<RunRow>) = runs.into_iter().partition(|run| run.ended.is_none());
    let skipped = if args.all { 0 } else { past.len().saturating_sub(args.limit) };
    let there = (!working.is_empty()).then(|| swarm.presence());
    let mut news = match there {
        Some(Presence::Answers) => swarm.agent_news(),
        _ => BTreeMap::new(),
    };
    let rows: Vec<Row> = past
        .into_iter()
        .skip(skipped)
        .chain(working)
        .map(|run| Row { news: news.remove(&run.run), run })
        .collect();
    let now = swarm.now();
    cx.out.view(&rows, |rows| text(rows, skipped, now))?;
    if let Some(there) = &there {
        swarm.note_that_nobody_coordinates(there);
    }
    Ok(())
}

fn text(rows: &[Row], skipped: usize, now: Timestamp) -> String {
    if rows.is_empty() {
        return "No runs yet; `swarm run` starts agents".into();
    }
    let cells = |row: &Row| {
        let run = &row.run;
        let who = run.agent.as_ref().map_or_else(|| run.kind.to_owned(), ToString::to_string);
        let took = run.ended.unwrap_or(now).secs_since(run.since);
        let spent = [tokens(&run.usage), cost(&run.usage)].into_iter().filter(|text| !text.is_empty());
        vec![
            who,
            run.task.to_string(),
            run.run.to_string(),
            doing(row),
            if run.iteration > 0 { run.iteration.to_string() } else { String::new() },
            moment(run.since),
            length(took),
            spent.collect::<Vec<_>>().join(", "),
        ]
    };
    let head = ["agent", "task", "run", "state", "iteration", "since", "took", "used"];
    let mut text = table(&head, rows.iter().map(cells));
    if skipped > 0 {
        text = format!("… {skipped} earlier: `swarm agent list --all`\n{text}");
    }
    text
}

fn doing(row: &Row) -> String {
    let mut words = vec![harmless(row.run.state.lines().next().unwrap_or_default())];
    if let Some(news) = row.news.as_ref().filter(|_| row.run.ended.is_none()) {
        words.extend(news.percent.map(|percent| format!("{percent} %")));
        words.extend(news.doing.as_ref().map(|doing| harmless(doing)));
    }
    words.join(", ")
}

impl Swarm {
    /// What agents are at, from the running coordinator; nothing where there is none.
    pub fn agent_news(&self) -> BTreeMap<RunId, AgentNews> {
        let agents: Vec<AgentNow> = self.view_of_coordinator("agents").unwrap_or_default();
        agents.into_iter().filter_map(|agent| Some((agent.agent.run.clone(), agent.news?))).collect()
    }
}
