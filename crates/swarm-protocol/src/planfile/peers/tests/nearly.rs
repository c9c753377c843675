//! What other tools write that can only nearly be taken over, and forms of theirs beside the plan itself.

use super::{Care, check, import, import_with, noted, parse, refused, to_json, to_markdown};
use crate::plan::{Status, TaskFile};
use crate::planfile::peers::Source;

fn tasks(text: &str) -> (Vec<TaskFile>, Vec<String>) {
    let read = import("issues.jsonl", text.as_bytes(), None).expect("an import");
    (read.plan.phases.into_iter().flat_map(|phase| phase.tasks).collect(), read.notes)
}

#[test]
fn every_status_of_an_issue_becomes_one_of_ours_and_is_kept() {
    for (word, status, note) in [
        ("hooked", None, Some("Hooked there, to be started here: a")),
        ("pinned", Some(Status::Deferred), Some("Pinned there, deferred here: a")),
        ("completed", Some(Status::Done), None),
        ("In Progress", None, Some("In progress there, to be started here: a")),
        ("cancelled", Some(Status::Cancelled), None),
        ("waiting", None, Some("Statuses that are not known, open here: a (waiting)")),
    ] {
        let (tasks, notes) = tasks(&format!(r#"{{"id":"a","title":"t","status":"{word}","priority":1}}"#));
        assert_eq!(tasks[0].status, status, "{word}");
        assert_eq!(notes, note.into_iter().map(str::to_owned).collect::<Vec<_>>(), "{word}");
        assert_eq!(tasks[0].extra["beads_status"], word);
    }
    // An epic keeps its word as well.
    let epic = "{\"id\":\"e\",\"title\":\"E\",\"status\":\"pinned\",\"issue_type\":\"epic\"}\n{\"id\":\"e.1\",\"title\":\"t\",\"status\":\"open\"}\n";
    let read = import("issues.jsonl", epic.as_bytes(), None).expect("an import");
    assert_eq!(read.plan.phases[0].extra["status"], "pinned");
}

#[test]
fn every_priority_comes_into_our_range_and_is_kept() {
    for (given, priority, note) in [
        ("0", Some(0), None),
        ("null", None, None),
        ("9", Some(4), Some("a (9 is 4 here)")),
        ("-3", Some(0), Some("a (-3 is 0 here)")),
        ("2.0", Some(2), Some("a (2.0 is 2 here)")),
        ("\"P1\"", Some(1), Some("a (P1 is 1 here)")),
        ("\"critical\"", Some(0), Some("a (critical is 0 here)")),
        ("\"backlog\"", Some(4), Some("a (backlog is 4 here)")),
        ("\"soon\"", None, Some("a (soon is none here)")),
        ("[1]", None, Some("a ([1] is none here)")),
    ] {
        let (tasks, notes) =
            tasks(&format!(r#"{{"id":"a","title":"t","status":"open","priority":{given}}}"#));
        assert_eq!(tasks[0].priority, priority, "{given}");
        let note = note.map(|note| format!("Priorities other than 0 to 4: {note}"));
        assert_eq!(notes, note.into_iter().collect::<Vec<_>>(), "{given}");
        assert_eq!(tasks[0].extra.contains_key("beads_priority"), !notes.is_empty(), "{given}");
    }
}

#[test]
fn one_dependency_on_nothing_costs_one_note_and_no_other_order() {
    let text = r#"{"id":"a","title":"A","status":"open"}
{"id":"b","title":"B","status":"open","parent_id":"gone","dependencies":[{"depends_on_id":"a","type":"blocks"},{"depends_on_id":"bd-99","type":"blocks"}]}
"#;
    let (tasks, notes) = tasks(text);
    assert_eq!(tasks[1].depends, [tasks[0].id.clone()]);
    assert!(tasks[1].extra["dependencies"].to_string().contains("bd-99"), "what was named is kept");
    assert_eq!(
        notes,
        [
            "Dependencies on what is not in the file, left out: b on bd-99",
            "Parents that are not in the file, left out: b in gone"
        ]
    );
}

#[test]
fn every_kind_of_dependency_that_orders_work_there_does_so_here() {
    let issues = |kind: &str| {
        let on = format!(r#""dependencies":[{{"issue_id":"b","depends_on_id":"a","type":"{kind}"}}]"#);
        format!(
            "{{\"id\":\"a\",\"title\":\"A\",\"status\":\"open\"}}\n{{\"id\":\"b\",\"title\":\"B\",\"status\":\"open\",{on}}}\n"
        )
    };
    for (kind, orders) in [
        ("blocks", true),
        ("waits-for", true),
        ("conditional-blocks", true),
        ("Blocks", true),
        ("blocked_by", true),
        ("depends-on", true),
        ("related", false),
        ("requires", false),
    ] {
        assert_eq!(tasks(&issues(kind)).0[1].depends.len(), usize::from(orders), "{kind}");
    }
    let note = "Run there only if what they wait for fails, here after it: b";
    let strictly = "at line 2: it runs only if something else fails";
    noted("issues.jsonl", &issues("conditional-blocks"), strictly, note);
    let note = "Kinds of dependencies that are not known, without an order here: b (requires)";
    let strictly = "at line 2: \"requires\" is no kind of a dependency";
    noted("issues.jsonl", &issues("requires"), strictly, note);
    assert!(tasks(&issues("discovered_from")).1.is_empty());
}

#[test]
fn a_memory_among_issues_costs_a_note_and_no_issue() {
    let text = "{\"_type\":\"memory\",\"key\":\"k\",\"value\":\"v\"}\n{\"_type\":\"issue\",\"id\":\"a\",\"title\":\"t\",\"status\":\"open\"}\n";
    let strictly = "at line 1: it is a \"memory\" and no issue";
    noted("issues.jsonl", text, strictly, "Records that are no issues, left out: memory at line 1");
    assert_eq!(tasks(text).0.len(), 1);
}

#[test]
fn criteria_may_be_a_list() {
    let list = r#"["shows an error"," works, always ",""]"#;
    let issue = format!(r#"{{"id":"a","title":"t","status":"open","acceptance_criteria":{list}}}"#);
    let plan = format!(
        r#"{{"schema_version":"1.0.0","title":"T","swarm":"s","phases":[{{"id":1,"name":"P","status":"pending","tasks":[{{"id":"1.1","status":"pending","description":"One","acceptance":{list}}}]}}]}}"#
    );
    for text in [issue, plan] {
        assert_eq!(tasks(&text).0[0].acceptance, ["shows an error", "works, always"], "{text}");
    }
}

#[test]
fn members_that_are_nearly_ours_get_the_name_of_the_tool() {
    let (tasks, _) = tasks(r#"{"id":"a","title":"t","status":"open","tag":"x","reviewed":1}"#);
    assert!(tasks[0].extra.contains_key("beads_tag") && tasks[0].extra.contains_key("reviewed"));
}

const TEXT: &str = "# Ship the login
Swarm: mega
Phase: 2 [IN PROGRESS] | Updated: 2026-01-01T00:00:00.000Z

Some words.

---
## Phase 1: Base [COMPLETE]
- [x] 1.1: Add the table [SMALL]

---
## Phase 2: Form (both) [IN PROGRESS]
Ask Ann first.
- [ ] 2.1: Add the form [LARGE] (depends: 1.1) ← CURRENT
  - two inputs
- [BLOCKED] 2.2: Texts - nobody answers [MEDIUM] (depends: 1.1, 2.1)
More about it.
- [ ] 2.3: Test [it] well [IN PROGRESS]
";

#[test]
fn the_markdown_of_opencode_swarm_is_a_plan_with_its_order_and_statuses() {
    check(
        ".swarm/plan.md",
        TEXT,
        r#"
opencode-swarm
# Ship the login
<!-- swarm {"swarm":"mega"} -->

Phase: 2 [IN PROGRESS] | Updated: 2026-01-01T00:00:00.000Z

Some words.

## Phase 1: Base
<!-- swarm {"status":"complete"} -->

- [x] 1.1 Add the table
  size: small

## Phase 2: Form (both)
<!-- swarm {"status":"in_progress"} -->

Ask Ann first.

- [ ] 2.1 Add the form
  \  - two inputs
  size: large
  depends: 1.1
- [ ] 2.2 Texts - nobody answers
  More about it.
  size: medium
  status: blocked
  depends: 1.1, 2.1
  json: {"blocked_reason":"nobody answers"}
- [ ] 2.3 Test [it] well
note: In progress there, to be started here: 2.1, 2.3
"#,
    );
    let dangling = TEXT.replace("(depends: 1.1, 2.1)", "(depends: 1.1, 9.9)");
    let strictly = "at line 16: 2.2 depends on 9.9, which is not in the file";
    noted("plan.md", &dangling, strictly, "Dependencies on what is not in the file, left out: 2.2 on 9.9");
    let mark = TEXT.replace("- [ ] 2.3", "- [?] 2.3");
    let strictly = "at line 18: the mark of this task is not known";
    noted("plan.md", &mark, strictly, "Statuses that are not known, open here: 2.3 (?)");
    refused(
        "plan.md",
        &TEXT.replace("2.2:", "2.1:"),
        "at line 16: task 2.1 is defined twice, first at line 14",
    );
}

#[test]
fn a_checklist_of_ours_is_not_taken_for_one_of_theirs() {
    for (text, source) in [
        ("# g\n- [ ] 1.1 a [SMALL]\n", Source::Markdown),
        ("# g\n## Phase 1: a\n- [ ] 1.1 b (depends: 1.2)\n- [ ] 1.2 c\n", Source::Markdown),
        ("<!-- swarm-ledger seq=1 -->\n# g\n- [ ] 1.1: a [SMALL]\n", Source::Markdown),
        ("# g\n- [ ] 1.1: a [SMALL]\n", Source::OpencodeSwarm),
        ("# g\n- [BLOCKED] 1.1: a\n", Source::OpencodeSwarm),
        ("# g\n## Phase 1: a [PENDING]\n- [ ] 1.1 b\n", Source::OpencodeSwarm),
    ] {
        let read = import("x", text.as_bytes(), None).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read.from, source, "{text}");
        assert_eq!(parse("p", to_json(&read.plan).as_bytes()), Ok(read.plan.clone()));
        assert_eq!(parse("p", to_markdown(&read.plan).as_bytes()), Ok(read.plan));
    }
}

const PLAN: &str = r#"{"schema_version":"1.0.0","title":"T","swarm":"s","phases":[{"id":1,"name":"P","status":"pending","tasks":[{"id":"1.1","status":"pending","description":"One"},{"id":"1.2","status":"pending","description":"Two","depends":["1.1"]},{"id":"1.3","status":"pending","description":"Three"}]}]}"#;

fn ledger(events: &[&str]) -> String {
    let created = format!(r#""event_type":"plan_created","payload":{{"plan":{PLAN}}}"#);
    let all = std::iter::once(created.as_str()).chain(events.iter().copied()).enumerate();
    all.map(|(at, event)| format!("{{\"seq\":{},\"plan_id\":\"p\",{event}}}\n", at + 1)).collect()
}

#[test]
fn the_ledger_of_opencode_swarm_is_folded_into_its_plan() {
    let text = ledger(&[
        r#""event_type":"task_status_changed","task_id":"1.1","from_status":"pending","to_status":"completed""#,
        r#""event_type":"task_removed","task_id":"1.3""#,
        r#""event_type":"phase_completed","phase_id":1"#,
        r#""event_type":"plan_exported""#,
    ]);
    check(
        "plan-ledger.jsonl",
        &text,
        r#"
opencode-swarm
# T
<!-- swarm {"schema_version":"1.0.0","swarm":"s"} -->

## Phase 1: P
<!-- swarm {"status":"complete"} -->

- [x] 1.1 One
- [ ] 1.2 Two
  depends: 1.1
note: Read from the ledger of opencode-swarm, as its newest whole plan and what followed
"#,
    );
    let added = ledger(&[r#""event_type":"task_added","task_id":"1.4""#]);
    let note =
        "Changes that the ledger names but does not hold; .swarm/plan.json has them: task_added at line 2";
    noted("plan-ledger.jsonl", &added, "it does not say what changed: task_added at line 2", note);
    let other = added.replace("task_added", "execution_profile_set");
    let strictly = "it does not say what changed: execution_profile_set at line 2";
    noted("plan-ledger.jsonl", &other, strictly, &note.replace("task_added", "execution_profile_set"));
}

#[test]
fn a_ledger_without_a_plan_in_it_says_what_to_import_instead() {
    let bare = "{\"seq\":1,\"plan_id\":\"p\",\"event_type\":\"plan_created\"}\n";
    for text in [bare.to_owned(), ledger(&[r#""event_type":"plan_reset""#])] {
        refused("plan-ledger.jsonl", &text, "it is the ledger of opencode-swarm");
        refused("plan-ledger.jsonl", &text, "`swarm plan import .swarm/plan.json`");
    }
    refused("x", &format!("{bare}not JSON\n"), "at line 2: this is no event of the ledger");
    let error = import_with("x", bare.as_bytes(), None, Care::Lenient).expect_err("no plan");
    assert_eq!(error.line, None);
}
