//! What a program proposes and a person accepts is the very operation, carried out as if the person had asked for it.

use swarm_core::operation::{ask, hash, plan};
use swarm_core::requested;
use swarm_protocol::command::Command;

use super::deeds::{Deed, Situation};
use super::matrix::same;
use super::world::OperationWorld;

/// Proposes the operation, accepts it, and compares with one that was asked for. None: it is none that is proposed, or it is
/// refused either way.
pub fn as_proposed(deed: Deed, situation: Situation) -> Result<Option<()>, String> {
    let mut world = situation.world();
    let Some(command) = as_shown(&mut world, deed) else { return Ok(None) };
    let mut direct = world.clone();
    let Ok(id) = direct.ask(command.clone()) else { return Ok(None) };
    direct.drive_operation();
    let (before, says) = (world.seen(), vec!["as it was shown".into()]);
    world.ask(Command::Propose { command: Box::new(command), says }).map_err(|r| r.message())?;
    world.sound()?;
    same(&before, &world.seen()).map_err(|what| format!("a proposal does something: {what}"))?;
    let accepted = world.ask(Command::AcceptProposal { number: 1 }).map_err(|r| r.message())?;
    world.drive_operation();
    world.sound()?;
    let why = |world: &OperationWorld, id| {
        let record = world.state.ops.record(id).ok_or("it is not on record")?;
        Ok::<_, String>(record.failed.as_ref().map(|(why, _)| why.clone()))
    };
    let (asked, proposed) = (why(&direct, &id)?, why(&world, &accepted)?);
    if asked != proposed {
        return Err(format!("asked for it ends with {asked:?}, proposed with {proposed:?}"));
    }
    same(&direct.seen(), &world.seen()).map(Some)
}

/// The command as a preview shows it, if it is one that takes something back.
fn as_shown(world: &mut OperationWorld, deed: Deed) -> Option<Command> {
    let command = deed.command(world);
    command.typed()?;
    let Some(request) = requested(&world.state, &command, world.now).ok()? else { return Some(command) };
    let asked = ask(&world.state, &request).ok()?;
    let survey = world.survey(&asked);
    let shown = plan(&world.state, &request, &survey, world.now).ok()?;
    Some(command.expecting(Some(hash(&shown))))
}
