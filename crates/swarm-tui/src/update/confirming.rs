//! The person's word: what a dialog turns into when it is confirmed.

use swarm_protocol::command::Command;
use swarm_protocol::plan::TaskPatch;
use swarm_protocol::review::{ReviewNote, Verdict};

use super::{dialogs, moving, sending};
use crate::dialog::{Kind, Shown};
use crate::field::Field;
use crate::input::Wish;
use crate::keys::Action;
use crate::model::Model;
use crate::said::count;

/// Enter. Does nothing until the dialog is armed.
pub fn confirmed(model: &mut Model) -> Vec<Wish> {
    let Some(dialog) = model.dialog.take_if(|dialog| dialog.armed()) else { return vec![] };
    let seen = match &dialog.shown {
        Shown::Arrived(preview) => preview.expect.clone(),
        _ => None,
    };
    let command = match dialog.kind.clone() {
        Kind::Confirm { command, .. } => command.expecting(seen),
        Kind::Block { task, reason } => Command::BlockTask { task, reason: reason.text() },
        Kind::Message { task, text } => Command::MessageAgent { task, text: text.text() },
        Kind::NewCheckpoint { name } => {
            Command::MakeCheckpoint { name: Some(name.text().trim().to_owned()).filter(|n| !n.is_empty()) }
        }
        Kind::Edit { task, title, description, .. } => match edited(model, title, description) {
            Some(patch) => Command::EditTask { task, patch },
            None => return vec![],
        },
        Kind::Answer { choice, text, .. } => filled(choice.command, &text.text()),
        Kind::Review { task, note, approve } => match verdict(model, &task, &note, approve) {
            Some(verdict) => {
                model.notes.clear();
                Command::Review { task, verdict }
            }
            None => {
                model.dialog = Some(dialog);
                return vec![];
            }
        },
        Kind::Redirect { .. } | Kind::Checkpoints { .. } => {
            // What is selected was previewed: nothing else can have been.
            model.dialog = Some(dialog);
            let command = dialogs::redirect(model).or_else(|| dialogs::rollback(model));
            model.dialog = None;
            let mut wishes = command.map_or_else(Vec::new, |c| sending::send(model, c.expecting(seen)));
            if model.past.is_some() {
                // What becomes of it is seen in the present.
                wishes.extend(moving::present(model));
            }
            return wishes;
        }
        Kind::Note { file, line, text } => {
            model.notes.push(ReviewNote { file: Some(file), line, text: text.text() });
            let kept = count(model.notes.len() as u64, "note");
            model.note(format!(
                "{kept} kept; {} sends the verdict with them",
                model.keys.first(Action::Review)
            ));
            return vec![];
        }
        Kind::Typed { line, words, .. } => return super::typing::carry_out(model, &line, words, seen),
        Kind::Pause | Kind::Quit | Kind::Panel | Kind::Palette { .. } => {
            model.dialog = Some(dialog);
            return vec![];
        }
    };
    sending::send(model, command)
}

/// Only what differs.
fn edited(model: &mut Model, title: Field, description: Field) -> Option<TaskPatch> {
    let view = model.task.as_ref()?;
    let differs = |text: String, before: &str| Some(text).filter(|text| text != before);
    // A description of several lines is shown as one field; unchanged, it keeps its lines.
    let before: String = Field::new(&view.description).text();
    let patch = TaskPatch {
        title: differs(title.text(), &view.row.title),
        description: differs(description.text(), &before),
        ..TaskPatch::default()
    };
    if patch.is_empty() {
        model.note("Nothing was changed");
        return None;
    }
    Some(patch)
}

fn verdict(
    model: &Model,
    task: &swarm_protocol::ids::TaskId,
    note: &Field,
    approve: bool,
) -> Option<Verdict> {
    if approve {
        let review = model.board.as_ref()?.reviews.iter().find(|review| review.task == *task)?;
        return Some(Verdict::Approve { tip: review.submitted.clone(), left_out: None });
    }
    let general = (!note.is_empty()).then(|| ReviewNote { text: note.text(), ..ReviewNote::default() });
    let notes: Vec<ReviewNote> = general.into_iter().chain(model.notes.clone()).collect();
    (!notes.is_empty()).then_some(Verdict::NeedsChanges { notes })
}

/// The person's own words in the place that was left for them.
pub fn filled(command: Command, words: &str) -> Command {
    let words = words.to_owned();
    match command {
        Command::MessageAgent { task, .. } => Command::MessageAgent { task, text: words },
        Command::AcceptTask { task, .. } => Command::AcceptTask { task, reason: words },
        Command::Review { task, verdict: Verdict::NeedsChanges { .. } } => {
            let notes = vec![ReviewNote { text: words, ..ReviewNote::default() }];
            Command::Review { task, verdict: Verdict::NeedsChanges { notes } }
        }
        other => other,
    }
}
