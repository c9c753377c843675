//! What comes in and what is wanted: the whole vocabulary between the screen and the world.

use swarm_protocol::api::{AgentNews, ApiError};
use swarm_protocol::board::{AllowedView, BoardView, Choice};
use swarm_protocol::command::{Answer, Command};
use swarm_protocol::diff::{DiffAsk, DiffView};
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::over_time::OverTimeView;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::TaskView;

use crate::typed::{Does, Looked};
use crate::visit::Visited;

/// A key as a person presses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
}

/// Where the mouse was used, in cells from the upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mouse {
    Click(u16, u16),
    Wheel { column: u16, row: u16, lines: i32 },
}

/// Whether somebody coordinates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Link {
    #[default]
    Unknown,
    Online,
    /// Nobody: the ledger is shown as it is, and commands are written to it directly.
    Offline,
}

/// One line of what happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLine {
    pub seq: u64,
    pub at: Timestamp,
    pub task: Option<TaskId>,
    pub by: String,
    /// None: machinery, which nobody needs to read.
    pub text: Option<String>,
    pub kind: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Said,
    Tool,
    Error,
    Swarm,
}

/// One line of a journal, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Its number in the journal.
    pub n: u64,
    /// A byte of the journal at which it begins, or before.
    pub byte: u64,
    pub at: Timestamp,
    pub tone: Tone,
    pub text: String,
}

/// Everything that can happen to a screen.
#[derive(Debug, Clone)]
pub enum Input {
    Key(Key),
    /// Keys that came all at once: nobody's fingers did that.
    Burst(Vec<Key>),
    /// Text that came in one piece.
    Paste(String),
    Mouse(Mouse),
    Resize(u16, u16),
    /// The terminal has the person's attention, or has lost it.
    Focus(bool),
    /// Nothing but time has passed.
    Tick,
    Link(Link),
    /// The run that this screen was opened for has ended.
    Over,
    /// Another plan is there: what was seen of the last one means nothing any more.
    Anew,
    /// What happened since the person was here last.
    Visited(Box<Visited>),
    Board(Result<Box<BoardView>, ApiError>),
    Task(TaskId, Result<Box<TaskView>, ApiError>),
    Allowed(Option<TaskId>, Vec<AllowedView>),
    Choices(u64, Result<Vec<Choice>, ApiError>),
    Preview(u64, Result<Box<PreviewView>, ApiError>),
    Diff(DiffAsk, Result<Box<DiffView>, ApiError>),
    OverTime(Result<Box<OverTimeView>, ApiError>),
    Answer(u64, Result<Answer, ApiError>),
    /// What a typed command says.
    Told(u64, Result<Looked, ApiError>),
    Events(Vec<EventLine>),
    News(AgentNews),
    Log(RunId, Vec<LogLine>),
    /// What stood before the first line that is kept.
    OlderLog(RunId, Vec<LogLine>),
    OlderEvents(Vec<EventLine>),
    /// The person is back from their editor; what was typed meanwhile was not for us.
    Back(Result<(), String>),
}

/// So many keys at once are a paste in a terminal that does not say so.
pub const BURST: usize = 8;

/// What came at once, with many different keys in a row as one. A key that is held down stays what it is.
pub fn bursts(inputs: Vec<Input>) -> Vec<Input> {
    let mut told = Vec::new();
    let mut keys: Vec<Key> = Vec::new();
    let end = |keys: &mut Vec<Key>, told: &mut Vec<Input>| {
        let keys = std::mem::take(keys);
        let is_burst = keys.len() >= BURST && keys.iter().any(|key| *key != keys[0]);
        match is_burst {
            true => told.push(Input::Burst(keys)),
            false => told.extend(keys.into_iter().map(Input::Key)),
        }
    };
    for input in inputs {
        match input {
            Input::Key(key) => keys.push(key),
            other => {
                end(&mut keys, &mut told);
                told.push(other);
            }
        }
    }
    end(&mut keys, &mut told);
    told
}

/// What the screen wants of the world.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// The board as it is, or at a record.
    Board(Option<u64>),
    /// What happened since the person was here last.
    Visited,
    Task(TaskId),
    Allowed(Option<TaskId>),
    Choices(u64, TaskId),
    Preview(u64, Command),
    Send(u64, Command),
    /// What a typed command would do, or what it says.
    Look(u64, Vec<String>, Does),
    /// Carries a typed command out, if it still does what was seen.
    Call(u64, Vec<String>, Option<String>),
    /// The same on the terminal itself.
    CallHere(Vec<String>),
    Diff(DiffAsk),
    /// How far the plan came and what it cost.
    OverTime,
    /// The journals of these runs from now on, and of no other.
    Follow(Vec<RunId>),
    /// The journal of this run from its last lines on.
    FollowAnew(RunId),
    /// Lines before this one, which begins at this byte or behind it.
    OlderLog {
        run: RunId,
        before: u64,
        byte: u64,
    },
    /// Events before this record; the newest one that is known.
    OlderEvents {
        before: u64,
        newest: u64,
    },
    NewestEvents,
    /// Shows this text in the person's editor.
    Show(String),
    Editor(TaskId),
    Copy(String),
    Title(String),
    /// Tells a person who looks elsewhere.
    Bell(String),
    Suspend,
    Redraw,
    /// The end of the screen, with a last word for the terminal.
    Leave(String),
}
