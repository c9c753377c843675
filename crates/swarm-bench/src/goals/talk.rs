//! Many agents that print a hundred lines a second each: what it costs the coordinator, and how long an
//! event then takes to a screen.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use swarm_sim::bench::report::Report;

use crate::arena::{Arena, Planned};
use crate::http::{self, Events};
use crate::readings::{cpu, cpu_of_all};
use crate::running::{LIMIT, Running, agents_of, daemons_of, wait_for};
use crate::setting::Setting;
use crate::stamps::Stamps;

const AGENTS: usize = 50;
/// Of each agent: twelve seconds of a line every ten milliseconds.
const LINES: usize = 1_200;
const EVENTS: usize = 200;
const PAUSE: Duration = Duration::from_millis(20);

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let arena = Arena::new(setting, "talk", 20, json!({}))?;
    let stamps = Stamps::watch(&arena.beside("stamps"))?;
    let talk = "print a line as an agent prints it\nsleep 10\n".repeat(LINES);
    let go = arena.beside("go");
    let tasks: Vec<Planned> = (0..AGENTS)
        .map(|n| {
            let lives = stamps.line(&format!("t{n}"));
            Planned::new(format!("t{n}"), format!("{lives}\nwait-for {}\n{talk}hang", go.display()))
        })
        .collect();
    arena.save_plan(&tasks)?;
    let mut running = Running::start(&arena, AGENTS)?;
    stamps.take(AGENTS, LIMIT)?;
    std::fs::write(&go, "")?;
    let (daemons, agents) = (daemons_of(&arena.root), agents_of(&arena.root));
    let pid = running.pid();
    let readings = || Ok::<_, anyhow::Error>([cpu(pid)?, cpu_of_all(&daemons), cpu_of_all(&agents)]);
    let (before, lines_before, started) = (readings()?, journal_bytes(&arena.root), Instant::now());
    only_talk();
    running.still_runs()?;
    let (after, time) = (readings()?, started.elapsed().as_secs_f64());
    let share = |n: usize| (after[n].saturating_sub(before[n])).as_secs_f64() / time * 100.0;
    let kb = (journal_bytes(&arena.root) - lines_before) as f64 / 1000.0 / time;
    report.note(
        "also",
        &format!(
            "{AGENTS} agents printing 100 lines/s each ({kb:.0} kB/s into journals): coordinator {:.1} % CPU, all daemons {:.0} %, the agents themselves {:.0} %",
            share(0),
            share(1),
            share(2),
        ),
    );
    let mut latencies = latencies(&arena.root)?;
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] * 1e3;
    report.note(
        "also",
        &format!(
            "meanwhile command → durable event at a reader: median {:.1} ms, p99 {:.1} ms of {} events",
            at(0.5),
            at(0.99),
            latencies.len()
        ),
    );
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "what it costs is measured over a time")]
fn only_talk() {
    std::thread::sleep(Duration::from_secs(4));
}

fn journal_bytes(root: &Path) -> u64 {
    let mut bytes = 0;
    let mut folders = vec![root.join(".swarm/agents")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) => bytes += meta.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// Seconds from a command to its event at a reader, one after the other.
#[allow(clippy::disallowed_methods, reason = "the events shall not be the load themselves")]
fn latencies(root: &Path) -> Result<Vec<f64>> {
    wait_for(LIMIT, || Ok(http::answers(root)))?;
    let mut events = Events::follow(root)?;
    let mut times = Vec::new();
    for number in 0..EVENTS {
        let title = format!("seen {number}.");
        let body = json!({
            "id": format!("bench-{number}"), "by": "person:cli",
            "command": { "do": "edit_task", "task": "t1", "patch": { "title": title } },
        });
        let mut stream = http::connect(root)?;
        let started = Instant::now();
        stream.write_all(http::post("/v1/commands", &body.to_string()).as_bytes())?;
        events.until(&title)?;
        times.push(started.elapsed().as_secs_f64());
        std::thread::sleep(PAUSE);
    }
    Ok(times)
}
