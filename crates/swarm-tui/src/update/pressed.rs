//! A key, and what it does where the person is.

use swarm_protocol::board::Verb;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::{Mode, PauseReason};

use super::{asking, dialogs, diffing, leaving, marking, moving, sending};
use crate::filter::Filter;
use crate::input::{Key, Link, Wish};
use crate::keys::{Action, Part};
use crate::model::{Full, Model, Part as WorkPart, View};

/// Keys closer to one another than this were not pressed by fingers.
const FINGERS_MS: u64 = 4;
/// So many of them in a row are a paste in a terminal that does not say so.
const BURST: u32 = crate::input::BURST as u32;
/// What comes so soon after a paste is the rest of it.
const REST_MS: u64 = 100;

/// A digit this soon after an entry went away was meant for that one.
const SLIPPED_MS: u64 = 700;

pub fn pressed(model: &mut Model, key: Key) -> Vec<Wish> {
    let within = if model.burst >= BURST { REST_MS } else { FINGERS_MS };
    let close = model.now.0.saturating_sub(model.last_key.0) < within;
    model.burst = if close { model.burst + 1 } else { 0 };
    model.last_key = model.now;
    model.edit_awaits = None;
    if model.dialog.is_some() {
        return dialogs::pressed(model, key);
    }
    if model.typing_filter {
        return in_filter(model, key);
    }
    if model.typing_search {
        return in_search(model, key);
    }
    if let (View::Attention, None, Key::Char(digit @ '1'..='9')) = (model.view, model.full, key)
        && let Some(wishes) = chosen(model, digit as usize - '1' as usize)
    {
        return wishes;
    }
    let Some(binding) = model.keys.binding(key) else { return vec![] };
    if model.burst >= BURST && binding.part != Part::Moving {
        model.note("This came faster than fingers type: taken for a paste and ignored");
        return vec![];
    }
    act(model, binding.action)
}

/// Keys that came all at once: words for a field, and nothing elsewhere.
pub fn burst(model: &mut Model, keys: Vec<Key>) -> Vec<Wish> {
    let mut wishes = Vec::new();
    for key in keys {
        let in_field = model.field().is_some() || (model.dialog.is_none() && is_typing(model));
        if !in_field {
            (model.burst, model.last_key) = (BURST, model.now);
            model.note("This came faster than fingers type: taken for a paste and ignored");
            return wishes;
        }
        // The end of a line is no word to send it.
        let key = if matches!(key, Key::Enter | Key::Tab) { Key::Char(' ') } else { key };
        wishes.extend(pressed(model, key));
        (model.burst, model.last_key) = (BURST, model.now);
    }
    wishes
}

fn is_typing(model: &Model) -> bool {
    model.typing_filter || model.typing_search
}

fn in_filter(model: &mut Model, key: Key) -> Vec<Wish> {
    match key {
        Key::Enter => model.typing_filter = false,
        Key::Esc | Key::Ctrl('c') => {
            model.typing_filter = false;
            model.filter = None;
        }
        Key::Up | Key::Down => {
            return moving::moved(model, if key == Key::Up { Action::Up } else { Action::Down });
        }
        key => {
            if let Some(filter) = &mut model.filter {
                filter.field.take(key);
            }
            select_shown(model);
        }
    }
    vec![]
}

/// Keys are about what the filter shows: a task that it hides is not the selected one any more.
pub fn select_shown(model: &mut Model) {
    model.grow();
    let nodes = model.nodes();
    if !model.node.as_ref().is_some_and(|node| nodes.contains(node)) {
        let task = nodes.iter().find(|node| matches!(node, crate::model::Node::Task(_)));
        model.node = task.or(nodes.first()).cloned();
    }
}

/// What is typed behind `/` in a log.
fn in_search(model: &mut Model, key: Key) -> Vec<Wish> {
    match key {
        Key::Enter => model.typing_search = false,
        Key::Esc | Key::Ctrl('c') => {
            model.typing_search = false;
            model.search = None;
        }
        key => drop(model.search.get_or_insert_default().take(key)),
    }
    (model.log.back, model.log.unseen) = (None, 0);
    vec![]
}

/// A numbered way on of the selected entry; none when it has no such number.
fn chosen(model: &mut Model, at: usize) -> Option<Vec<Wish>> {
    let entry = model.board.as_ref()?.attention.get(model.cursor(View::Attention))?;
    let (choice, question) = (entry.choices.get(at)?.clone(), entry.entry.why.clone());
    if let Some(wishes) = in_the_past(model) {
        return Some(wishes);
    }
    if model.now.0.saturating_sub(model.slipped.0) < SLIPPED_MS {
        model.note("The entry that you looked at has gone; this is another one");
        return Some(vec![]);
    }
    Some(dialogs::choose(model, &question, choice))
}

/// Says what works in the past; none: this is the present.
pub fn in_the_past(model: &mut Model) -> Option<Vec<Wish>> {
    let rollback = format!("{} rolls back to here", model.keys.first(Action::Checkpoints));
    refused_in_the_past(model, &rollback)
}

fn refused_in_the_past(model: &mut Model, instead: &str) -> Option<Vec<Wish>> {
    let (at, present) = (model.past?, model.keys.first(Action::Present));
    model.note(format!("Record {at} cannot be changed; {present} goes to now, {instead}"));
    Some(vec![])
}

/// What is about the present does nothing in the past, but for a screen that nothing holds up any more.
fn is_of_the_present(model: &Model, action: Action) -> bool {
    let leaves = action == Action::Quit && (model.over || model.link != Link::Online);
    !leaves && model.keys.of(action).is_some_and(|binding| !binding.works_in_the_past())
}

/// Does it, or says why not.
pub fn act(model: &mut Model, action: Action) -> Vec<Wish> {
    let binding = model.keys.of(action);
    let wishes = match action {
        _ if !is_of_the_present(model, action) => None,
        Action::Quit => {
            let leaves = match model.owns && !model.stopping {
                // There the other key stops the run first.
                true => format!("{} leaves there", model.keys.first(Action::Quit)),
                false => format!("{} leaves", model.keys.first(Action::Interrupt)),
            };
            refused_in_the_past(model, &leaves)
        }
        _ => in_the_past(model),
    };
    if let Some(wishes) = wishes {
        return wishes;
    }
    if let Some(verb) = binding.and_then(|b| b.verb) {
        // Of several tasks it is asked for each when they are sent.
        let of_marked = action == Action::Start && !model.marked.is_empty();
        if let Some(error) = model.refusal(verb).filter(|_| !of_marked).cloned() {
            model.refuse(&error);
            return vec![];
        }
        if !model.knows(verb) && model.looking_at.is_none() {
            model.note("Select a task first");
            return vec![];
        }
    }
    match action {
        Action::Down | Action::Up | Action::First | Action::Last => moving::moved(model, action),
        Action::HalfDown | Action::HalfUp | Action::PageDown | Action::PageUp => moving::moved(model, action),
        Action::NextPane => moving::next_view(model, 1),
        Action::PreviousPane => moving::next_view(model, View::ALL.len() - 1),
        Action::View(n) => moving::to_view(model, View::ALL[usize::from(n - 1) % View::ALL.len()]),
        Action::Open => moving::open(model),
        Action::Fold => moving::fold(model),
        Action::Back => moving::back(model),
        Action::Attention => moving::attention(model),
        Action::NextMatch => moving::moved(model, Action::Down),
        Action::PreviousMatch => moving::moved(model, Action::Up),
        Action::PreviousMark => moving::to_mark(model, false, false),
        Action::NextMark => moving::to_mark(model, true, false),
        Action::PreviousFile => moving::to_mark(model, false, true),
        Action::NextFile => moving::to_mark(model, true, true),
        Action::RecordBack => moving::travel(model, -1),
        Action::RecordForth => moving::travel(model, 1),
        Action::Present => moving::present(model),
        Action::Stop | Action::Kill | Action::RollbackTask | Action::RollbackSession | Action::Redo => {
            asking::confirm(model, action)
        }
        Action::Undo => asking::undo(model),
        Action::Mode => mode(model),
        Action::Pause => pause(model),
        _ => look_or_ask(model, action),
    }
}

fn look_or_ask(model: &mut Model, action: Action) -> Vec<Wish> {
    match action {
        Action::Filter if model.full == Some(Full::Log) => {
            model.search.get_or_insert_default();
            model.typing_search = true;
        }
        Action::Filter => {
            model.view = View::Plan;
            model.filter.get_or_insert_with(Filter::default);
            model.typing_filter = true;
        }
        // There is nothing to look at yet.
        Action::Log | Action::Full | Action::Wall | Action::Diff | Action::Graph | Action::Usage
            if model.board.is_none() => {}
        Action::Wall => cover(model, Full::Wall),
        Action::Usage => cover(model, Full::Usage),
        Action::Graph => {
            cover(model, Full::Graph);
            model.scroll = crate::draw::graph::scroll_to_selected(model);
        }
        Action::Log | Action::Full => cover(model, Full::Log),
        Action::Help => cover(model, Full::Help),
        Action::Diff => {
            cover(model, Full::Diff);
            return diffing::ask(model, WorkPart::default());
        }
        Action::PreviousPart | Action::NextPart => {
            return diffing::other_part(model, action == Action::NextPart);
        }
        Action::Enlarge | Action::Shrink => model.enlarged = action == Action::Enlarge,
        Action::Wrap => model.wrap = !model.wrap,
        Action::Machinery => model.machinery = !model.machinery,
        Action::Copy => return marking::copy(model),
        Action::Mark => marking::mark(model),
        Action::ShowBlock => return marking::show_block(model),
        Action::Redraw => return vec![Wish::Redraw],
        Action::Suspend => return vec![Wish::Suspend],
        Action::Hint => return super::typing::hint(model),
        Action::Interrupt => return leaving::interrupt(model),
        Action::Start | Action::Unblock | Action::Defer => return at_once(model, action),
        Action::Debug => {
            return match model.looking_at.clone() {
                Some(task) => vec![Wish::Editor(task)],
                None => vec![],
            };
        }
        action => return dialogs::open(model, action),
    }
    vec![]
}

/// The same key uncovers again.
fn cover(model: &mut Model, full: Full) {
    model.scroll = 0;
    model.full = if model.full == Some(full) { None } else { Some(full) };
}

/// Free things are done at once; `z` takes them back.
fn at_once(model: &mut Model, action: Action) -> Vec<Wish> {
    let Some(task) = model.looking_at.clone() else { return vec![] };
    let command = match action {
        Action::Start => Command::StartTasks { tasks: marking::meant(model, task) },
        Action::Unblock => Command::UnblockTask { task },
        _ if model.agent_of(&task).is_some() => {
            let title = format!("Put task {task} aside?");
            return asking::ask(model, title, Command::DeferTask { task });
        }
        _ => Command::DeferTask { task },
    };
    sending::send(model, command)
}

/// Autopilot starts work, so it is asked for; back to semi-auto starts nothing.
fn mode(model: &mut Model) -> Vec<Wish> {
    match model.board.as_ref().map(|board| board.status.mode) {
        Some(Mode::Autopilot) => sending::send(model, Command::SetMode { mode: Mode::SemiAuto }),
        Some(Mode::SemiAuto) => {
            asking::ask(model, "Switch to autopilot?".into(), Command::SetMode { mode: Mode::Autopilot })
        }
        None => vec![],
    }
}

/// Pauses; looks at who is still running; resumes when all are held.
fn pause(model: &mut Model) -> Vec<Wish> {
    if model.is_paused() && model.running() == 0 {
        return sending::send(model, Command::Resume { reason: PauseReason::User });
    }
    let mut wishes = vec![];
    if !model.is_paused() {
        if let Some(error) = model.refusal(Verb::Pause).cloned() {
            model.refuse(&error);
            return vec![];
        }
        let (reason, why) = (PauseReason::User, String::new());
        wishes = sending::send(model, Command::Pause { reason, why, force: false });
    }
    if !model.agents().is_empty() {
        dialogs::open_pause(model);
    }
    wishes
}
