//! All that the screen knows. Changed by `update` alone, read by `draw`.

mod selected;
mod submitted;
mod tree;
mod view;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use swarm_protocol::api::ApiError;
use swarm_protocol::board::{AllowedView, BoardAgent, BoardRow, BoardView, Verb};
use swarm_protocol::diff::{DiffView, RoundView};
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::oplog::OperationState;
use swarm_protocol::outcome::PauseReason;
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::review::ReviewNote;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::TaskView;

use crate::dialog::{Dialog, Kind};
use crate::field::Field;
use crate::filter::Filter;
use crate::input::{EventLine, Link, LogLine};
use crate::keys::{Action, Keymap};
use crate::theme::Theme;
use crate::typed::Typed;
use crate::visit::Visit;
pub use tree::Node;
pub use view::View;

/// Lines of a journal that are kept in memory; older ones are in the journal.
pub const LOG_MAX: usize = 10_000;

/// Events that are kept; older ones are fetched from the ledger.
pub const EVENTS_MAX: usize = 2_000;

/// Lines and events that are kept of a past that somebody reads, before what is newest gives way.
pub const HELD_MAX: usize = 20_000;

/// What covers the board as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    Log,
    /// The logs of several agents.
    Wall,
    Diff,
    /// Which task waits for which.
    Graph,
    /// How far the plan came and what it cost, over time.
    Usage,
    /// One operation.
    Operation,
    Help,
}

/// All of the work, what was submitted the nth time, or what is another than then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    pub round: Option<usize>,
    pub since: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub struct Log {
    pub run: Option<RunId>,
    pub lines: VecDeque<LogLine>,
    /// Lines above the end; none while it follows.
    pub back: Option<usize>,
    /// Lines that came since it stopped following.
    pub unseen: usize,
    /// What stands before the line of this number was asked for.
    pub asked: Option<u64>,
    /// What came last was not kept, because somebody reads far above it.
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tone {
    Done,
    Refused,
    Note,
}

/// The last line but one: what became of the last wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub tone: Tone,
    pub text: String,
    /// It can be taken back with one key.
    pub undo: bool,
}

/// How things stood when the person looked elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    pub at: Timestamp,
    pub done: u64,
    pub waiting: usize,
    pub cost_micros: u64,
}

/// A wish that was sent and has no answer yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    pub ticket: u64,
    pub task: Option<TaskId>,
    pub what: String,
    /// It is a verdict, which takes the notes about its task with it.
    pub is_verdict: bool,
    /// The dialog with the words that went with it: they are kept where it is refused or lost.
    pub words: Option<Box<Kind>>,
    /// The screen ends when it has landed.
    pub leave: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Model {
    pub size: (u16, u16),
    pub now: Timestamp,
    /// The folder of the repository, for the header.
    pub place: String,
    pub theme: Theme,
    pub keys: Keymap,
    pub link: Link,
    pub board: Option<Box<BoardView>>,
    /// Why there is no board, or none but an older one.
    pub trouble: Option<ApiError>,
    pub view: View,
    /// Where the person came from with `a`.
    pub came_from: Option<View>,
    pub node: Option<Node>,
    pub folded: BTreeSet<u32>,
    /// The lines of the tree as they are shown, kept by `grow`.
    tree: Vec<Node>,
    /// Where each task stands among the rows, and the selected line in the tree: both are asked for with every row that is
    /// drawn, so a long plan must not be searched for them.
    places: BTreeMap<TaskId, usize>,
    node_at: usize,
    /// The focused view has the whole middle of the screen.
    pub enlarged: bool,
    /// Files of the diff whose folding the person has turned around.
    pub turned: BTreeSet<String>,
    /// The operation whose answer stands on the line of results; its end replaces it.
    pub awaited: Option<swarm_protocol::ids::CommandId>,
    /// When and where the mouse was pressed last.
    pub clicked: Option<(Timestamp, u16, u16)>,
    pub cursors: [usize; 6],
    /// When the selected entry of the attention list went away by itself: a digit of that moment was meant for it.
    pub slipped: Timestamp,
    pub filter: Option<Filter>,
    pub typing_filter: bool,
    /// The task that everything below the tree is about.
    pub looking_at: Option<TaskId>,
    pub task: Option<Box<TaskView>>,
    /// To be edited as soon as it has been read.
    pub edit_awaits: Option<TaskId>,
    pub allowed: Vec<AllowedView>,
    pub log: Log,
    /// Whose log it is.
    pub log_of: Option<TaskId>,
    /// What is searched for in it: only lines that have it are shown.
    pub search: Option<Field>,
    pub typing_search: bool,
    /// Only its landmarks are shown.
    pub log_folded: bool,
    /// The logs of several agents, as long as they are on the screen.
    pub wall: BTreeMap<RunId, Log>,
    /// Runs whose journal comes in.
    pub followed: BTreeSet<RunId>,
    /// Tasks that the person has marked.
    pub marked: BTreeSet<TaskId>,
    pub events: VecDeque<EventLine>,
    /// What stands before the event of this record was asked for.
    pub events_asked: Option<u64>,
    /// The newest events were not kept, because somebody reads far below them, or in the past.
    pub events_cut: bool,
    /// The record of the past up to which events were asked for.
    pub events_to: Option<u64>,
    pub machinery: bool,
    pub wrap: bool,
    pub dialog: Option<Dialog>,
    pub full: Option<Full>,
    /// The operation that covers the board.
    pub opened: Option<swarm_protocol::ids::CommandId>,
    pub scroll: usize,
    pub diff: Option<Result<Box<DiffView>, ApiError>>,
    /// Which part of the work it is about.
    pub part: Part,
    /// Submissions of that work, oldest first.
    pub rounds: Vec<RoundView>,
    pub over_time: Option<Result<Box<OverTimeView>, ApiError>>,
    /// What was done and spent when it was asked for.
    pub over_time_of: Option<(u64, u64, u64)>,
    /// Notes about lines of what tasks change, each kept until a verdict with it has landed.
    pub notes: BTreeMap<TaskId, Vec<ReviewNote>>,
    /// Dialogs whose words were refused or lost: the next one of their kind begins with them.
    pub drafts: Vec<Kind>,
    pub said: Option<Said>,
    /// What would help, as it is typed behind `swarm`; one key looks at it.
    pub hint: Option<String>,
    /// Commands that can be typed.
    pub commands: Vec<Typed>,
    pub sent: Vec<Sent>,
    pub tickets: u64,
    /// The record that is looked at; none: the present.
    pub past: Option<u64>,
    /// The id of the ledger, once it is known.
    pub ledger: Option<String>,
    /// The newest record that was ever seen.
    pub newest: u64,
    /// The newest record that a command of this person was answered with.
    pub answered: u64,
    pub focused: bool,
    /// When the person looked elsewhere, and how things stood then.
    pub left: Option<Left>,
    /// Entries of the attention list that the bell has told of.
    pub told: BTreeSet<String>,
    /// The screen was opened by the command that started the run: Ctrl+C is for the run.
    pub owns: bool,
    /// The person has asked the swarm to stop.
    pub stopping: bool,
    /// That run has ended.
    pub over: bool,
    pub last_key: Timestamp,
    /// Somebody has used keys or mouse here.
    pub touched: bool,
    /// Keys in a row that came faster than fingers.
    pub burst: u32,
}

impl Model {
    pub fn new(place: &str, theme: Theme, size: (u16, u16), now: Timestamp) -> Self {
        Self { place: place.to_owned(), theme, size, now, focused: true, ..Self::default() }
    }

    pub fn rows(&self) -> &[BoardRow] {
        self.board.as_ref().map(|board| board.rows.as_slice()).unwrap_or_default()
    }

    /// What the screen has shown by now; none: nothing yet, or nobody knows of which ledger it was.
    pub fn visit(&self) -> Option<Visit> {
        let ledger = self.ledger.clone().filter(|_| self.newest > 0)?;
        Some(Visit { ledger, record: self.newest, at: self.now })
    }

    pub fn row(&self, id: &TaskId) -> Option<&BoardRow> {
        let place = self.places.get(id).and_then(|at| self.rows().get(*at)).filter(|row| row.row.id == *id);
        place.or_else(|| self.rows().iter().find(|row| row.row.id == *id))
    }

    pub fn agents(&self) -> &[BoardAgent] {
        self.board.as_ref().map(|board| board.agents.as_slice()).unwrap_or_default()
    }

    pub fn agent_of(&self, id: &TaskId) -> Option<&BoardAgent> {
        self.agents().iter().find(|agent| agent.agent.task == *id)
    }

    /// The agent that the person means.
    pub fn agent(&self) -> Option<&BoardAgent> {
        self.looking_at.as_ref().and_then(|id| self.agent_of(id))
    }

    pub fn is_paused(&self) -> bool {
        self.board.as_ref().is_some_and(|b| b.pauses.iter().any(|p| p.reason == PauseReason::User))
    }

    /// Agents that have not reached their boundary.
    pub fn running(&self) -> usize {
        self.agents().iter().filter(|agent| !agent.agent.held).count()
    }

    /// The moment that ages are counted to: in the past it is that of the record.
    pub fn clock(&self) -> Timestamp {
        match (&self.board, self.past) {
            (Some(board), Some(_)) => board.now,
            _ => self.now,
        }
    }

    /// Events that have happened by the moment that is looked at, newest first.
    pub fn past_events(&self) -> impl Iterator<Item = &EventLine> {
        let last = self.past.unwrap_or(u64::MAX);
        self.events.iter().rev().filter(move |event| event.seq <= last)
    }

    /// Those that are shown.
    pub fn shown_events(&self) -> impl Iterator<Item = &EventLine> {
        self.past_events().filter(|event| self.machinery || event.text.is_some())
    }

    /// Why the coordinator would refuse this now; none: it would not, or nobody knows yet.
    pub fn refusal(&self, verb: Verb) -> Option<&ApiError> {
        self.allowed.iter().find(|allowed| allowed.verb == verb)?.refused.as_ref()
    }

    /// Whether a verb about a task has a task to be about.
    pub fn knows(&self, verb: Verb) -> bool {
        self.allowed.iter().any(|allowed| allowed.verb == verb)
    }

    /// The newest operation of a person that is done and not undone.
    pub fn last_operation(&self) -> Option<&swarm_protocol::oplog::OperationView> {
        let board = self.board.as_ref()?;
        let by_person = |by: &str| by.starts_with("person:");
        board
            .operations
            .iter()
            .find(|op| op.state == OperationState::Done && by_person(&op.by) && op.undoes.is_none())
    }

    /// Notes for the next verdict about this task.
    pub fn notes_of(&self, task: &TaskId) -> &[ReviewNote] {
        self.notes.get(task).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn note(&mut self, text: impl Into<String>) {
        self.said = Some(Said { tone: Tone::Note, text: text.into(), undo: false });
    }

    pub fn refuse(&mut self, error: &ApiError) {
        self.hint = error.hint.strip_prefix("swarm ").map(str::to_owned);
        // One that can be typed is looked at with one key.
        let hint = match (error.hint.as_str(), &self.hint) {
            ("", _) => String::new(),
            (hint, Some(_)) => format!("; {} {hint}", self.keys.first(Action::Hint)),
            (hint, None) => format!("; {hint}"),
        };
        let text = format!("{}{hint}", error.message);
        self.said = Some(Said { tone: Tone::Refused, text, undo: false });
    }

    pub fn field(&mut self) -> Option<&mut Field> {
        self.dialog.as_mut()?.field()
    }
}
