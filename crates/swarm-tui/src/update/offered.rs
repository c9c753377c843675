//! Keys in the dialogs that offer what there is: the panel of an agent, and the palette.

use super::{dialogs, moving, pressed};
use crate::dialog::{Dialog, Kind};
use crate::input::{Key, Wish};
use crate::model::{Model, View};
use crate::palette;

/// Every key of the panel is one of the table; those that move choose the agent.
pub fn in_panel(model: &mut Model, key: Key) -> Vec<Wish> {
    match key {
        Key::Char('j') | Key::Down | Key::Char('k') | Key::Up => {
            let by = if matches!(key, Key::Char('j') | Key::Down) { 1 } else { -1 };
            model.view = View::Agents;
            moving::in_view(model, View::Agents, by);
            vec![]
        }
        Key::PageDown | Key::PageUp => dialogs::moved(model, key),
        key => {
            model.dialog = None;
            match model.keys.binding(key) {
                Some(binding) => pressed::act(model, binding.action),
                None => vec![],
            }
        }
    }
}

pub fn in_palette(model: &mut Model, key: Key) -> Vec<Wish> {
    let found = palette::found(model);
    let Some(Dialog { kind: Kind::Palette { text, selected }, .. }) = &mut model.dialog else {
        return vec![];
    };
    match key {
        Key::Up => *selected = selected.saturating_sub(1),
        Key::Down | Key::Tab => *selected = (*selected + 1).min(found.len().saturating_sub(1)),
        Key::Enter => {
            let chosen = found.into_iter().nth(*selected);
            let line = text.text();
            if chosen.is_none() && !line.trim().is_empty() {
                // What was typed stays, to be put right.
                let why = crate::typed::unknown(&model.commands, &line);
                model.note(why);
                return vec![];
            }
            model.dialog = None;
            return match chosen {
                Some(palette::Entry::Action(action)) => pressed::act(model, action),
                Some(palette::Entry::Typed(line)) => super::typing::entered(model, line),
                Some(palette::Entry::Task(task)) => {
                    moving::to_view(model, View::Plan);
                    moving::jump(model, &task);
                    vec![]
                }
                None => vec![],
            };
        }
        key => {
            text.take(key);
            *selected = 0;
        }
    }
    vec![]
}
