//! What everything beside the tree is about follows the selection.

use crate::dialog::Kind;
use crate::input::Wish;
use crate::model::{Log, Model, Part};

/// Asks for what is not known yet of the selected task, and follows its agent.
pub fn follow(model: &mut Model) -> Vec<Wish> {
    let mut wishes = Vec::new();
    let selected = if is_held(model) { None } else { model.selected_task() };
    // A view whose line is about no task leaves the last one in place.
    if selected.is_some() && selected != model.looking_at {
        model.looking_at = selected;
        model.task = None;
        model.edit_awaits = None;
        model.diff = None;
        model.part = Part::default();
        model.rounds.clear();
        model.turned.clear();
        model.allowed.retain(|allowed| !is_about_task(allowed.verb));
        wishes.extend(model.looking_at.clone().map(Wish::Task));
        wishes.push(Wish::Allowed(model.looking_at.clone()));
    }
    let run = match model.past {
        None => model.agent().map(|agent| agent.agent.run.clone()),
        Some(_) => None,
    };
    // A log stays readable after its run, until another one is looked at.
    if run.is_some() && run != model.log.run {
        // What a tile has of it already is not told again.
        let known = run.as_ref().and_then(|run| model.wall.get(run)).cloned();
        let before = std::mem::replace(&mut model.log, known.unwrap_or(Log { run, ..Log::default() }));
        // Nor what is known of the one that may get a tile now; but the end of it, or nothing.
        if let Some(run) = before.run.clone().filter(|_| !before.cut) {
            model.wall.insert(run.clone(), Log { run: Some(run), lines: before.lines, ..Log::default() });
        }
        model.log_of = model.looking_at.clone();
        // A search is about the log that it was typed for.
        (model.search, model.typing_search) = (None, false);
    } else if run.is_none() && model.log.run.is_some() && !is_of_looked_at(model) {
        model.log = Log::default();
        model.log_of = None;
    }
    wishes.extend(super::wall::follow(model));
    wishes
}

/// What covers the board, or asks something, stays with the task that it was opened for, however the list below it moves.
fn is_held(model: &Model) -> bool {
    // In the panel the person goes from one agent to the next.
    let asks = model.dialog.as_ref().is_some_and(|dialog| !matches!(dialog.kind, Kind::Panel));
    model.looking_at.is_some() && (asks || model.full.is_some())
}

fn is_of_looked_at(model: &Model) -> bool {
    // The last run of the same task: its agent has gone, its words are still of interest.
    model.looking_at.is_some() && model.log_of == model.looking_at
}

fn is_about_task(verb: swarm_protocol::board::Verb) -> bool {
    use swarm_protocol::board::Verb;
    !matches!(
        verb,
        Verb::Pause
            | Verb::Resume
            | Verb::Mode
            | Verb::Checkpoint
            | Verb::RollbackSession
            | Verb::Undo
            | Verb::Redo
    )
}

/// Asks anew for what was done and spent, as long as it is on the screen and something has been.
pub fn over_time(model: &mut Model) -> Option<Wish> {
    let status = &model.board.as_ref()?.status;
    let now = (status.counts.done, status.counts.total, status.usage.cost_micros);
    let is_new = model.past.is_none() && model.over_time_of != Some(now);
    if !is_new || !crate::draw::usage::is_shown(model) {
        return None;
    }
    model.over_time_of = Some(now);
    Some(Wish::OverTime)
}
