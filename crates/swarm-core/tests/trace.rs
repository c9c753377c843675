//! Spans of real ledgers: each once, inside its parent, and as the ledger has it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use swarm_core::State;
use swarm_core::owed;
use swarm_core::spending::{By, Spending};
use swarm_core::trace::{Span, SpanId, Spans, TraceId, Value, request, traceparent};
use swarm_protocol::event::Event;
use swarm_protocol::failure::Usage;
use swarm_protocol::ids::{AgentId, CommandId, RunId, TaskId};
use swarm_protocol::plan::Status;
use swarm_protocol::planning::Planning;
use swarm_protocol::policy::{Policy, ProfileRule};
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;

#[derive(Deserialize)]
struct Margin {
    seq: u64,
    ts: Timestamp,
}

type Records = Vec<(u64, Timestamp, Event)>;

/// Every ledger of a release.
fn ledgers() -> Vec<Records> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ledgers");
    let files = std::fs::read_dir(folder).expect("the ledgers").map(|entry| entry.expect("an entry").path());
    let ledgers = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let read = |line: &str| {
        let Margin { seq, ts } = serde_json::from_str(line).expect("a margin");
        let from = line.find("\"type\":").expect("a type");
        (seq, ts, event_of(&line.as_bytes()[from..line.len() - 1]).expect("an event"))
    };
    let all =
        ledgers.map(|path| std::fs::read_to_string(path).expect("a ledger").lines().map(read).collect());
    let all: Vec<Records> = all.collect();
    assert!(!all.is_empty());
    all
}

/// What has ended, and with it what has not.
fn spans(records: &[(u64, Timestamp, Event)]) -> (Vec<Span>, Vec<Span>) {
    let (mut made, mut ended, mut rest) = (Spans::default(), Vec::new(), Vec::new());
    let mut last = Timestamp::ZERO;
    for (seq, at, event) in records {
        made.note(*seq, event, *at, &mut |span| ended.push(span));
        last = *at;
    }
    made.under_way(last, &mut |span| rest.push(span));
    (ended, rest)
}

fn said<'a>(span: &'a Span, name: &str) -> Option<&'a Value> {
    span.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

fn whole(span: &Span, name: &str) -> u64 {
    match said(span, name) {
        Some(Value::Whole(number)) => *number,
        _ => 0,
    }
}

fn outcome(span: &Span) -> &str {
    match said(span, "swarm.outcome") {
        Some(Value::Text(word)) => word,
        _ => "",
    }
}

/// Each id once, each parent there, each child inside it.
fn is_a_forest(spans: &[Span]) {
    let mut by_id: BTreeMap<(TraceId, SpanId), &Span> = BTreeMap::new();
    for span in spans {
        assert!(by_id.insert((span.trace, span.id), span).is_none(), "twice: {span:?}");
    }
    let ids: BTreeSet<SpanId> = spans.iter().map(|span| span.id).collect();
    assert_eq!(ids.len(), spans.len(), "an id in two traces");
    for span in spans {
        assert!(span.start <= span.end);
        if let Some(parent) = span.parent {
            let parent = by_id.get(&(span.trace, parent)).unwrap_or_else(|| panic!("no parent: {span:?}"));
            assert!(parent.start <= span.start && span.end <= parent.end, "{span:?} in {parent:?}");
        }
    }
}

#[test]
fn every_span_of_a_ledger_comes_once_and_lies_inside_its_parent() {
    for records in ledgers() {
        let (mut all, rest) = spans(&records);
        let kinds: BTreeSet<&str> = all.iter().map(|span| span.kind).collect();
        let known = [
            "invoke_agent",
            "invoke_workflow",
            "swarm.build",
            "swarm.check",
            "swarm.merge",
            "swarm.operation",
            "swarm.publish",
            "swarm.review",
            "swarm.task",
            "swarm.verify",
        ];
        assert!(kinds.into_iter().eq(known), "{:?}", all.iter().map(|span| span.kind).collect::<Vec<_>>());
        all.extend(rest);
        is_a_forest(&all);
    }
}

#[test]
fn wherever_a_ledger_ends_its_spans_fit_and_those_that_have_ended_stay_as_they_are() {
    for records in ledgers() {
        let (whole, _) = spans(&records);
        for cut in (1..records.len()).step_by(29) {
            let (ended, rest) = spans(&records[..cut]);
            assert_eq!(ended, whole[..ended.len()], "cut at {cut}");
            is_a_forest(&[ended, rest].concat());
        }
    }
}

/// The claim and the end of each merged attempt, as the records have them.
fn merged(records: &Records) -> Vec<(TaskId, Timestamp, Timestamp)> {
    let mut claimed = BTreeMap::new();
    let mut landed = BTreeSet::new();
    let mut found = Vec::new();
    for (_, at, event) in records {
        match event {
            Event::TaskClaimed { task, .. } => drop(claimed.insert(task.clone(), *at)),
            Event::MergeCompleted { task, .. } => {
                landed.insert(task.clone());
            }
            Event::TaskStatusChanged { task, status: Status::Done, .. } if landed.remove(task) => {
                found.extend(claimed.remove(task).map(|from| (task.clone(), from, *at)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn the_span_of_a_merged_task_is_what_the_ledger_says_of_it() {
    for records in ledgers() {
        let (ended, _) = spans(&records);
        let tasks = ended.iter().filter(|span| span.kind == "swarm.task");
        let of_agents = tasks.clone().filter(|span| said(span, "swarm.run").is_some());
        let merged_spans = of_agents.filter(|span| outcome(span) == "merged");
        let spans: Vec<(TaskId, Timestamp, Timestamp)> =
            merged_spans.map(|span| (span.task.clone().expect("a task"), span.start, span.end)).collect();
        let mut wanted = merged(&records);
        // A task that is merged again without an agent has a span without one.
        wanted.retain(|one| spans.contains(one) || !tasks.clone().any(|span| span.end == one.2));
        assert!(spans.len() >= 15, "{spans:?}");
        assert_eq!(spans, wanted);

        let mut spending = Spending::default();
        records.iter().for_each(|(_, at, event)| spending.note(event, *at));
        let total = spending.view(By::Task, |_| None).total;
        let sum = |name| tasks.clone().map(|span| whole(span, name)).sum::<u64>();
        let said = Usage {
            input_tokens: sum("gen_ai.usage.input_tokens"),
            output_tokens: sum("gen_ai.usage.output_tokens"),
            ..total
        };
        assert_eq!(said, total);
    }
}

#[test]
fn what_is_remembered_is_what_is_under_way_however_long_the_ledger_is() {
    let records = &ledgers()[0];
    let (mut made, mut seq, mut count, mut most) = (Spans::default(), 0, 0_u64, 0);
    while seq < 200_000 {
        for (_, at, event) in records {
            seq += 1;
            made.note(seq, event, *at, &mut |_| count += 1);
            if seq % 1000 == 0 {
                let mut rest = 0;
                made.under_way(*at, &mut |_| rest += 1);
                most = most.max(rest);
            }
        }
    }
    assert!(count > 50_000 && most < 40, "{count} spans, at most {most} of them under way");
}

#[test]
fn a_program_is_told_the_span_that_it_will_have_been_part_of() {
    for records in ledgers() {
        let (ended, _) = spans(&records);
        let (mut state, mut told) = (State::default(), BTreeSet::new());
        for (_, at, event) in &records {
            state.apply(event, *at);
            told.extend(owed(&state).iter().filter_map(|effect| traceparent(&state, effect)));
        }
        let of_programs = ["invoke_agent", "swarm.check", "swarm.verify", "swarm.review"];
        for kind in of_programs {
            let all: Vec<&Span> = ended.iter().filter(|span| span.kind == kind).collect();
            assert!(!all.is_empty(), "no {kind}");
            for span in all {
                let wanted = format!("00-{}-{}-01", span.trace.hex(), span.id.hex());
                // Checks with nothing to run are passed in the same moment, and what was stopped may not have begun.
                let none = span.start == span.end || span.error == Some("stopped");
                assert!(told.contains(&wanted) || none, "nobody was told of {span:?}");
            }
        }
        let form = |text: &String| text.len() == 55 && text.starts_with("00-") && text.ends_with("-01");
        assert!(told.iter().all(form), "{told:?}");
    }
}

#[test]
fn what_it_took_to_propose_a_plan_is_a_trace_of_its_own() {
    let usage = Usage { input_tokens: 1200, ..Usage::default() };
    let planning = Planning {
        profile: "fast".into(),
        program: "claude".into(),
        model: Some("small".into()),
        began: Timestamp(1000),
        ended: Timestamp(4000),
        asked: 2,
        session: None,
        usage,
    };
    let (mut made, mut ended) = (Spans::default(), Vec::new());
    let id = CommandId::new("wish-1").expect("an id");
    let (by, facts, undoes, checkpoint) = (None, None, None, None);
    let (kind, answer, planning) = ("plan save".into(), "saved".into(), Some(planning));
    let saved = Event::Operation { id, kind, subject: None, answer, by, facts, undoes, checkpoint, planning };
    made.note(2, &saved, Timestamp(9000), &mut |span| ended.push(span));
    let [plan, operation] = &ended[..] else { panic!("{ended:?}") };
    assert_eq!((plan.kind, plan.start, plan.end), ("plan", Timestamp(1000), Timestamp(4000)));
    assert_eq!((plan.parent, whole(plan, "gen_ai.usage.input_tokens")), (None, 1200));
    assert_eq!(said(plan, "gen_ai.request.model"), Some(&Value::Text("small".into())));
    assert!(operation.kind == "swarm.operation" && operation.trace != plan.trace);
}

#[test]
fn a_line_is_a_request_as_a_collector_reads_it() {
    let (ended, _) = spans(&ledgers()[0]);
    let line = request(&ended[..5], "the-ledger", "0.1.0");
    assert!(!line.contains('\n'));
    let json: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let of = &json["resourceSpans"][0];
    assert_eq!(of["resource"]["attributes"][0]["value"]["stringValue"], "swarm");
    let spans = of["scopeSpans"][0]["spans"].as_array().expect("spans");
    assert_eq!(spans.len(), 5);
    for span in spans {
        assert_eq!(span["traceId"].as_str().map(str::len), Some(32), "{span}");
        assert_eq!(span["spanId"].as_str().map(str::len), Some(16), "{span}");
        assert!(span["startTimeUnixNano"].as_str().is_some_and(|at| at.ends_with("000000")), "{span}");
        assert!(span["kind"] == 1 && span["attributes"].is_array(), "{span}");
    }
}

#[test]
fn an_iteration_says_which_program_and_model_it_ran() {
    let (task, run, agent) = (TaskId::new("a").expect("an id"), RunId::nth(1), AgentId::nth(1));
    let rule = |name: &str, program: &str, model: Option<&str>| ProfileRule {
        name: name.into(),
        program: program.into(),
        model: model.map(str::to_owned),
        ..ProfileRule::default()
    };
    let profiles = vec![rule("fast", "claude", Some("small")), rule("own", "exec", None)];
    let policy = Policy { profile: "fast".into(), profiles, ..Policy::default() };
    let (version, host, trunk) = ("0".into(), "here".into(), "main".into());
    let started = Event::CoordinatorStarted { epoch: 1, version, host, trunk, policy, explicit: None };
    let said_by = |profile: Option<&str>| {
        let (mut spans, mut ended) = (Spans::default(), Vec::new());
        let (status, nonce, profile) = (Status::Active, "n".into(), profile.map(str::to_owned));
        let (task, run, agent) = (task.clone(), run.clone(), agent.clone());
        let host = "here".into();
        let claimed = Event::TaskClaimed {
            task: task.clone(),
            status,
            run: run.clone(),
            agent: agent.clone(),
            attempt: 1,
            nonce,
            profile,
            restart: None,
        };
        let spawned = Event::AgentSpawned { task: task.clone(), run: run.clone(), agent, host };
        let (tip, note, usage, session, class) = (None, None, None, None, None);
        let iteration = Event::Iteration { task, run, iteration: 1, tip, note, usage, session, class };
        for (seq, event) in [&started, &claimed, &spawned, &iteration].into_iter().enumerate() {
            spans.note(seq as u64, event, Timestamp(seq as u64), &mut |span| ended.push(span));
        }
        assert_eq!(ended.len(), 1, "{ended:?}");
        let text = |name: &str| match said(&ended[0], name) {
            Some(Value::Text(word)) => word.clone(),
            _ => "none".into(),
        };
        [text("swarm.program"), text("gen_ai.provider.name"), text("gen_ai.request.model")]
    };
    assert_eq!(said_by(None), ["claude", "anthropic", "small"]);
    assert_eq!(said_by(Some("own")), ["exec", "none", "none"]);
}
