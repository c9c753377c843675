//! Logs: several at once, searched, folded, taken to the clipboard and into an editor.

use serde_json::json;
use swarm_protocol::board::BoardView;
use swarm_protocol::command::Command;
use swarm_tui::input::{Input, Key, LogLine, Tone, Wish};
use swarm_tui::theme::Theme;

use crate::looks::{check, screen};
use crate::support::{Stage, ago, board_with, sent};

fn followed(wishes: &[Wish]) -> Vec<String> {
    let found = wishes.iter().rev().find_map(|wish| match wish {
        Wish::Follow(runs) => Some(runs.iter().map(ToString::to_string).collect()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// A board on which so many agents work.
fn with_agents(count: usize) -> Box<BoardView> {
    board_with(|board| {
        let sample = board["agents"][0].clone();
        let agent = |n: usize| {
            let mut agent = sample.clone();
            (agent["agent"], agent["run"]) = (format!("bo-{n:03}").into(), format!("r{}", 20 + n).into());
            agent["task"] = ["2.6", "2.7", "3.2", "2.2", "2.4", "2.5", "1.1", "2.1"][n % 8].into();
            agent["news"] = json!(null);
            agent
        };
        let more: Vec<_> = (2..count).map(agent).collect();
        board["agents"].as_array_mut().expect("agents").extend(more);
    })
}

fn says(stage: &mut Stage, run: &str, text: &str) {
    let run = swarm_protocol::ids::RunId::new(run).expect("an id");
    let line = LogLine { n: 1, byte: 0, at: ago(1), tone: Tone::Said, text: text.into() };
    stage.take(Input::Log(run, vec![line]));
}

#[test]
fn the_logs_of_all_agents_stand_beside_one_another_and_are_followed_as_long_as_they_are_shown() {
    let mut stage = Stage::new(120, 40);
    let wishes = stage.char('L');
    assert_eq!(followed(&wishes), ["r3", "r7"], "one of them is followed already");
    says(&mut stage, "r3", "the other one speaks");
    says(&mut stage, "r7", "and this one");
    let text = screen(&stage);
    assert!(text.contains("15 passed"), "what was known of the selected one: {text}");
    assert!(text.contains("the other one speaks") && text.contains("and this one"), "{text}");
    let wishes = stage.press(Key::Esc);
    assert_eq!(followed(&wishes), ["r7"]);
    assert!(screen(&stage).contains("and this one"), "its log has gone on meanwhile");
}

#[test]
fn marks_say_whose_logs_are_shown_and_what_is_started_and_copied() {
    let mut stage = Stage::new(120, 40);
    stage.keys("*");
    assert!(screen(&stage).contains("›*"), "{}", screen(&stage));
    assert_eq!(followed(&stage.char('L')), Vec::<String>::new(), "the same one as before");
    assert!(!screen(&stage).contains("ed-001 · 3.1"), "{}", screen(&stage));
    stage.press(Key::Esc);
    stage.keys("jj*");
    let copied = stage.char('y');
    assert!(matches!(copied.as_slice(), [Wish::Copy(text)] if text == "2.3 2.5"), "{copied:?}");
    let started = sent(&stage.char('S'));
    let [Command::StartTasks { tasks }] = started.as_slice() else { panic!("{started:?}") };
    assert_eq!(tasks.iter().map(|task| task.as_str()).collect::<Vec<_>>(), ["2.3", "2.5"]);
    assert!(stage.model.marked.is_empty(), "they have served");
    stage.keys("*");
    stage.press(Key::Esc);
    assert!(stage.model.marked.is_empty());
}

#[test]
fn a_log_is_searched_and_folded_to_its_landmarks() {
    let mut stage = Stage::new(80, 24);
    stage.keys("l/PASSED 14");
    let text = screen(&stage);
    assert!(text.contains("14 passed") && !text.contains("  15 passed"), "{text}");
    assert!(text.contains("search: PASSED 14"), "{text}");
    stage.press(Key::Enter);
    says(&mut stage, "r7", "140 passed");
    says(&mut stage, "r7", "nothing of it");
    let text = screen(&stage);
    assert!(text.contains("140 passed") && !text.contains("nothing of it"), "{text}");
    stage.press(Key::Esc);
    assert!(screen(&stage).contains("nothing of it"), "all of it again");
    stage.press(Key::Left);
    let text = screen(&stage);
    assert!(text.contains("Bash: cargo test links (+1)") && !text.contains("15 passed"), "{text}");
    assert!(text.contains("landmarks only"), "{text}");
    stage.press(Key::Right);
    assert!(screen(&stage).contains("15 passed"));
}

#[test]
fn a_block_of_the_log_and_a_file_of_the_diff_go_to_the_editor_and_a_line_to_the_clipboard() {
    let mut stage = Stage::new(80, 24);
    stage.keys("l");
    let shown = stage.char('Y');
    let [Wish::Show(text)] = shown.as_slice() else { panic!("{shown:?}") };
    assert!(text.contains("commit 8cf51e8") && text.contains("one link is slow"), "{text}");
    assert!(!text.contains("15 passed"), "that is another block: {text}");
    let copied = stage.char('y');
    assert!(matches!(copied.as_slice(), [Wish::Copy(text)] if text.contains("slow")), "{copied:?}");
    stage.press(Key::Esc);
    let wishes = stage.char('D');
    let [Wish::Diff(ask)] = wishes.as_slice() else { panic!("{wishes:?}") };
    let diff = crate::support::diff(&ask.task);
    stage.take(Input::Diff(ask.clone(), Ok(Box::new(diff.clone()))));
    stage.char('G');
    let shown = stage.char('Y');
    assert!(matches!(shown.as_slice(), [Wish::Show(text)] if *text == diff.patch), "{shown:?}");
    let copied = stage.char('y');
    assert!(matches!(copied.as_slice(), [Wish::Copy(text)] if text == "One for each task."), "{copied:?}");
}

#[test]
fn walls_of_every_size() {
    for (columns, rows) in [(80, 24), (120, 40), (240, 70)] {
        let mut stage = Stage::new(columns, rows);
        stage.take(Input::Board(Ok(with_agents(7))));
        if columns < 240 {
            stage.char('L');
        }
        for run in ["r3", "r7", "r22", "r23"] {
            says(&mut stage, run, &format!("{run} says something"));
        }
        check(&format!("wall-{columns}x{rows}"), &stage);
    }
    let mut ascii = Stage::themed(80, 24, Theme { colour: false, ascii: true });
    ascii.char('L');
    assert!(screen(&ascii).is_ascii(), "{}", screen(&ascii));
}
