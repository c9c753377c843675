//! Parts of a task's work in the diff: all of it, what changed since a submission, a submission as it was.

use serde_json::json;
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_tui::dialog::Kind;
use swarm_tui::input::{Input, Key, Wish};
use swarm_tui::model::Part;

use crate::looks::screen;
use crate::support::{Stage, diff};

/// A diff of work that was submitted so many times.
fn submitted(ask: &DiffAsk, times: usize) -> Box<DiffView> {
    let round = |n: usize| {
        let digit = char::from_digit(n as u32, 10).unwrap_or('0').to_string();
        json!({ "round": n, "commit": digit.repeat(40), "at": "2026-01-13T12:00:00.000Z", "verdict": null, "notes": [] })
    };
    let rounds = (1..=times).map(|n| serde_json::from_value(round(n)).expect("a round")).collect();
    Box::new(DiffView { rounds, round: ask.round, since: ask.since, ..diff(&ask.task) })
}

fn asked(wishes: &[Wish]) -> DiffAsk {
    let found = wishes.iter().find_map(|wish| match wish {
        Wish::Diff(ask) => Some(ask.clone()),
        _ => None,
    });
    found.expect("a diff is asked for")
}

fn part_of(ask: &DiffAsk) -> Part {
    Part { round: ask.round, since: ask.since }
}

#[test]
fn brackets_go_from_all_of_the_work_to_what_changed_since_each_submission_and_back() {
    let mut stage = Stage::new(80, 24);
    let all = asked(&stage.char('D'));
    assert_eq!(part_of(&all), Part::default());
    stage.take(Input::Diff(all.clone(), Ok(submitted(&all, 2))));
    assert!(screen(&stage).contains("2 submissions"), "{}", screen(&stage));
    let mut seen = vec![];
    for _ in 0..5 {
        let ask = asked(&stage.char(')'));
        seen.push(part_of(&ask));
        stage.take(Input::Diff(ask.clone(), Ok(submitted(&ask, 2))));
    }
    let since = |n| Part { since: Some(n), round: None };
    let round = |n| Part { round: Some(n), since: None };
    assert_eq!(seen, [since(2), since(1), round(2), round(1), Part::default()]);
    let ask = asked(&stage.char('('));
    assert_eq!(part_of(&ask), round(1));
    // An answer to an older question is about something that is no longer shown.
    stage.take(Input::Diff(all.clone(), Ok(submitted(&all, 2))));
    assert!(screen(&stage).contains("as submitted, 1 of 2") && screen(&stage).contains("Looking"));
    stage.take(Input::Diff(ask.clone(), Ok(submitted(&ask, 2))));
    stage.char('G');
    stage.press(Key::Enter);
    assert!(stage.model.dialog.is_none(), "an earlier submission takes no notes");
    stage.char(')');
    stage.take(Input::Diff(all.clone(), Ok(submitted(&all, 2))));
    stage.char('G');
    stage.press(Key::Enter);
    assert!(matches!(stage.model.dialog.as_ref().map(|d| &d.kind), Some(Kind::Note { .. })));
}

#[test]
fn work_that_was_submitted_once_has_no_other_part_and_another_task_begins_with_all_of_it() {
    let mut stage = Stage::new(80, 24);
    let all = asked(&stage.char('D'));
    stage.take(Input::Diff(all.clone(), Ok(submitted(&all, 0))));
    assert!(!stage.char(')').iter().any(|wish| matches!(wish, Wish::Diff(_))));
    stage.take(Input::Diff(all.clone(), Ok(submitted(&all, 2))));
    stage.char(')');
    stage.press(Key::Esc);
    stage.char('j');
    assert_eq!(part_of(&asked(&stage.char('D'))), Part::default());
}

#[test]
fn a_line_that_looks_like_the_head_of_a_file_is_a_line() {
    let mut stage = Stage::new(80, 24);
    let ask = asked(&stage.char('D'));
    let patch = "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1,1 +1,1 @@\n--- gone\n+++ here\n";
    stage.take(Input::Diff(ask.clone(), Ok(Box::new(DiffView { patch: patch.into(), ..diff(&ask.task) }))));
    let text = screen(&stage);
    assert!(text.contains("- -- gone") && text.contains("+ ++ here"), "{text}");
}
