//! What people ask the swarm for.

use serde_json::Value;

use crate::arena::Running;
use crate::plan;
use crate::story::Story;

pub fn run(story: &mut Story) {
    run_with(story, &[]);
}

/// Starts it in the background; or tries to, beside one that runs.
fn run_with(story: &mut Story, more: &[&str]) {
    let agents = story.chance.between(1, 3).to_string();
    let mode = if story.often(80) { "autopilot" } else { "semi-auto" };
    let mut args = vec!["run", "--agent", "script", "--mode", mode, "--agents", &agents];
    args.extend(more);
    if story.run.is_some() {
        // It is refused, or finds the other one dead.
        let mut second = Running::of(story.arena.command(&args));
        story.note(format!("swarm {} &    # a second one", args.join(" ")));
        if second.for_a_while(std::time::Duration::from_secs(2)) {
            let (code, said) = second.end();
            if ![0, 1].contains(&code) {
                story.wrong.push(format!("a second swarm run: exit {code}: {said}"));
            }
        } else {
            let first = story.run.replace(second);
            drop(first);
        }
        return;
    }
    story.note(format!("swarm {} &", args.join(" ")));
    story.run = Some(Running::of(story.arena.command(&args)));
    story.moment(900);
}

pub fn retry(story: &mut Story) {
    run_with(story, &["--retry"]);
}

pub fn stop(story: &mut Story) {
    story.swarm(&["stop"]);
    story.wait_for_the_run(std::time::Duration::from_secs(20));
}

pub fn start_tasks(story: &mut Story) {
    let id = story.one_id();
    let which = if story.often(50) { "--all" } else { &id };
    story.swarm(&["task", "start", which]);
}

pub fn pause(story: &mut Story) {
    let force = story.often(30);
    story.swarm(if force { &["pause", "--force"] } else { &["pause"] });
    story.moment(200);
    if story.often(60) {
        story.swarm(&["resume"]);
    }
}

pub fn resume(story: &mut Story) {
    story.swarm(&["resume"]);
}

pub fn mode(story: &mut Story) {
    let mode = if story.often(50) { "semi-auto" } else { "autopilot" };
    story.swarm(&["mode", mode]);
}

pub fn stages(story: &mut Story) {
    let id = story.one_id();
    let ways: [&[&str]; 5] = [&["block"], &["unblock"], &["defer"], &["cancel"], &["unblock"]];
    let way = story.one_of(&ways).unwrap_or(&["unblock"]);
    let mut args = [&["task"], way, &[id.as_str()]].concat();
    if way == ["block"] {
        args.push("wait for me");
    }
    story.swarm(&args);
}

pub fn edit(story: &mut Story) {
    let id = story.one_id();
    story.swarm(&["task", "edit", &id, "--title", "Do it well"]);
}

pub fn add(story: &mut Story) {
    let id = format!("q{}", story.ids.len());
    let depends: Vec<String> = Vec::new();
    let task = plan::task(story, &id, &depends);
    let text = task["description"].as_str().unwrap_or_default().to_owned();
    if story.swarm(&["task", "add", "One more", "--id", &id, "--phase", "1", "--description", &text]) == 0 {
        story.ids.push(id);
    }
}

pub fn split(story: &mut Story) {
    let id = story.one_id();
    let parts: Vec<Value> = [1, 2]
        .map(|n| {
            let part = format!("{id}-{n}");
            plan::task(story, &part, &[])
        })
        .into();
    plan::give(story, "parts.json", &Value::from(parts).to_string());
    let file = story.arena.path("parts.json").display().to_string();
    if story.swarm(&["task", "split", &id, &file]) == 0 {
        story.ids.extend([format!("{id}-1"), format!("{id}-2")]);
    }
}

pub fn message(story: &mut Story) {
    let id = story.one_id();
    story.swarm(&["agent", "message", &id, "be quick"]);
}

pub fn agents(story: &mut Story) {
    let (id, other) = (story.one_id(), story.one_id());
    match story.chance.below(4) {
        0 => story.swarm(&["agent", "stop", &id]),
        1 => story.swarm(&["agent", "kill", &id]),
        2 => story.swarm(&["agent", "redirect", &id, &other]),
        _ => story.swarm(&["agent", "redirect", &id, &other, "--same-worktree"]),
    };
}

pub fn checkpoint(story: &mut Story) {
    let name = format!("mine-{}", story.chance.below(1000));
    story.swarm(&["checkpoint", "create", &name]);
}

fn names(story: &Story, ask: &[&str], member: &str) -> Vec<String> {
    let mut args = ask.to_vec();
    args.push("--json");
    let out = story.arena.swarm(&args);
    let list: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
    let names = list.as_array().into_iter().flatten().filter_map(|one| one[member].as_str());
    names.map(str::to_owned).collect()
}

pub fn rollback(story: &mut Story) {
    let all = names(story, &["checkpoint", "list"], "name");
    let Some(name) = story.one_of(&all) else { return };
    story.swarm(&["rollback", &name, "--yes"]);
}

pub fn rollback_session(story: &mut Story) {
    story.swarm(&["rollback", "--session", "--yes"]);
}

pub fn rollback_task(story: &mut Story) {
    let id = story.one_id();
    let cascade: &[&str] = if story.often(50) { &["--cascade"] } else { &[] };
    story.swarm(&[&["task", "rollback", &id, "--yes"], cascade].concat());
}

pub fn abort(story: &mut Story) {
    story.swarm(&["abort", "--yes"]);
}

pub fn undo(story: &mut Story) {
    story.swarm(&["undo", "--yes"]);
}

pub fn undo_by_name(story: &mut Story) {
    let all = names(story, &["op", "log"], "id");
    let Some(id) = story.one_of(&all) else { return };
    let partial: &[&str] = if story.often(30) { &["--partial"] } else { &[] };
    story.swarm(&[&["undo", &id, "--yes"], partial].concat());
}

pub fn redo(story: &mut Story) {
    story.swarm(&["redo", "--yes"]);
}

/// A person works in the worktree of a task, hands it in, and works on.
pub fn merge_worktree(story: &mut Story) {
    let id = story.one_id();
    let worktree = format!(".swarm/worktrees/{id}");
    if !story.arena.root.join(&worktree).join(".git").exists() {
        return;
    }
    commit_in(story, &worktree, &id);
    if story.swarm(&["worktree", "merge", &id]) == 0 {
        story.known.merged_early.insert(id.clone());
        if story.arena.root.join(&worktree).join(".git").exists() {
            commit_in(story, &worktree, &id);
        }
    }
}

fn commit_in(story: &mut Story, worktree: &str, id: &str) {
    let mark = story.mark();
    let file = format!("people/{}", mark.trim_end_matches(';').replace(':', "-"));
    story.append(&format!("{worktree}/{file}"), &mark);
    if story.git(&["-C", worktree, "add", &file]) {
        story.git(&["-C", worktree, "commit", "-q", "-m", &format!("person: helps {id}")]);
    }
}

pub fn open_gate(story: &mut Story) {
    if story.gates > 0 {
        let gate = story.chance.between(1, story.gates);
        story.open_gate(gate);
    }
}
