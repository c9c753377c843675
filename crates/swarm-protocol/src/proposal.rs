//! What a program wants and a person has to agree to.

use serde::{Deserialize, Serialize};

use crate::command::{Actor, Command};
use crate::ids::CommandId;
use crate::time::Timestamp;

/// A wish that waits until a person accepts or declines it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    pub number: u64,
    /// The id that it was asked under: whoever asked learns by it what came of it.
    pub id: CommandId,
    pub by: Actor,
    pub since: Timestamp,
    /// Nobody may accept it from then on.
    pub until: Timestamp,
    /// Where git moves it carries the hash of what was shown.
    pub command: Command,
    /// What was shown, in lines for people.
    pub says: Vec<String>,
    /// Hash of the facts that it would change, where git does not move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum ProposalEnd {
    /// Carried out as this operation.
    Accepted {
        by: Actor,
        operation: CommandId,
    },
    Declined {
        by: Actor,
        reason: Option<String>,
    },
    /// It would do something else than was shown, or cannot be done any more. `operation`: found out when a person
    /// accepted it, by this command.
    Void {
        why: String,
        operation: Option<CommandId>,
    },
}

impl ProposalEnd {
    /// One line for people.
    pub fn words(&self) -> String {
        match self {
            Self::Accepted { by, .. } => format!("accepted by {by}"),
            Self::Declined { by, reason: None } => format!("declined by {by}"),
            Self::Declined { by, reason: Some(reason) } => format!("declined by {by}: {reason}"),
            Self::Void { why, .. } => format!("void: {why}"),
        }
    }
}
