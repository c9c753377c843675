//! What it costs to be watched: a coordinator with agents that say nothing, with and without a scrape each second.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use swarm_sim::bench::report::{Report, Target, median};

use super::crowd::Crowd;
use crate::arena::Arena;
use crate::http;
use crate::readings::Spent;
use crate::setting::{ROUNDS, Setting};

const AGENTS: usize = 25;
/// A page is made of the whole plan, so it has more than those who work on it.
const TASKS: usize = 300;
const WATCHED: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_secs(1);
/// Whatever the beginning of so many agents leaves to be done.
const SETTLES: Duration = Duration::from_secs(2);

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let arena = Arena::new(setting, "watched", 20, json!({}))?;
    let mut crowd = Crowd::new(&arena, TASKS)?;
    crowd.grow_to(AGENTS)?;
    let pid = crowd.coordinator()?;
    let scrape = || -> Result<()> {
        let page = http::get(&arena.root, "/metrics")?;
        ensure!(page.starts_with(b"# "), "this is no page of metrics");
        Ok(())
    };
    // The first page counts the whole ledger, which a scraper pays once.
    scrape()?;
    used(pid, SETTLES, || Ok(()))?;
    let (mut off, mut costs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // In turns, so that what grows or settles meanwhile is on both sides.
        let (alone, scraped) = if round % 2 == 0 {
            let alone = used(pid, WATCHED, || Ok(()))?;
            (alone, used(pid, WATCHED, scrape)?)
        } else {
            let scraped = used(pid, WATCHED, scrape)?;
            (used(pid, WATCHED, || Ok(()))?, scraped)
        };
        off.push(alone);
        costs.push((scraped - alone).max(0.0));
    }
    let seconds = EVERY.as_secs();
    let what =
        format!("% CPU more with {AGENTS} agents and {TASKS} tasks when /metrics is read every {seconds} s");
    report.judge("watched", &what, &costs, Target::AtMost(2.0));
    report.judge("watched", "% CPU of the same coordinator when nobody reads", &off, Target::AtMost(1.0));
    report.note(
        "watched",
        &format!("medians: {:.2} % read, {:.2} % alone", median(&costs) + median(&off), median(&off)),
    );
    Ok(())
}

/// Percent of one processor over the time, with `deed` once in each interval.
#[allow(clippy::disallowed_methods, reason = "a cost over time is measured over a time")]
fn used(pid: u32, over: Duration, deed: impl Fn() -> Result<()>) -> Result<f64> {
    let (began, mut spent) = (Instant::now(), Spent::from_now(pid)?);
    while began.elapsed() < over {
        deed()?;
        std::thread::sleep(EVERY);
        spent.look()?;
    }
    Ok(spent.look()?.as_secs_f64() / began.elapsed().as_secs_f64() * 100.0)
}
