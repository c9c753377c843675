//! Which journals come in: that of the selected task's agent, and those of the tiles that are on the screen.

use std::collections::BTreeSet;

use swarm_protocol::ids::RunId;

use crate::draw::wall;
use crate::input::Wish;
use crate::model::{Log, Model};

/// What is followed becomes what is shown; none where it is so already.
pub fn follow(model: &mut Model) -> Option<Wish> {
    let tiles: BTreeSet<RunId> = match model.past {
        None => wall::agents_on_screen(model).map(|agent| agent.agent.run.clone()).collect(),
        Some(_) => BTreeSet::new(),
    };
    model.wall.retain(|run, _| tiles.contains(run));
    for run in &tiles {
        if !model.wall.contains_key(run) {
            let is_read = model.log.run.as_ref() == Some(run);
            let known = if is_read { model.log.lines.clone() } else { Default::default() };
            let log = Log { run: Some(run.clone()), lines: known, ..Log::default() };
            model.wall.insert(run.clone(), log);
        }
    }
    let wanted: BTreeSet<RunId> = tiles.into_iter().chain(model.log.run.clone()).collect();
    if wanted == model.followed {
        return None;
    }
    model.followed.clone_from(&wanted);
    Some(Wish::Follow(wanted.into_iter().collect()))
}
