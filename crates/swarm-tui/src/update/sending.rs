//! Commands on their way, and what became of them.

use swarm_protocol::api::ApiError;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::oplog::OperationState;

use crate::input::Wish;
use crate::model::{Model, Said, Sent, Tone};

/// Sends it, and says so until there is an answer.
pub fn send(model: &mut Model, command: Command) -> Vec<Wish> {
    send_and_leave(model, command, None)
}

/// The screen ends with this word when it has landed.
pub fn send_and_leave(model: &mut Model, command: Command, leave: Option<String>) -> Vec<Wish> {
    model.tickets += 1;
    let ticket = model.tickets;
    let subject = command.subject();
    let what = match &subject {
        Some(subject) => format!("{} {subject}", command.kind().replace('_', " ")),
        None => command.kind().replace('_', " "),
    };
    let task = subject.and_then(|subject| swarm_protocol::ids::TaskId::new(subject).ok());
    model.note(format!("{what}: sent"));
    let is_verdict = matches!(command, Command::Review { .. });
    model.sent.push(Sent { ticket, task, what, is_verdict, leave });
    vec![Wish::Send(ticket, command)]
}

pub fn answered(model: &mut Model, ticket: u64, answer: Result<Answer, ApiError>) -> Vec<Wish> {
    let Some(at) = model.sent.iter().position(|sent| sent.ticket == ticket) else { return vec![] };
    match answer {
        Err(error) => {
            model.sent.remove(at);
            model.refuse(&error);
            vec![]
        }
        Ok(answer) => {
            model.said = Some(Said { tone: Tone::Done, text: answer.text.clone(), undo: true });
            model.awaited = Some(answer.id.clone());
            let sent = model.sent.remove(at);
            if let Some(task) = sent.task.filter(|_| sent.is_verdict) {
                model.notes.remove(&task);
            }
            model.stopping |= sent.leave.is_some();
            sent.leave.map(Wish::Leave).into_iter().chain([Wish::Board(model.past)]).collect()
        }
    }
}

/// An operation that takes its time was answered with what it begins; its end is said when it is there.
pub fn ended(model: &mut Model) {
    let Some(id) = &model.awaited else { return };
    let found = model.board.as_ref().and_then(|board| board.operations.iter().find(|op| op.id == *id));
    let Some(op) = found else { return };
    let (tone, end) = match op.state {
        OperationState::UnderWay | OperationState::Waits => return,
        OperationState::Done | OperationState::Undone => (Tone::Done, "done"),
        OperationState::Failed => (Tone::Refused, "failed"),
    };
    let text = match &model.said {
        // Nothing was to be waited for, or something else is said by now.
        Some(said) if said.tone == Tone::Done && said.undo && op.checkpoint.is_some() => {
            format!("{}: {end}", op.text.trim_end_matches(['.', ':']))
        }
        _ => {
            model.awaited = None;
            return;
        }
    };
    model.said = Some(Said { tone, text, undo: op.can_be_undone });
    model.awaited = None;
}
