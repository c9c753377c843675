//! What it costs to be watched: a coordinator with agents that say nothing, with and without a scrape each second.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use swarm_sim::bench::report::{Report, Target, median};

use super::crowd::Crowd;
use crate::arena::Arena;
use crate::http;
use crate::readings::cpu;
use crate::setting::{ROUNDS, Setting};

const AGENTS: usize = 25;
const WATCHED: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_secs(1);

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let arena = Arena::new(setting, "watched", 20, json!({}))?;
    let mut crowd = Crowd::new(&arena, AGENTS)?;
    crowd.grow_to(AGENTS)?;
    let pid = crowd.coordinator()?;
    let (mut off, mut costs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let alone = used(pid, || Ok(()))?;
        let scraped = used(pid, || {
            let page = http::get(&arena.root, "/metrics")?;
            ensure!(page.starts_with(b"# "), "this is no page of metrics");
            Ok(())
        })?;
        off.push(alone);
        costs.push((scraped - alone).max(0.0));
    }
    let seconds = EVERY.as_secs();
    let what = format!("% CPU more with {AGENTS} agents when /metrics is read every {seconds} s");
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
fn used(pid: u32, deed: impl Fn() -> Result<()>) -> Result<f64> {
    let (began, before) = (Instant::now(), cpu(pid)?);
    while began.elapsed() < WATCHED {
        deed()?;
        std::thread::sleep(EVERY);
    }
    Ok(cpu(pid)?.saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64() * 100.0)
}
