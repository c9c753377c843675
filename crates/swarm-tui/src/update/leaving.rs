//! The end of the screen: the person leaves, or the run is over.

use swarm_protocol::command::Command;

use super::sending;
use crate::input::{Link, Wish};
use crate::keys::Action;
use crate::model::Model;
use crate::said::count;

/// Whoever pressed a key so short a time ago may be about to press the next one, and the shell would get it.
const HANDS_OFF_SECS: u64 = 2;

/// What is said when the screen goes and the swarm stays.
pub fn farewell(model: &Model) -> String {
    match (model.link, model.agents().len()) {
        _ if model.over || model.stopping => String::new(),
        (Link::Online, 0) => "The coordinator goes on; `swarm tui` returns, `swarm stop` ends it".into(),
        (Link::Online, n) => {
            let agents = count(n as u64, "agent");
            format!("The coordinator and {agents} go on; `swarm tui` returns, `swarm stop` ends them")
        }
        _ => String::new(),
    }
}

/// Leaves a screen that only looks on. The one of `swarm run` stops the run in good order first, as Ctrl+C does without a screen.
pub fn interrupt(model: &mut Model) -> Vec<Wish> {
    if !model.owns || model.stopping || model.over || model.link != Link::Online {
        return vec![Wish::Leave(farewell(model))];
    }
    model.stopping = true;
    let wishes = sending::send(model, Command::Drain { why: "Ctrl+C".into() });
    model.note("Stopping: agents go to their next boundary, uncommitted work is kept; Ctrl+C again leaves");
    wishes
}

/// The screen goes with its run, but not while the person is at something.
pub fn over(model: &mut Model) -> Vec<Wish> {
    model.over = true;
    let at_something = model.dialog.is_some()
        || model.full.is_some()
        || model.typing_filter
        || model.now.secs_since(model.last_key) < HANDS_OFF_SECS;
    if model.stopping || !at_something {
        return vec![Wish::Leave(String::new())];
    }
    let key = model.keys.first(Action::Quit);
    model.note(format!("The run has ended; {key} leaves and says what it came to"));
    vec![Wish::Board(model.past)]
}
