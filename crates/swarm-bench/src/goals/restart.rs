//! G10: an agent that dies is there again, against a bare loop that starts it, waits and writes the crash down.

use anyhow::Result;
use serde_json::json;
use swarm_sim::bench::report::{Report, Target, median};

use crate::arena::{Arena, Planned};
use crate::bare::{BareAgent, BareLog};
use crate::running::{LIMIT, Running};
use crate::setting::{ROUNDS, Setting};
use crate::stamps::{Stamps, gaps};

/// Deaths in one round.
const DEATHS: usize = 8;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut ratios = Vec::new();
    let (mut limits, mut products) = (vec![], vec![]);
    for round in 0..ROUNDS {
        // The retries of a task are counted for good, so each round has a swarm of its own.
        let config = json!({ "recovery": { "maxRetries": DEATHS + 1, "backoffMax": "0s" } });
        let arena = Arena::new(setting, &format!("g10-{round}"), 20, config)?;
        let limit = median(&bare_loop(&arena)?);
        let product = median(&product_loop(&arena)?);
        limits.push(limit);
        products.push(product);
        ratios.push(product / limit);
    }
    report.judge(
        "G10",
        "agent killed → next one lives / bare loop + 1 fdatasync",
        &ratios,
        Target::AtMost(2.0),
    );
    let (limit, product) = (median(&limits) * 1e3, median(&products) * 1e3);
    report.note(
        "G10",
        &format!("limit {limit:.1} ms, product {product:.1} ms (of a program that lives by stamping a file)"),
    );
    report.note("G10", "peers supervisord, s6, runit: not measured here");
    Ok(())
}

fn bare_loop(arena: &Arena) -> Result<Vec<f64>> {
    let dir = arena.folder_beside("bare")?;
    let stamps = Stamps::watch(&arena.beside("bare-stamps"))?;
    let mut log = BareLog::new(&dir.join("log"))?;
    let mut agents = Vec::new();
    for life in 0..=DEATHS {
        let name = format!("life{life}");
        agents.push(BareAgent::new(
            &arena.swarm,
            &dir,
            &name,
            &format!("{}\nkill-self", stamps.line(&name)),
        )?);
    }
    for agent in agents {
        agent.spawn()?.wait()?;
        log.append()?;
    }
    Ok(gaps(&stamps.take(DEATHS + 1, LIMIT)?))
}

fn product_loop(arena: &Arena) -> Result<Vec<f64>> {
    let stamps = Stamps::watch(&arena.beside("stamps"))?;
    let lives: Vec<String> = (0..=DEATHS)
        .map(|life| format!("on-attempt {}: {}", life + 1, stamps.line(&format!("life{life}"))))
        .collect();
    arena.save_plan(&[Planned::new("t1", format!("{}\nkill-self", lives.join("\n")))])?;
    let _running = Running::start(arena, 1)?;
    Ok(gaps(&stamps.take(DEATHS + 1, LIMIT)?))
}
