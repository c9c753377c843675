//! Questions before something stops, starts or moves.

use swarm_protocol::command::Command;
use swarm_protocol::operation::Force;
use swarm_protocol::outcome::Mode;

use super::sending;
use crate::dialog::{Kind, Shown, Weight};
use crate::input::Wish;
use crate::keys::Action;
use crate::model::Model;

/// How much is at stake; none: it is free, and `z` takes it back.
pub fn weight(model: &Model, command: &Command) -> Option<Weight> {
    match command {
        Command::StopAgent { .. } | Command::KillAgent { .. } | Command::Redirect { .. } => {
            Some(Weight::Stops)
        }
        Command::SetMode { mode: Mode::Autopilot }
        | Command::Drain { .. }
        | Command::CheckpointAndDrain { .. } => Some(Weight::Stops),
        Command::DeferTask { task } | Command::CancelTask { task } | Command::BlockTask { task, .. } => {
            model.agent_of(task).map(|_| Weight::Stops)
        }
        Command::Rollback { .. }
        | Command::RollbackTask { .. }
        | Command::Abort { .. }
        | Command::Undo { .. }
        | Command::Redo { .. }
        | Command::Retry
        | Command::ResetPlan
        | Command::ClosePlan { .. } => Some(Weight::Moves),
        _ => None,
    }
}

/// Shows what it would do and waits for the person's word; sends it at once where nothing is at stake.
pub fn ask(model: &mut Model, title: String, command: Command) -> Vec<Wish> {
    match weight(model, &command) {
        None => sending::send(model, command),
        Some(weight) => {
            let question = command.clone();
            open_asking(model, Kind::Confirm { title, command, weight }, question)
        }
    }
}

/// Opens a dialog that shows what this command would do.
pub fn open_asking(model: &mut Model, kind: Kind, question: Command) -> Vec<Wish> {
    sending::open_with_draft(model, kind);
    look(model, question)
}

/// Asks anew what the dialog in front would do.
pub fn look(model: &mut Model, question: Command) -> Vec<Wish> {
    model.tickets += 1;
    let ticket = model.tickets;
    let Some(dialog) = &mut model.dialog else { return vec![] };
    (dialog.ticket, dialog.shown, dialog.scroll, dialog.seen_end) = (ticket, Shown::Awaited, 0, false);
    vec![Wish::Preview(ticket, question)]
}

pub fn confirm(model: &mut Model, action: Action) -> Vec<Wish> {
    let (force, expect) = (Force::default(), None);
    let task = model.looking_at.clone();
    let agent = model.agent().map(|agent| agent.agent.agent.to_string()).unwrap_or_default();
    let (title, command) = match (action, task) {
        (Action::Stop, Some(task)) => (format!("Stop {agent}?"), Command::StopAgent { task }),
        (Action::Kill, Some(task)) => (format!("Kill {agent}?"), Command::KillAgent { task }),
        (Action::RollbackTask, Some(task)) => {
            // Whatever builds on it goes back with it; the preview names each.
            let title = format!("Roll back task {task}?");
            (title, Command::RollbackTask { task, cascade: true, force, expect })
        }
        (Action::RollbackSession, _) => (
            "Roll back to the beginning of the session?".to_owned(),
            Command::Rollback { to: None, force, expect },
        ),
        (Action::Redo, _) => {
            ("Redo what was undone last?".to_owned(), Command::Redo { operation: None, force, expect })
        }
        _ => return vec![],
    };
    ask(model, title, command)
}

/// A free operation is taken back at once. One that moved git or the plan is looked at first, and so is one that the board
/// does not have yet.
pub fn undo(model: &mut Model) -> Vec<Wish> {
    let (force, expect) = (Force::default(), None);
    let command = Command::Undo { operation: None, partial: false, force, expect };
    if model.board.as_ref().is_some_and(|board| board.status.seq < model.answered) {
        return ask(model, "Undo your newest operation?".into(), command);
    }
    match model.last_operation() {
        Some(op) if op.checkpoint.is_some() => {
            let title = format!("Undo: {}?", op.text);
            ask(model, title, command)
        }
        _ => sending::send(model, command),
    }
}
