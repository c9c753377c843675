//! A ledger of every release means for ever what it meant then.
//!
//! `tests/ledgers/NAME.jsonl` is a real ledger, written by the program of that release (`story.sh` leads it through as
//! much as one story can hold). `tests/ledgers/NAME.states` has one line per record: its number, its kind, and a hash
//! of the state after it, as that release's own core made it.
//!
//! The hash is of a canonical form: the state as JSON with its members in order, and without those that say nothing
//! (`null`, `false`, `0`, an empty text, list or object). A member that is added to the state and is at its default
//! changes no hash.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use swarm_core::State;
use swarm_core::stage::Stage;
use swarm_protocol::aftermath::{Aftermath, Counted, CrashRecord};
use swarm_protocol::event::Event;
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::ids::{AgentId, Oid, RunId, TaskId};
use swarm_protocol::operation::Left;
use swarm_protocol::outcome::{Ended, Next};
use swarm_protocol::plan::{Extra, Status, TaskSpec};
use swarm_protocol::record::event_of;
use swarm_protocol::time::Timestamp;

/// A release adds its own here. None is ever taken away, and no `.states` is ever written again. With each ledger stand
/// the members of the state that it did not know yet and that its records give a value to all the same.
const LEDGERS: &[(&str, &[&str])] = &[(
    "0.1.0-before-decisions-were-recorded",
    &[
        "trunk_pinned",
        "trunk_since",
        "claimsMax",
        "claims",
        "handed_in",
        "submitted",
        "landed_before",
        "same_failure",
        "proven",
        "withheld",
        "sent_back",
        "changes_wanted",
        "flow",
        "did",
        "held_since",
        "held_ms",
    ],
)];

const WHAT_TO_DO: &str = "\
a record of an old ledger is taken in otherwise than when it was written. Either `apply` decides something (a limit, a \
policy, the class of a failure): then the decision belongs into `react` or `settle`, and what was decided into the \
event, as a new optional member; a record without it keeps its old meaning in `apply/legacy.rs`. Or the state has a new \
member that old records give a value to: name it with the ledger in LEDGERS. Or a member was renamed or moved: keep its \
name in JSON. The `.states` files are never made anew";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ledgers")
}

#[derive(Deserialize)]
struct Margin {
    ts: Timestamp,
}

/// The records of a ledger file, with the time of each.
fn records(name: &str) -> Vec<(Timestamp, Event)> {
    let text = std::fs::read_to_string(folder().join(format!("{name}.jsonl"))).expect("the ledger");
    let read = |line: &str| {
        let margin: Margin = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        // Its frame is the ledger's business; the event begins with its type.
        let from = line.find("\"type\":").expect("a record has a type");
        let event =
            event_of(&line.as_bytes()[from..line.len() - 1]).unwrap_or_else(|e| panic!("{e}: {line}"));
        (margin.ts, event)
    };
    text.lines().map(read).collect()
}

/// Nothing that says nothing, and nothing that the release did not know; none when nothing is left.
fn canonical(value: Value, unknown: &[&str]) -> Option<Value> {
    let says_something = match &value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) => true,
        Value::Array(list) => !list.is_empty(),
        Value::Object(_) => true,
    };
    match value {
        // Places in a list mean something, whatever stands there.
        Value::Array(list) if says_something => Some(Value::Array(
            list.into_iter().map(|one| canonical(one, unknown).unwrap_or(Value::Null)).collect(),
        )),
        Value::Object(members) => {
            let known = members.into_iter().filter(|(name, _)| !unknown.contains(&name.as_str()));
            let says = |(name, value)| Some((name, canonical(value, unknown)?));
            let mut kept: Vec<(String, Value)> = known.filter_map(says).collect();
            kept.sort_by(|a, b| a.0.cmp(&b.0));
            (!kept.is_empty()).then(|| Value::Object(kept.into_iter().collect()))
        }
        other => says_something.then_some(other),
    }
}

fn hash(state: &State, unknown: &[&str]) -> String {
    let value = serde_json::to_value(state).expect("a state can be written");
    let text = canonical(value, unknown).unwrap_or_default().to_string();
    let digest = Sha256::digest(text.as_bytes());
    digest[..8].iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// One line per record: what the state is after it.
fn states(records: &[(Timestamp, Event)], unknown: &[&str]) -> Vec<String> {
    let mut state = State::default();
    let mut line = |(at, event): &(Timestamp, Event)| {
        state.apply(event, *at);
        format!("{} {} {}", state.seq, event.kind(), hash(&state, unknown))
    };
    records.iter().map(&mut line).collect()
}

fn first_difference<'a>(now: &'a [String], then: &'a str) -> Option<(&'a str, &'a str)> {
    let pairs = now.iter().map(String::as_str).zip(then.lines());
    pairs.into_iter().find(|(now, then)| now != then)
}

#[test]
fn a_ledger_of_every_release_replays_to_the_states_that_it_had_then() {
    for (name, unknown) in LEDGERS {
        let file = folder().join(format!("{name}.states"));
        let now = states(&records(name), unknown);
        if !file.exists() && std::env::var_os("SWARM_GEN").is_some() {
            std::fs::write(&file, now.join("\n") + "\n").expect("the file of a new release");
        }
        let then = std::fs::read_to_string(&file).expect("the states of the release");
        assert_eq!(now.len(), then.lines().count(), "{name}: records are missing");
        if let Some((now, then)) = first_difference(&now, &then) {
            panic!("{name}: record {now}, and it was {then}: {WHAT_TO_DO}");
        }
    }
}

const AT: Timestamp = Timestamp(1_768_298_400_000);

fn oid() -> Oid {
    Oid::new("a".repeat(40)).expect("an oid")
}

fn task() -> TaskId {
    TaskId::new("1.1").expect("an id")
}

/// A task at work under its first agent.
fn at_work() -> State {
    let (task, run, agent, status) = (task(), RunId::nth(1), AgentId::nth(1), Status::Active);
    let spec = TaskSpec::new(task.clone(), "title");
    let (nonce, base, tip) = (String::from("n"), oid(), oid());
    let mut state = State::default();
    for event in [
        Event::PlanCreated {
            phase: 1,
            ledger_id: "l".into(),
            format: 1,
            goal: "goal".into(),
            phases: vec![],
            extra: Extra::new(),
        },
        Event::TaskAdded { task: task.clone(), phase: 1, after: None, spec },
        Event::TaskClaimed {
            task: task.clone(),
            status,
            run: run.clone(),
            agent,
            attempt: 1,
            nonce,
            profile: None,
            restart: None,
        },
        Event::WorkspaceReady { task, run, branch: "swarm/1.1".into(), base, tip },
    ] {
        state.apply(&event, AT);
    }
    state
}

fn after(mut state: State, event: &Event) -> State {
    state.apply(event, AT);
    state
}

/// The attempt ends so; what the state remembers of agent and task.
fn ended(how: Ended, after_it: Option<Aftermath>) -> (u32, u32, u32, bool) {
    let next = Next::Pending { not_before: AT, counts: false };
    let (run, agent, status) = (RunId::nth(1), AgentId::nth(1), Status::Pending);
    let failed = Event::AgentFailed { task: task(), status, run, agent, how, next, after: after_it };
    let state = after(at_work(), &failed);
    let (known, of_task) = (&state.agents[&AgentId::nth(1)], &state.tasks[&task()]);
    let waits = of_task.waits_for_quota.is_some();
    (known.crashes_in_a_row, of_task.crashes, of_task.transient_retries, waits)
}

/// The moment at which a publish that waits is tried again.
fn tried_again(again_at: Option<Timestamp>) -> Timestamp {
    let (task, tip, tree, base, result) = (task(), oid(), oid(), oid(), oid());
    let approved = Event::TaskApproved {
        task: task.clone(),
        status: Status::Merging,
        tip,
        tree,
        policy: "none".into(),
        base: None,
        left_out: None,
    };
    let granted = Event::TrunkGranted { task: task.clone(), status: Status::Merging, joins: None };
    let built = Event::MergeBuilt {
        task: task.clone(),
        base,
        result,
        commits: vec![oid()],
        squashed: false,
        level: None,
        resolved: None,
        found: None,
    };
    let (why, hint) = (String::from("changed"), String::from("git stash"));
    let waits = Event::PublishWaits { task: task.clone(), why, paths: vec![], hint, again_at };
    let state = [approved, granted, built, waits].iter().fold(at_work(), after);
    match state.tasks[&task].stage {
        Stage::Approved { not_before, .. } => not_before,
        ref other => panic!("{other:?}"),
    }
}

/// Failures to bring a worktree back until it is given up, at most ten.
fn revivals(given_up: Option<bool>) -> u32 {
    let left = Some(Left { base: oid(), tip: oid(), dirty: None });
    let removed = Event::WorktreeRemoved { task: task(), left };
    let why = "git failed".into();
    let failed = Event::RevivalFailed { task: task(), why, given_up, tries: None, hint: None };
    let mut state = after(at_work(), &removed);
    for n in 1..=10 {
        state.apply(&failed, AT);
        if state.tasks[&task()].left.is_none() {
            return n;
        }
    }
    10
}

fn crashed() -> Ended {
    Ended::Crashed { code: Some(1), signal: None, text: String::new() }
}

fn failed(class: FailureClass) -> Ended {
    Ended::Failed { failure: Failure::new(class, "why") }
}

#[test]
fn what_a_record_says_was_decided_is_taken_in_as_it_is() {
    // No crash, no network and no quota: whatever the classes mean, it was decided otherwise.
    for how in [crashed(), failed(FailureClass::Network), failed(FailureClass::Quota)] {
        assert_eq!(ended(how, Some(Aftermath::default())), (0, 0, 0, false));
    }
    let crash = Some(CrashRecord { in_a_row: 7, remembered: 1 });
    let counts = Some(Counted::Transient);
    let decided =
        Aftermath { crash, task_crashes: 3, counts, quota: Some("g".into()), ..Aftermath::default() };
    assert_eq!(ended(Ended::CannotDo { text: String::new() }, Some(decided)), (7, 3, 1, true));
    assert_eq!(tried_again(Some(AT.plus_secs(5))), AT.plus_secs(5));
    assert_eq!((revivals(Some(true)), revivals(Some(false))), (1, 10));
}

#[test]
fn records_that_do_not_say_what_was_decided_keep_the_meaning_they_had() {
    assert_eq!(ended(crashed(), None), (1, 1, 0, false));
    assert_eq!(ended(failed(FailureClass::Stalled), None), (1, 1, 0, false));
    assert_eq!(ended(failed(FailureClass::Network), None), (0, 0, 1, false));
    assert_eq!(ended(failed(FailureClass::Quota), None), (0, 0, 0, true));
    assert_eq!(tried_again(None), AT.plus_secs(60));
    assert_eq!(revivals(None), 5);
}
