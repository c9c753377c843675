//! What one reads of an operation: who asked, what it did, and how it is taken back.

use swarm_tui::input::{Input, Key, Mouse};
use swarm_tui::model::{Full, View};

use crate::looks::{check, screen};
use crate::support::{Stage, board_with};

fn in_operations(columns: u16, rows: u16) -> Stage {
    let mut stage = Stage::new(columns, rows);
    stage.char('6');
    stage
}

#[test]
fn an_operation_says_who_did_it_what_it_took_out_and_kept_and_what_takes_it_back() {
    let mut stage = in_operations(80, 40);
    let text = screen(&stage);
    assert!(text.contains(":undo 250 (or z)"), "{text}");
    stage.char('j');
    let text = screen(&stage);
    for wanted in [
        "by         person:cli, 5m: done",
        ":undo 240\n",
        "checkpoint before-rollback",
        "task 2.1 goes back to the queue",
        "2 commits of 2.1 are reverted on main",
        "uncommitted work of 2.3 is kept in before-rollback",
        "the money that 2.1 cost",
        "2 new commits: ccccccc",
        "task 2.1: done → pending",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing:\n{text}");
    }
}

#[test]
fn enter_shows_all_of_it_and_stays_with_it_when_another_one_comes() {
    let mut stage = in_operations(80, 24);
    stage.char('j');
    stage.press(Key::Enter);
    assert_eq!(stage.model.full, Some(Full::Operation));
    check("operation-80x24", &stage);
    stage.take(Input::Board(Ok(board_with(|board| {
        let operations = board["operations"].as_array_mut().expect("a list");
        let mut newer = operations[0].clone();
        newer["id"] = "op-newer".into();
        newer["text"] = "Task 3.1 deferred".into();
        operations.insert(0, newer);
    }))));
    assert!(screen(&stage).contains("#240 Rolled back: 2.1"), "{}", screen(&stage));
    stage.press(Key::Enter);
    assert_eq!((stage.model.full, stage.model.view), (None, View::Plan), "Enter again goes to its task");
    assert_eq!(stage.model.looking_at.as_ref().map(|task| task.as_str()), Some("2.1"));
}

#[test]
fn enter_goes_to_the_task_of_the_operation_that_is_open_though_a_newer_one_is_on_top_of_the_list() {
    let mut stage = in_operations(80, 24);
    stage.press(Key::Enter);
    stage.take(Input::Board(Ok(board_with(|board| {
        let operations = board["operations"].as_array_mut().expect("a list");
        let mut newer = operations[0].clone();
        newer["id"] = "op-newer".into();
        newer["subject"] = "2.1".into();
        operations.insert(0, newer);
    }))));
    assert_eq!(stage.model.cursor(View::Operations), 0, "who has not moved stays at the newest");
    stage.press(Key::Enter);
    assert_eq!(stage.model.looking_at.as_ref().map(|task| task.as_str()), Some("2.7"));
}

#[test]
fn in_the_past_no_undo_is_offered_and_what_had_not_begun_is_not_said_to_be_gone() {
    let mut stage = in_operations(80, 40);
    stage.press(Key::Enter);
    stage.char('<');
    stage.take(Input::Board(Ok(board_with(|board| board["status"]["seq"] = 258.into()))));
    let text = screen(&stage);
    assert!(text.contains("#250 Task 2.7 deferred") && !text.contains(":undo"), "{text}");
    stage.take(Input::Board(Ok(board_with(|board| {
        board["status"]["seq"] = 258.into();
        board["operations"].as_array_mut().expect("a list").remove(0);
    }))));
    let text = screen(&stage);
    assert!(text.contains("It is not among the newest fifty of record 258"), "{text}");
}

#[test]
fn one_that_cannot_be_taken_back_says_why_and_what_would_help() {
    let mut stage = in_operations(80, 40);
    stage.take(Input::Board(Ok(board_with(|board| {
        let op = &mut board["operations"][0];
        op["canBeUndone"] = false.into();
        op["whyNot"] = "task 2.7 was edited since".into();
        op["hint"] = "swarm undo 250 --partial".into();
    }))));
    let text = screen(&stage);
    assert!(text.contains("not now: task 2.7 was edited since; swarm undo 250 --partial"), "{text}");
}

#[test]
fn a_click_below_the_list_selects_no_other_operation() {
    let mut stage = in_operations(80, 24);
    let rows: Vec<String> = screen(&stage).lines().map(str::to_owned).collect();
    let undo = rows.iter().position(|line| line.contains(":undo 250")).expect("it says how");
    stage.take(Input::Mouse(Mouse::Click(3, u16::try_from(undo).expect("a row"))));
    assert_eq!(stage.model.cursor(View::Operations), 0);
    let second = rows.iter().position(|line| line.contains("Rolled back: 2.1")).expect("it is listed");
    stage.take(Input::Mouse(Mouse::Click(3, u16::try_from(second).expect("a row"))));
    assert_eq!(stage.model.cursor(View::Operations), 1);
}
