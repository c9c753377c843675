//! G10: as many agents as there are slots, all killed at once, all back; against a bare loop with as many.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::json;
use swarm_sim::bench::report::{Report, Target, median};

use crate::arena::{Arena, Planned};
use crate::bare::{BareAgent, BareLog};
use crate::running::{LIMIT, Running, agents_of, kill};
use crate::setting::{ROUNDS, Setting};
use crate::stamps::Stamps;

/// All slots there are.
const AGENTS: usize = 64;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let config = json!({ "recovery": { "maxRetries": 100, "backoffMax": "0s" } });
    let arena = Arena::new(setting, "g10-storm", 20, config)?;
    let mut bare = BareCrowd::start(&arena)?;
    let stamps = Stamps::watch(&arena.beside("stamps"))?;
    let tasks: Vec<Planned> = (0..AGENTS)
        .map(|n| Planned::new(format!("t{n}"), format!("{}\nhang", stamps.line(&format!("t{n}")))))
        .collect();
    arena.save_plan(&tasks)?;
    let mut running = Running::start(&arena, AGENTS)?;
    stamps.take(AGENTS, LIMIT)?;
    let (mut ratios, mut limits, mut products) = (vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let limit = bare.storm()?;
        running.still_runs()?;
        let product = storm(&arena, &stamps)?;
        ratios.push(product / limit);
        limits.push(limit);
        products.push(product);
    }
    let what = format!("{AGENTS} agents killed at once → all back / bare loop of {AGENTS}");
    report.judge("G10", &what, &ratios, Target::AtMost(1.5));
    let (limit, product) = (median(&limits) * 1e3, median(&products) * 1e3);
    report.note(
        "G10",
        &format!("limit {limit:.0} ms, product {product:.0} ms; 500 at once are beyond its 64 slots"),
    );
    Ok(())
}

fn storm(arena: &Arena, stamps: &Stamps) -> Result<f64> {
    stamps.clear();
    let agents = agents_of(&arena.root);
    ensure!(agents.len() >= AGENTS, "{} agents of {AGENTS} live", agents.len());
    let started = Instant::now();
    kill(agents);
    let back = stamps.take(AGENTS, LIMIT)?;
    Ok((back[AGENTS - 1].at - started).as_secs_f64())
}

/// The limit: children that hang, one loop that waits for any of them, writes its death down and starts it again.
struct BareCrowd {
    agents: Vec<BareAgent>,
    children: Vec<std::process::Child>,
    log: BareLog,
    stamps: Stamps,
}

impl BareCrowd {
    fn start(arena: &Arena) -> Result<Self> {
        let dir = arena.folder_beside("bare")?;
        let stamps = Stamps::watch(&arena.beside("bare-stamps"))?;
        let mut agents = Vec::new();
        for n in 0..AGENTS {
            let name = format!("a{n}");
            let script = format!("{}\nhang", stamps.line(&name));
            agents.push(BareAgent::new(&arena.swarm, &dir, &name, &script)?);
        }
        let children = agents.iter().map(BareAgent::spawn).collect::<Result<Vec<_>>>()?;
        stamps.take(AGENTS, LIMIT)?;
        Ok(Self { agents, children, log: BareLog::new(&dir.join("log"))?, stamps })
    }

    fn storm(&mut self) -> Result<f64> {
        let started = Instant::now();
        kill(self.children.iter().map(std::process::Child::id));
        for (agent, child) in self.agents.iter().zip(&mut self.children) {
            child.wait()?;
            self.log.append()?;
            *child = agent.spawn()?;
        }
        let back = self.stamps.take(AGENTS, LIMIT)?;
        Ok((back[AGENTS - 1].at - started).as_secs_f64())
    }
}

impl Drop for BareCrowd {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
