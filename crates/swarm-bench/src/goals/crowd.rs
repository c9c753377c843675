//! Many agents that say nothing: what they cost, and how long a new coordinator takes to have them all.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use swarm_sim::bench::report::{Report, Target, median};

use crate::arena::{Arena, Planned};
use crate::http;
use crate::readings::{connections, cpu, cpu_of_all, wake_ups};
use crate::running::{LIMIT, Running, daemons_of, wait_for};
use crate::setting::{ROUNDS, Setting};
use crate::stamps::Stamps;

const FEW: usize = 10;
const MORE: usize = 25;
const MANY: usize = 50;
const IDLE: Duration = Duration::from_secs(20);

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let arena = Arena::new(setting, "crowd", 20, json!({}))?;
    let mut crowd = Crowd::new(&arena, MANY)?;
    crowd.grow_to(FEW)?;
    let few = adoptions(&mut crowd, FEW)?;
    crowd.grow_to(MORE)?;
    let more = adoptions(&mut crowd, MORE)?;
    crowd.grow_to(MANY)?;
    let many = adoptions(&mut crowd, MANY)?;
    let what = format!("s from kill -9 of the coordinator to all {MANY} agents and the API back");
    report.judge("also", &what, &many, Target::AtMost(1.0));
    // No faster than the number of agents: what each costs must not depend on how many there are.
    for (agents, times) in [(MORE, &more), (MANY, &many)] {
        let growth: Vec<f64> = few.iter().zip(times).map(|(few, times)| times / few).collect();
        let what = format!("the same with {agents} agents / with {FEW}");
        report.judge("also", &what, &growth, Target::AtMost(agents as f64 / FEW as f64));
    }
    report.note(
        "also",
        &format!(
            "medians: {FEW} agents {:.2} s, {MORE} agents {:.2} s, {MANY} agents {:.2} s",
            median(&few),
            median(&more),
            median(&many)
        ),
    );
    idle(&arena, &crowd, report)
}

fn adoptions(crowd: &mut Crowd<'_>, agents: usize) -> Result<Vec<f64>> {
    (0..ROUNDS).map(|_| crowd.killed_and_back(agents).map(|time| time.as_secs_f64())).collect()
}

/// Nobody says anything, so nobody should do anything.
#[allow(clippy::disallowed_methods, reason = "idleness is measured over a time")]
fn idle(arena: &Arena, crowd: &Crowd<'_>, report: &mut Report) -> Result<()> {
    let pid = crowd.coordinator()?;
    let daemons = daemons_of(&arena.root);
    std::thread::sleep(Duration::from_secs(2));
    let (cpu_before, woken_before, theirs_before) = (cpu(pid)?, wake_ups(pid)?, cpu_of_all(&daemons));
    std::thread::sleep(IDLE);
    let percent = |before: Duration, after: Duration| {
        after.saturating_sub(before).as_secs_f64() / IDLE.as_secs_f64() * 100.0
    };
    let ours = percent(cpu_before, cpu(pid)?);
    let theirs = percent(theirs_before, cpu_of_all(&daemons));
    let woken = (wake_ups(pid)? - woken_before) as f64 * 60.0 / IDLE.as_secs_f64();
    let what = format!("% CPU of the coordinator with {MANY} silent agents, over {} s", IDLE.as_secs());
    report.judge("also", &what, &[ours], Target::AtMost(1.0));
    report.note(
        "also",
        &format!("{woken:.0} wake-ups a minute; all {} daemons together {theirs:.2} % CPU", daemons.len()),
    );
    Ok(())
}

/// A swarm whose agents hang, of a size that can be raised.
pub struct Crowd<'a> {
    arena: &'a Arena,
    stamps: Stamps,
    running: Option<Running>,
    living: usize,
}

impl<'a> Crowd<'a> {
    /// Plans so many agents; none lives yet.
    pub fn new(arena: &'a Arena, most: usize) -> Result<Self> {
        let stamps = Stamps::watch(&arena.beside("stamps"))?;
        let tasks: Vec<Planned> = (0..most)
            .map(|n| Planned::new(format!("t{n}"), format!("{}\nhang", stamps.line(&format!("t{n}")))))
            .collect();
        arena.save_plan(&tasks)?;
        Ok(Self { arena, stamps, running: None, living: 0 })
    }

    /// A new coordinator with room for so many, and all of them there.
    pub fn grow_to(&mut self, agents: usize) -> Result<()> {
        if let Some(mut running) = self.running.take() {
            running.kill_9()?;
            running.forget();
        }
        let mut running = Running::start(self.arena, agents)?;
        self.stamps.take(agents.saturating_sub(self.living), LIMIT)?;
        self.living = agents;
        wait_for(LIMIT, || {
            running.still_runs()?;
            Ok(connections(&self.arena.root) >= agents)
        })?;
        self.running = Some(running);
        Ok(())
    }

    pub fn coordinator(&self) -> Result<u32> {
        ensure!(self.running.is_some(), "no coordinator runs");
        Ok(self.running.as_ref().map_or(0, Running::pid))
    }

    /// Kills the coordinator; the time until the next one has all agents and answers.
    pub fn killed_and_back(&mut self, agents: usize) -> Result<Duration> {
        if let Some(mut running) = self.running.take() {
            running.kill_9()?;
            running.forget();
        }
        let started = Instant::now();
        let mut running = Running::start(self.arena, agents)?;
        wait_for(LIMIT, || {
            running.still_runs()?;
            Ok(connections(&self.arena.root) >= agents)
        })?;
        wait_for(LIMIT, || Ok(http::answers(&self.arena.root)))?;
        let time = started.elapsed();
        self.running = Some(running);
        Ok(time)
    }
}
