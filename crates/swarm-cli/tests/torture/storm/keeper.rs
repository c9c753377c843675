//! Whoever starts the swarm again when it has ended, as a person or a service would.

use std::time::{Duration, Instant};

use super::sky::Sky;
use crate::arena::holds_within;
use crate::arena::{Running, wait_for};

/// From good weather to the end of everything.
const END_WITHIN: Duration = Duration::from_secs(240);

/// How often the person looks in good weather whether something waits for them.
const ASK_EVERY: Duration = Duration::from_secs(30);

pub fn keep(sky: &Sky) {
    wait_for("there is a plan", || sky.arena.records("operation") > 0 || sky.is_lost());
    let mut clear_since = None;
    while !sky.is_lost() {
        let agents = sky.agents.to_string();
        let run = sky.arena.start(&["--agents", &agents]);
        let (code, said) = stay(sky, run, &mut clear_since);
        // 70 and 101: a bug of ours, whatever the weather.
        if matches!(code, Some(70 | 101)) {
            sky.wrong(format!("the coordinator: {said}"));
        }
        let how = code.map_or("killed".into(), |code| format!("exit {code}"));
        let last = said.lines().rev().take(3).collect::<Vec<_>>().join(" | ");
        sky.note(&format!("ended: the coordinator, {how}: {last}"));
        if clear_since.is_some() && code.is_some() && all_done(sky) {
            return;
        }
        holds_within(Duration::from_millis(50), || false);
    }
}

/// Waits for its end. In good weather everything has to be over some day.
fn stay(sky: &Sky, mut run: Running, clear_since: &mut Option<Instant>) -> (Option<i32>, String) {
    let mut asks = 1;
    loop {
        if run.for_a_while(Duration::from_millis(100)) {
            let code = run.child.wait().expect("it is ours").code();
            return (code, run.said());
        }
        give_agents_back(sky);
        if sky.is_clear() && clear_since.is_none() {
            *clear_since = Some(Instant::now());
        }
        // A run with a task that waits for a person does not end by itself.
        if clear_since.is_some_and(|since| since.elapsed() > asks * ASK_EVERY) {
            asks += 1;
            all_done(sky);
        }
        if sky.is_lost() || clear_since.is_some_and(|since| since.elapsed() > END_WITHIN) {
            let status = String::from_utf8_lossy(&sky.arena.swarm(&["status"]).stdout).into_owned();
            sky.wrong(format!("not at its end {} s after the storm: {status}", END_WITHIN.as_secs()));
            run.kill_9();
            return (None, run.said());
        }
    }
}

/// In such weather agents crash too often for anybody's trust, and the swarm pauses and asks. The person trusts them all
/// the same. What is not answered is asked again the next time.
fn give_agents_back(sky: &Sky) {
    if sky.arena.records("agent_degraded") <= sky.arena.records("agent_revived") {
        return;
    }
    let out = sky.arena.swarm(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
    let mut paused = status["paused"].as_array().into_iter().flatten();
    if paused.any(|reason| reason == "errors") {
        let answered = sky.arena.swarm(&["resume", "--reason", "errors"]).status.success();
        sky.note(&format!("resumed: {answered}"));
        if !answered {
            return;
        }
    }
    for agent in status["degraded"].as_array().into_iter().flatten() {
        let id = agent["agent"].as_str().unwrap_or_default();
        let answered = sky.arena.swarm(&["agent", "revive", id]).status.success();
        sky.note(&format!("revived {id}: {answered}"));
    }
}

/// True when every task is done; what waits for a person gets the person's word.
fn all_done(sky: &Sky) -> bool {
    let mut all = true;
    for task in sky.arena.tasks() {
        let (id, status) =
            (task["id"].as_str().unwrap_or_default(), task["status"].as_str().unwrap_or_default());
        if status == "done" {
            continue;
        }
        all = false;
        sky.note(&format!("asked: {id} is {status}"));
        match status {
            "blocked" | "failed" | "timeout" | "deferred" => drop(sky.arena.swarm(&["task", "unblock", id])),
            // What could not be looked through waits for somebody who has.
            "review" => drop(sky.arena.swarm(&["review", "approve", id])),
            _ => {}
        }
    }
    all
}
