use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Care, Source, import, import_with};
use crate::plan::{PlanFile, Status};
use crate::planfile::{parse, to_json, to_markdown};

/// Reads `text` and gives whose it is, the plan as a checklist and what was said; or the error with its hint.
fn check(name: &str, text: &str, expected: &str) {
    let got = match import(name, text.as_bytes(), None) {
        Ok(read) => {
            let notes: String = read.notes.iter().map(|note| format!("note: {note}\n")).collect();
            format!("{}\n{}{notes}", read.from, to_markdown(&read.plan))
        }
        Err(error) => format!("{error} | {}", error.hint),
    };
    assert_eq!(got.trim_end(), expected.trim(), "for:\n{text}");
}

fn refused(name: &str, text: &str, expected: &str) {
    refused_when_strict(name, text, expected);
    let error = import(name, text.as_bytes(), None).expect_err(expected);
    let got = format!("{error} | {}", error.hint);
    assert!(got.contains(expected), "{got}\nwants: {expected}");
}

/// Refused where nothing less than exact is good enough; otherwise taken over with a note.
fn refused_when_strict(name: &str, text: &str, expected: &str) {
    let error = import_with(name, text.as_bytes(), None, Care::Strict).expect_err(expected);
    let got = format!("{error} | {}", error.hint);
    assert!(got.contains(expected), "{got}\nwants: {expected}");
}

/// Only nearly taken over: refused by a strict import, and otherwise this is said about it.
fn noted(name: &str, text: &str, strictly: &str, note: &str) {
    refused_when_strict(name, text, strictly);
    let read = import(name, text.as_bytes(), None).expect(note);
    assert!(read.notes.iter().any(|said| said == note), "{:?}\nwants: {note}", read.notes);
    for plan in [to_json(&read.plan), to_markdown(&read.plan)] {
        assert_eq!(parse("p", plan.as_bytes()), Ok(read.plan.clone()), "it comes back from our files");
    }
}

const OPENCODE: &str = r#"{
  "schema_version": "1.0.0",
  "title": "Ship the login",
  "swarm": "mega",
  "current_phase": 2,
  "phases": [
    { "id": 1, "name": "Base", "status": "complete", "type": "code", "required_agents": ["coder"],
      "tasks": [
        { "id": "1.1", "phase": 1, "status": "completed", "size": "small",
          "description": "Add the table", "depends": [], "files_touched": ["db/users.sql"],
          "evidence_path": ".swarm/evidence/1.1.json" },
        { "id": "1.2.1", "phase": 1, "status": "closed", "size": "medium",
          "description": "Try another table", "depends": ["1.1"], "files_touched": [] }
      ] },
    { "id": 2, "name": "Form", "status": "in_progress",
      "tasks": [
        { "id": "2.1", "phase": 2, "status": "in_progress", "size": "large",
          "description": "Add the form\nTwo inputs and a button", "depends": ["1.1"],
          "acceptance": "- shows an error\n- [ ] works, always", "files_touched": [], "reviewed": {"by": "q"} },
        { "id": "2.2", "phase": 2, "status": "blocked", "size": "small", "description": "Ask for the texts",
          "depends": ["2.1"], "blocked_reason": "nobody answers", "files_touched": [], "priority": 9 }
      ] }
  ],
  "execution_profile": { "parallelization_enabled": true, "max_concurrent_tasks": 4,
    "council_parallel": false, "locked": false, "auto_proceed": true },
  "specHash": "abc"
}"#;

#[test]
fn a_plan_of_opencode_swarm_is_ours_with_everything_it_holds() {
    check(
        ".swarm/plan.json",
        OPENCODE,
        r#"
opencode-swarm
# Ship the login
<!-- swarm {"current_phase":2,"execution_profile":{"council_parallel":false,"locked":false,"max_concurrent_tasks":4,"parallelization_enabled":true},"opencode_swarm_execution_profile":{"auto_proceed":true},"schema_version":"1.0.0","specHash":"abc","swarm":"mega"} -->

## Phase 1: Base
<!-- swarm {"required_agents":["coder"],"status":"complete","type":"code"} -->

- [x] 1.1 Add the table
  size: small
  files: db/users.sql
  json: {"evidence_path":".swarm/evidence/1.1.json"}
- [ ] 1.2.1 Try another table
  size: medium
  status: cancelled
  depends: 1.1

## Phase 2: Form
<!-- swarm {"status":"in_progress"} -->

- [ ] 2.1 Add the form
  Add the form
  Two inputs and a button
  size: large
  depends: 1.1
  acceptance: shows an error
  acceptance: works, always
  json: {"reviewed":{"by":"q"}}
- [ ] 2.2 Ask for the texts
  size: small
  status: blocked
  depends: 2.1
  json: {"blocked_reason":"nobody answers","opencode_swarm_priority":9}
note: In progress there, to be started here: 2.1
note: Closed there without being completed, cancelled here: 1.2.1
"#,
    );
}

#[test]
fn what_is_wrong_in_a_plan_of_opencode_swarm_is_named_with_its_line() {
    let broken = |from: &str, to: &str| OPENCODE.replacen(from, to, 1);
    let cases = [
        (
            broken(r#""id": "2.2""#, r#""id": "2.1""#),
            "at line 20: task 2.1 is defined twice, first at line 17",
        ),
        (
            broken(r#""depends": [], "files"#, r#""depends": ["2.2"], "files"#),
            "at line 9: its dependencies form a cycle: 1.1 waits for 2.2 waits for 2.1 waits for 1.1",
        ),
        (
            broken("\"description\": \"Ask for the texts\"", "\"description\": \"\""),
            "at line 20: it has no description",
        ),
        (broken(r#""id": 2, "name""#, r#""id": 1, "name""#), "at line 15: phase 1 is defined twice"),
        (broken(r#""id": 2, "name""#, r#""id": 0, "name""#), "at line 15: this phase has no usable number"),
        (broken("\"1.0.0\"", "\"2.0.0\""), "it is written in form 2.0.0 of opencode-swarm"),
        (broken("\"max_concurrent_tasks\": 4", "\"max_concurrent_tasks\": 65"), "max_concurrent_tasks is 65"),
        (broken("\"title\": \"Ship the login\"", "\"title\": 3"), "its title is not text"),
        (OPENCODE[..900].to_owned(), "it ends too early"),
        (broken("\"tasks\": [", "\"tasks\": {"), "it is not JSON here"),
    ];
    for (text, expected) in cases {
        refused(".swarm/plan.json", &text, expected);
    }
    for (text, expected, note) in [
        (
            broken(r#""depends": ["2.1"]"#, r#""depends": ["9.9"]"#),
            "at line 20: 2.2 depends on 9.9, which is not",
            "Dependencies on what is not in the file, left out: 2.2 on 9.9",
        ),
        (
            broken("\"blocked\"", "\"stuck\""),
            "at line 20: \"stuck\" is no status of a task",
            "Statuses that are not known, open here: 2.2 (stuck)",
        ),
        (
            broken("\"large\"", "\"huge\""),
            "at line 17: \"huge\" is no size of a task",
            "Sizes that are not known, left out: 2.1 (huge)",
        ),
    ] {
        noted(".swarm/plan.json", &text, expected, note);
    }
}

const BEADS: &str = r#"{"id":"bd-a1","title":"Login","description":"All of it","status":"open","priority":1,"issue_type":"epic","created_at":"2026-01-01T00:00:00Z","labels":["q1"]}
{"id":"bd-a1.1","title":"Table","status":"closed","priority":0,"issue_type":"task","close_reason":"merged","dependencies":[{"issue_id":"bd-a1.1","depends_on_id":"bd-a1","type":"parent-child"}]}
{"id":"bd-a1.2","title":"Form","description":"Two inputs","design":"Plain HTML","notes":"Ask Ann","acceptance_criteria":"- shows errors\n- works","status":"in_progress","priority":2,"issue_type":"feature","assignee":"ann","labels":["ui"],"dependencies":[{"issue_id":"bd-a1.2","depends_on_id":"bd-a1","type":"parent-child"},{"issue_id":"bd-a1.2","depends_on_id":"bd-a1.1","type":"blocks","created_by":"ann"},{"issue_id":"bd-a1.2","depends_on_id":"bd-zz","type":"related"}]}

{"id":"bd-b2","title":"Release","status":"blocked","priority":4,"issue_type":"chore","dependencies":[{"issue_id":"bd-b2","depends_on_id":"bd-a1","type":"blocks"},{"issue_id":"bd-b2","depends_on_id":"bd-dead","type":"blocks"}]}
{"id":"BD-C3","title":"Later","status":"deferred","issue_type":"bug","review":"me"}
{"id":"bd-dead","title":"Gone","status":"tombstone","priority":2,"issue_type":"task"}
"#;

#[test]
fn issues_of_beads_are_tasks_an_epic_is_a_phase_and_only_blocks_orders() {
    check(
        "issues.jsonl",
        BEADS,
        r#"
beads
# Issues from beads

## Phase 1: Login (bd-a1)
<!-- swarm {"created_at":"2026-01-01T00:00:00Z","description":"All of it","imported_id":"bd-a1","issue_type":"epic","labels":["q1"],"priority":1,"status":"open"} -->

- [x] bd-a1.1 Table
  priority: 0
  json: {"close_reason":"merged","dependencies":[{"depends_on_id":"bd-a1","issue_id":"bd-a1.1","type":"parent-child"}],"issue_type":"task"}
- [ ] bd-a1.2 Form
  Two inputs

  Design:
  Plain HTML

  Notes:
  Ask Ann
  priority: 2
  depends: bd-a1.1
  tags: ui
  acceptance: shows errors
  acceptance: works
  json: {"assignee":"ann","dependencies":[{"depends_on_id":"bd-a1","issue_id":"bd-a1.2","type":"parent-child"},{"created_by":"ann","depends_on_id":"bd-a1.1","issue_id":"bd-a1.2","type":"blocks"},{"depends_on_id":"bd-zz","issue_id":"bd-a1.2","type":"related"}],"issue_type":"feature"}

## Phase 2: Without an epic

- [ ] bd-b2 Release
  priority: 4
  status: blocked
  depends: bd-a1.1, bd-a1.2
  json: {"blocked_reason":"blocked in beads, where it waits for bd-a1.1, bd-a1.2","dependencies":[{"depends_on_id":"bd-a1","issue_id":"bd-b2","type":"blocks"},{"depends_on_id":"bd-dead","issue_id":"bd-b2","type":"blocks"}],"issue_type":"chore"}
- [ ] bd-c3 Later
  status: deferred
  tags: beads:BD-C3
  json: {"beads_review":"me","imported_id":"BD-C3","issue_type":"bug"}
note: Tombstones, left out: bd-dead
note: Waited for a tombstone, and no longer do: bd-b2
note: Dependencies on or of an epic hold for each of its tasks: bd-b2
note: In progress there, to be started here: bd-a1.2
note: Ids that could not stay: BD-C3 is bd-c3 here
"#,
    );
}

#[test]
fn issues_of_hive_have_their_parent_in_a_member_and_epics_may_lie_in_epics() {
    let text = r#"{"id":"h-1","title":"All","status":"open","priority":0,"issue_type":"epic"}
{"id":"h-2","title":"Inner","status":"blocked","priority":1,"issue_type":"epic","parent_id":"h-1","dependencies":[{"depends_on_id":"h-5","type":"blocks"}]}
{"id":"h-3","title":"Deep","status":"open","priority":3,"issue_type":"task","parent_id":"h-2","comments":[{"body":"x"}]}
{"id":"h-4","title":"Sub","status":"open","priority":3,"issue_type":"task","parent_id":"h-3"}
{"id":"h-5","title":"First","status":"open","priority":0,"issue_type":"bug","parent_id":"h-1"}
{"id":"h-6","title":"After all","status":"open","issue_type":"task","dependencies":[{"depends_on_id":"h-1","type":"blocks"}]}
{"id":"h-7","title":"Empty","status":"open","issue_type":"epic"}
"#;
    check(
        "-",
        text,
        r#"
hive
# Issues from hive

## Phase 1: All (h-1)
<!-- swarm {"imported_id":"h-1","issue_type":"epic","priority":0,"status":"open"} -->

- [ ] h-5 First
  priority: 0
  json: {"issue_type":"bug","parent_id":"h-1"}

## Phase 2: Inner (h-2)
<!-- swarm {"dependencies":[{"depends_on_id":"h-5","type":"blocks"}],"imported_id":"h-2","issue_type":"epic","parent_id":"h-1","priority":1,"status":"blocked"} -->

- [ ] h-3 Deep
  priority: 3
  depends: h-5
  json: {"comments":[{"body":"x"}],"issue_type":"task","parent_id":"h-2"}
- [ ] h-4 Sub
  priority: 3
  depends: h-5
  json: {"issue_type":"task","parent_id":"h-3"}

## Phase 3: Without an epic

- [ ] h-6 After all
  depends: h-3, h-4, h-5
  json: {"dependencies":[{"depends_on_id":"h-1","type":"blocks"}],"issue_type":"task"}
- [ ] h-7 Empty
  json: {"issue_type":"epic"}
note: Epics that are blocked or deferred there; their tasks are taken over as they are: h-2
note: Dependencies on or of an epic hold for each of its tasks: h-2, h-6
"#,
    );
}

#[test]
fn what_is_wrong_in_a_list_of_issues_is_named_with_its_line() {
    let one =
        |id: &str, more: &str| format!("{{\"id\":\"{id}\",\"title\":\"t\",\"status\":\"open\"{more}}}\n");
    let on = |id: &str| format!(",\"dependencies\":[{{\"depends_on_id\":\"{id}\",\"type\":\"blocks\"}}]");
    let child = |id: &str| format!(",\"issue_type\":\"epic\",\"parent_id\":\"{id}\"");
    let cases = [
        (format!("{}{}", one("a", ""), one("a", "")), "at line 2: task a is defined twice, first at line 1"),
        (
            format!("{}{}", one("a", &on("b")), one("b", &on("a"))),
            "at line 1: its dependencies form a cycle: a waits for b waits for a",
        ),
        (one("a", &on("a")), "a waits for a"),
        (
            format!("{}{}", one("a", &child("b")), one("b", &child("a"))),
            "its parents form a cycle: a is a child of b is a child of a",
        ),
        (
            format!("{}{{\"id\":\n", one("a", "")),
            "at line 2: it is not JSON here: EOF while parsing a value at character 6",
        ),
        (format!("{}<<<<<<< HEAD\n", one("a", "")), "at line 2: git left the mark of a merge conflict here"),
        (format!("{}[1]\n", one("a", "")), "at line 2: this is no object"),
        (format!("{}{{\"id\":\"b\",\"status\":\"open\"}}\n", one("a", "")), "at line 2: it has no title"),
        (format!("{}{{\"title\":\"b\",\"status\":\"open\"}}\n", one("a", "")), "at line 2: it has no id"),
        (one("a", ",\"labels\":\"x\""), "at line 1: its labels is not a list of texts"),
        (
            one("a", ",\"dependencies\":[{\"type\":\"blocks\"}]"),
            "at line 1: one of its dependencies does not say",
        ),
        (
            format!("{}{}{}", one("a", ""), one("e", ",\"issue_type\":\"epic\""), one("e.1", &on("e"))),
            "e.1 waits for e.1",
        ),
    ];
    for (text, expected) in cases {
        refused("issues.jsonl", &text, expected);
    }
    let missing = "Dependencies on what is not in the file, left out: a on b";
    let depends = format!("\n{}", one("a", &on("b")));
    noted("issues.jsonl", &depends, "at line 2: a depends on b, which is not in the file", missing);
    let five = one("a", ",\"priority\":5");
    let note = "Priorities other than 0 to 4: a (5 is 4 here)";
    noted("issues.jsonl", &five, "at line 1: its priority is 5", note);
    let high = one("a", ",\"priority\":\"high\"");
    let note = "Priorities other than 0 to 4: a (high is 1 here)";
    noted("issues.jsonl", &high, "at line 1: its priority is not a whole number", note);
    let hooked = one("a", "").replace("open", "hooked");
    let strictly = "at line 1: \"hooked\" is no status of an issue";
    noted("issues.jsonl", &hooked, strictly, "Hooked there, to be started here: a");
}

#[test]
fn the_content_says_whose_plan_it_is_and_a_person_may_say_otherwise() {
    let single = r#"{"id":"a","title":"t","status":"open"}"#;
    let cases = [
        ("x", "# g\n- [ ] 1.1 a\n", Source::Markdown),
        ("x", r#"{"goal":"g","phases":[]}"#, Source::Json),
        ("x.jsonl", r#"{"goal":"g","phases":[]}"#, Source::Json),
        ("x", single, Source::Beads),
        ("repo/.hive/issues.jsonl", single, Source::Hive),
        ("x", r#"{"schema_version":"1.0.0","title":"t","swarm":"s","phases":[]}"#, Source::OpencodeSwarm),
    ];
    for (name, text, expected) in cases {
        let read = import(name, text.as_bytes(), None).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read.from, expected, "{name} {text}");
    }
    let read = import("x", single.as_bytes(), Some(Source::Hive)).expect("as told");
    assert_eq!((read.from, read.plan.goal.as_str()), (Source::Hive, "Issues from hive"));
    let error = import("x", single.as_bytes(), Some(Source::Json)).expect_err("no plan of ours");
    assert!(error.why.contains("goal"), "{error}");
    for source in Source::ALL {
        assert_eq!(source.word().parse(), Ok(source));
    }
}

#[test]
fn files_without_end_and_dependencies_without_number_are_refused() {
    let huge = vec![b' '; crate::planfile::BYTES_MAX + 1];
    let error = import("issues.jsonl", &huge, None).expect_err("too large");
    assert!(error.why.contains("at most 16777216"), "{error}");
    // 500 tasks in an epic that 500 others wait for are a quarter of a million dependencies.
    let mut text =
        String::from("{\"id\":\"e\",\"title\":\"E\",\"status\":\"open\",\"issue_type\":\"epic\"}\n");
    for n in 0..500 {
        text.push_str(&format!("{{\"id\":\"e.{n}\",\"title\":\"t\",\"status\":\"open\"}}\n"));
        text.push_str(&format!(
            "{{\"id\":\"w-{n}\",\"title\":\"t\",\"status\":\"open\",\"dependencies\":[{{\"depends_on_id\":\"e\",\"type\":\"blocks\"}}]}}\n"
        ));
    }
    refused("issues.jsonl", &text, "more than 200000 dependencies");
    let mut deep = String::new();
    for n in 0..300 {
        deep.push_str(&format!(
            "{{\"id\":\"e{n}\",\"title\":\"t\",\"status\":\"open\",\"issue_type\":\"epic\",\"parent_id\":\"e{}\"}}\n",
            n + 1
        ));
    }
    deep.push_str("{\"id\":\"e300\",\"title\":\"t\",\"status\":\"open\",\"issue_type\":\"epic\"}\n");
    refused("issues.jsonl", &deep, "more than 100 levels deep");
}

/// Issues that a tool could have written: each waits only for earlier ones, parents are earlier epics.
fn some_issues() -> impl Strategy<Value = Vec<Value>> {
    let one = (
        0..6usize,
        0..5u64,
        any::<bool>(),
        proptest::collection::vec(any::<prop::sample::Index>(), 0..3),
        any::<prop::sample::Index>(),
        "[A-Za-z0-9./ _-]{0,6}",
        "[a-z]{1,6}",
    );
    proptest::collection::vec(one, 1..25).prop_map(|all| {
        let mut issues: Vec<Value> = Vec::new();
        for (n, (status, priority, epic, on, parent, id, unknown)) in all.into_iter().enumerate() {
            let status = ["open", "in_progress", "blocked", "deferred", "closed", "tombstone"][status];
            let mut dependencies = Vec::new();
            if n > 0 {
                let parent = &issues[parent.index(n)];
                if parent["issue_type"] == "epic" {
                    dependencies.push(json!({"depends_on_id": parent["id"], "type": "parent-child"}));
                }
                // One on an epic could close a circle through its later children.
                let tasks = on.iter().map(|at| &issues[at.index(n)]).filter(|issue| issue["issue_type"] != "epic");
                dependencies.extend(tasks.map(|issue| json!({"depends_on_id": issue["id"], "type": "blocks"})));
            }
            issues.push(json!({
                "id": format!("{id}#{n}"), "title": format!("Issue {n}"), "status": status, "priority": priority,
                "issue_type": if epic { "epic" } else { "task" }, "dependencies": dependencies,
                format!("x_{unknown}"): {"kept": n},
            }));
        }
        issues
    })
}

fn status_of(word: &str) -> Option<Status> {
    match word {
        "closed" => Some(Status::Done),
        "blocked" => Some(Status::Blocked),
        "deferred" => Some(Status::Deferred),
        _ => None,
    }
}

fn check_issues(issues: &[Value], plan: &PlanFile) {
    let tasks: Vec<_> = plan.phases.iter().flat_map(|phase| &phase.tasks).collect();
    for issue in issues {
        let id = issue["id"].as_str().expect("text");
        let task =
            tasks.iter().find(|task| task.extra.get("imported_id").and_then(Value::as_str) == Some(id));
        let phase = plan
            .phases
            .iter()
            .find(|phase| phase.extra.get("imported_id").and_then(Value::as_str) == Some(id));
        let extra = match (task, phase) {
            (None, None) => {
                assert_eq!(issue["status"], "tombstone", "{id} is gone");
                continue;
            }
            (Some(task), None) => {
                assert_eq!(task.status, status_of(issue["status"].as_str().expect("text")), "{id}");
                assert_eq!(task.priority.map(u64::from), issue["priority"].as_u64());
                &task.extra
            }
            (None, Some(phase)) => &phase.extra,
            (Some(_), Some(_)) => panic!("{id} is a task and a phase"),
        };
        assert_ne!(issue["status"], "tombstone");
        for (key, value) in
            issue.as_object().expect("an object").iter().filter(|(key, _)| key.starts_with("x_"))
        {
            assert_eq!(extra.get(key), Some(value), "unknown members of {id}");
        }
    }
    for task in &tasks {
        for on in &task.depends {
            assert!(tasks.iter().any(|task| task.id == *on), "{} waits for nothing", task.id);
        }
    }
}

mod generated;
mod nearly;

proptest! {
    #[test]
    fn every_issue_is_a_task_or_a_phase_with_all_its_members_and_comes_back_from_our_files(issues in some_issues()) {
        let text: String = issues.iter().map(|issue| format!("{issue}\n")).collect();
        let read = import("issues.jsonl", text.as_bytes(), None).expect("what a tool writes can be read");
        check_issues(&issues, &read.plan);
        if issues.iter().all(|issue| issue["status"] == "tombstone") {
            return Ok(());
        }
        prop_assert_eq!(parse("p", to_json(&read.plan).as_bytes()), Ok(read.plan.clone()));
        prop_assert_eq!(parse("p", to_markdown(&read.plan).as_bytes()), Ok(read.plan));
    }

    #[test]
    fn no_text_makes_an_import_panic(text in "\\PC{0,120}|[{}\\[\\]\":,a-z0-9\\n]{0,120}", source in 0..5usize) {
        let _ = import("p", text.as_bytes(), None);
        let _ = import("p", text.as_bytes(), Some(Source::ALL[source]));
    }

    #[test]
    fn no_cut_and_no_changed_byte_of_a_real_file_makes_an_import_panic(
        cut in 0..2000usize, at in 0..2000usize, byte in 32..127u8, beads in any::<bool>()
    ) {
        let mut bytes = if beads { BEADS } else { OPENCODE }.as_bytes().to_vec();
        let len = bytes.len();
        bytes[at % len] = byte;
        let _ = import("p", &bytes, None);
        bytes.truncate(cut % len);
        let _ = import("p", &bytes, None);
    }
}
