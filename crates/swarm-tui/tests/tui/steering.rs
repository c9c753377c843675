//! Pausing, answering, redirecting, quitting.

use serde_json::json;
use swarm_protocol::api::ApiError;
use swarm_protocol::board::Choice;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::diff::DiffAsk;
use swarm_protocol::ids::CommandId;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::review::Verdict;
use swarm_tui::dialog::Kind;
use swarm_tui::input::{Input, Key, Wish};
use swarm_tui::model::{Full, View};

use crate::support::{Stage, board_with, sent, task};

fn answer(id: &str, seq: u64) -> Answer {
    let id = CommandId::new(id).expect("an id");
    Answer { id, seq, text: "Done".into(), repeated: false }
}

fn ticket(wishes: &[Wish]) -> u64 {
    let found = wishes.iter().find_map(|wish| match wish {
        Wish::Send(ticket, _) => Some(*ticket),
        _ => None,
    });
    found.expect("something was sent")
}

#[test]
fn space_pauses_then_forces_then_resumes() {
    let mut stage = Stage::new(80, 24);
    let pause = |force| Command::Pause { reason: PauseReason::User, why: String::new(), force };
    assert_eq!(sent(&stage.char(' ')), [pause(false)]);
    assert!(matches!(stage.model.dialog.as_ref().map(|d| &d.kind), Some(Kind::Pause)));
    let paused = |held: bool| {
        board_with(|board| {
            board["pauses"] =
                json!([{ "reason": "user", "since": board["now"], "why": "", "ended_by": "swarm resume" }]);
            board["agents"][0]["held"] = held.into();
        })
    };
    stage.take(Input::Board(Ok(paused(false))));
    assert_eq!(sent(&stage.char(' ')), [pause(true)], "one still runs");
    stage.take(Input::Board(Ok(paused(true))));
    assert_eq!(sent(&stage.char(' ')), [Command::Resume { reason: PauseReason::User }]);
}

#[test]
fn who_edits_before_the_task_has_been_read_gets_the_form_when_it_has() {
    let mut stage = Stage::new(80, 24);
    let edits =
        |stage: &Stage| matches!(stage.model.dialog.as_ref().map(|d| &d.kind), Some(Kind::Edit { .. }));
    let read = |stage: &mut Stage| {
        let id = stage.model.looking_at.clone().expect("something is selected");
        stage.take(Input::Task(id.clone(), Ok(task(id.as_str()))));
    };
    stage.keys("je");
    assert!(stage.model.task.is_none() && !edits(&stage), "nothing to fill it in with");
    read(&mut stage);
    assert!(edits(&stage));
    stage.press(Key::Esc);
    stage.keys("ke");
    stage.keys("t");
    read(&mut stage);
    assert!(!edits(&stage), "another key is a change of mind");
    stage.keys("je");
    let id = stage.model.looking_at.clone().expect("something is selected");
    let error = ApiError::new("unreachable", "The coordinator does not answer", "swarm run");
    stage.take(Input::Task(id.clone(), Err(error)));
    let said = stage.model.said.as_ref().map(|said| said.text.clone());
    let way = format!("try `e` again, or `swarm task show {id}`");
    assert_eq!(said, Some(format!("Task {id} cannot be read: The coordinator does not answer; {way}")));
}

#[test]
fn a_question_is_answered_by_its_digit() {
    let mut stage = Stage::new(80, 24);
    stage.keys("aa1");
    let wishes = stage.keys("Apache");
    assert_eq!(sent(&wishes), []);
    let wishes = stage.press(Key::Enter);
    let command = sent(&wishes);
    let [Command::MessageAgent { text, .. }] = command.as_slice() else { panic!("{command:?}") };
    assert_eq!(text, "Apache");
}

#[test]
fn a_redirect_lists_candidates_previews_the_selected_one_and_sends_it() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('r');
    let [Wish::Choices(ticket, _)] = wishes.as_slice() else { panic!("{wishes:?}") };
    let choice = |id: &str| Choice {
        task: swarm_protocol::ids::TaskId::new(id).expect("an id"),
        title: "Cover".into(),
        phase: 2,
        tags: vec![],
        unblocks: vec![],
        why: "first in the queue".into(),
    };
    stage.take(Input::Choices(*ticket, Ok(vec![choice("2.7"), choice("3.1")])));
    let wishes = stage.char('j');
    stage.previewed(&wishes, 2);
    let sent = sent(&stage.press(Key::Enter));
    let [Command::Redirect { task, to, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!((task.as_str(), to.as_str()), ("2.3", "3.1"));
}

#[test]
fn quitting_asks_what_becomes_of_the_agents() {
    let leaves = |wishes: &[Wish]| wishes.iter().any(|wish| matches!(wish, Wish::Leave(_)));
    let mut stage = Stage::new(80, 24);
    assert!(!leaves(&stage.char('q')));
    assert!(leaves(&stage.char('d')), "leaves them running");
    let mut stage = Stage::new(80, 24);
    stage.char('q');
    let wishes = stage.char('q');
    assert!(matches!(sent(&wishes).as_slice(), [Command::Drain { .. }]));
    assert!(leaves(&stage.take(Input::Answer(ticket(&wishes), Ok(answer("c-2", 260))))));
    let mut stage = Stage::new(80, 24);
    stage.char('q');
    let wishes = stage.char('s');
    // One wish: a screen that dies here leaves no checkpoint without an end.
    assert!(matches!(sent(&wishes).as_slice(), [Command::CheckpointAndDrain { .. }]), "{wishes:?}");
    assert!(!leaves(&wishes), "not before it is recorded");
    assert!(leaves(&stage.take(Input::Answer(ticket(&wishes), Ok(answer("c-3", 260))))));
}

#[test]
fn the_panel_offers_every_key_and_a_key_in_it_acts() {
    let mut stage = Stage::new(80, 24);
    stage.char('i');
    assert!(matches!(stage.model.dialog.as_ref().map(|d| &d.kind), Some(Kind::Panel)));
    stage.char('c');
    assert!(matches!(stage.model.dialog.as_ref().map(|d| &d.kind), Some(Kind::NewCheckpoint { .. })));
    stage.keys("first-edition");
    let sent = sent(&stage.press(Key::Enter));
    assert_eq!(sent, [Command::MakeCheckpoint { name: Some("first-edition".into()) }]);
}

#[test]
fn an_edit_sends_only_what_differs() {
    let mut stage = Stage::new(80, 24);
    stage.char('e');
    stage.press(Key::Tab);
    stage.keys("!");
    let sent = sent(&stage.press(Key::Enter));
    let [Command::EditTask { patch, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!((patch.title.as_deref(), &patch.description), (Some("Chapter on worktrees!"), &None));
}

#[test]
fn a_refusal_stays_on_the_screen() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('z');
    let error = swarm_protocol::api::ApiError::new("x", "It has changed since", "swarm op show 41");
    stage.take(Input::Answer(ticket(&wishes), Err(error)));
    assert!(stage.model.said.as_ref().is_some_and(|said| said.text.contains("swarm op show 41")));
}

#[test]
fn notes_at_lines_of_the_diff_are_sent_with_the_verdict() {
    let mut stage = Stage::new(80, 24);
    stage.char('D');
    let task = stage.model.looking_at.clone().expect("a task");
    stage.take(Input::Diff(DiffAsk::of(task.clone()), Ok(Box::new(crate::support::diff(&task)))));
    // File, hunk, "# Title" at line 8, the old line, the new one at line 9.
    stage.char('G');
    stage.press(Key::Enter);
    stage.keys("too short");
    assert_eq!(sent(&stage.press(Key::Enter)), [], "it is kept for the verdict");
    stage.char('v');
    let sent = sent(&stage.press(Key::Enter));
    let [Command::Review { verdict: Verdict::NeedsChanges { notes }, .. }] = sent.as_slice() else {
        panic!("{sent:?}")
    };
    assert_eq!(notes.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a.md:9: too short"]);
}

#[test]
fn a_digit_meant_for_an_entry_that_has_just_gone_does_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.keys("aa");
    let gone = board_with(|board| {
        let mut other = board["attention"][1].clone();
        other["id"] = "task/9.9".into();
        board["attention"][1] = other;
    });
    stage.take(Input::Board(Ok(gone)));
    stage.char('2');
    assert!(stage.model.said.as_ref().is_some_and(|said| said.text.contains("has gone")));
    stage.now += 700;
    assert_eq!(sent(&stage.char('2')).len(), 1, "later it is meant");
}

#[test]
fn a_selection_is_a_thing_and_not_a_place() {
    let mut stage = Stage::new(80, 24);
    stage.keys("aa");
    let moved = board_with(|board| board["attention"].as_array_mut().expect("a list").reverse());
    stage.take(Input::Board(Ok(moved)));
    assert_eq!(stage.model.chosen(swarm_tui::model::View::Attention).as_deref(), Some("task/2.2"));
    stage.press(Key::Esc);
    stage.char('C');
    let more = board_with(|board| {
        let mut new = board["checkpoints"][0].clone();
        new["name"] = "before-merge-9".into();
        board["checkpoints"].as_array_mut().expect("a list").insert(0, new);
    });
    stage.take(Input::Board(Ok(more)));
    let wishes = stage.char('j');
    stage.previewed(&wishes, 1);
    let sent = sent(&stage.press(Key::Enter));
    let [Command::Rollback { to, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(to.as_deref(), Some("pre-refactor"), "as the list was when it was opened");
}

#[test]
fn who_has_not_moved_stays_at_the_newest_checkpoint_and_who_has_stays_where_they_are() {
    let grown = || {
        board_with(|board| {
            let mut newest = board["checkpoints"][0].clone();
            newest["name"] = "newest".into();
            board["checkpoints"].as_array_mut().expect("a list").insert(0, newest);
        })
    };
    let mut stage = Stage::new(80, 24);
    stage.char('5');
    stage.take(Input::Board(Ok(grown())));
    assert_eq!(stage.model.chosen(View::Checkpoints).as_deref(), Some("newest"));
    let mut stage = Stage::new(80, 24);
    stage.keys("5j");
    let before = stage.model.chosen(View::Checkpoints);
    stage.take(Input::Board(Ok(grown())));
    assert_eq!(stage.model.chosen(View::Checkpoints), before);
}

#[test]
fn without_a_plan_there_is_help_and_nothing_else_to_look_at() {
    let mut stage = Stage::new(80, 24);
    stage.model.board = None;
    stage.char('D');
    assert_eq!(stage.model.full, None);
    stage.char('?');
    assert_eq!(stage.model.full, Some(Full::Help));
}

#[test]
fn the_screen_of_a_run_goes_with_it_but_not_under_a_persons_hands() {
    let leaves = |wishes: &[Wish]| wishes.iter().any(|wish| matches!(wish, Wish::Leave(_)));
    let mut stage = Stage::new(80, 24);
    stage.model.owns = true;
    stage.now += 10_000;
    assert!(leaves(&stage.take(Input::Over)), "nobody is at anything");
    let mut stage = Stage::new(80, 24);
    stage.char('?');
    stage.now += 10_000;
    assert!(!leaves(&stage.take(Input::Over)), "the person reads");
    assert!(leaves(&stage.char('q')), "nobody is at work any more: nothing is asked");
    let mut stage = Stage::new(80, 24);
    stage.char('j');
    assert!(!leaves(&stage.take(Input::Over)), "the next key would go to the shell");
}

#[test]
fn ctrl_c_stops_the_run_where_the_screen_is_that_of_the_run_and_leaves_elsewhere() {
    let mut stage = Stage::new(80, 24);
    assert!(matches!(stage.press(Key::Ctrl('c')).as_slice(), [Wish::Leave(word)] if word.contains("go on")));
    let mut stage = Stage::new(80, 24);
    stage.model.owns = true;
    let wishes = stage.press(Key::Ctrl('c'));
    assert!(matches!(sent(&wishes).as_slice(), [Command::Drain { .. }]), "{wishes:?}");
    assert!(matches!(stage.press(Key::Ctrl('c')).as_slice(), [Wish::Leave(word)] if word.is_empty()));
}

#[test]
fn until_somebody_touches_it_the_screen_of_a_run_looks_at_what_moves() {
    let moved = || {
        board_with(|board| {
            board["rows"][3]["group"] = "done".into();
            board["rows"][8]["group"] = "works".into();
        })
    };
    let selected = |stage: &Stage| stage.model.looking_at.as_ref().map(ToString::to_string);
    let mut stage = Stage::new(80, 24);
    stage.model.owns = true;
    stage.take(Input::Board(Ok(moved())));
    assert_eq!(selected(&stage).as_deref(), Some("3.1"));
    let mut stage = Stage::new(80, 24);
    stage.model.owns = true;
    stage.char('.');
    stage.take(Input::Board(Ok(moved())));
    assert_eq!(selected(&stage).as_deref(), Some("2.3"), "somebody is there");
}
