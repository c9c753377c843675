//! G12: a task is done, the one that waited for it begins. From the record in the ledger to the life of
//! the next agent, against a message, a synced record and a start with nothing in between.

use std::time::Instant;

use anyhow::{Context as _, Result};
use serde_json::json;
use swarm_sim::bench::report::{Report, Target, median};

use crate::arena::{Arena, Planned};
use crate::bare::{BareAgent, BareLog, OneWay};
use crate::ledger_watch::LedgerWatch;
use crate::running::{LIMIT, Running};
use crate::setting::{ROUNDS, Setting};
use crate::stamps::Stamps;

/// Tasks of one round, each waiting for the one before.
const CHAIN: usize = 6;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let (mut ratios, mut limits, mut products, mut slots) = (vec![], vec![], vec![], vec![]);
    for round in 0..ROUNDS {
        let arena = Arena::new(setting, &format!("g12-{round}"), 20, json!({}))?;
        let limit = median(&bare_starts(&arena)?);
        let (after_done, after_end) = handovers(&arena)?;
        let product = median(&after_done);
        ratios.push(product / limit);
        limits.push(limit);
        products.push(product);
        slots.push(median(&after_end));
    }
    report.judge(
        "G12",
        "task done → next agent lives / socket + 1 fdatasync + posix_spawn",
        &ratios,
        Target::AtMost(2.0),
    );
    let [limit, product, slot] = [&limits, &products, &slots].map(|times| median(times) * 1e3);
    report.note(
        "G12",
        &format!(
            "limit {limit:.1} ms, product {product:.1} ms; from the end of the agent before {slot:.1} ms"
        ),
    );
    report.note("G12", "peer opencode-swarm: not measured here");
    report.note("G12", "frames of the terminal UI: not yet");
    Ok(())
}

fn bare_starts(arena: &Arena) -> Result<Vec<f64>> {
    let dir = arena.folder_beside("bare")?;
    let stamps = Stamps::watch(&arena.beside("bare-stamps"))?;
    let agent = BareAgent::new(&arena.swarm, &dir, "agent", &stamps.line("agent"))?;
    let mut log = BareLog::new(&dir.join("log"))?;
    let mut message = OneWay::new()?;
    let mut times = Vec::new();
    for _ in 0..CHAIN {
        let started = Instant::now();
        message.send()?;
        log.append()?;
        let mut child = agent.spawn()?;
        times.push((stamps.next(LIMIT)?.at - started).as_secs_f64());
        child.wait()?;
    }
    Ok(times)
}

/// From the record that a task is done to the next agent's life, and from the last deed of the agent before.
fn handovers(arena: &Arena) -> Result<(Vec<f64>, Vec<f64>)> {
    let stamps = Stamps::watch(&arena.beside("stamps"))?;
    let tasks: Vec<Planned> = (0..CHAIN)
        .map(|n| {
            let lives = stamps.line(&format!("{n}-lives"));
            let ends = stamps.line(&format!("{n}-ends"));
            let task = Planned::new(
                format!("t{n}"),
                format!("{lives}\nwrite f{n} x\ncommit f{n}\n{ends}\ncomplete"),
            );
            if n == 0 { task } else { task.after(format!("t{}", n - 1)) }
        })
        .collect();
    arena.save_plan(&tasks)?;
    let ledger = LedgerWatch::start(&arena.root.join(".swarm/plan-ledger.jsonl"))?;
    let mut running = Running::start(arena, 1)?;
    let seen = stamps.take(2 * CHAIN, LIMIT)?;
    let at = |name: String| {
        seen.iter().find(|stamp| stamp.name == name).map(|stamp| stamp.at).context("an agent left no stamp")
    };
    let (mut after_done, mut after_end) = (vec![], vec![]);
    for n in 1..CHAIN {
        let before = format!("t{}", n - 1);
        let done = ledger.until(LIMIT, |record| record["status"] == "done" && record["taskId"] == *before)?;
        let lives = at(format!("{n}-lives"))?;
        after_done.push((lives - done.at).as_secs_f64());
        after_end.push((lives - at(format!("{}-ends", n - 1))?).as_secs_f64());
    }
    running.end(LIMIT)?;
    Ok((after_done, after_end))
}
