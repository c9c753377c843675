//! What it took an agent to propose a plan, or the parts of a task: recorded with the wish that takes the proposal.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Usage;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Planning {
    pub profile: String,
    /// The agent program of the profile.
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// From the first question to the last answer; what people thought between them is in it.
    pub began: Timestamp,
    pub ended: Timestamp,
    /// Questions that the agent was asked.
    pub asked: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Usage::is_none")]
    pub usage: Usage,
}

/// Characters of each of its names: whoever asks is believed in what they say, not in how much.
const WORD_MAX: usize = 200;

impl Planning {
    /// With names of bounded length, and ended before it was told.
    pub fn bounded(mut self, now: Timestamp) -> Self {
        let cut = |text: &mut String| {
            if let Some((at, _)) = text.char_indices().nth(WORD_MAX) {
                text.truncate(at);
            }
        };
        cut(&mut self.profile);
        cut(&mut self.program);
        self.model.as_mut().map(cut);
        self.session.as_mut().map(cut);
        self.ended = self.ended.min(now);
        self.began = self.began.min(self.ended);
        self
    }
}
