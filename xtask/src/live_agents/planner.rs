//! A program as the one that plans: a goal becomes a plan, the plan is changed, a task of it is split, and all of it is done.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::service::Part;
use super::stage::{Props, Stage};
use super::story::{cannot_write, reads, says, when};

const GOAL: &str = "Greet everybody who is named in names.txt";

/// What the agents of the plan do: planned work costs no model here.
fn does(file: &str) -> String {
    format!("Write {file}.\n```script\nwrite {file} hello\ncommit {file}\ncomplete\n```")
}

fn task(id: &str, title: &str, file: &str, depends: &[&str]) -> Value {
    json!({ "id": id, "title": title, "description": does(file), "depends": depends,
            "acceptance": [format!("{file} is there")], "files": [file], "size": "small" })
}

fn fenced(value: &Value) -> String {
    format!("I have looked at {{everything}}.\n\n```json\n{value:#}\n```")
}

fn rules(stage: &std::path::Path) -> Vec<Value> {
    let first = [task("1.1", "Greet Ann", "ann.txt", &[]), task("1.2", "Greet Bob", "bob.txt", &["1.1"])];
    let plan = |tasks: &[Value]| json!({ "phases": [{ "id": 1, "name": "Greetings", "tasks": tasks }] });
    let changed = [first[0].clone(), first[1].clone(), task("1.3", "Greet Cem", "cem.txt", &[])];
    // Of rights and of the goal a planner decides nothing, whatever it says.
    let mut bold = plan(&changed);
    bold["goal"] = "something else".into();
    bold["execution_profile"] = json!({ "parallelization_enabled": false });
    let parts = json!({ "tasks": [
        task("1.1-1", "Greet Ann in the morning", "morning.txt", &[]),
        task("1.1-2", "Greet Ann in the evening", "evening.txt", &[]),
    ] });
    vec![
        when(&["Your plan cannot be used", "holds no JSON object"], &[says(fenced(&plan(&first)))]),
        when(
            &["# Split a task", "task 1.1 is too large"],
            &[reads(&stage.join("repo/names.txt"), "Ann"), says(fenced(&parts))],
        ),
        when(
            &["# Make a plan", "is to be changed", "also greet Cem"],
            &[reads(&stage.join("repo/names.txt"), "Cem"), says(bold.to_string())],
        ),
        when(
            &["# Make a plan", GOAL, "- names.txt"],
            &[
                reads(&stage.join("repo/names.txt"), "Bob"),
                cannot_write("planted.txt"),
                says("Two tasks would do: one for Ann, one for Bob. Shall I write them down?"),
            ],
        ),
    ]
}

/// The plan is saved as proposed, with its change and its parts, and done; the planner changed nothing.
pub fn play(props: &Props<'_>, name: &str) -> Result<String> {
    let scene = format!("{name}-planner");
    let part = Part::Story(rules(&props.folder_of(&scene)));
    let stage = Stage::set_up(props, &scene, &[("names.txt", "Ann\nBob\nCem\n")], &part)?;
    stage.configure(&json!({ "plan": { "profile": name } }))?;
    stage.swarm(&["plan", "make", GOAL, "--yes"])?;
    let first = session(&stage)?;
    stage.swarm(&["plan", "refine", "also greet Cem", "--yes"])?;
    let again = if session(&stage)? == first { "in the same conversation" } else { "in a new conversation" };
    stage.swarm(&["task", "split", "1.1", "--agent", name, "--yes"])?;
    let plan = stage.view(&["plan", "show"])?;
    if plan["goal"] != GOAL {
        bail!("the goal is now {}", plan["goal"]);
    }
    stage.swarm(&["run", "--agent", "script"])?;
    for file in ["morning.txt", "evening.txt", "bob.txt", "cem.txt"] {
        stage.on_trunk(file, "hello\n")?;
    }
    stage.is_at_rest()?;
    Ok(format!("no JSON at first, then a plan; changed {again}; split; 4 tasks on trunk"))
}

fn session(stage: &Stage<'_>) -> Result<Value> {
    let talk = std::fs::read_to_string(stage.repo().join(".swarm/planner.json"))?;
    let talk: Value = serde_json::from_str(&talk)?;
    Ok(talk["session"].clone())
}
