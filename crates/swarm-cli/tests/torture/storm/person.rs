//! The person: adds tasks, again and again, and remembers which were answered.

use std::time::Duration;

use super::sky::Sky;
use crate::arena::holds_within;
use crate::seeded::Seeded;

/// Open tasks for each agent: enough that nobody is idle, few enough that the end comes soon.
const OPEN_PER_AGENT: usize = 2;

pub fn work(sky: &Sky) {
    let mut chance = Seeded::new(sky.seed ^ 1);
    let first: Vec<(String, String)> =
        (1..=sky.agents).map(|n| (format!("1.{n}"), script(&format!("1.{n}"), &mut chance))).collect();
    let first: Vec<(&str, &[&str], String)> =
        first.iter().map(|(id, script)| (id.as_str(), &[][..], script.clone())).collect();
    sky.arena.plan(&first);
    let ids = first.iter().map(|(id, _, _)| (*id).to_owned());
    sky.acknowledged.lock().expect("no panic").extend(ids);
    let (mut number, mut asked) = (0, first.len());
    while !sky.is_clear() {
        holds_within(Duration::from_millis(chance.between(20, 250)), || sky.is_clear());
        if asked.saturating_sub(sky.arena.records("merge_completed")) >= sky.agents as usize * OPEN_PER_AGENT
        {
            continue;
        }
        number += 1;
        asked += 1;
        add(sky, &format!("p{number}"), &mut chance);
    }
}

fn add(sky: &Sky, id: &str, chance: &mut Seeded) {
    let description = format!("```script\n{}\n```", script(id, chance));
    let title = format!("Do {id}");
    let out = sky.arena.swarm(&["task", "add", &title, "--id", id, "--description", &description]);
    match out.status.code() {
        Some(0) => {
            sky.acknowledged.lock().expect("no panic").push(id.to_owned());
            sky.note(&format!("added {id}"));
        }
        Some(70 | 101) | None => {
            sky.wrong(format!("task add: {}", String::from_utf8_lossy(&out.stderr)));
        }
        // Not answered: it may be there or not. What was said must be words, not a riddle.
        Some(code) => {
            let said = String::from_utf8_lossy(&out.stderr).replace('\n', " | ");
            sky.note(&format!("unanswered {id}, exit {code}: {said}"));
        }
    }
}

/// Two files that nobody else writes, with pauses; sometimes the agent dies by itself.
fn script(id: &str, chance: &mut Seeded) -> String {
    let mut lines = vec![format!("write work/{id}-a.txt {id}"), format!("commit feat: {id} a")];
    lines.push(format!("sleep {}", chance.between(20, 600)));
    match chance.below(8) {
        0 => lines.push("on-attempt 1: crash 137".into()),
        1 => lines.push("flood 200".into()),
        2 => lines.push("spawn-child 5".into()),
        _ => {}
    }
    lines.extend([format!("write work/{id}-b.txt {id}"), format!("commit feat: {id} b"), "complete".into()]);
    lines.join("\n")
}
