//! Programs know the span that they are started in, tools are spans, and so is planning.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::arena::Arena;
use crate::traces::{is_a_forest, said, spans_of};

fn named<'a>(spans: &'a [Value], name: &'static str) -> Vec<&'a Value> {
    let is_it = |span: &&Value| {
        span["name"].as_str().is_some_and(|n| n == name || n.starts_with(&format!("{name} ")))
    };
    spans.iter().filter(is_it).collect()
}

/// What `TRACEPARENT` has to be for this span.
fn parent_of(span: &Value) -> String {
    let word = |name: &str| span[name].as_str().expect("an id").to_owned();
    format!("00-{}-{}-01", word("traceId"), word("spanId"))
}

fn lines(arena: &Arena, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(arena.path(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn saying(arena: &Arena, name: &str) -> String {
    format!("echo \"${{TRACEPARENT:-none}}\" >> {}", arena.path(name).display())
}

#[test]
fn every_program_hangs_its_spans_below_ours() {
    let arena = Arena::new("{}");
    let shell = |name: &str| json!(["sh", "-c", saying(&arena, name)]);
    arena.write(
        ".swarm/config.json",
        &json!({
            "agent": "script", "sandbox": "none", "disk": { "low": 64, "enough": 96 },
            "check": { "commands": [shell("checked")] }, "verify": { "commands": [shell("verified")] },
            "worktree": { "setup": shell("set-up") },
        })
        .to_string(),
    );
    for hook in ["pre-start", "post-merge"] {
        let file = arena.root.join(format!(".swarm/hooks/{hook}.sh"));
        arena.write(&format!(".swarm/hooks/{hook}.sh"), &format!("#!/bin/sh\n{}\n", saying(&arena, hook)));
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("executable");
    }
    let script = format!(
        "sh {}\ntool Bash make test\ntool-begin Read a.txt\ntool-end\nwrite one.txt one\ncommit feat: one\non-iteration 2: complete",
        saying(&arena, "worked")
    );
    arena.plan(&[("1.1", &[], script)]);
    let (code, text) = arena.start(&[]).end();
    assert_eq!(code, 0, "{text}");
    let spans = spans_of(&arena.ok(&["trace", "export"]));
    is_a_forest(&spans);
    let of = |name: &'static str| -> Vec<String> { named(&spans, name).into_iter().map(parent_of).collect() };
    assert_eq!(lines(&arena, "worked"), of("invoke_agent"), "each iteration has its own");
    assert_eq!(lines(&arena, "worked").len(), 2, "{text}");
    // The merge has a worktree of its own, which is set up too.
    assert_eq!(lines(&arena, "set-up")[0], of("invoke_agent")[0], "{text}");
    assert_eq!(lines(&arena, "checked"), of("swarm.check"));
    assert_eq!(lines(&arena, "pre-start"), of("swarm.task"));
    let merged = [of("swarm.task"), of("invoke_workflow")].concat();
    assert!(lines(&arena, "post-merge").iter().all(|parent| merged.contains(parent)), "{merged:?}");
    assert_eq!(lines(&arena, "post-merge").len(), 1);
    if named(&spans, "swarm.verify").is_empty() {
        // What was checked already is what was merged.
        assert!(lines(&arena, "verified").is_empty());
    } else {
        assert_eq!(lines(&arena, "verified"), of("swarm.verify"));
    }

    let tools = named(&spans, "execute_tool");
    let names: Vec<&str> = tools.iter().filter_map(|span| said(span, "gen_ai.tool.name")).collect();
    assert_eq!(names, ["Bash", "Read", "Bash", "Read"], "{tools:?}");
    let iterations: BTreeSet<&str> =
        named(&spans, "invoke_agent").iter().filter_map(|span| span["spanId"].as_str()).collect();
    assert!(tools.iter().all(|span| iterations.contains(span["parentSpanId"].as_str().expect("a parent"))));
    assert!(
        !spans.iter().any(|span| span.to_string().contains("make test")),
        "what it was called with stays out"
    );
}

#[test]
fn a_plan_that_an_agent_proposed_is_a_span_once() {
    let arena = Arena::new(&json!({ "agent": "script", "sandbox": "none" }).to_string());
    let plan =
        json!({ "phases": [{ "id": 1, "name": "All", "tasks": [{ "id": "1.1", "title": "Do it" }] }] });
    let goal = format!("Greet\n\n```plan-script\nusage input=1200 output=300 cost=0.05\nprint {plan}\n```");
    arena.ok(&["plan", "make", &goal, "--yes"]);
    let planned = |arena: &Arena| {
        let spans = spans_of(&arena.ok(&["trace", "export"]));
        named(&spans, "plan").into_iter().cloned().collect::<Vec<Value>>()
    };
    let spans = planned(&arena);
    assert_eq!(spans.len(), 1, "{spans:?}");
    let span = &spans[0];
    assert_eq!(
        (said(span, "gen_ai.operation.name"), said(span, "swarm.program")),
        (Some("plan"), Some("script"))
    );
    assert_eq!(
        (said(span, "gen_ai.usage.input_tokens"), said(span, "swarm.plan.asked")),
        (Some("1200"), Some("1"))
    );
    assert!(span["parentSpanId"].is_null());
    // What a person saves was proposed by nobody.
    let file = arena.path("plan.json");
    std::fs::write(&file, json!({ "goal": "Greet", "phases": plan["phases"] }).to_string()).expect("a file");
    arena.ok(&["plan", "save", file.to_str().expect("text")]);
    assert_eq!(planned(&arena).len(), 1);
    arena.is_judged();
}
