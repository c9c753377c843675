//! Questions to the person. A dialog holds what it asks, what it has shown, and since when it stands there.

mod draft;

use swarm_protocol::api::ApiError;
use swarm_protocol::board::{AttentionChoice, CheckpointRow, Choice};
use swarm_protocol::command::Command;
use swarm_protocol::ids::TaskId;
use swarm_protocol::oplog::PreviewView;
use swarm_protocol::time::Timestamp;
use swarm_protocol::view::ReviewView;

use crate::field::Field;
use crate::typed::Does;

/// Keys of this time were meant for what stood there before.
pub const DEAF_MS: u64 = 250;

/// How much is at stake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Stops or starts work: what would happen is shown before it can be confirmed.
    Stops,
    /// Moves git or the plan: all of it has to have been on the screen.
    Moves,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Nothing has to be looked at before.
    NotAsked,
    Awaited,
    Arrived(Box<PreviewView>),
    /// What a typed command says, or says that it would do.
    Told(String),
    Refused(ApiError),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A command with its preview.
    Confirm {
        title: String,
        command: Command,
        weight: Weight,
    },
    Block {
        task: TaskId,
        reason: Field,
    },
    Edit {
        task: TaskId,
        title: Field,
        description: Field,
        second: bool,
        /// Title and description as they were when it was opened: only what the person changes of them is sent.
        before: Box<(String, String)>,
    },
    Message {
        task: TaskId,
        text: Field,
    },
    Redirect {
        task: TaskId,
        choices: Option<Vec<Choice>>,
        selected: usize,
    },
    Pause,
    /// Checkpoints to go back to, as they were when it was opened, with the preview of the selected one: one that is made
    /// meanwhile must not move the others below the person's finger.
    Checkpoints {
        list: Vec<CheckpointRow>,
        selected: usize,
    },
    NewCheckpoint {
        name: Field,
    },
    Quit,
    Panel,
    /// A way on of the attention list that lacks words.
    Answer {
        question: String,
        choice: AttentionChoice,
        text: Field,
    },
    /// A note about a line of the diff.
    Note {
        task: TaskId,
        file: String,
        line: Option<u32>,
        text: Field,
    },
    /// Approves, or says what is to be changed.
    Review {
        task: TaskId,
        note: Field,
        approve: bool,
        /// What was submitted when it was opened: the verdict is about that and nothing newer.
        review: Option<Box<ReviewView>>,
    },
    /// A command as it is typed behind `swarm`, with what it would do or what it said.
    Typed {
        line: String,
        words: Vec<String>,
        does: Does,
    },
    Palette {
        text: Field,
        selected: usize,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Dialog {
    pub kind: Kind,
    pub opened: Timestamp,
    pub shown: Shown,
    /// The question whose answer is awaited; older answers are about something else.
    pub ticket: u64,
    pub scroll: usize,
    /// The last line has been on the screen.
    pub seen_end: bool,
    /// It is about a plan that is no longer there.
    pub over: bool,
}

impl Dialog {
    pub fn new(kind: Kind, opened: Timestamp) -> Self {
        Self { kind, opened, shown: Shown::NotAsked, ticket: 0, scroll: 0, seen_end: false, over: false }
    }

    /// It stands there long enough to have been meant.
    pub fn listens(&self, now: Timestamp) -> bool {
        now.0.saturating_sub(self.opened.0) >= DEAF_MS
    }

    fn weight(&self) -> Option<Weight> {
        match &self.kind {
            Kind::Confirm { weight, .. } => Some(*weight),
            Kind::Checkpoints { .. } | Kind::Typed { .. } => Some(Weight::Moves),
            Kind::Redirect { .. } | Kind::Block { .. } => Some(Weight::Stops),
            _ => None,
        }
    }

    /// Whether Enter would do something now.
    pub fn armed(&self) -> bool {
        let complete = match &self.kind {
            Kind::Block { reason, .. } => !reason.is_empty(),
            Kind::Message { text, .. } | Kind::Answer { text, .. } | Kind::Note { text, .. } => {
                !text.is_empty()
            }
            Kind::Edit { title, .. } => !title.is_empty(),
            // What only reads has nothing to be confirmed.
            Kind::Typed { does, .. } => *does == Does::Changes,
            Kind::Redirect { choices, .. } => choices.as_ref().is_some_and(|list| !list.is_empty()),
            Kind::Checkpoints { list, .. } => !list.is_empty(),
            _ => true,
        };
        let seen = match (&self.shown, self.weight()) {
            (_, None) | (Shown::NotAsked, _) => true,
            (Shown::Arrived(_) | Shown::Told(_), Some(Weight::Stops)) => true,
            (Shown::Arrived(_) | Shown::Told(_), Some(Weight::Moves)) => self.seen_end,
            (Shown::Awaited | Shown::Refused(_), _) => false,
        };
        complete && seen && !self.over
    }

    /// What it would do names something of the plan.
    pub fn is_about_plan(&self) -> bool {
        let anywhere = matches!(
            self.kind,
            Kind::Pause | Kind::Quit | Kind::Panel | Kind::Palette { .. } | Kind::NewCheckpoint { .. }
        );
        !anywhere
    }

    /// What follows from what stands in its fields now.
    pub fn was_typed(&mut self) {
        match &mut self.kind {
            // Whoever writes what is to be changed does not approve.
            Kind::Review { note, approve, .. } => *approve &= note.is_empty(),
            // Other lines are offered than those of before.
            Kind::Palette { selected, .. } => *selected = 0,
            _ => {}
        }
    }

    /// The field that is typed into.
    pub fn field(&mut self) -> Option<&mut Field> {
        match &mut self.kind {
            Kind::Block { reason: field, .. }
            | Kind::Message { text: field, .. }
            | Kind::NewCheckpoint { name: field }
            | Kind::Answer { text: field, .. }
            | Kind::Note { text: field, .. }
            | Kind::Review { note: field, .. }
            | Kind::Palette { text: field, .. } => Some(field),
            Kind::Edit { title, description, second, .. } => Some(if *second { description } else { title }),
            _ => None,
        }
    }
}
