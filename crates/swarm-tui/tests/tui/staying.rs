//! What a person is at stays theirs while the swarm goes on: what they read, what they wrote, what they judge.

use serde_json::json;
use swarm_protocol::api::ApiError;
use swarm_protocol::board::BoardView;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::diff::DiffAsk;
use swarm_protocol::ids::{CommandId, TaskId};
use swarm_protocol::review::Verdict;
use swarm_tui::input::{Input, Key, Mouse, Wish};
use swarm_tui::model::Full;

use crate::looks::screen;
use crate::support::{Stage, ago, board, board_with, diff, sent, task};

fn selected(stage: &Stage) -> String {
    stage.model.looking_at.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// A diff with a note at its last line.
fn with_note(stage: &mut Stage) -> TaskId {
    stage.char('D');
    let task = stage.model.looking_at.clone().expect("a task");
    stage.take(Input::Diff(DiffAsk::of(task.clone()), Ok(Box::new(diff(&task)))));
    stage.char('G');
    stage.press(Key::Enter);
    stage.keys("too short");
    stage.press(Key::Enter);
    task
}

/// The selected task waits for a verdict about this commit.
fn submitted(commit: char, round: u32) -> Box<BoardView> {
    board_with(|board| {
        board["reviews"] = json!([{
            "task": "2.3", "title": "Chapter on worktrees", "reviewer": "human", "round": round, "rounds": 3,
            "submitted": commit.to_string().repeat(40), "tree": "e".repeat(40), "base": null,
            "branch": "swarm/2.3", "since": ago(60), "stage": "waits for you", "commands": [],
        }]);
    })
}

fn row_of(stage: &Stage, words: &str) -> u16 {
    let text = screen(stage);
    text.lines().position(|line| line.contains(words)).expect("it is on the screen") as u16
}

#[test]
fn a_diff_and_the_notes_about_it_stay_when_the_list_below_it_moves() {
    let mut stage = Stage::new(80, 24);
    stage.char('3');
    let task = with_note(&mut stage);
    let ended = board_with(|board| {
        board["agents"].as_array_mut().expect("agents").remove(0);
    });
    stage.take(Input::Board(Ok(ended)));
    assert_eq!(selected(&stage), "2.3", "another agent stands in that line now");
    assert!(stage.model.diff.is_some());
    stage.press(Key::Esc);
    assert_eq!(selected(&stage), "3.1", "the list counts again");
    assert_eq!(stage.model.notes_of(&task).len(), 1, "until the verdict");
}

#[test]
fn notes_go_with_a_verdict_that_has_landed_and_stay_where_it_was_refused() {
    let mut stage = Stage::new(80, 24);
    let task = with_note(&mut stage);
    for (n, lands) in [false, true].into_iter().enumerate() {
        stage.char('v');
        let wishes = stage.press(Key::Enter);
        assert!(matches!(sent(&wishes).as_slice(), [Command::Review { .. }]), "{wishes:?}");
        let Some(Wish::Send(ticket, _)) = wishes.first() else { panic!("{wishes:?}") };
        let id = CommandId::new(format!("c-{n}")).expect("an id");
        let answer = match lands {
            true => Ok(Answer { id, seq: 260, text: "Done".into(), repeated: false }),
            false => Err(ApiError::new("lost", "No answer came", "")),
        };
        stage.take(Input::Answer(*ticket, answer));
        assert_eq!(stage.model.notes_of(&task).is_empty(), lands);
    }
}

#[test]
fn a_verdict_is_about_the_submission_that_was_there_when_it_was_asked_for() {
    let mut stage = Stage::new(80, 24);
    stage.take(Input::Board(Ok(submitted('b', 1))));
    stage.char('v');
    stage.take(Input::Board(Ok(submitted('c', 2))));
    let text = screen(&stage);
    assert!(text.contains("bbbbbbb") && text.contains("A newer submission has arrived"), "{text}");
    assert_eq!(sent(&stage.press(Key::Enter)), [], "nobody has seen it");
    assert!(stage.model.dialog.is_some());
    stage.press(Key::Esc);
    stage.char('v');
    let sent = sent(&stage.press(Key::Enter));
    let [Command::Review { verdict: Verdict::Approve { tip, .. }, .. }] = sent.as_slice() else {
        panic!("{sent:?}")
    };
    assert!(tip.short().starts_with('c'));
}

#[test]
fn a_verdict_after_a_diff_of_older_work_says_so() {
    let mut stage = Stage::new(80, 24);
    stage.take(Input::Board(Ok(submitted('b', 1))));
    with_note(&mut stage);
    stage.char('v');
    assert!(!screen(&stage).contains("The diff that was read"), "{}", screen(&stage));
    stage.press(Key::Esc);
    stage.take(Input::Board(Ok(submitted('c', 2))));
    stage.char('v');
    assert!(screen(&stage).contains("The diff that was read ends at bbbbbbb"), "{}", screen(&stage));
}

#[test]
fn an_edit_changes_what_the_person_has_changed_and_nothing_that_others_have() {
    let mut stage = Stage::new(80, 24);
    stage.char('e');
    stage.keys("!");
    let id = stage.model.looking_at.clone().expect("a task");
    let mut other = task(id.as_str());
    other.row.title = "A title that somebody else has given it".into();
    stage.take(Input::Task(id, Ok(other)));
    let sent = sent(&stage.press(Key::Enter));
    let [Command::EditTask { patch, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(patch.title, None);
    assert!(patch.description.as_ref().is_some_and(|text| text.ends_with("its own.!")), "{patch:?}");
}

#[test]
fn a_long_description_loses_nothing_but_what_the_person_takes_away() {
    let mut stage = Stage::new(80, 24);
    let id = stage.model.looking_at.clone().expect("a task");
    let mut long = task(id.as_str());
    long.description = "x".repeat(9_000);
    stage.take(Input::Task(id, Ok(long)));
    stage.char('e');
    stage.press(Key::Backspace);
    let sent = sent(&stage.press(Key::Enter));
    let [Command::EditTask { patch, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(patch.description.as_ref().map(String::len), Some(8_999));
}

#[test]
fn the_log_of_the_agent_that_was_selected_before_goes_on_in_its_tile() {
    let mut stage = Stage::new(240, 70);
    assert!(screen(&stage).contains("15 passed"));
    stage.keys("3j");
    assert_eq!(selected(&stage), "3.1");
    assert!(screen(&stage).contains("15 passed"), "{}", screen(&stage));
}

#[test]
fn whoever_uses_the_mouse_has_touched_the_screen_of_their_run() {
    let mut stage = Stage::new(80, 24);
    stage.model.owns = true;
    let row = row_of(&stage, "2.4 Chapter on merging");
    stage.take(Input::Mouse(Mouse::Click(10, row)));
    assert_eq!(selected(&stage), "2.4");
    stage.take(Input::Board(Ok(board())));
    assert_eq!(selected(&stage), "2.4", "nobody is pulled away from what they have clicked on");
}

#[test]
fn a_double_click_opens_what_its_first_click_has_selected_also_where_the_list_has_moved() {
    let mut stage = Stage::new(80, 24);
    let row = row_of(&stage, "2.6 Index");
    stage.take(Input::Mouse(Mouse::Click(10, row)));
    assert_ne!(row_of(&stage, "2.6 Index"), row, "it stands nearer to the middle");
    stage.now += 100;
    stage.take(Input::Mouse(Mouse::Click(10, row)));
    assert_eq!((selected(&stage).as_str(), stage.model.full), ("2.6", Some(Full::Log)));
}

#[test]
fn whoever_pastes_what_is_to_be_changed_does_not_approve() {
    let mut stage = Stage::new(80, 24);
    stage.take(Input::Board(Ok(submitted('b', 1))));
    stage.char('v');
    stage.wait();
    stage.take(Input::Paste("name the quarantine file".into()));
    let sent = sent(&stage.press(Key::Enter));
    let [Command::Review { verdict: Verdict::NeedsChanges { notes }, .. }] = sent.as_slice() else {
        panic!("{sent:?}")
    };
    assert_eq!(notes[0].text, "name the quarantine file");
}

#[test]
fn a_paste_selects_what_it_leaves_to_be_selected_as_typing_does() {
    let mut stage = Stage::new(80, 24);
    stage.char('/');
    stage.take(Input::Paste("undo".into()));
    assert_eq!(selected(&stage), "3.1", "keys are about what the filter shows");
    let mut stage = Stage::new(80, 24);
    stage.char(':');
    stage.press(Key::Down);
    stage.take(Input::Paste("3.1".into()));
    stage.press(Key::Enter);
    assert_eq!(selected(&stage), "3.1", "other lines are offered than before");
}
