//! Which part of a task's work the diff shows: all of it, what is another than in a submission, a submission as it was.

use swarm_protocol::api::ApiError;
use swarm_protocol::board::Group;
use swarm_protocol::diff::{DiffAsk, DiffView};

use crate::input::Wish;
use crate::keys::Action;
use crate::model::{Full, Model, Part};

/// Asks for this part of the selected task's work.
pub fn ask(model: &mut Model, part: Part) -> Vec<Wish> {
    let Some(task) = model.looking_at.clone() else { return vec![] };
    if model.part != part {
        model.diff = None;
    }
    model.part = part;
    let Part { round, since } = part;
    vec![Wish::Diff(DiffAsk { round, since, ..DiffAsk::of(task) })]
}

pub fn arrived(model: &mut Model, asked: &DiffAsk, diff: Result<Box<DiffView>, ApiError>) -> Vec<Wish> {
    let is_wanted = model.looking_at.as_ref() == Some(&asked.task)
        && model.part == (Part { round: asked.round, since: asked.since });
    if is_wanted {
        if let Ok(view) = &diff {
            model.rounds.clone_from(&view.rounds);
        }
        model.diff = Some(diff);
        model.scroll = model.scroll.min(crate::draw::layout::scroll_max(model));
    }
    vec![]
}

/// All parts there are, in the order in which they are gone through.
fn parts(model: &Model) -> Vec<Part> {
    let Some(last) = model.rounds.last() else { return vec![] };
    let board = model.board.as_ref();
    let waits = board.is_some_and(|board| board.reviews.iter().any(|one| one.submitted == last.commit));
    let row = model.looking_at.as_ref().and_then(|task| model.row(task));
    // The newest submission is all of the work, as long as nothing came after it.
    let is_newest = waits || row.is_some_and(|row| row.group == Group::Done);
    let earlier = model.rounds.iter().map(|round| round.round);
    let earlier: Vec<usize> = earlier.filter(|round| !is_newest || *round != last.round).rev().collect();
    let since = earlier.iter().map(|n| Part { round: None, since: Some(*n) });
    let whole = earlier.iter().map(|n| Part { round: Some(*n), since: None });
    [Part::default()].into_iter().chain(since).chain(whole).collect()
}

pub fn other_part(model: &mut Model, forth: bool) -> Vec<Wish> {
    if model.full != Some(Full::Diff) {
        let [diff, back, forth] =
            [Action::Diff, Action::PreviousPart, Action::NextPart].map(|action| model.keys.first(action));
        model.note(format!(
            "{diff} shows what a task changes; there {back} and {forth} go through its submissions"
        ));
        return vec![];
    }
    let parts = parts(model);
    if parts.len() < 2 {
        model.note("The work was submitted once at most: there is no other part of it");
        return vec![];
    }
    let at = parts.iter().position(|part| *part == model.part).unwrap_or_default();
    let by = if forth { 1 } else { parts.len() - 1 };
    model.scroll = 0;
    ask(model, parts[(at + by) % parts.len()])
}
