//! Keys and news while a dialog is open.

use swarm_protocol::api::ApiError;
use swarm_protocol::board::{AttentionChoice, Choice};
use swarm_protocol::command::Command;
use swarm_protocol::operation::Force;
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::outcome::PauseReason;

use super::{asking, confirming, leaving, offered, sending};
use crate::dialog::{Dialog, Kind, Shown};
use crate::draw::dialog as drawn;
use crate::field::Field;
use crate::input::{Key, Link, Wish};
use crate::keys::Action;
use crate::model::Model;

/// Opens the dialog of an action that has one of its own.
pub fn open(model: &mut Model, action: Action) -> Vec<Wish> {
    let task = model.looking_at.clone();
    let kind = match (action, task) {
        (Action::Panel, _) => Kind::Panel,
        (Action::Palette, _) => Kind::Palette { text: Field::default(), selected: 0 },
        (Action::Checkpoint, _) => Kind::NewCheckpoint { name: Field::default() },
        (Action::Checkpoints, _) => return open_checkpoints(model, 0),
        (Action::Quit, _) if model.over || model.agents().is_empty() || model.link != Link::Online => {
            return vec![Wish::Leave(leaving::farewell(model))];
        }
        (Action::Quit, _) => Kind::Quit,
        (Action::Block, Some(task)) => {
            let kind = Kind::Block { task: task.clone(), reason: Field::default() };
            if model.agent_of(&task).is_some() {
                return asking::open_asking(model, kind, Command::BlockTask { task, reason: "…".into() });
            }
            kind
        }
        (Action::Redirect, Some(task)) => {
            model.tickets += 1;
            let kind = Kind::Redirect { task: task.clone(), choices: None, selected: 0 };
            let mut dialog = Dialog::new(kind, model.now);
            (dialog.ticket, dialog.shown) = (model.tickets, Shown::Awaited);
            model.dialog = Some(dialog);
            return vec![Wish::Choices(model.tickets, task)];
        }
        (Action::Message, Some(task)) => Kind::Message { task, text: Field::default() },
        (Action::Review, Some(task)) => {
            let review = model.submitted(&task).cloned().map(Box::new);
            let approve = model.notes_of(&task).is_empty();
            Kind::Review { task, note: Field::default(), approve, review }
        }
        (Action::Edit, Some(task)) => match &model.task {
            Some(view) => Kind::Edit {
                title: Field::new(&view.row.title),
                description: Field::new(&view.description),
                before: Box::new((view.row.title.clone(), view.description.clone())),
                task,
                second: true,
            },
            // Whoever is quick gets the form when it can be filled in; any other key is a change of mind.
            None => {
                model.note(format!("Reading task {task}"));
                model.edit_awaits = Some(task);
                return vec![];
            }
        },
        _ => {
            model.note("Select a task first");
            return vec![];
        }
    };
    sending::open_with_draft(model, kind);
    vec![]
}

/// A note about the line of the diff that the person is at.
pub fn open_note(model: &mut Model) -> Vec<Wish> {
    if model.part.round.is_some() {
        let key = model.keys.first(Action::PreviousPart);
        model.note(format!(
            "This is an earlier submission: notes are about the work as it is now, {key} goes back to it"
        ));
        return vec![];
    }
    let place = crate::draw::diff::place(model);
    match model.looking_at.clone().zip(place) {
        Some((task, (file, line))) => {
            let kind = Kind::Note { task, file, line, text: Field::default() };
            model.dialog = Some(Dialog::new(kind, model.now));
        }
        None => model.note("There is no line of a file here"),
    }
    vec![]
}

pub fn open_pause(model: &mut Model) {
    model.dialog = Some(Dialog::new(Kind::Pause, model.now));
}

pub fn open_checkpoints(model: &mut Model, selected: usize) -> Vec<Wish> {
    let list = model.board.as_ref().map(|board| board.checkpoints.clone()).unwrap_or_default();
    model.dialog = Some(Dialog::new(Kind::Checkpoints { list, selected }, model.now));
    look_at_checkpoint(model)
}

fn look_at_checkpoint(model: &mut Model) -> Vec<Wish> {
    match rollback(model) {
        Some(command) => asking::look(model, command),
        None => vec![],
    }
}

pub fn rollback(model: &Model) -> Option<Command> {
    let Kind::Checkpoints { list, selected } = &model.dialog.as_ref()?.kind else { return None };
    let name = list.get(*selected)?.name.clone();
    Some(Command::Rollback { to: Some(name), force: Force::default(), expect: None })
}

/// A way on of the attention list.
pub fn choose(model: &mut Model, question: &str, choice: AttentionChoice) -> Vec<Wish> {
    if choice.asks_for.is_some() {
        let (question, text) = (question.to_owned(), Field::default());
        sending::open_with_draft(model, Kind::Answer { question, choice, text });
        return vec![];
    }
    asking::ask(model, format!("{}?", choice.label), choice.command)
}

pub fn choices(model: &mut Model, ticket: u64, found: Result<Vec<Choice>, ApiError>) -> Vec<Wish> {
    let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.ticket == ticket) else { return vec![] };
    match (found, &mut dialog.kind) {
        (Ok(found), Kind::Redirect { choices, .. }) => *choices = Some(found),
        (Err(error), _) => dialog.shown = Shown::Refused(error),
        _ => {}
    }
    look_at_redirect(model)
}

fn look_at_redirect(model: &mut Model) -> Vec<Wish> {
    match redirect(model) {
        Some(command) => asking::look(model, command),
        None => vec![],
    }
}

pub fn redirect(model: &Model) -> Option<Command> {
    let Kind::Redirect { task, choices, selected } = &model.dialog.as_ref()?.kind else { return None };
    let to = choices.as_ref()?.get(*selected)?.task.clone();
    Some(Command::Redirect { task: task.clone(), to, same_worktree: false })
}

pub fn previewed(model: &mut Model, ticket: u64, preview: Result<Box<PreviewView>, ApiError>) -> Vec<Wish> {
    // An answer to an older question is about something that is no longer shown.
    if let Some(dialog) = model.dialog.as_mut().filter(|dialog| dialog.ticket == ticket) {
        dialog.shown = match preview {
            Ok(preview) => Shown::Arrived(preview),
            Err(error) => Shown::Refused(error),
        };
    }
    vec![]
}

/// Enter is armed by what has been on the screen, so it is noted with every input.
pub fn note_what_was_seen(model: &mut Model) {
    let Some(dialog) = &model.dialog else { return };
    let most = drawn::scroll_max(model, dialog);
    let arrived = matches!(dialog.shown, Shown::Arrived(_) | Shown::Told(_));
    if let Some(dialog) = &mut model.dialog {
        dialog.scroll = dialog.scroll.min(most);
        dialog.seen_end |= arrived && dialog.scroll == most;
    }
}

pub fn pressed(model: &mut Model, key: Key) -> Vec<Wish> {
    let now = model.now;
    let Some(dialog) = &mut model.dialog else { return vec![] };
    if matches!(key, Key::Esc | Key::Ctrl('c')) {
        model.dialog = None;
        return vec![];
    }
    // Words are what a person types on with; anything else so soon was meant for what stood there before.
    let word = matches!(key, Key::Char(_)) && dialog.field().is_some();
    if !word && !dialog.listens(now) {
        return vec![];
    }
    if matches!(dialog.kind, Kind::Palette { .. }) {
        return offered::in_palette(model, key);
    }
    match key {
        Key::Tab | Key::BackTab => {
            match &mut dialog.kind {
                Kind::Edit { second, .. } => *second = !*second,
                Kind::Review { approve, .. } => *approve = !*approve,
                _ => {}
            }
            return vec![];
        }
        Key::Enter => return confirming::confirmed(model),
        // No field has another use for them, and below it may stand more than there is room for.
        Key::PageDown | Key::PageUp => return moved(model, key),
        _ => {}
    }
    if let Some(field) = dialog.field() {
        field.take(key);
        dialog.was_typed();
        return vec![];
    }
    match (&dialog.kind, key) {
        (Kind::Confirm { .. } | Kind::Typed { .. }, Key::Char('y')) => confirming::confirmed(model),
        (
            Kind::Confirm { .. } | Kind::Typed { .. } | Kind::Pause | Kind::Quit | Kind::Redirect { .. },
            Key::Char('n'),
        ) => {
            model.dialog = None;
            vec![]
        }
        (Kind::Pause, Key::Char(' ')) => press_on(model),
        (Kind::Quit, Key::Char(word @ ('q' | 's' | 'd'))) => quit(model, word),
        (Kind::Checkpoints { .. }, Key::Char('n')) if model.past.is_none() => {
            model.dialog = Some(Dialog::new(Kind::NewCheckpoint { name: Field::default() }, now));
            vec![]
        }
        (Kind::Panel, key) => offered::in_panel(model, key),
        (_, key) => moved(model, key),
    }
}

/// Lines of a preview, or another candidate.
pub fn moved(model: &mut Model, key: Key) -> Vec<Wish> {
    let page = drawn::room(model);
    let Some(dialog) = &mut model.dialog else { return vec![] };
    let by: i64 = match key {
        Key::Char('j') | Key::Down => 1,
        Key::Char('k') | Key::Up => -1,
        Key::PageDown | Key::Ctrl('d') => i64::from(page.1),
        Key::PageUp | Key::Ctrl('u') => -i64::from(page.1),
        Key::Char('G') | Key::End => i64::MAX / 2,
        Key::Char('g') | Key::Home => i64::MIN / 2,
        _ => return vec![],
    };
    let list = match &mut dialog.kind {
        Kind::Checkpoints { selected, list } => Some((selected, list.len())),
        Kind::Redirect { selected, choices, .. } => Some((selected, choices.as_ref().map_or(0, Vec::len))),
        _ => None,
    };
    let single = by.abs() == 1;
    let Some((selected, count)) = list.filter(|_| single) else {
        let at = i64::try_from(dialog.scroll).unwrap_or(i64::MAX).saturating_add(by).max(0);
        dialog.scroll = usize::try_from(at).unwrap_or(usize::MAX);
        return vec![];
    };
    let at = i64::try_from(*selected).unwrap_or_default() + by;
    let at = usize::try_from(at.max(0)).unwrap_or_default().min(count.saturating_sub(1));
    if at == *selected {
        return vec![];
    }
    *selected = at;
    match dialog.kind {
        Kind::Checkpoints { .. } => look_at_checkpoint(model),
        _ => look_at_redirect(model),
    }
}

/// Space in the pause dialog: those who have not arrived are stopped; when all are held, work goes on.
fn press_on(model: &mut Model) -> Vec<Wish> {
    model.dialog = None;
    if model.running() == 0 && model.is_paused() {
        return sending::send(model, Command::Resume { reason: PauseReason::User });
    }
    let (reason, why) = (PauseReason::User, String::new());
    let wishes = sending::send(model, Command::Pause { reason, why, force: true });
    open_pause(model);
    wishes
}

fn quit(model: &mut Model, word: char) -> Vec<Wish> {
    model.dialog = None;
    let why = "q in swarm tui".to_owned();
    let stopped = "The swarm stops; uncommitted work is kept. `swarm run` goes on".to_owned();
    match word {
        'd' => vec![Wish::Leave(leaving::farewell(model))],
        's' => sending::send_and_leave(model, Command::CheckpointAndDrain { why }, Some(stopped)),
        _ => sending::send_and_leave(model, Command::Drain { why }, Some(stopped)),
    }
}
