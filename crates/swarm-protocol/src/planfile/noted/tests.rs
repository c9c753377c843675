use super::parse_with_notes;
use crate::planfile::Known;
use crate::planfile::{import, parse, to_json, to_markdown};

fn json(task: &str) -> String {
    format!(
        "{{\"goal\":\"g\",\"phases\":[{{\"id\":1,\"name\":\"p\",\"tasks\":[{{\"id\":\"1.1\",\"title\":\"a\"}},\n{{\"id\":\"1.2\",\"title\":\"b\",{task}}}]}}]}}"
    )
}

/// What is said about a plan, or why it is refused.
fn check(text: &str, expected: &str) {
    let got = match parse_with_notes("plan", text.as_bytes(), &Known::default()) {
        Ok((plan, notes)) => {
            assert_eq!(Ok(plan), parse("plan", text.as_bytes()));
            notes.join("; ")
        }
        Err(error) => format!("{error} | {}", error.hint),
    };
    assert_eq!(got, expected, "for:\n{text}");
}

#[test]
fn a_member_that_is_nearly_one_of_ours_is_refused_with_the_one_that_was_meant() {
    for (typed, of, meant) in [
        ("dependz", "task 1.2", "depends"),
        ("depend", "task 1.2", "depends"),
        ("Depends", "task 1.2", "depends"),
        ("dependOn", "task 1.2", "depends"),
        ("tag", "task 1.2", "tags"),
        ("descripton", "task 1.2", "description"),
        ("allowEmpty", "task 1.2", "allow_empty"),
        ("prioriyt", "task 1.2", "priority"),
    ] {
        let expected = format!(
            "Cannot read the plan plan at line 2: \"{typed}\" of {of} is not a member of it; did you mean \"{meant}\"? | Write `{meant}`, or another name if it is something of your own"
        );
        check(&json(&format!("\"{typed}\":[\"1.1\"]")), &expected);
        assert!(import("plan", json(&format!("\"{typed}\":[\"1.1\"]")).as_bytes(), None).is_err(), "{typed}");
        assert!(
            parse("plan", json(&format!("\"{typed}\":[\"1.1\"]")).as_bytes()).is_ok(),
            "files of old are read"
        );
    }
    check(
        "{\"goal\":\"g\",\"phases\":[{\"id\":1,\"task\":[]}]}",
        "Cannot read the plan plan at line 1: \"task\" of phase 1 is not a member of it; did you mean \"tasks\"? | Write `tasks`, or another name if it is something of your own",
    );
    check(
        "# g\n- [ ] 1.1 a\n  json: {\"dependz\":[]}\n",
        "Cannot read the plan plan at line 3: \"dependz\" of task 1.1 is not a member of it; did you mean \"depends\"? | Write `depends`, or another name if it is something of your own",
    );
    for own in ["reviewed", "state", "owner", "estimate", "notes", "type", "idx"] {
        check(&json(&format!("\"{own}\":1")), "");
    }
}

#[test]
fn a_misspelt_field_of_a_checklist_is_refused() {
    check(
        "# g\n- [ ] 1.1 a\n- [ ] 1.2 b\n  dependz: 1.1\n",
        "Cannot read the plan plan at line 4: \"dependz\" is not a field | Write `depends:`, or begin the line with \\ if it belongs to the description",
    );
}

#[test]
fn a_tick_that_is_not_taken_over_is_said() {
    let one =
        "The status of 1.1 in the file is not taken over; `swarm plan import` does that for a pending task";
    check("# g\n- [x] 1.1 a\n- [ ] 1.2 b\n", one);
    check(&json("\"status\":\"blocked\""), &one.replace("1.1", "1.2"));
    check(
        "# g\n- [x] 1.1 a\n- [X] 1.2 b\n",
        "The statuses of 1.1, 1.2 in the file are not taken over; `swarm plan import` does that for pending tasks",
    );
    let many: String = (1..=10).map(|n| format!("- [x] 1.{n} a\n")).collect();
    check(
        &format!("# g\n{many}"),
        "The statuses of 10 tasks in the file are not taken over (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8 …); `swarm plan import` does that for pending tasks",
    );
    check("# g\n- [ ] 1.1 a\n  status: pending\n", "");
    let read = import("plan", b"# g\n- [x] 1.1 a\n", None).expect("a plan");
    assert!(read.notes.is_empty(), "an import takes it: {:?}", read.notes);
}

#[test]
fn a_mark_of_another_tool_is_no_text() {
    for text in ["# g\n- [BLOCKED] 1.1: a\n", "# g\n- [ ] 1.1 a\n- [IN PROGRESS] 1.2: b\n"] {
        let error =
            parse_with_notes("plan", text.as_bytes(), &Known::default()).expect_err("a task would be lost");
        assert!(
            error.why.contains("is not a mark of a task") && error.hint.contains("swarm plan import"),
            "{error}"
        );
    }
    assert!(
        parse_with_notes("plan", b"# g\n```\n- [BLOCKED] x\n```\n- [ ] 1.1 a\n", &Known::default()).is_ok()
    );
}

#[test]
fn all_words_for_what_a_task_waits_for_are_understood() {
    for word in ["depends", "depends_on", "dependsOn", "blocked_by", "blockedBy", "dependencies"] {
        let plan = parse("plan", json(&format!("\"{word}\":[\"1.1\"]")).as_bytes()).expect("a plan");
        let task = &plan.phases[0].tasks[1];
        assert_eq!(task.depends.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ["1.1"], "{word}");
        assert!(task.extra.is_empty(), "{word} is said once");
    }
    // Packages, or what an import of beads keeps: no task of this plan is named.
    for own in [r#"["serde"]"#, r#"[{"depends_on_id":"1.1"}]"#, "[]", "{}"] {
        let plan = parse("plan", json(&format!("\"dependencies\":{own}")).as_bytes()).expect("a plan");
        let task = &plan.phases[0].tasks[1];
        assert!(task.depends.is_empty() && task.extra.contains_key("dependencies"), "{own}");
    }
    assert!(
        parse("plan", json(r#""dependencies":["1.1", 3]"#).as_bytes()).is_err(),
        "half of it is not kept"
    );
}

#[test]
fn a_dependency_behind_a_title_is_one_and_a_rule_is_for_the_eye() {
    let text = "# g\n- [ ] 1.1 One\n---\n- [ ] 1.2 Two (depends: 1.1)\n  depends: 1.3\n***\n## Phase 2\n- [ ] 1.3 Three (depends: on the weather)\n";
    let plan = parse("plan", text.as_bytes()).expect("a plan");
    let tasks: Vec<_> = plan.phases.iter().flat_map(|phase| &phase.tasks).collect();
    let depends: Vec<&str> = tasks[1].depends.iter().map(|id| id.as_str()).collect();
    assert_eq!((tasks[1].title.as_str(), depends), ("Two", vec!["1.1", "1.3"]));
    assert_eq!(tasks[2].title, "Three (depends: on the weather)");
    // A title that has such words in the ledger keeps them, whatever file it goes through.
    let text = json("\"x\":1").replace("\"b\"", "\"b (depends: 1.1) (depends: 1.1)\"");
    let plan = parse("plan", text.as_bytes()).expect("a plan");
    assert!(plan.phases[0].tasks[1].depends.is_empty());
    assert_eq!(parse("p", to_json(&plan).as_bytes()), Ok(plan.clone()));
    assert_eq!(parse("p", to_markdown(&plan).as_bytes()), Ok(plan));
}

#[test]
fn a_box_that_is_no_task_is_said() {
    let said = "Boxes that are not tasks, because a task starts at the margin with `- [ ]`: line";
    for (text, lines) in [
        ("# g\n- Backend\n  - [ ] Add the login\n", " 3"),
        ("# g\n+ [ ] one\n1. [x] two\n-  [ ] three\n- [ ] 1.1 a\n", " 2, 3, 4"),
        ("# g\n- [ ] 1.1 a\n  - [ ] a part of it\n", ""),
        ("# g\n- [ ] 1.1 a\n## Next\n  - [ ] lost\n", " 4"),
        ("# g\n```\n  - [ ] shown\n```\n- [ ] 1.1 a\n", ""),
        ("# g\nSee 1. and [x] below\n- [ ] 1.1 a\n", ""),
    ] {
        let expected = if lines.is_empty() { String::new() } else { format!("{said}{lines}") };
        check(text, &expected);
        let read = import("plan.md", text.as_bytes(), None).expect("an import");
        assert_eq!(read.notes.concat(), expected, "for:\n{text}");
    }
}
