//! Commands on their way, and what became of them.

use swarm_protocol::api::ApiError;
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::oplog::OperationState;

use crate::dialog::{Dialog, Kind};
use crate::input::Wish;
use crate::keys::Action;
use crate::model::{Model, Said, Sent, Tone};

/// Words that were refused or lost are kept for so many dialogs; the oldest give way.
const DRAFTS_MAX: usize = 16;

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
    model.sent.push(Sent { ticket, task, what, is_verdict, words: None, leave });
    vec![Wish::Send(ticket, command)]
}

/// The dialog that was sent last, until it is known what became of its words.
pub fn keep_words(model: &mut Model, kind: Kind) {
    if let Some(sent) = model.sent.last_mut().filter(|_| kind.has_words()) {
        sent.words = Some(Box::new(kind));
    }
}

fn keep_draft(model: &mut Model, kind: Kind) {
    let key = model.keys.first(match &kind {
        Kind::Block { .. } => Action::Block,
        Kind::Message { .. } => Action::Message,
        Kind::Edit { .. } => Action::Edit,
        Kind::Review { .. } => Action::Review,
        Kind::NewCheckpoint { .. } => Action::Checkpoint,
        _ => Action::Attention,
    });
    model.drafts.retain(|draft| !draft.asks_the_same(&kind));
    model.drafts.push(kind);
    let surplus = model.drafts.len().saturating_sub(DRAFTS_MAX);
    model.drafts.drain(..surplus);
    if let Some(said) = &mut model.said {
        said.text.push_str(&format!("; your words are kept: {key} begins with them"));
    }
}

/// Opens a dialog, with the words that were refused or lost when the same was asked before.
pub fn open_with_draft(model: &mut Model, kind: Kind) {
    let kept = model.drafts.iter().position(|draft| draft.asks_the_same(&kind));
    let kind = match kept.map(|at| model.drafts.remove(at)) {
        Some(draft) => {
            model.note("These are your words that were not taken before; Esc lets them go");
            kind.with_words_of(draft)
        }
        None => kind,
    };
    model.dialog = Some(Dialog::new(kind, model.now));
}

pub fn answered(model: &mut Model, ticket: u64, answer: Result<Answer, ApiError>) -> Vec<Wish> {
    let Some(at) = model.sent.iter().position(|sent| sent.ticket == ticket) else { return vec![] };
    match answer {
        Err(error) => {
            let sent = model.sent.remove(at);
            model.refuse(&error);
            if let Some(kind) = sent.words {
                keep_draft(model, *kind);
            }
            vec![]
        }
        Ok(answer) => {
            model.said = Some(Said { tone: Tone::Done, text: answer.text.clone(), undo: true });
            model.awaited = Some(answer.id.clone());
            model.answered = model.answered.max(answer.seq);
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
