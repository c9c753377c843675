//! Confirm or undo: nothing is done by accident.

use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::CommandId;
use swarm_tui::dialog::Kind;
use swarm_tui::input::{Input, Key, Wish};

use crate::looks::screen;
use crate::support::{Stage, board_with, preview, sent};

#[test]
fn a_rollback_waits_for_its_preview_and_for_its_last_line_and_carries_what_was_seen() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('R');
    assert_eq!(sent(&stage.press(Key::Enter)), [], "nothing was shown yet");
    stage.previewed(&wishes, 100);
    assert_eq!(sent(&stage.press(Key::Enter)), [], "its last line was never on the screen");
    assert_eq!(sent(&stage.char('y')), [], "y is no way around it");
    stage.char('G');
    let sent = sent(&stage.press(Key::Enter));
    let [Command::RollbackTask { task, expect, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!((task.as_str(), expect.as_deref()), ("2.3", Some("hash-of-the-preview")));
    assert!(stage.model.dialog.is_none());
}

#[test]
fn a_short_preview_has_been_seen_when_it_is_there() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('R');
    stage.previewed(&wishes, 3);
    assert_eq!(sent(&stage.press(Key::Enter)).len(), 1);
}

#[test]
fn a_dialog_is_deaf_for_the_first_quarter_of_a_second() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('s');
    stage.previewed(&wishes, 1);
    stage.now += 100;
    assert_eq!(stage.take(Input::Key(Key::Enter)), [], "meant for what stood there before");
    assert!(stage.model.dialog.is_some());
    stage.now += 200;
    let sent = sent(&stage.take(Input::Key(Key::Enter)));
    assert!(matches!(sent.as_slice(), [Command::StopAgent { .. }]), "{sent:?}");
}

#[test]
fn escape_always_closes_and_never_quits() {
    let mut stage = Stage::new(80, 24);
    stage.char('x');
    assert_eq!(stage.take(Input::Key(Key::Esc)), []);
    assert!(stage.model.dialog.is_none());
    stage.char('x');
    assert_eq!(stage.press(Key::Ctrl('c')), [], "in a dialog it is Esc");
    assert!(stage.model.dialog.is_none());
    for _ in 0..5 {
        assert!(!stage.press(Key::Esc).iter().any(|wish| matches!(wish, Wish::Leave(_))));
    }
}

#[test]
fn an_answer_to_an_older_question_arms_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.char('C');
    let old = stage.model.dialog.as_ref().expect("the menu").ticket;
    stage.char('j');
    stage.take(Input::Preview(old, Ok(preview(1))));
    assert_eq!(sent(&stage.press(Key::Enter)), [], "the preview was of another checkpoint");
}

#[test]
fn a_paste_outside_of_a_field_is_refused_with_a_word_and_inside_it_is_text() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.take(Input::Paste("xyq\n".into())), []);
    assert!(stage.model.dialog.is_none());
    assert!(stage.model.said.as_ref().is_some_and(|said| said.text.contains("Pasted")));
    stage.char('M');
    stage.now += 300;
    stage.take(Input::Paste("use the parser\nof lib.rs\n".into()));
    let sent = sent(&stage.press(Key::Enter));
    let [Command::MessageAgent { text, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(text, "use the parser of lib.rs");
}

#[test]
fn keys_faster_than_fingers_are_taken_for_a_paste() {
    let mut stage = Stage::new(80, 24);
    let mut wishes = vec![];
    for c in "this text was pasted without brackets m b".chars() {
        stage.now += 1;
        wishes.extend(stage.take(Input::Key(Key::Char(c))));
    }
    assert_eq!(sent(&wishes), []);
}

/// Every key of the table, as somebody has them who types on before the screen has followed.
#[test]
fn whatever_is_typed_ahead_confirms_nothing_that_is_asked_for() {
    for binding in swarm_tui::keys::KEYS {
        for key in binding.keys {
            for ahead in
                [[Key::Enter, Key::Enter], [Key::Char('y'), Key::Enter], [Key::Char(' '), Key::Enter]]
            {
                let mut stage = Stage::new(80, 24);
                stage.press(*key);
                let opened = stage.model.dialog.is_some();
                let mut wishes = vec![];
                for key in ahead {
                    stage.now += 30;
                    wishes.extend(stage.take(Input::Key(key)));
                }
                assert!(!opened || sent(&wishes).is_empty(), "{key:?} {ahead:?}: {wishes:?}");
            }
        }
    }
}

/// Ten thousand letters, each of which is a key of its own.
fn long_text() -> String {
    "zSu xR!b\nmP kdq".chars().cycle().take(10_000).collect()
}

fn key_of(c: char) -> Key {
    if c == '\n' { Key::Enter } else { Key::Char(c) }
}

#[test]
fn ten_kilobytes_that_are_pasted_do_nothing_outside_of_a_field() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.take(Input::Paste(long_text())), []);
    // A terminal that does not say so sends them as keys, in pieces, the last of which may be short.
    let keys: Vec<Input> = long_text().chars().map(|c| Input::Key(key_of(c))).collect();
    for piece in keys.chunks(1021) {
        for input in swarm_tui::input::bursts(piece.to_vec()) {
            stage.now += 1;
            assert_eq!(stage.take(input), []);
        }
    }
    for c in "zS".chars() {
        stage.now += 20;
        assert_eq!(stage.take(Input::Key(Key::Char(c))), [], "the rest of it");
    }
    assert!(stage.model.dialog.is_none());
    assert!(stage.model.said.as_ref().is_some_and(|said| said.text.contains("ignored")));
}

#[test]
fn ten_kilobytes_that_are_pasted_into_a_field_are_words_and_have_a_bound() {
    for as_keys in [false, true] {
        let mut stage = Stage::new(80, 24);
        stage.char('M');
        stage.now += 300;
        let inputs = match as_keys {
            true => swarm_tui::input::bursts(long_text().chars().map(|c| Input::Key(key_of(c))).collect()),
            false => vec![Input::Paste(long_text())],
        };
        for input in inputs {
            assert_eq!(sent(&stage.take(input)), [], "a line's end in it sends nothing");
        }
        let sent = sent(&stage.press(Key::Enter));
        let [Command::MessageAgent { text, .. }] = sent.as_slice() else { panic!("{sent:?}") };
        assert!((3_000..=4_000).contains(&text.chars().count()), "{}", text.len());
    }
}

#[test]
fn a_key_that_is_held_down_is_no_paste() {
    let held = swarm_tui::input::bursts(vec![Input::Key(Key::Char('j')); 40]);
    assert_eq!(held.len(), 40);
    assert!(held.iter().all(|input| matches!(input, Input::Key(Key::Char('j')))));
}

#[test]
fn a_refused_key_says_why_and_what_would_help() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.char('u'), []);
    let said = stage.model.said.as_ref().expect("a word");
    assert!(said.text.contains("is not blocked") && said.text.contains("swarm task show 2.3"), "{said:?}");
}

#[test]
fn a_key_that_was_refused_before_the_task_changed_is_the_coordinators_to_judge() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.char('u'), [], "it works");
    let blocked = board_with(|board| {
        board["rows"][3]["status"] = "blocked".into();
        board["rows"][3]["word"] = "blocked".into();
    });
    stage.take(Input::Board(Ok(blocked)));
    let sent = sent(&stage.char('u'));
    assert!(
        matches!(sent.as_slice(), [Command::UnblockTask { .. }]),
        "the list of verbs is still on its way: {sent:?}"
    );
}

#[test]
fn a_block_needs_a_reason_and_shows_who_stops() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('b');
    stage.take(Input::Key(Key::Char('n')));
    stage.keys("o access");
    assert!(!screen(&stage).contains("Enter block"), "Enter would do nothing yet");
    assert_eq!(sent(&stage.press(Key::Enter)), [], "what would happen is not shown yet");
    stage.previewed(&wishes, 1);
    assert!(screen(&stage).contains("Enter block"), "now it does");
    let sent = sent(&stage.press(Key::Enter));
    let [Command::BlockTask { reason, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(reason, "no access", "words typed at once are not lost");
}

#[test]
fn a_block_without_a_reason_is_not_sent() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('b');
    stage.previewed(&wishes, 1);
    assert_eq!(sent(&stage.press(Key::Enter)), [], "no reason was given");
}

#[test]
fn undo_of_a_free_operation_asks_nothing_and_of_one_that_moved_git_it_does() {
    let mut stage = Stage::new(80, 24);
    assert!(matches!(sent(&stage.char('z')).as_slice(), [Command::Undo { .. }]));
    let board = board_with(|board| board["operations"][0]["checkpoint"] = "before-rollback".into());
    stage.take(Input::Board(Ok(board)));
    assert_eq!(sent(&stage.char('z')), []);
    let kind = &stage.model.dialog.as_ref().expect("a question").kind;
    assert!(matches!(kind, Kind::Confirm { command: Command::Undo { .. }, .. }), "{kind:?}");
}

/// Between the answer and the next board the newest operation is another one than the screen knows of.
#[test]
fn undo_right_after_an_answer_is_looked_at_first() {
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('m');
    let ticket =
        wishes.iter().find_map(|wish| if let Wish::Send(ticket, _) = wish { Some(*ticket) } else { None });
    let id = CommandId::new("later").expect("an id");
    let answer = Answer { id, seq: 1_000_000, text: "Done".into(), repeated: false };
    stage.take(Input::Answer(ticket.expect("something was sent"), Ok(answer)));
    assert_eq!(sent(&stage.char('z')), []);
    let kind = &stage.model.dialog.as_ref().expect("a question").kind;
    assert!(matches!(kind, Kind::Confirm { command: Command::Undo { operation: None, .. }, .. }), "{kind:?}");
}

#[test]
fn free_things_are_done_at_once() {
    let mut stage = Stage::new(80, 24);
    stage.keys("jjjj");
    stage.take(Input::Allowed(stage.model.looking_at.clone(), crate::support::all_allowed()));
    assert_eq!(stage.model.looking_at.as_ref().map(|id| id.as_str()), Some("2.7"));
    let sent = sent(&stage.press(Key::Enter));
    assert!(matches!(sent.as_slice(), [Command::StartTasks { .. }]), "Enter starts a ready task: {sent:?}");
}
