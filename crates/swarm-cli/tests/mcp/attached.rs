//! What a person attaches to a conversation: each resource is what the command line prints, and each prompt names what there is.

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::ground::{arena_with, task};
use crate::pipe::Pipe;

/// Each resource with the command that prints the same.
const SAME: [(&str, &[&str]); 7] = [
    ("status", &["status"]),
    ("plan", &["plan", "show"]),
    ("attention", &["attention"]),
    ("handoff", &["handoff"]),
    ("checkpoints", &["checkpoint", "list"]),
    ("operations", &["op", "log", "--all"]),
    ("tasks/1.2", &["task", "show", "1.2"]),
];

fn read(pipe: &mut Pipe, path: &str) -> Value {
    let uri = format!("swarm://{path}");
    let answer = pipe.ask("resources/read", json!({ "uri": uri }));
    let content = &answer["result"]["contents"][0];
    assert_eq!(content["uri"], *uri, "{answer}");
    content.clone()
}

fn view(pipe: &mut Pipe, path: &str) -> Value {
    let content = read(pipe, path);
    assert_eq!(content["mimeType"], "application/json", "{content}");
    serde_json::from_str(content["text"].as_str().expect("a text")).expect("JSON")
}

/// One task is done, the next one blocked by a person; nobody coordinates any more.
fn worked_on() -> Arena {
    let arena = arena_with(json!({ "agent": "script" }));
    let one = task("1.1", &[], "write one.txt one\ncommit feat: one\nprint HERE\ncomplete");
    arena.plan_in_phases(&[vec![one, task("1.2", &["1.1"], "complete")]]);
    arena.ok(&["task", "block", "1.2", "waits for a word"]);
    arena.run(&[]);
    arena
}

#[test]
fn each_resource_is_what_the_command_line_prints() {
    let arena = worked_on();
    let mut pipe = Pipe::newer(&arena, &[]);
    for (path, command) in SAME {
        let shown = view(&mut pipe, path);
        assert_eq!(shown["view"], arena.json(command), "{path}");
        assert!(shown["seq"].as_u64().is_some_and(|seq| seq > 0), "{path}");
    }
    let patch = read(&mut pipe, "tasks/1.1/diff");
    assert_eq!(patch["mimeType"], "text/x-diff");
    assert!(patch["text"].as_str().is_some_and(|text| text.contains("+one")), "{patch}");
    let history = view(&mut pipe, "history");
    let last = history["records"].as_array().and_then(|all| all.last()).expect("records").clone();
    assert_eq!(last["seq"], history["seq"], "the newest is there");
    let log = view(&mut pipe, "runs/1.1/log");
    assert!(log["lines"].to_string().contains("HERE"), "{log}");
    let operation = arena.json(&["op", "log"])[0]["id"].clone();
    let told = view(&mut pipe, &format!("operations/{}", operation.as_str().expect("an id")));
    assert_eq!(told["view"]["id"], operation);
    let past = view(&mut pipe, "at/3/tasks");
    assert_eq!((&past["seq"], &past["view"][0]["status"]), (&json!(3), &json!("pending")), "{past}");
}

#[test]
fn each_prompt_says_what_it_is_asked_for_and_names_tools_and_resources_that_there_are() {
    let arena = worked_on();
    let mut pipe = Pipe::newer(&arena, &[]);
    let names = |list: &Value, of: &str| -> Vec<String> {
        let all = list.as_array().expect("a list").iter();
        all.map(|one| one[of].as_str().expect("a name").to_owned()).collect()
    };
    let mut known = names(&pipe.ask("tools/list", json!({}))["result"]["tools"], "name");
    known.extend(names(&pipe.ask("resources/list", json!({}))["result"]["resources"], "uri"));
    let prompts = pipe.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_eq!(names(&prompts, "name"), ["plan-goal", "review-task", "triage", "explain-failure", "handoff"]);
    for prompt in prompts.as_array().expect("a list") {
        let name = prompt["name"].as_str().expect("a name");
        let takes = prompt["arguments"][0]["name"].as_str();
        let given = match takes {
            Some(argument) => json!({ argument: "1.1 {task} {goal}" }),
            None => json!({}),
        };
        let got = pipe.ask("prompts/get", json!({ "name": name, "arguments": given }));
        let text =
            got["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{got}"));
        assert_eq!(text.contains("1.1 {task} {goal}"), takes.is_some(), "as it was given: {text}");
        assert!(takes.is_some() || !text.contains('{'), "{text}");
        let ends = |c: char| !(c.is_ascii_alphanumeric() || "_:/-".contains(c));
        let is_name = |word: &&str| {
            word.starts_with("swarm_")
                || word.starts_with("swarm://")
                || ["save_plan", "get_approved_plan"].contains(word)
        };
        let named: Vec<&str> = text.split(ends).filter(is_name).collect();
        assert!(!named.is_empty(), "{name} leads nowhere: {text}");
        for word in named {
            assert!(known.iter().any(|one| one == word), "{name} names {word}, which there is not");
        }
        if let Some(argument) = takes {
            for bad in [json!({}), json!({ argument: " " }), json!({ argument: "x".repeat(20_000) })] {
                let refused = pipe.ask("prompts/get", json!({ "name": name, "arguments": bad }));
                assert!(
                    refused["error"]["message"].as_str().is_some_and(|text| text.contains(argument)),
                    "{refused}"
                );
            }
        }
    }
}
