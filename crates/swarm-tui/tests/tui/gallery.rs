//! Every view and every dialog at every size, so that whoever changes one sees all of them.

use ratatui::buffer::Cell;
use ratatui::style::Color;
use swarm_protocol::api::ApiError;
use swarm_protocol::board::Choice;
use swarm_protocol::diff::DiffAsk;
use swarm_protocol::ids::TaskId;
use swarm_tui::input::{Input, Key, Link, Wish};
use swarm_tui::theme::Theme;
use swarm_tui::typed::{Does, Looked, Typed};

use crate::looks::{cells, screen};
use crate::support::{Stage, board_with, diff};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (240, 70)];

/// One below the other.
fn text(stages: &[(String, Stage)]) -> String {
    let one = |(name, stage): &(String, Stage)| format!("── {name} {}\n{}", "─".repeat(40), screen(stage));
    stages.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Every view and every dialog.
fn gallery(columns: u16, rows: u16, theme: Theme) -> Vec<(String, Stage)> {
    let mut shown = Vec::new();
    let mut add = |name: &str, stage: Stage| shown.push((name.to_owned(), stage));
    for (tabs, name) in
        ["plan", "agents", "events", "checkpoints", "operations", "attention"].iter().enumerate()
    {
        let mut stage = Stage::themed(columns, rows, theme);
        (0..tabs).for_each(|_| drop(stage.press(Key::Tab)));
        add(name, stage);
    }
    for (key, lines) in [
        ('s', 2),
        ('x', 2),
        ('R', 60),
        ('C', 4),
        ('q', 0),
        ('i', 0),
        ('e', 0),
        (':', 0),
        ('b', 1),
        ('M', 0),
        ('c', 0),
        ('v', 0),
        ('?', 0),
        ('L', 0),
        ('p', 0),
        ('U', 0),
    ] {
        let mut stage = Stage::themed(columns, rows, theme);
        let wishes = stage.char(key);
        if wishes.iter().any(|wish| matches!(wish, Wish::Preview(..))) {
            stage.previewed(&wishes, lines);
        }
        stage.wait();
        add(&format!("key {key}"), stage);
    }
    let mut operation = Stage::themed(columns, rows, theme);
    operation.keys("6j");
    operation.press(Key::Enter);
    add("operation", operation);
    let mut log = Stage::themed(columns, rows, theme);
    log.char('l');
    add("log", log);
    let mut diff_shown = Stage::themed(columns, rows, theme);
    diff_shown.char('D');
    let task = diff_shown.model.looking_at.clone().expect("a task");
    diff_shown.take(Input::Diff(DiffAsk::of(task.clone()), Ok(Box::new(diff(&task)))));
    add("diff", diff_shown);
    let mut past = Stage::themed(columns, rows, theme);
    past.char('<');
    past.take(Input::Board(Ok(board_with(|board| board["status"]["seq"] = 258.into()))));
    add("past", past);
    asked(columns, rows, theme).into_iter().for_each(|(name, stage)| add(name, stage));
    shown
}

/// Dialogs that come with an answer or out of another view, and the board where something is unusual.
fn asked(columns: u16, rows: u16, theme: Theme) -> Vec<(&'static str, Stage)> {
    let stage = || Stage::themed(columns, rows, theme);
    let mut answer = stage();
    answer.char('1');
    answer.char('j');
    answer.char('1');
    answer.wait();
    let mut note = stage();
    note.char('D');
    let task = note.model.looking_at.clone().expect("a task");
    note.take(Input::Diff(DiffAsk::of(task.clone()), Ok(Box::new(diff(&task)))));
    note.keys("jjjj");
    note.press(Key::Enter);
    note.wait();
    let mut redirect = stage();
    let wishes = redirect.char('r');
    let [Wish::Choices(ticket, _)] = wishes.as_slice() else { panic!("{wishes:?}") };
    let (task, why) = (TaskId::new("2.7").expect("an id"), "2 tasks wait for it".into());
    let choice = Choice { task, title: "Cover".into(), phase: 2, tags: vec![], unblocks: vec![], why };
    let wishes = redirect.take(Input::Choices(*ticket, Ok(vec![choice])));
    redirect.previewed(&wishes, 2);
    redirect.wait();
    let mut pause = stage();
    pause.char(' ');
    pause.wait();
    let mut filter = stage();
    filter.keys("/chapter");
    let mut search = stage();
    search.keys("l/pass");
    let mut alone = stage();
    alone.take(Input::Link(Link::Offline));
    vec![
        ("answer", answer),
        ("note at a line", note),
        ("redirect", redirect),
        ("pause", pause),
        ("filter", filter),
        ("log, searched", search),
        ("typed, which only reads", typed(stage(), Ok("No problems found (36 checks).".into()))),
        ("typed, refused", typed(stage(), Err(ApiError::new("x", "It cannot be done", "swarm status")))),
        ("no coordinator", alone),
    ]
}

/// A command that was typed, and what it said.
fn typed(mut stage: Stage, said: Result<String, ApiError>) -> Stage {
    let (words, about) = ("doctor".to_owned(), "Check machine, repository and swarm".into());
    stage.model.commands = vec![Typed { words, about, takes: String::new(), does: Does::Changes }];
    stage.keys(":doctor");
    let wishes = stage.press(Key::Enter);
    let [Wish::Look(ticket, _, Does::Reads)] = wishes.as_slice() else { panic!("{wishes:?}") };
    stage.take(Input::Told(*ticket, said.map(Looked::Text)));
    stage.wait();
    stage
}

fn check(name: &str, text: String) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn every_view_and_dialog_at_every_size() {
    for (columns, rows) in SIZES {
        let shown = gallery(columns, rows, Theme { colour: true, ascii: false });
        check(&format!("gallery-{columns}x{rows}"), text(&shown));
    }
}

#[test]
fn without_colours_every_view_and_dialog_is_the_same_picture_at_every_size() {
    for (columns, rows) in SIZES {
        let coloured = gallery(columns, rows, Theme { colour: true, ascii: false });
        let plain = gallery(columns, rows, Theme { colour: false, ascii: false });
        assert_eq!(text(&coloured), text(&plain), "{columns}x{rows}");
        for (name, stage) in &plain {
            let is_plain = |cell: &Cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset);
            assert!(cells(stage).content.iter().all(is_plain), "{columns}x{rows}: {name} has a colour");
        }
        // What is selected is seen all the same.
        let marked = |cell: &Cell| !cell.modifier.is_empty();
        assert!(plain.iter().all(|(_, stage)| cells(stage).content.iter().any(marked)), "{columns}x{rows}");
    }
}

#[test]
fn every_view_and_dialog_in_ascii() {
    for (columns, rows) in SIZES {
        let shown = gallery(columns, rows, Theme { colour: false, ascii: true });
        for (name, stage) in &shown {
            let text = screen(stage);
            let other: Vec<&str> = text.lines().filter(|line| !line.is_ascii()).collect();
            assert!(other.is_empty(), "{columns}x{rows}: {name}: {other:#?}");
        }
        check(&format!("gallery-ascii-{columns}x{rows}"), text(&shown));
    }
}
