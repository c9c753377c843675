//! What is on the screen can be read: to its end, to its beginning, in any script, and with its day.

use serde_json::json;
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_tui::input::{Input, Key, LogLine, Mouse, Tone};
use swarm_tui::model::View;

use crate::looks::screen;
use crate::support::{Stage, ago, board_with, diff};

#[test]
fn a_note_beside_old_lines_that_have_no_new_one_names_the_line_of_the_file() {
    let mut stage = Stage::new(160, 40);
    stage.char('D');
    let task = stage.model.looking_at.clone().expect("a task");
    let patch =
        "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1,4 +1,2 @@\n-a\n-b\n-c\n+d\n end of it\n";
    let shown = DiffView { patch: patch.into(), ..diff(&task) };
    stage.take(Input::Diff(DiffAsk::of(task.clone()), Ok(Box::new(shown))));
    stage.char('G');
    stage.press(Key::Enter);
    stage.keys("why?");
    stage.press(Key::Enter);
    let notes: Vec<String> = stage.model.notes_of(&task).iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["a.md:2: why?"]);
}

#[test]
fn the_beginning_of_a_log_is_reached_also_where_its_lines_are_wrapped() {
    let mut stage = Stage::new(80, 24);
    let run = stage.model.log.run.clone().expect("a run");
    stage.model.log.lines.clear();
    let line = |n: u64| {
        let text = format!("{n:02} {}", "word ".repeat(40));
        LogLine { n, byte: n * 300, at: ago(1), tone: Tone::Said, text }
    };
    stage.take(Input::Log(run, (1..=60).map(line).collect()));
    stage.keys("lwg");
    assert!(screen(&stage).contains(" 01 word"), "{}", screen(&stage));
    stage.char('G');
    assert!(screen(&stage).contains(" 60 word"), "{}", screen(&stage));
}

#[test]
fn the_end_of_what_is_typed_is_on_the_screen_in_wide_letters_too() {
    let words = format!("{}終", "日".repeat(60));
    for key in ['M', ':'] {
        let mut stage = Stage::new(80, 24);
        stage.char(key);
        stage.wait();
        stage.take(Input::Paste(words.clone()));
        assert!(screen(&stage).contains('終'), "{}", screen(&stage));
    }
}

#[test]
fn what_stands_below_a_field_is_read_to_its_end() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('b');
    stage.previewed(&wishes, 60);
    stage.keys("no access");
    assert!(screen(&stage).contains("more: PgDn"), "{}", screen(&stage));
    for _ in 0..4 {
        stage.press(Key::PageDown);
    }
    assert!(screen(&stage).contains("line 60 of what happens"), "{}", screen(&stage));
}

#[test]
fn a_long_question_is_marked_in_the_list_and_whole_where_it_is_answered() {
    let mut stage = Stage::new(80, 24);
    let question = (1..=40).map(|n| format!("line {n} of it")).collect::<Vec<_>>().join("\n");
    let asks = board_with(|board| board["attention"][1]["why"] = question.into());
    stage.take(Input::Board(Ok(asks)));
    stage.keys("aa");
    let text = screen(&stage);
    assert!(text.contains("line 6 of it …") && !text.contains("line 7 of it"), "{text}");
    stage.char('1');
    stage.wait();
    assert!(screen(&stage).contains("line 7 of it"), "{}", screen(&stage));
    for _ in 0..4 {
        stage.press(Key::PageDown);
    }
    let text = screen(&stage);
    assert!(text.contains("line 40 of it") && text.contains("Your answer"), "{text}");
}

#[test]
fn a_click_selects_what_stands_below_it_in_a_long_list_of_what_waits() {
    let mut stage = Stage::new(80, 24);
    let many = board_with(|board| {
        let sample = board["attention"][0].clone();
        let entry = |n: usize| {
            let mut entry = sample.clone();
            (entry["id"], entry["what"]) = (format!("e/{n:02}").into(), format!("entry {n:02}").into());
            entry
        };
        board["attention"] = json!((0..30).map(entry).collect::<Vec<_>>());
    });
    stage.take(Input::Board(Ok(many)));
    stage.char('a');
    (0..20).for_each(|_| drop(stage.char('j')));
    let text = screen(&stage);
    let row = text.lines().position(|line| line.contains("entry 18")).expect("it is shown") as u16;
    stage.take(Input::Mouse(Mouse::Click(10, row)));
    assert_eq!(stage.model.chosen(View::Attention).as_deref(), Some("e/18"));
}

#[test]
fn what_is_of_another_day_says_of_which() {
    let mut stage = Stage::new(80, 24);
    let old = board_with(|board| {
        board["checkpoints"][1]["at"] = json!(ago(100_000));
        board["operations"][1]["at"] = json!(ago(100_000));
    });
    stage.take(Input::Board(Ok(old)));
    for view in ['5', '6'] {
        stage.char(view);
        assert!(screen(&stage).contains(" 01-12 08:18 "), "{}", screen(&stage));
    }
}
