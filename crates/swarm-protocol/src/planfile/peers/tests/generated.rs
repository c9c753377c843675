//! Files as the tools could have written them, by chance: nothing in them is lost without a word. Every record is a task or a phase
//! under its own name, or is named in a note; what could only nearly be taken over is named too.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::super::{Care, Imported, Source, import, import_with};
use crate::plan::{PhaseFile, TaskFile};
use crate::planfile::{parse, to_json, to_markdown};

/// Texts that have been trouble somewhere.
fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z][a-zA-Z0-9 ,.]{0,30}[a-z0-9]",
        1 => select(vec![
            "Fix `a|b` (depends: nothing)", "Über den 7. Schritt \u{1f680}", "- [ ] not a task", "# not a goal", "[WIP] start",
            "a: b", "depends: 1.1", "ends with a colon:", "\\ backslash", "say \"hi\"", "1.1 looks like an id", "---",
        ]).prop_map(str::to_owned),
    ]
}

fn lines() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof![3 => words(), 1 => Just(String::new())], 0..4)
        .prop_map(|lines| lines.join("\n"))
}

/// Everything that came back from our own files.
fn kept_in_our_files(read: &Imported) {
    for plan in [to_json(&read.plan), to_markdown(&read.plan)] {
        assert_eq!(
            parse("p", plan.as_bytes()),
            Ok(read.plan.clone()),
            "it comes back from our files:\n{plan}"
        );
    }
}

fn tasks(read: &Imported) -> impl Iterator<Item = (&PhaseFile, &TaskFile)> {
    read.plan.phases.iter().flat_map(|phase| phase.tasks.iter().map(move |task| (phase, task)))
}

/// The task that has this id there.
fn task<'a>(read: &'a Imported, id: &str) -> Option<&'a TaskFile> {
    let is = |task: &TaskFile| match task.extra.get("imported_id").and_then(Value::as_str) {
        Some(old) => old == id,
        None => task.id.as_str() == id,
    };
    tasks(read).map(|(_, task)| task).find(|task| is(task))
}

fn is_named(read: &Imported, id: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    read.notes.iter().any(|note| {
        note.match_indices(id).any(|(at, _)| {
            let after = note[at + id.len()..].chars().next();
            !note[..at].chars().next_back().is_some_and(part) && !after.is_some_and(|c| part(c) && c != '.')
        })
    })
}

/// What a strict import takes, it takes the same way; what it refuses, it refuses with words.
fn strictly_the_same(name: &str, text: &str, read: &Imported) {
    match import_with(name, text.as_bytes(), None, Care::Strict) {
        Ok(strict) => assert_eq!(strict.plan, read.plan, "{text}"),
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint.is_empty(), "{text}"),
    }
}

const STATUSES: [&str; 18] = [
    "open",
    "open",
    "in_progress",
    "blocked",
    "deferred",
    "closed",
    "closed",
    "hooked",
    "pinned",
    "completed",
    "Done",
    "wontfix",
    "in-progress",
    "cancelled",
    "review",
    "on hold",
    "resolved",
    "tombstone",
];
const PLAIN: [&str; 6] = ["open", "in_progress", "blocked", "deferred", "closed", "tombstone"];

fn issue(at: usize, hive: bool) -> impl Strategy<Value = Map<String, Value>> {
    let ids = vec![format!("bd-{at}"), format!("BD_{at}"), format!("proj-x{at}.{at}"), format!("Über {at}")];
    let priority = prop_oneof![
        5 => (0_u64..=4).prop_map(Value::from),
        1 => select(vec![json!(7), json!(-1), json!("P1"), json!("high"), json!(2.5), json!("whatever"), json!(null)]),
    ];
    let link = (
        select(vec![
            "blocks",
            "blocks",
            "parent-child",
            "related",
            "waits-for",
            "discovered-from",
            "conditional-blocks",
        ]),
        0..=at + 1,
    );
    (
        select(ids),
        words(),
        lines(),
        select(STATUSES.to_vec()),
        priority,
        select(vec!["task", "epic", "epic", "bug", "feature", "chore"]),
        proptest::collection::vec(link, 0..3),
        proptest::collection::vec("[a-z]{1,6}", 0..3),
        proptest::option::of(lines()),
    )
        .prop_map(move |(id, title, description, status, priority, kind, links, labels, design)| {
            let mut issue = Map::new();
            let links: Vec<Value> = links.iter().map(|(kind, on)| json!([kind, on])).collect();
            for (key, value) in [
                ("id", json!(id)),
                ("title", json!(title)),
                ("description", json!(description)),
                ("status", json!(status)),
                ("priority", priority),
                ("issue_type", json!(kind)),
                ("labels", json!(labels)),
                ("design", json!(design.unwrap_or_default())),
                ("links", json!(links)),
                ("created_at", json!("2026-01-02T03:04:05Z")),
                ("made_up", json!({ "deep": [1, "two"] })),
            ] {
                issue.insert(key.into(), value);
            }
            if hive {
                issue.insert("parent_id".into(), Value::Null);
            }
            issue
        })
}

/// One line an issue. What it waits for stands before it, so that there is no circle, or nowhere.
fn issues(hive: bool) -> impl Strategy<Value = Vec<Map<String, Value>>> {
    let all: Vec<_> = (0..9).map(|at| issue(at, hive)).collect();
    (all, 1_usize..=9).prop_map(move |(mut all, count)| {
        all.truncate(count);
        let ids: Vec<String> =
            all.iter().map(|issue| issue["id"].as_str().unwrap_or_default().into()).collect();
        for (at, issue) in all.iter_mut().enumerate() {
            let links = issue.remove("links").unwrap_or_default();
            let mut entries = vec![];
            for link in links.as_array().into_iter().flatten() {
                let on = link[1].as_u64().and_then(|on| usize::try_from(on).ok()).unwrap_or(0);
                let on = if on < at { ids[on].clone() } else { format!("elsewhere-{on}") };
                match (hive, link[0].as_str()) {
                    (true, Some("parent-child")) => drop(issue.insert("parent_id".into(), on.into())),
                    (_, kind) => {
                        entries.push(json!({ "issue_id": ids[at], "depends_on_id": on, "type": kind }))
                    }
                }
            }
            issue.insert("dependencies".into(), entries.into());
        }
        all
    })
}

/// Ids of what the file does not have, or what cannot be ordered, are the only reasons to refuse it.
fn check_issues(file: &str, all: &[Map<String, Value>]) {
    let text: String = all.iter().map(|issue| format!("{}\n", Value::Object(issue.clone()))).collect();
    let read = match import(file, text.as_bytes(), None) {
        Ok(read) => read,
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains("cycle") || error.contains("circle"), "{error}\n{text}");
            return;
        }
    };
    for issue in all {
        let of = |key: &str| issue[key].as_str().unwrap_or_default();
        let (id, status) = (of("id"), of("status"));
        let phase = read.plan.phases.iter().find(|phase| phase.name.ends_with(&format!("({id})")));
        if status == "tombstone" {
            assert!(is_named(&read, id), "{id} is gone without a word\n{text}\n{:?}", read.notes);
            continue;
        }
        let found = task(&read, id);
        assert!(found.is_some() != phase.is_some(), "{id} is nowhere, or twice\n{text}");
        if !PLAIN.contains(&status)
            && !["completed", "Done", "wontfix", "cancelled", "resolved"].contains(&status)
        {
            let plain = status == "in-progress";
            assert!(
                plain || phase.is_some() || is_named(&read, id),
                "{id} was {status}\n{text}\n{:?}",
                read.notes
            );
        }
        let extra = found.map(|task| &task.extra).or_else(|| phase.map(|phase| &phase.extra));
        assert_eq!(extra.and_then(|extra| extra.get("made_up")), issue.get("made_up"), "{id}\n{text}");
        for link in issue["dependencies"].as_array().into_iter().flatten() {
            let (on, kind) = (link["depends_on_id"].as_str().unwrap_or_default(), link["type"].as_str());
            let orders = matches!(kind, Some("blocks" | "waits-for" | "conditional-blocks"));
            let there = all.iter().any(|other| other["id"] == on && other["status"] != "tombstone");
            if let (Some(task), Some(on), true) = (found, task(&read, on), orders && there) {
                assert!(task.depends.contains(&on.id), "{id} does not wait for {}\n{text}", on.id);
            }
            if orders && !there {
                assert!(is_named(&read, id), "{id} waited for {on}\n{text}\n{:?}", read.notes);
            }
        }
    }
    kept_in_our_files(&read);
    strictly_the_same(file, &text, &read);
}

/// A plan of opencode-swarm: ids, words, statuses, sizes, and what each waits for.
fn opencode() -> impl Strategy<Value = Value> {
    let one = |phase: usize, at: usize| {
        (
            (words(), lines()),
            select(vec!["pending", "in_progress", "completed", "blocked", "closed", "reviewing"]),
            select(vec!["small", "medium", "large", "huge"]),
            proptest::collection::vec((1_usize..=3, 1_usize..=4), 0..3),
        )
            .prop_map(move |((title, more), status, size, depends)| {
                let earlier = |on: &(usize, usize)| *on < (phase, at);
                let depends: Vec<String> =
                    depends.iter().filter(|on| earlier(on)).map(|(phase, at)| format!("{phase}.{at}")).collect();
                json!({ "id": format!("{phase}.{at}"), "phase": phase, "status": status, "size": size, "depends": depends,
                        "description": format!("{title}\n{more}"), "files_touched": ["src/a.rs"], "made_up": at })
            })
    };
    let phases: Vec<_> = (1..=3)
        .map(|phase| {
            ((1..=4).map(|at| one(phase, at)).collect::<Vec<_>>(), 0_usize..=4).prop_map(move |(mut tasks, count)| {
                tasks.truncate(count);
                json!({ "id": phase, "name": format!("Part {phase}"), "status": "pending", "tasks": tasks })
            })
        })
        .collect();
    (phases, words()).prop_map(|(phases, title)| {
        json!({ "schema_version": "1.0.0", "title": format!("T {title}"), "swarm": "mega", "phases": phases })
    })
}

fn all_tasks(plan: &Value) -> Vec<&Value> {
    plan["phases"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|phase| phase["tasks"].as_array())
        .flatten()
        .collect()
}

fn check_opencode(file: &str, text: &str, plan: &Value) {
    let read = import(file, text.as_bytes(), None)
        .unwrap_or_else(|error| panic!("{error} | {}\n{text}", error.hint));
    assert_eq!(read.from, Source::OpencodeSwarm, "{text}");
    let wanted = all_tasks(plan);
    assert_eq!(tasks(&read).count(), wanted.len(), "{text}");
    for theirs in &wanted {
        let id = theirs["id"].as_str().unwrap_or_default();
        let found = task(&read, id).unwrap_or_else(|| panic!("{id} is nowhere\n{text}"));
        let status = theirs["status"].as_str().unwrap_or_default();
        if !["pending", "completed", "blocked"].contains(&status) {
            assert!(is_named(&read, id), "{id} was {status}\n{text}\n{:?}", read.notes);
        }
        for on in theirs["depends"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            match task(&read, on) {
                Some(on) => {
                    assert!(found.depends.contains(&on.id), "{id} does not wait for {}\n{text}", on.id)
                }
                None => assert!(is_named(&read, id), "{id} waited for {on}\n{text}\n{:?}", read.notes),
            }
        }
    }
    kept_in_our_files(&read);
    strictly_the_same(file, text, &read);
}

/// The same plan as they write it for people; it has one line for each task.
fn as_markdown(plan: &Value) -> String {
    let mut text = format!(
        "# {}\nSwarm: mega\nPhase: 1 [PENDING] | Updated: now\n",
        plan["title"].as_str().unwrap_or("t")
    );
    for phase in plan["phases"].as_array().into_iter().flatten() {
        text.push_str(&format!("\n---\n## Phase {}: Part {} [PENDING]\n", phase["id"], phase["id"]));
        for task in phase["tasks"].as_array().into_iter().flatten() {
            let of = |key: &str| task[key].as_str().unwrap_or_default();
            let title = of("description").lines().next().unwrap_or("x").trim();
            let mark = match of("status") {
                "completed" | "closed" => "x",
                "blocked" => "BLOCKED",
                _ => " ",
            };
            let depends: Vec<&str> =
                task["depends"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let depends = if depends.is_empty() {
                String::new()
            } else {
                format!(" (depends: {})", depends.join(", "))
            };
            let current = if of("status") == "in_progress" { " \u{2190} CURRENT" } else { "" };
            let size = of("size").to_uppercase();
            text.push_str(&format!("- [{mark}] {}: {title} [{size}]{depends}{current}\n", of("id")));
        }
    }
    text
}

fn as_ledger(plan: &Value) -> String {
    let head = json!({ "event_type": "snapshot", "plan_id": "p", "seq": 1, "payload": { "plan": plan } });
    let mut lines = vec![head.to_string()];
    for (at, task) in all_tasks(plan).iter().enumerate() {
        // The status that the event tells is the one that counts.
        lines.push(
            json!({ "event_type": "task_status_changed", "plan_id": "p", "seq": at + 2, "task_id": task["id"],
                    "from_status": "pending", "to_status": task["status"] })
            .to_string(),
        );
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_generated_issue_of_beads_is_imported_or_named(all in issues(false)) {
        check_issues(".beads/issues.jsonl", &all);
    }

    #[test]
    fn every_generated_cell_of_hive_is_imported_or_named(all in issues(true)) {
        check_issues(".hive/issues.jsonl", &all);
    }

    #[test]
    fn every_generated_task_of_opencode_swarm_is_imported(plan in opencode()) {
        check_opencode("plan.json", &serde_json::to_string_pretty(&plan).expect("JSON"), &plan);
    }

    #[test]
    fn every_generated_ledger_of_opencode_swarm_is_its_newest_plan(plan in opencode()) {
        check_opencode("plan-ledger.jsonl", &as_ledger(&plan), &plan);
    }

    /// One line a task: what it waits for is no part of its title, whatever the title holds.
    #[test]
    fn every_generated_line_of_a_plan_of_opencode_swarm_is_a_task(plan in opencode()) {
        let text = as_markdown(&plan);
        let read = match import("plan.md", text.as_bytes(), Some(Source::OpencodeSwarm)) {
            Ok(read) => read,
            Err(error) => panic!("{error} | {}\n{text}", error.hint),
        };
        let wanted = all_tasks(&plan);
        prop_assert_eq!(tasks(&read).count(), wanted.len(), "{}", text);
        for theirs in wanted {
            let id = theirs["id"].as_str().unwrap_or_default();
            let found = task(&read, id);
            prop_assert!(found.is_some(), "{} is nowhere\n{}", id, text);
            for on in theirs["depends"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                let waits = found.is_some_and(|task| task.depends.iter().any(|id| id.as_str() == on));
                prop_assert!(waits || is_named(&read, id), "{} does not wait for {}\n{}", id, on, text);
            }
        }
        kept_in_our_files(&read);
    }

    /// In our own JSON, under whatever name a tool has for it.
    #[test]
    fn what_a_task_waits_for_is_understood_under_every_known_name(
        word in select(vec!["depends", "depends_on", "dependsOn", "blocked_by", "blockedBy", "dependencies"]),
        count in 2_usize..6,
    ) {
        let all: Vec<Value> = (1..=count)
            .map(|at| {
                let before: Vec<String> = (1..at).map(|on| format!("1.{on}")).collect();
                json!({ "id": format!("1.{at}"), "title": "t", word: before })
            })
            .collect();
        let text = json!({ "goal": "g", "phases": [{ "id": 1, "tasks": all }] }).to_string();
        let read = import("plan.json", text.as_bytes(), None).expect("a plan");
        for (at, (_, task)) in tasks(&read).enumerate() {
            prop_assert_eq!(task.depends.len(), at);
            // An empty list names no task, and may be one of packages.
            prop_assert!(at == 0 || !task.extra.contains_key(word));
        }
    }
}
