//! Looking at the swarm: a front end names a view, the core makes it, of now or of any record.

use swarm_core::input::Input;
use swarm_core::{State, react, show};
use swarm_protocol::any_view::AnyView;
use swarm_protocol::api::{AgentNews, AgentNow};
use swarm_protocol::board::{AttentionEntry, AttentionKind};
use swarm_protocol::command::{Command, Envelope};
use swarm_protocol::config::Config;
use swarm_protocol::ids::{CommandId, RunId, TaskId};
use swarm_protocol::refusal::Refusal;
use swarm_protocol::time::Timestamp;

use crate::paths::Paths;
use crate::store::{OpenOptions, Store, StoreError};

/// What can be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    Status,
    Board,
    /// What a person could ask for now, of the swarm and of this task.
    Allowed(Option<TaskId>),
    /// What the agent of this task could take up instead.
    Choices(TaskId),
    Tasks,
    Task(TaskId),
    Agents,
    Attention,
    Plan,
    ApprovedPlan,
    Handoff,
    Operations,
    Operation(CommandId),
    Checkpoints,
    Hooks,
    Reviews,
}

/// What was seen, and at which record.
#[derive(Debug, Clone)]
pub struct Looked {
    pub seq: u64,
    pub view: Result<AnyView, Refusal>,
}

/// Makes the view of a state. `news` knows what agents are at, where anybody does.
pub fn look(
    state: &State,
    what: &Look,
    now: Timestamp,
    news: impl Fn(&RunId) -> Option<AgentNews>,
) -> Looked {
    Looked { seq: state.seq, view: view(state, what, now.max(state.at), news) }
}

/// The same at a record of the past. Reads the ledger, so it may take a while: not for the loop's thread.
pub fn look_back(paths: &Paths, what: &Look, at: u64) -> Result<Looked, StoreError> {
    let state = Store::open_reader(paths, &OpenOptions::new("read"), Some(at))?.state;
    Ok(look(&state, what, state.at, |_| None))
}

/// What the ledger does not know of the swarm: whether somebody coordinates it, and how it is configured.
pub fn show_around(view: &mut AnyView, config: &Config, coordinator: bool) {
    let status = match view {
        AnyView::Status(status) => status,
        AnyView::Board(board) => &mut board.status,
        _ => return,
    };
    status.coordinator = Some(coordinator);
    status.without_walls = config.without_walls();
}

/// Nobody coordinates, and nobody begins to by himself: that waits for a person like anything else.
pub fn show_left_alone(view: &mut AnyView, state: &State) {
    let Some(alone) = show::left_alone(state) else { return };
    match view {
        AnyView::Status(status) => status.attention.insert(0, alone),
        AnyView::Board(board) => {
            board.status.attention.insert(0, alone.clone());
            // The list that screens show, where what has waited longest stands first: this is as old as the last record.
            let (id, kind, choices) = ("coordinator".to_owned(), AttentionKind::Other, Vec::new());
            board.attention.push(AttentionEntry { entry: alone, id, kind, task: None, choices });
        }
        AnyView::Attention(attention) => attention.insert(0, alone),
        _ => {}
    }
}

fn view(
    state: &State,
    what: &Look,
    now: Timestamp,
    news: impl Fn(&RunId) -> Option<AgentNews>,
) -> Result<AnyView, Refusal> {
    if state.plan.is_none() {
        return Err(Refusal::NoPlan);
    }
    Ok(match what {
        Look::Status => AnyView::Status(show::status(state, now)),
        Look::Board => {
            let mut board = show::board(state, now);
            board.agents.iter_mut().for_each(|agent| agent.news = news(&agent.agent.run));
            AnyView::Board(Box::new(board))
        }
        Look::Allowed(Some(id)) if state.task(id).is_none() => return Err(unknown(state, id)),
        Look::Allowed(task) => AnyView::Allowed(show::allowed(state, task.as_ref(), now)),
        Look::Choices(task) => AnyView::Choices(show::choices(state, task)?),
        Look::Tasks => AnyView::Tasks(show::rows(state)),
        Look::Task(id) => AnyView::Task(show::task(state, id).ok_or_else(|| unknown(state, id))?),
        Look::Agents => {
            let agents = show::status(state, now).agents.into_iter();
            AnyView::Agents(agents.map(|agent| AgentNow { news: news(&agent.run), agent }).collect())
        }
        Look::Attention => AnyView::Attention(show::attention(state)),
        Look::Plan => AnyView::Plan(swarm_core::export::plan_file(state)),
        Look::ApprovedPlan => AnyView::ApprovedPlan(show::approved_plan(state)),
        Look::Handoff => AnyView::Handoff(show::handoff(state)),
        Look::Operations => AnyView::Operations(show::operations(state)),
        Look::Operation(id) => {
            let found = show::operations(state).into_iter().find(|view| view.id == *id);
            AnyView::Operation(found.ok_or_else(|| Refusal::UnknownOperation { id: id.to_string() })?)
        }
        Look::Checkpoints => AnyView::Checkpoints(show::checkpoints(state)),
        Look::Hooks => AnyView::Hooks(show::hooks(state)),
        Look::Reviews => AnyView::Reviews(show::reviews(state)),
    })
}

/// The refusal that any command about this task would get, with the name that was probably meant.
fn unknown(state: &State, id: &TaskId) -> Refusal {
    let command = Command::UnblockTask { task: id.clone() };
    let envelope = CommandId::new("look").map(|id| Envelope { id, by: "person:api".into(), command });
    let asked = envelope.ok().map(|envelope| react(state, Input::Command(envelope), state.at));
    match asked {
        Some(Err(refusal)) => refusal,
        _ => Refusal::UnknownTask { task: id.to_string(), near: None },
    }
}
