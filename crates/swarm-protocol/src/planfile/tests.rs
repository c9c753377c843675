use proptest::prelude::*;

use super::{Known, parse, parse_with_notes, to_json, to_markdown};
use crate::ids::TaskId;
use crate::plan::{Extra, PhaseFile, PlanFile, Size, Status, TaskFile, TaskSpec};

/// Reads `text` and gives the plan as JSON, or the error with its line and hint.
fn check(text: &str, expected: &str) {
    let got = match parse("plan", text.as_bytes()) {
        Ok(plan) => serde_json::to_string(&plan).expect("plain data"),
        Err(error) => format!("{error} | {}", error.hint),
    };
    assert_eq!(got, expected, "for:\n{text}");
}

#[test]
fn a_checklist_becomes_a_plan_with_every_field() {
    check(
        "# Ship the login\nWhy we do it.\n\n## Phase 1: Base\n\n- [x] 1.1 Add the table\n- [ ] 1.2 Add the form\n  Two inputs\n\n    and code\n  depends: 1.1\n  files: src/**, tests/a.rs\n  acceptance: it shows an error\n  acceptance: it works, always\n  tags: ui\n## Phase 3\n* [ ] docs: Write it down\n",
        r#"{"goal":"Ship the login","phases":[{"id":1,"name":"Base","tasks":[{"id":"1.1","title":"Add the table","status":"done"},{"id":"1.2","title":"Add the form","description":"Two inputs\n\n  and code","depends":["1.1"],"acceptance":["it shows an error","it works, always"],"files":["src/**","tests/a.rs"],"tags":["ui"]}]},{"id":3,"name":"","tasks":[{"id":"docs","title":"Write it down"}]}],"notes":"Why we do it."}"#,
    );
}

#[test]
fn a_task_without_an_id_gets_the_next_free_number_of_its_phase() {
    check(
        "# g\n- [ ] add a login\n- [ ] 1.1 first\n- [ ] more\n",
        r#"{"goal":"g","phases":[{"id":1,"name":"","tasks":[{"id":"1.2","title":"add a login"},{"id":"1.1","title":"first"},{"id":"1.3","title":"more"}]}]}"#,
    );
}

#[test]
fn tens_of_thousands_of_tasks_without_an_id_are_numbered_in_a_moment() {
    let text = format!("# g\n- [ ] 1.2 own\n{}", "- [ ] again\n".repeat(20_000));
    let since = std::time::Instant::now();
    let first = parse("plan", text.as_bytes()).expect("a plan");
    let tasks = &first.phases[0].tasks;
    let ids = |at: usize| tasks[at].id.as_str();
    assert_eq!((ids(0), ids(1), ids(2), ids(20_000)), ("1.2", "1.1", "1.3", "1.20001"));
    // Saved again they are the same ones.
    let (again, _) = parse_with_notes("plan", text.as_bytes(), &Known::of(tasks)).expect("a plan");
    assert_eq!(again, first);
    assert!(since.elapsed() < std::time::Duration::from_secs(10), "{:?}", since.elapsed());
}

#[test]
fn a_description_may_hold_what_looks_like_a_field_behind_a_backslash_or_in_a_block() {
    let text = "# g\n- [ ] 1.1 a\n  \\Files: all of them\n  ```\n  deps: none\n  ```\n  Note: later\n";
    check(
        text,
        r#"{"goal":"g","phases":[{"id":1,"name":"","tasks":[{"id":"1.1","title":"a","description":"Files: all of them\n```\ndeps: none\n```\nNote: later"}]}]}"#,
    );
}

#[test]
fn what_a_block_of_code_shows_is_no_field_and_a_block_that_is_never_closed_hides_none() {
    check(
        "# g\n- [ ] 1.1 a\n  ```yaml\n  tags: v1\n  status: done\n  ```\n  size: small\n",
        r#"{"goal":"g","phases":[{"id":1,"name":"","tasks":[{"id":"1.1","title":"a","description":"```yaml\ntags: v1\nstatus: done\n```","size":"small"}]}]}"#,
    );
    check(
        "# g\n- [ ] 1.1 a\n  ```\n  code\n  size: small\n",
        r#"{"goal":"g","phases":[{"id":1,"name":"","tasks":[{"id":"1.1","title":"a","description":"```\ncode","size":"small"}]}]}"#,
    );
}

#[test]
fn a_checklist_that_would_have_to_be_guessed_at_is_refused_with_its_line() {
    check(
        "# g\n- [ ] 1.1 a\nlost text\n",
        "Cannot read the plan plan at line 3: this line is neither a task nor indented below one | Write `- [ ] id title`, or indent the text by two spaces",
    );
    check(
        "# g\n- [-] 1.1 a\n",
        "Cannot read the plan plan at line 2: [-] is not a mark of a task | Use `[ ]` for open and `[x]` for done",
    );
    check(
        "# g\n## Phase 4294967295: last\n- [ ] 1.1 a\n## one more\n",
        "Cannot read the plan plan at line 4: this phase has no usable number | Write `## Phase 1: name`, with a number from 1 on",
    );
    check(
        "# g\n# h\n",
        "Cannot read the plan plan at line 2: there is a second goal | One `# goal` comes first; phases are `## Phase 1: name`",
    );
    check(
        "# g\n- [ ] 1.1\n",
        "Cannot read the plan plan at line 2: this task has no title | Write `- [ ] 1.1 What is to be done`",
    );
    check(
        "- [ ] 1.1 a\n",
        "Cannot read the plan plan: it has no goal | Begin the file with `# what the plan is for`",
    );
    check(
        "# g\n- [ ] 1.1 a\n  depends: ../x\n",
        "Cannot read the plan plan at line 3: \"../x\" is not a task id: it must start with a lowercase letter or a digit | List the ids of tasks, with commas between: `depends: 1.1, 1.2`",
    );
    check(
        "# g\n- [ ] 1.1 a\n  reveiw: human\n",
        "Cannot read the plan plan at line 3: \"reveiw\" is not a field | Write `review:`, or begin the line with \\ if it belongs to the description",
    );
    check(
        "# g\n- [ ] 1.1 a\n  Review: human\n",
        "Cannot read the plan plan at line 3: \"Review\" is not a field | Write `review:`, or begin the line with \\ if it belongs to the description",
    );
    check(
        "# g\n## Phase 0: x\n",
        "Cannot read the plan plan at line 2: this phase has no usable number | Write `## Phase 1: name`, with a number from 1 on",
    );
    check(
        "# g\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.1 c\n",
        "Cannot read the plan plan at line 4: task 1.1 is defined twice, first at line 2 | Give each task its own id",
    );
}

#[test]
fn json_that_is_not_a_plan_is_refused_with_its_line() {
    let deep = format!("{{\"goal\":\"g\",\"phases\":[],\"x\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    check(
        &deep,
        "Cannot read the plan plan at line 1: it is nested more than 128 levels deep | A plan has phases, and phases have tasks: three levels",
    );
    check(
        "{\"goal\":\"g\",\n\"phases\":[]}\nx",
        "Cannot read the plan plan at line 3: there is something behind the end of the plan | A plan file holds exactly one JSON object",
    );
    check(
        "{\"goal\":\"g\",\n",
        "Cannot read the plan plan at line 2: it ends too early | The file was cut off, or a bracket is missing",
    );
    check(
        "{\"goal\":\"g\"\n\"phases\":[]}",
        "Cannot read the plan plan at line 2: it is not JSON here: expected `,` or `}` | Check commas, quotes and brackets before this place",
    );
    check("", "Cannot read the plan plan: it is empty | Begin with `# goal` or `{\"goal\": …}`");
    check(
        "{\"goal\":\"g\",\"phases\":[{\"id\":1,\"tasks\":[\n{\"id\":\"../a\",\"title\":\"t\"}]}]}",
        "Cannot read the plan plan at line 2: \"../a\" is not a task id: it must start with a lowercase letter or a digit | The form is described in docs/reference/plan.schema.json; `swarm plan export` prints an example",
    );
    check(
        "{\"goal\":\"g\",\"phases\":[{\"id\":1,\"tasks\":[\n{\"id\":\"a\",\"title\":\"t\"},\n{\"id\" : \"a\",\"title\":\"t\"}]}]}",
        "Cannot read the plan plan at line 3: task a is defined twice, first at line 2 | Give each task its own id",
    );
}

#[test]
fn bytes_that_are_no_text_and_files_without_end_are_refused() {
    let error = parse("p", b"# g\n\xff").expect_err("not UTF-8");
    assert_eq!(error.to_string(), "Cannot read the plan p at line 2: it is not UTF-8 text");
    let error = parse("p", b"# g\n\0").expect_err("NUL");
    assert_eq!(error.to_string(), "Cannot read the plan p at line 2: it holds a NUL byte");
    let huge = vec![b' '; super::BYTES_MAX + 1];
    assert!(parse("p", &huge).expect_err("too large").why.contains("at most 16777216"));
}

#[test]
fn members_we_do_not_know_are_kept_on_every_level_of_both_formats() {
    let text = r#"{"goal":"g","phases":[{"id":1,"name":"n","tasks":[{"id":"a","title":"t","x":[1,{"y":null}]}],"owner":"me"}],"swarm":"z"}"#;
    let plan = parse("p", text.as_bytes()).expect("a plan");
    assert_eq!(serde_json::to_string(&plan).expect("plain data"), text);
    assert_eq!(parse("p", to_markdown(&plan).as_bytes()), Ok(plan));
}

#[test]
fn what_an_export_says_about_the_ledger_is_not_part_of_the_plan() {
    let text = r#"{"goal":"g","phases":[],"ledger":{"seq":4,"hash":"00"}}"#;
    assert_eq!(parse("p", text.as_bytes()).expect("a plan").extra, Extra::new());
}

fn some_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 ,.:#<>/*_-]{1,30}",
        "[a-z \n\t\\\\`#-]{0,40}",
        Just("depends: 1.1\n\n  - [ ] x\njson: {".to_owned()),
        Just("```\n# x\n".to_owned()),
    ]
}

fn some_title() -> impl Strategy<Value = String> {
    some_text().prop_filter("a title says something", |text| !text.trim().is_empty())
}

fn some_extra() -> impl Strategy<Value = Extra> {
    proptest::collection::btree_map("x[a-z]{0,4}|notes", some_text().prop_map(serde_json::Value::from), 0..3)
}

prop_compose! {
    fn some_task()(
        title in some_title(),
        description in some_text(),
        lists in proptest::collection::vec(proptest::collection::vec(some_text(), 0..3), 3),
        depends in proptest::collection::vec(0..30u32, 0..3),
        priority in proptest::option::of(0..5u8),
        size in proptest::option::of(prop_oneof![Just(Size::Small), Just(Size::Large)]),
        status in proptest::option::of(proptest::sample::select(&Status::ALL[1..])),
        extra in some_extra(),
    ) -> TaskFile {
        let id = |n: u32| TaskId::new(if n.is_multiple_of(2) { format!("1.{n}") } else { format!("t{n}") }).expect("an id");
        let mut spec = TaskSpec::new(id(0), title);
        spec.description = description;
        spec.depends = depends.into_iter().map(id).collect();
        let mut lists = lists.into_iter();
        spec.acceptance = lists.next().unwrap_or_default();
        spec.files = lists.next().unwrap_or_default();
        spec.tags = lists.next().unwrap_or_default();
        spec.priority = priority;
        spec.size = size;
        spec.extra = extra;
        TaskFile { status, ..TaskFile::from(spec) }
    }
}

prop_compose! {
    fn some_plan()(
        goal in some_title(),
        phases in proptest::collection::vec((some_text(), proptest::collection::vec(some_task(), 0..4), some_extra()), 0..3),
        extra in some_extra(),
    ) -> PlanFile {
        let mut plan = PlanFile { goal, extra, ..PlanFile::default() };
        let mut number = 0;
        for (at, (name, mut tasks, extra)) in phases.into_iter().enumerate() {
            for task in &mut tasks {
                number += 1;
                let id = if number % 3 == 0 { format!("abc{}", "x".repeat(number)) } else { format!("{}.{number}", at + 1) };
                task.id = TaskId::new(id).expect("an id");
            }
            plan.phases.push(PhaseFile { id: at as u32 * 2 + 1, name, tasks, extra });
        }
        plan
    }
}

proptest! {
    #[test]
    fn any_plan_comes_back_the_same_from_json_and_from_a_checklist(plan in some_plan()) {
        prop_assert_eq!(parse("p", to_json(&plan).as_bytes()), Ok(plan.clone()));
        let markdown = to_markdown(&plan);
        prop_assert_eq!(parse("p", markdown.as_bytes()), Ok(plan), "{}", markdown);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}|[-#\\[\\] x:\\n{}\"a1.]{0,200}") {
        let _ = parse("p", text.as_bytes());
    }
}

#[test]
fn other_words_for_what_a_task_waits_for_are_understood() {
    let plan = |words: &str| {
        let text = format!(
            r#"{{"goal":"g","phases":[{{"id":1,"name":"p","tasks":[{{"id":"1.1","title":"a"}},{{"id":"1.2","title":"b",{words}}}]}}]}}"#
        );
        super::parse("plan.json", text.as_bytes())
    };
    for word in ["depends", "depends_on", "dependsOn", "blocked_by"] {
        let plan = plan(&format!(r#""{word}":["1.1"]"#)).expect("a plan");
        let task = &plan.phases[0].tasks[1];
        assert_eq!(task.depends.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ["1.1"], "{word}");
        assert!(task.extra.is_empty(), "{word} is said once");
    }
    let error = plan(r#""depends_on":"1.1 and more""#).expect_err("no list").to_string();
    assert!(error.contains("depends_on") && error.contains("1.2"), "{error}");
}
