//! What happens to the screen when something comes in. Pure: the model before and the input in, the model after and
//! wishes out; time is an argument.

mod arrive;
mod asking;
mod confirming;
mod dialogs;
mod diffing;
mod leaving;
mod marking;
mod mouse;
mod moving;
mod offered;
mod older;
mod pressed;
mod selecting;
mod sending;
mod typing;
mod wall;

pub use confirming::filled;

use swarm_protocol::time::Timestamp;

use crate::input::{Input, Wish};
use crate::model::Model;

pub fn update(model: &mut Model, input: Input, now: Timestamp) -> Vec<Wish> {
    model.now = now;
    model.touched |= matches!(input, Input::Key(_) | Input::Burst(_) | Input::Paste(_) | Input::Mouse(_));
    let shape = (model.folded.len(), model.filter.clone());
    let mut wishes = match input {
        Input::Key(key) => pressed::pressed(model, key),
        Input::Burst(keys) => pressed::burst(model, keys),
        Input::Paste(text) => pasted(model, &text),
        Input::Mouse(mouse) => mouse::used(model, mouse),
        Input::Resize(columns, rows) => {
            model.size = (columns, rows);
            vec![Wish::Redraw]
        }
        Input::Focus(focused) => {
            model.focused = focused;
            arrive::looked_up(model);
            vec![]
        }
        Input::Tick => vec![],
        Input::Link(link) => {
            model.link = link;
            vec![Wish::Board(model.past)]
        }
        Input::Over => leaving::over(model),
        Input::Anew => arrive::anew(model),
        Input::Visited(visited) => {
            arrive::visited(model, *visited);
            vec![]
        }
        Input::Board(board) => arrive::board(model, board),
        Input::Task(id, task) => arrive::task(model, &id, task),
        Input::Allowed(of, allowed) => arrive::allowed(model, of.as_ref(), allowed),
        Input::Choices(ticket, choices) => dialogs::choices(model, ticket, choices),
        Input::Preview(ticket, preview) => dialogs::previewed(model, ticket, preview),
        Input::Diff(ask, diff) => diffing::arrived(model, &ask, diff),
        Input::OverTime(over) => {
            model.over_time = Some(over);
            vec![]
        }
        Input::Answer(ticket, answer) => sending::answered(model, ticket, answer),
        Input::Told(ticket, told) => typing::told(model, ticket, told),
        Input::Events(events) => arrive::events(model, events),
        Input::News(news) => arrive::news(model, news),
        Input::Log(run, lines) => arrive::log(model, &run, lines),
        Input::OlderLog(run, lines) => {
            older::log_came(model, &run, lines);
            vec![]
        }
        Input::OlderEvents(events) => {
            older::events_came(model, events);
            vec![]
        }
        Input::Back(Ok(())) => vec![Wish::Redraw, Wish::Board(model.past)],
        Input::Back(Err(why)) => {
            model.note(why);
            vec![Wish::Redraw]
        }
    };
    if shape != (model.folded.len(), model.filter.clone()) {
        model.grow();
    }
    model.settle();
    wishes.extend(selecting::follow(model));
    wishes.extend(selecting::over_time(model));
    wishes.extend(older::wanted(model));
    dialogs::note_what_was_seen(model);
    wishes
}

/// A paste belongs into a field; anywhere else each of its letters would be a command.
fn pasted(model: &mut Model, text: &str) -> Vec<Wish> {
    if model.typing_filter && model.dialog.is_none() {
        if let Some(filter) = &mut model.filter {
            filter.field.paste(text);
        }
        pressed::select_shown(model);
        return vec![];
    }
    if model.typing_search && model.dialog.is_none() {
        model.search.get_or_insert_default().paste(text);
        (model.log.back, model.log.unseen) = (None, 0);
        return vec![];
    }
    let now = model.now;
    if model.dialog.as_ref().is_some_and(|dialog| !dialog.listens(now)) {
        return vec![];
    }
    match model.field() {
        Some(field) => field.paste(text),
        None => model.note("Pasted text is ignored here: paste it into a field"),
    }
    if let Some(dialog) = &mut model.dialog {
        dialog.was_typed();
    }
    vec![]
}
