//! Costs by what became of the work, and the numbers for monitoring: from the ledger and from the socket, the same.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, task};

/// Status and body of a route of the coordinator.
fn get(arena: &Arena, path: &str) -> (u16, String) {
    let mut stream =
        UnixStream::connect(arena.root.join(".swarm/run/coordinator.sock")).expect("a coordinator");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: swarm\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, body.to_owned())
}

fn value(page: &str, name: &str) -> f64 {
    let line =
        page.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}:\n{page}"));
    line.trim().parse().expect("a number")
}

/// What does not depend on the moment.
fn counted(page: &str) -> Vec<String> {
    let moves = ["_seconds", "swarm_ledger_records_total ", "swarm_disk_free_bytes "];
    let of_the_coordinator = ["swarm_effects", "swarm_http_", "swarm_feed_"];
    let stays = |line: &&str| !moves.iter().chain(&of_the_coordinator).any(|part| line.contains(part));
    page.lines().filter(stays).map(str::to_owned).collect()
}

/// The numbers that add up over the whole ledger, counted in its text.
fn says_what_the_ledger_says(arena: &Arena, page: &str) {
    let text = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("the ledger");
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    let all = |kind: &'static str| records.iter().filter(move |record| record["type"] == kind);
    let sum = |series: &str| -> f64 {
        let of_series = page.lines().filter(|line| line.starts_with(series));
        of_series
            .map(|line| line.rsplit(' ').next().and_then(|n| n.parse::<f64>().ok()).expect("a number"))
            .sum()
    };
    let count = |kind: &'static str| all(kind).count() as f64;
    assert_eq!(value(page, "swarm_ledger_records_total "), records.len() as f64);
    assert_eq!(value(page, "swarm_merges_total{outcome=\"merged\"}"), count("merge_completed"));
    assert_eq!(value(page, "swarm_merges_total{outcome=\"failed\"}"), count("merge_failed"));
    assert_eq!(value(page, "swarm_merges_total{outcome=\"red\"}"), count("verification_failed"));
    assert_eq!(sum("swarm_iterations_total{"), count("iteration"));
    let goes_on =
        |record: &&Value| record["data"]["goesOn"] == true || record["data"]["after"]["goesOn"] == true;
    let ended = ["agent_completed", "agent_failed", "agent_stopped"];
    let ended: usize =
        ended.into_iter().map(|kind| all(kind).filter(|record| !goes_on(record)).count()).sum();
    assert_eq!(sum("swarm_attempts_total{"), ended as f64);
    assert_eq!(sum("swarm_failures_total{"), count("agent_failed"));
    assert_eq!(sum("swarm_tasks{"), count("task_added"));
    let micros: u64 =
        all("iteration").filter_map(|record| record["data"]["usage"]["costMicros"].as_u64()).sum();
    let dollars = sum("swarm_cost_usd{");
    assert!((dollars - micros as f64 / 1e6).abs() < 1e-9, "{dollars} and {micros} millionths");
}

#[test]
fn each_dollar_is_put_down_to_what_became_of_it_and_every_door_says_the_same() {
    let arena = arena_with(json!({ "agent": "script" }));
    let go = arena.path("go");
    let spends = "usage input=100 output=10 cost=0.25\n";
    let merges = format!("{spends}write one.txt one\ncommit feat: one\ncomplete");
    let fails = format!("{spends}failed there is no way");
    let works = format!(
        "{}print HERE\nwait-for {}\nwrite two.txt two\ncommit feat: two\ncomplete",
        spends,
        go.display()
    );
    let tasks = [task("1.1", &[], &merges), task("1.2", &["1.1"], &works), task("1.3", &["1.2"], &fails)];
    arena.plan_in_phases(&[tasks.to_vec()]);
    let run = arena.start(&[]);
    wait_for("the second agent is there", || arena.printed().contains("HERE"));
    wait_for("the first is merged", || arena.status_of("1.1") == "done");
    let (status, page) = get(&arena, "/metrics");
    assert_eq!(status, 200, "{page}");
    assert!(page.ends_with('\n') && page.contains("# TYPE swarm_tasks gauge"), "{page}");
    assert_eq!(value(&page, "swarm_tasks{status=\"done\"}"), 1.0);
    assert_eq!(value(&page, "swarm_tasks{status=\"active\"}"), 1.0);
    assert_eq!(value(&page, "swarm_agents{state=\"working\"}"), 1.0);
    assert_eq!(counted(&page), counted(&arena.ok(&["metrics"])));
    assert_eq!(value(&page, "swarm_iterations_total{profile=\"script\"}"), 1.0);
    assert_eq!(value(&page, "swarm_merge_seconds_count"), 1.0);
    assert_eq!(value(&page, "swarm_task_seconds_count{outcome=\"merged\"}"), 1.0);
    assert_eq!(value(&page, "swarm_effects{kind=\"Work\"}"), 1.0);
    assert!(value(&page, "swarm_ledger_append_seconds_count") > 5.0, "{page}");
    assert!(value(&page, "swarm_disk_free_bytes") > 0.0, "{page}");
    get(&arena, "/v1/tasks/1.1");
    get(&arena, "/v1/nowhere");
    let (_, asked) = get(&arena, "/metrics");
    assert_eq!(value(&asked, "swarm_http_requests_total{route=\"/v1/tasks/{id}\",code=\"200\"}"), 1.0);
    assert_eq!(value(&asked, "swarm_http_requests_total{route=\"none\",code=\"404\"}"), 1.0);
    assert_eq!(get(&arena, "/livez"), (200, "alive\n".into()));
    let (status, ready) = get(&arena, "/readyz");
    assert_eq!((status, ready.contains("\"ready\":true")), (200, true), "{ready}");
    std::fs::write(go, "").expect("a file");
    assert_eq!(run.end().0, 1, "one task has failed");

    let page = arena.ok(&["metrics"]);
    assert_eq!(value(&page, "swarm_merges_total{outcome=\"merged\"}"), 2.0);
    let failed = value(&page, "swarm_attempts_total{outcome=\"failed\",profile=\"script\"}");
    assert!(failed >= 1.0, "{page}");
    says_what_the_ledger_says(&arena, &page);
    let costs = arena.json(&["cost", "--by", "outcome"]);
    let of = |name: &str| -> u64 {
        let rows = costs["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["name"] == name).and_then(|row| row["costMicros"].as_u64()).expect("a row")
    };
    assert_eq!(of("merged"), 500_000, "{costs}");
    let shown = arena.shown("1.3");
    let starts = shown["attempts"].as_u64().expect("a number") + shown["restarts"].as_u64().unwrap_or(0);
    assert_eq!(of("lost"), 250_000 * starts, "{costs}");
    assert!(starts > 0);
    assert_eq!(
        of("merged") + of("lost") + of("redone") + of("rolled_back") + of("under_way"),
        costs["total"]["costMicros"]
    );
    arena.ok(&["task", "rollback", "1.2", "--cascade", "--yes"]);
    let costs = arena.json(&["cost"]);
    let back =
        costs["rows"].as_array().expect("rows").iter().find(|row| row["name"] == "rolled_back").cloned();
    assert_eq!(back.expect("a row")["costMicros"], 250_000, "{costs}");
    let drawn = arena.ok(&["cost", "--by", "task"]);
    assert!(drawn.contains('█') && drawn.contains("$0.25") && !drawn.contains('\u{1b}'), "{drawn}");
    arena.is_judged();
}
