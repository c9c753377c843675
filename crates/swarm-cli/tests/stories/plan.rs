//! The plan of a story: a few tasks whose agents are good, slow, idle, in trouble or ask.

use serde_json::{Value, json};

use crate::play::is_left_out;
use crate::story::Story;

/// What every agent leaves: a file that each attempt writes alike, and a mark that only this run makes.
fn work(id: &str, part: &str) -> String {
    format!("write out/{id}-{part}.txt out {id} {part}\n{}", mark(id, part))
}

fn mark(id: &str, part: &str) -> String {
    let mark = format!("mark:{id}:$SWARM_RUN:{part};");
    format!("sh mkdir -p marks && echo \"{mark}\" > marks/{id}-$SWARM_RUN-{part} && echo \"made {mark}\"")
}

/// A script; the number of the gate that it waits at, if any.
fn script(story: &mut Story, id: &str, uses: Option<&str>) -> String {
    let a = work(id, "a");
    let b = work(id, "b");
    let kind = match story.chance.below(100) {
        66..75 if is_left_out("empty") => 0,
        kind => kind,
    };
    match kind {
        0..30 => format!("{a}\ncommit feat: {id}\ncomplete"),
        30..50 => {
            story.gates += 1;
            // Below `.swarm/worktrees/ID`.
            let gate = format!("../../../../gate-{}", story.gates);
            format!("{a}\ncommit feat: {id} a\n{b}\nwait-for {gate}\ncommit feat: {id} b\ncomplete")
        }
        50..58 => format!("{a}\ncomplete"),
        58..66 if uses.is_some() => {
            let of = uses.unwrap_or_default();
            format!("append out/{of}-a.txt more of {id}\n{a}\ncommit feat: {id}\ncomplete")
        }
        66..72 => "print all is well already\ncomplete".into(),
        72..75 => format!("sh git commit -q --allow-empty -m 'chore: {id}'\ncomplete"),
        75..82 => format!(
            "{a}\ncommit feat: {id} a\non-attempt 1: blocked which way\n{b}\ncommit feat: {id} b\ncomplete"
        ),
        82..87 => format!("{a}\non-attempt 1: failed cannot\ncommit feat: {id}\ncomplete"),
        87..91 => format!("{a}\non-iteration 1: no-signal\ncommit feat: {id}\ncomplete"),
        91..94 => format!("{a}\nappend shared.txt line of {id}\ncommit feat: {id}\ncomplete"),
        _ => format!("{a}\ncommit feat: {id} a\n{b}\ncommit feat: {id} b\nsleep 150\ncomplete"),
    }
}

pub fn task(story: &mut Story, id: &str, depends: &[String]) -> Value {
    let script = script(story, id, depends.first().map(String::as_str));
    json!({
        "id": id, "title": format!("Do {id}"), "depends": depends,
        "description": format!("```script\n{script}\n```"),
    })
}

/// Three to six tasks in one or two phases.
pub fn save(story: &mut Story) {
    let many = story.chance.between(3, 6);
    let first_phase = if story.often(30) { many.div_ceil(2) } else { many };
    let mut phases: [Vec<Value>; 2] = [Vec::new(), Vec::new()];
    for n in 1..=many {
        let phase = usize::from(n > first_phase);
        let id = format!("{}.{n}", phase + 1);
        let depends = match story.often(55) {
            true => story.one_of(&story.ids.clone()).into_iter().collect(),
            false => Vec::new(),
        };
        let task = task(story, &id, &depends);
        phases[phase].push(task);
        story.ids.push(id);
    }
    let phases: Vec<Value> = phases
        .iter()
        .enumerate()
        .filter(|(_, tasks)| !tasks.is_empty())
        .map(|(at, tasks)| json!({ "id": at + 1, "name": format!("part {}", at + 1), "tasks": tasks }))
        .collect();
    let plan = json!({ "goal": "prove it", "phases": phases }).to_string();
    give(story, "plan.json", &plan);
    let file = story.arena.path("plan.json").display().to_string();
    story.swarm(&["plan", "save", &file]);
}

/// A file beside the repository.
pub fn give(story: &mut Story, name: &str, text: &str) {
    std::fs::write(story.arena.path(name), text).expect("a file");
    story.note(format!("cat > ../{name} <<'END'\n{text}\nEND"));
}
