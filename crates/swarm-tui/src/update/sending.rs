//! Commands on their way, and what became of them.

use swarm_protocol::api::ApiError;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::oplog::OperationState;

use crate::input::Wish;
use crate::model::{Model, Said, Sent, Tone};

/// Sends it, and says so until there is an answer.
pub fn send(model: &mut Model, command: Command) -> Vec<Wish> {
    send_then(model, command, None, None)
}

pub fn send_then(
    model: &mut Model,
    command: Command,
    then: Option<Command>,
    leave: Option<String>,
) -> Vec<Wish> {
    model.tickets += 1;
    let ticket = model.tickets;
    let subject = command.subject();
    let what = match &subject {
        Some(subject) => format!("{} {subject}", command.kind().replace('_', " ")),
        None => command.kind().replace('_', " "),
    };
    let task = subject.and_then(|subject| swarm_protocol::ids::TaskId::new(subject).ok());
    model.note(format!("{what}: sent"));
    model.sent.push(Sent { ticket, task, what, then, leave, waits_for: None });
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
            let sent = &mut model.sent[at];
            if sent.then.is_none() {
                let leave = sent.leave.take();
                model.stopping |= leave.is_some();
                model.sent.remove(at);
                return leave.map(Wish::Leave).into_iter().chain([Wish::Board(model.past)]).collect();
            }
            sent.waits_for = Some((answer.id, answer.seq));
            vec![Wish::Board(None)]
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

/// What was to follow an operation follows when it is over.
pub fn go_on(model: &mut Model) -> Vec<Wish> {
    let Some(board) = &model.board else { return vec![] };
    let (seq, operations) = (board.status.seq, &board.operations);
    let is_over = |sent: &Sent| match &sent.waits_for {
        Some((id, at)) => {
            let state = operations.iter().find(|op| op.id == *id).map(|op| op.state);
            seq >= *at && state != Some(OperationState::UnderWay)
        }
        None => false,
    };
    let Some(at) = model.sent.iter().position(is_over) else { return vec![] };
    let Sent { then, leave, .. } = model.sent.remove(at);
    then.map(|command| send_then(model, command, None, leave)).unwrap_or_default()
}
