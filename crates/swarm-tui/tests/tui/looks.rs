//! Whole screens, as they look.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use swarm_protocol::board::Choice;
use swarm_protocol::diff::DiffAsk;
use swarm_protocol::ids::TaskId;
use swarm_tui::draw::draw;
use swarm_tui::input::{Input, Key, Link, Wish};
use swarm_tui::theme::Theme;

use crate::support::{Stage, board_with, diff};

/// What is drawn, with its colours.
pub fn cells(stage: &Stage) -> Buffer {
    let (columns, rows) = stage.model.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a screen in memory");
    terminal.draw(|frame| draw(&stage.model, frame)).expect("it can be drawn on");
    terminal.backend().buffer().clone()
}

pub fn screen(stage: &Stage) -> String {
    let (columns, rows) = stage.model.size;
    let buffer = cells(stage);
    let line = |y: u16| {
        let cells = (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        cells.trim_end().to_owned()
    };
    (0..rows).map(line).collect::<Vec<_>>().join("\n")
}

pub fn check(name: &str, stage: &Stage) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, screen(stage));
    });
}

#[test]
fn the_board_at_three_sizes_and_a_tiny_one() {
    check("board-80x24", &Stage::new(80, 24));
    check("board-120x40", &Stage::new(120, 40));
    check("board-240x70", &Stage::new(240, 70));
    check("board-50x10", &Stage::new(50, 10));
    check("board-30x8", &Stage::new(30, 8));
}

#[test]
fn the_board_in_ascii_has_no_other_character() {
    let stage = Stage::themed(80, 24, Theme { colour: false, ascii: true });
    let text = screen(&stage);
    assert!(text.is_ascii(), "{text}");
    check("board-ascii-80x24", &stage);
}

#[test]
fn without_colour_nothing_is_coloured_and_the_picture_is_the_same() {
    let (plain, coloured) =
        (Stage::themed(80, 24, Theme { colour: false, ascii: false }), Stage::new(80, 24));
    assert_eq!(screen(&plain), screen(&coloured));
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a screen in memory");
    terminal.draw(|frame| draw(&plain.model, frame)).expect("it can be drawn on");
    for cell in &terminal.backend().buffer().content {
        assert_eq!((cell.fg, cell.bg), (ratatui::style::Color::Reset, ratatui::style::Color::Reset));
    }
}

#[test]
fn the_other_views() {
    let mut stage = Stage::new(80, 24);
    for (key, name) in
        [('1', "attention"), ('3', "agents"), ('4', "events"), ('5', "checkpoints"), ('6', "operations")]
    {
        // The digit would choose a way on while the attention list is in front.
        stage.press(Key::Tab);
        if stage.model.view == swarm_tui::model::View::Attention {
            stage.press(Key::Tab);
        }
        stage.char(key);
        if key == '1' {
            stage.char('a');
        }
        check(&format!("{name}-80x24"), &stage);
    }
}

#[test]
fn dialogs() {
    let open = |key: char, lines: usize| {
        let mut stage = Stage::new(80, 24);
        let wishes = stage.char(key);
        if wishes.iter().any(|wish| matches!(wish, Wish::Preview(..))) {
            stage.previewed(&wishes, lines);
        }
        stage.wait();
        stage
    };
    check("dialog-stop", &open('s', 2));
    check("dialog-rollback-long", &open('R', 60));
    check("dialog-checkpoints", &open('C', 4));
    check("dialog-quit", &open('q', 0));
    check("dialog-panel", &open('i', 0));
    check("dialog-edit", &open('e', 0));
    check("dialog-palette", &open(':', 0));
    let mut block = open('b', 1);
    block.keys("Need database access");
    check("dialog-block", &block);
}

#[test]
fn colours_are_those_of_the_terminal_so_that_light_and_dark_both_can_be_read() {
    use ratatui::style::Color;
    for key in ['j', 'i', '?', 'l', 'R'] {
        let mut stage = Stage::new(120, 40);
        stage.char(key);
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a screen in memory");
        terminal.draw(|frame| draw(&stage.model, frame)).expect("it can be drawn on");
        for cell in &terminal.backend().buffer().content {
            for colour in [cell.fg, cell.bg] {
                let fixed =
                    matches!(colour, Color::Rgb(..) | Color::Indexed(_) | Color::White | Color::Black);
                assert!(!fixed, "{key}: {colour:?} is the same on a light and on a dark ground");
            }
        }
    }
}

#[test]
fn a_long_refusal_is_read_to_its_end() {
    let mut stage = Stage::new(80, 24);
    let message =
        "Task 2.3 builds on the work of task 2.1, which is on trunk and would have to go back with it";
    let error = swarm_protocol::api::ApiError::new("x", message, "swarm task rollback 2.1 --cascade");
    stage.model.refuse(&error);
    let text = screen(&stage);
    assert!(text.contains("--cascade"), "{text}");
    assert!(text.lines().next_back().is_some_and(|line| line.contains("pause")), "{text}");
}

#[test]
fn a_file_of_the_diff_folds_and_a_lock_file_is_folded_already() {
    let mut stage = Stage::new(80, 24);
    stage.char('D');
    let task = stage.model.looking_at.clone().expect("a task");
    let mut both = diff(&task);
    both.patch.push_str("diff --git a/Cargo.lock b/Cargo.lock\n@@ -1,1 +1,1 @@\n-old lock\n+new lock\n");
    stage.take(Input::Diff(DiffAsk::of(task), Ok(Box::new(both))));
    let text = screen(&stage);
    assert!(text.contains("1 line added, 1 removed") && !text.contains("new lock"), "{text}");
    stage.press(Key::Enter);
    assert!(!screen(&stage).contains("One for each task."), "the first file is folded");
    stage.char('G');
    stage.press(Key::Enter);
    assert!(screen(&stage).contains("new lock"), "{}", screen(&stage));
}

#[test]
fn the_redirect_dialog_recommends_with_a_reason() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('r');
    let [Wish::Choices(ticket, _)] = wishes.as_slice() else { panic!("{wishes:?}") };
    let choice = |id: &str, title: &str, unblocks: &[&str], why: &str| Choice {
        task: TaskId::new(id).expect("an id"),
        title: title.into(),
        phase: 2,
        tags: vec!["docs".into()],
        unblocks: unblocks.iter().map(|id| TaskId::new(*id).expect("an id")).collect(),
        why: why.into(),
    };
    let found = vec![
        choice("2.7", "Cover", &["3.1", "3.2"], "2 tasks wait for it"),
        choice("3.1", "Chapter on undo", &[], "first in the queue"),
    ];
    let wishes = stage.take(Input::Choices(*ticket, Ok(found)));
    stage.previewed(&wishes, 1);
    stage.wait();
    check("dialog-redirect", &stage);
}

#[test]
fn the_pause_dialog_shows_who_is_held() {
    let mut stage = Stage::new(80, 24);
    stage.char(' ');
    stage.take(Input::Board(Ok(board_with(|board| {
        board["pauses"] =
            serde_json::json!([{ "reason": "user", "since": board["now"], "why": "", "ended_by": "swarm resume" }]);
    }))));
    stage.wait();
    check("dialog-pause", &stage);
}

#[test]
fn a_diff_is_unified_and_side_by_side_where_it_fits() {
    for (columns, name) in [(80, "diff-80"), (160, "diff-160")] {
        let mut stage = Stage::new(columns, 24);
        stage.char('D');
        let task = stage.model.looking_at.clone().expect("a task");
        stage.take(Input::Diff(DiffAsk::of(task.clone()), Ok(Box::new(diff(&task)))));
        check(name, &stage);
    }
}

#[test]
fn without_a_coordinator_it_says_so_and_how_to_start_one() {
    let mut stage = Stage::new(80, 24);
    stage.take(Input::Link(Link::Offline));
    assert!(screen(&stage).contains("`swarm run` starts one"), "{}", screen(&stage));
}

#[test]
fn agents_without_walls_are_told_on_the_board() {
    let mut stage = Stage::new(80, 24);
    assert!(!screen(&stage).contains("no walls"));
    stage.take(Input::Board(Ok(board_with(|board| board["status"]["without_walls"] = ["claude"].into()))));
    assert!(screen(&stage).contains("no walls around claude (sandbox: none)"), "{}", screen(&stage));
}

#[test]
fn help_has_every_key_of_the_table() {
    let mut stage = Stage::new(120, 90);
    stage.char('?');
    let text = screen(&stage);
    for binding in swarm_tui::keys::KEYS {
        assert!(text.contains(binding.help), "{}: {text}", binding.help);
    }
}

#[test]
fn nothing_that_a_title_holds_moves_the_cursor() {
    let mut stage = Stage::new(80, 24);
    stage.take(Input::Board(Ok(board_with(|board| {
        board["rows"][3]["title"] = "\u{1b}[2J\u{202e}evil".into();
    }))));
    assert!(!screen(&stage).contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn every_size_can_be_drawn() {
    let mut stage = Stage::new(80, 24);
    // Also on both sides of where the layout changes.
    let wide = (1..250).step_by(19).chain([59, 60, 109, 110, 199, 200]);
    for columns in wide {
        for rows in (1..75).step_by(11).chain([15, 16, 23, 24, 49, 50]) {
            stage.press(Key::Esc);
            stage.take(Input::Resize(columns, rows));
            screen(&stage);
            stage.char('i');
            screen(&stage);
        }
    }
}

/// Compares a page with the file, or writes it.
fn compare_or_write(name: &str, page: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("SWARM_GEN").is_some() {
        std::fs::write(&path, page).expect("docs/ can be written");
        return;
    }
    let file = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(file == page, "docs/reference/{name} is not what the code prints: run `cargo xtask gen`");
}

#[test]
fn printed_keys() {
    let board = |columns, rows| format!("```text\n{}\n```\n", screen(&Stage::new(columns, rows)));
    let page = format!(
        "# Keys and screens of the terminal UI\n\n<!-- Printed by a test: run `cargo xtask gen`. -->\n\n\
         What `swarm tui` shows and which keys it has; [the guide](../guides/terminal.md) says how to work with it.\n\n\
         ## Keys\n\n{}\n## A board of 80 columns\n\n{}\n## A board of 120 columns\n\n{}",
        swarm_tui::keys::page(),
        board(80, 24),
        board(120, 40)
    );
    compare_or_write("keys.md", &page);
}
