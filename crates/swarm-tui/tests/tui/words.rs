//! What a person wrote is not lost where it was refused, or where nobody knows what became of it.

use swarm_protocol::api::ApiError;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::ids::CommandId;
use swarm_tui::input::{Input, Key, Wish};

use crate::support::{Stage, sent, task};

/// Sends what the dialog in front asks for; it is refused, or lands.
fn send(stage: &mut Stage, lands: bool) -> Vec<Command> {
    let wishes = stage.press(Key::Enter);
    let Some(Wish::Send(ticket, _)) = wishes.first() else { panic!("{wishes:?}") };
    let answer = match lands {
        true => {
            let id = CommandId::new("c-1").expect("an id");
            Ok(Answer { id, seq: 260, text: "Done".into(), repeated: false })
        }
        false => Err(ApiError::new("lost", "The coordinator ended before it answered", "")),
    };
    stage.take(Input::Answer(*ticket, answer));
    assert!(stage.model.dialog.is_none());
    sent(&wishes)
}

fn in_field(stage: &mut Stage) -> String {
    stage.model.field().map(|field| field.text()).unwrap_or_default()
}

fn said(stage: &Stage) -> String {
    stage.model.said.as_ref().map(|said| said.text.clone()).unwrap_or_default()
}

#[test]
fn a_message_that_was_refused_is_there_again_until_it_lands() {
    let mut stage = Stage::new(80, 24);
    stage.char('M');
    stage.keys("use the parser");
    send(&mut stage, false);
    assert!(said(&stage).ends_with("your words are kept: M begins with them"), "{}", said(&stage));
    stage.char('M');
    assert_eq!(in_field(&mut stage), "use the parser");
    assert!(said(&stage).starts_with("These are your words"), "{}", said(&stage));
    let sent = send(&mut stage, true);
    let [Command::MessageAgent { text, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(text, "use the parser");
    stage.char('M');
    assert_eq!(in_field(&mut stage), "");
}

#[test]
fn what_was_written_for_one_task_is_not_offered_for_another() {
    let mut stage = Stage::new(80, 24);
    stage.char('M');
    stage.keys("for 2.3");
    send(&mut stage, false);
    stage.keys("3j");
    assert_eq!(stage.model.looking_at.as_ref().map(ToString::to_string).as_deref(), Some("3.1"));
    stage.char('M');
    assert_eq!(in_field(&mut stage), "");
    stage.press(Key::Esc);
    stage.keys("kM");
    assert_eq!(in_field(&mut stage), "for 2.3");
}

#[test]
fn an_answer_and_a_reason_that_were_refused_are_there_again() {
    let mut stage = Stage::new(80, 24);
    stage.keys("aa1");
    stage.keys("Apache");
    send(&mut stage, false);
    stage.char('1');
    assert_eq!(in_field(&mut stage), "Apache");
    let mut stage = Stage::new(80, 24);
    let wishes = stage.char('b');
    stage.previewed(&wishes, 1);
    stage.keys("no access");
    send(&mut stage, false);
    stage.char('b');
    assert_eq!(in_field(&mut stage), "no access");
}

#[test]
fn an_edit_that_was_refused_changes_nothing_that_others_have_changed_since() {
    let mut stage = Stage::new(80, 24);
    stage.char('e');
    stage.keys("!");
    send(&mut stage, false);
    let id = stage.model.looking_at.clone().expect("a task");
    let mut other = task(id.as_str());
    other.row.title = "A title that somebody else has given it".into();
    stage.take(Input::Task(id, Ok(other)));
    stage.char('e');
    let sent = send(&mut stage, true);
    let [Command::EditTask { patch, .. }] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(patch.title, None);
    assert!(patch.description.as_ref().is_some_and(|text| text.ends_with("its own.!")), "{patch:?}");
}
