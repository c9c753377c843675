//! The name of a fact: one value that an operation may change and an undo sets back.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::{AgentId, CommandId, TaskId};
use crate::outcome::PauseReason;

/// Recorded as text: `task/1.2/stage`, `mode`, `ref/refs/heads/main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Whether the task exists.
    Task(TaskId),
    Part(TaskId, TaskPart),
    Trunk,
    Mode,
    /// Lost records that nobody has acknowledged.
    Loss,
    /// How many oversteps of the task's agents were acknowledged.
    Seen(TaskId),
    /// Whether the failure of an operation was acknowledged.
    Noticed(CommandId),
    Pause(PauseReason),
    Profile,
    /// The goal and the phases.
    Header,
    Phase(u32),
    Approved,
    Agent(AgentId),
    /// By the name of its group.
    Quota(String),
    /// Of the session, or of one task.
    Budget(Option<TaskId>),
    Message(CommandId),
    /// Who takes up the task next.
    Redirect(TaskId),
    Checkpoint(String),
    /// By its number.
    Reservation(u64),
    /// By its full name. Held by git.
    Ref(String),
    /// What is not committed there. Held by git.
    Worktree(TaskId),
    /// Of a later version: kept, never set.
    Unknown(String),
}

/// Parts of a task that are facts of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskPart {
    Spec,
    /// Phase and neighbour.
    Place,
    Stage,
    /// Waived gates.
    Waived,
    /// Where its commits begin.
    Base,
    /// Given up, and to come back.
    Left,
    /// How often a review wanted changes.
    Rounds,
}

const BRANCHES: &str = "refs/heads/";
const TASK_BRANCHES: &str = "refs/heads/swarm/";

impl TaskPart {
    pub const ALL: [Self; 7] =
        [Self::Spec, Self::Place, Self::Stage, Self::Waived, Self::Base, Self::Left, Self::Rounds];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Place => "place",
            Self::Stage => "stage",
            Self::Waived => "waived",
            Self::Base => "base",
            Self::Left => "left",
            Self::Rounds => "rounds",
        }
    }
}

impl Fact {
    /// Any text is a fact: one that this version does not know is [`Fact::Unknown`].
    pub fn parse(text: &str) -> Self {
        Self::known(text).unwrap_or_else(|| Self::Unknown(text.into()))
    }

    fn known(text: &str) -> Option<Self> {
        let Some((kind, name)) = text.split_once('/') else {
            return match text {
                "trunk" => Some(Self::Trunk),
                "mode" => Some(Self::Mode),
                "loss" => Some(Self::Loss),
                "profile" => Some(Self::Profile),
                "header" => Some(Self::Header),
                "approved" => Some(Self::Approved),
                "budget" => Some(Self::Budget(None)),
                _ => None,
            };
        };
        let task = || TaskId::new(name).ok();
        match kind {
            "task" => match name.split_once('/') {
                None => task().map(Self::Task),
                Some((id, part)) => {
                    let part = TaskPart::ALL.into_iter().find(|one| one.word() == part)?;
                    Some(Self::Part(TaskId::new(id).ok()?, part))
                }
            },
            "seen" => task().map(Self::Seen),
            "noticed" => CommandId::new(name).ok().map(Self::Noticed),
            "pause" => PauseReason::ALL.into_iter().find(|one| one.word() == name).map(Self::Pause),
            "phase" => name.parse().ok().map(Self::Phase),
            "agent" => AgentId::new(name).ok().map(Self::Agent),
            "quota" => Some(Self::Quota(name.into())),
            "budget" => task().map(|id| Self::Budget(Some(id))),
            "message" => CommandId::new(name).ok().map(Self::Message),
            "redirect" => task().map(Self::Redirect),
            "checkpoint" => Some(Self::Checkpoint(name.into())),
            "reservation" => name.parse().ok().map(Self::Reservation),
            "ref" => Some(Self::Ref(name.into())),
            "worktree" => task().map(Self::Worktree),
            _ => None,
        }
    }

    /// Where this branch stands.
    pub fn of_branch(name: &str) -> Self {
        Self::Ref(format!("{BRANCHES}{name}"))
    }

    /// The branch whose place this is.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Ref(name) => name.strip_prefix(BRANCHES),
            _ => None,
        }
    }

    /// Whether git holds the fact, not the ledger.
    pub fn is_of_git(&self) -> bool {
        matches!(self, Self::Ref(_) | Self::Worktree(_))
    }

    /// The task whose existence, or part, this is.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Task(id) | Self::Part(id, _) => Some(id),
            _ => None,
        }
    }

    pub fn part(&self) -> Option<TaskPart> {
        match self {
            Self::Part(_, part) => Some(*part),
            _ => None,
        }
    }

    /// The task whose branch or worktree this is.
    pub fn task_in_git(&self) -> Option<TaskId> {
        match self {
            Self::Worktree(id) => Some(id.clone()),
            Self::Ref(name) => TaskId::new(name.strip_prefix(TASK_BRANCHES)?).ok(),
            _ => None,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(id) => write!(f, "task/{id}"),
            Self::Part(id, part) => write!(f, "task/{id}/{}", part.word()),
            Self::Trunk => f.write_str("trunk"),
            Self::Mode => f.write_str("mode"),
            Self::Loss => f.write_str("loss"),
            Self::Seen(id) => write!(f, "seen/{id}"),
            Self::Noticed(id) => write!(f, "noticed/{id}"),
            Self::Pause(reason) => write!(f, "pause/{}", reason.word()),
            Self::Profile => f.write_str("profile"),
            Self::Header => f.write_str("header"),
            Self::Phase(id) => write!(f, "phase/{id}"),
            Self::Approved => f.write_str("approved"),
            Self::Agent(id) => write!(f, "agent/{id}"),
            Self::Quota(group) => write!(f, "quota/{group}"),
            Self::Budget(None) => f.write_str("budget"),
            Self::Budget(Some(id)) => write!(f, "budget/{id}"),
            Self::Message(id) => write!(f, "message/{id}"),
            Self::Redirect(id) => write!(f, "redirect/{id}"),
            Self::Checkpoint(name) => write!(f, "checkpoint/{name}"),
            Self::Reservation(number) => write!(f, "reservation/{number}"),
            Self::Ref(name) => write!(f, "ref/{name}"),
            Self::Worktree(id) => write!(f, "worktree/{id}"),
            Self::Unknown(text) => f.write_str(text),
        }
    }
}

/// As their texts: this is the order in which facts are recorded.
impl Ord for Fact {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_string().cmp(&other.to_string())
    }
}

impl PartialOrd for Fact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fact {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(d).map(|text| Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::{Fact, TaskPart};

    #[test]
    fn a_fact_is_written_as_it_was_read() {
        let check = |text: &str, known: bool| {
            let fact = Fact::parse(text);
            assert_eq!(fact.to_string(), text);
            assert_eq!(!matches!(fact, Fact::Unknown(_)), known, "{text}");
        };
        for part in TaskPart::ALL {
            check(&format!("task/1.2/{}", part.word()), true);
        }
        for text in [
            "task/1.2",
            "trunk",
            "mode",
            "loss",
            "seen/1.2",
            "noticed/op-1",
            "pause/user",
            "profile",
            "header",
            "phase/3",
            "approved",
            "agent/ed-001",
            "quota/claude",
            "budget",
            "budget/1.2",
            "message/m-1",
            "redirect/1.2",
            "checkpoint/before",
            "reservation/3",
            "ref/refs/heads/main",
            "worktree/1.2",
        ] {
            check(text, true);
        }
        for text in ["", "task", "task/", "task/1.2/colour", "phase/one", "pause/weather", "moon", "moon/1"] {
            check(text, false);
        }
    }

    #[test]
    fn a_branch_of_a_task_names_the_task() {
        assert_eq!(Fact::parse("ref/refs/heads/swarm/1.2").task_in_git(), "1.2".parse().ok());
        assert_eq!(Fact::parse("ref/refs/heads/main").task_in_git(), None);
        assert_eq!(Fact::of_branch("main").branch(), Some("main"));
    }
}
