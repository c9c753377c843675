//! The person's word: what a dialog turns into when it is confirmed.

use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::TaskPatch;
use swarm_protocol::review::{ReviewNote, Verdict};
use swarm_protocol::view::ReviewView;

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
        Kind::Edit { task, title, description, before, .. } => match edited(&title, &description, *before) {
            Some(patch) => Command::EditTask { task, patch },
            None => {
                model.note("Nothing was changed");
                return vec![];
            }
        },
        Kind::Answer { choice, text, .. } => filled(choice.command, &text.text()),
        Kind::Review { task, note, approve, review } => {
            match verdict(model, &task, &note, approve, review.as_deref()) {
                Ok(verdict) => Command::Review { task, verdict },
                Err(why) => {
                    model.note(why);
                    model.dialog = Some(dialog);
                    return vec![];
                }
            }
        }
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
        Kind::Note { task, file, line, text } => {
            let notes = model.notes.entry(task).or_default();
            notes.push(ReviewNote { file: Some(file), line, text: text.text() });
            let kept = count(notes.len() as u64, "note");
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
    let wishes = sending::send(model, command);
    sending::keep_words(model, dialog.kind);
    wishes
}

/// Only what the person has changed, whatever others have changed of it meanwhile.
fn edited(title: &Field, description: &Field, before: (String, String)) -> Option<TaskPatch> {
    let differs = |field: &Field, before: String| Some(field.text()).filter(|text| *text != before);
    let patch = TaskPatch {
        title: differs(title, before.0),
        description: differs(description, before.1),
        ..TaskPatch::default()
    };
    (!patch.is_empty()).then_some(patch)
}

/// A dialog that was quicker than the board is about what the board says first.
pub fn take_up_submission(model: &mut Model) {
    let Some(Kind::Review { task, review: None, .. }) = model.dialog.as_ref().map(|dialog| &dialog.kind)
    else {
        return;
    };
    let first = model.submitted(task).cloned().map(Box::new);
    if let Some(Kind::Review { review, .. }) = model.dialog.as_mut().map(|dialog| &mut dialog.kind) {
        *review = first;
    }
}

/// The verdict about what was submitted when the dialog was opened, or why there is none.
fn verdict(
    model: &Model,
    task: &TaskId,
    note: &Field,
    approve: bool,
    review: Option<&ReviewView>,
) -> Result<Verdict, String> {
    if review.is_some_and(|review| model.is_overtaken(review)) {
        let [back, diff] = [Action::Back, Action::Diff].map(|action| model.keys.first(action));
        return Err(format!(
            "A newer submission has arrived: {back} closes this, {diff} shows what it changes"
        ));
    }
    if approve {
        let review = review.ok_or("Nothing of it waits for a verdict")?;
        return Ok(Verdict::Approve { tip: review.submitted.clone(), left_out: None });
    }
    let general = (!note.is_empty()).then(|| ReviewNote { text: note.text(), ..ReviewNote::default() });
    let notes: Vec<ReviewNote> = general.into_iter().chain(model.notes_of(task).iter().cloned()).collect();
    if notes.is_empty() {
        return Err("Say what is to be changed".into());
    }
    Ok(Verdict::NeedsChanges { notes })
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
