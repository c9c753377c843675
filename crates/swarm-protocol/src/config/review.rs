//! Who judges submitted work.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Config, Span};
use crate::channel::CommandLine;
use crate::council::{CouncilRules, MEMBERS_MAX, check_member};
use crate::review::Reviewer;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Review {
    /// Without it the agent of `review.profile`, where one is named; else a person.
    pub policy: Option<Reviewer>,
    /// The profile or program of the agent that reviews. It reads the worktree and cannot change it.
    pub profile: Option<String>,
    /// For the policy `council`: several agents, each for itself.
    pub council: Council,
    /// Bytes of the changes that the agent is shown; it is told which files were cut, and can read them.
    pub max_diff: u64,
    /// Who reviews tasks with a tag, instead; of several tags the strictest counts.
    pub tags: BTreeMap<String, Reviewer>,
    /// For the policy `command`, without which a person reviews: run in the task's worktree, must all succeed; their output is what the next attempt is told.
    pub commands: Vec<CommandLine>,
    pub timeout: Span,
    /// Rounds before the task is blocked for a person.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub rounds: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Council {
    pub members: Vec<Member>,
    /// Members that must let the work pass; 0: more than half of them.
    #[cfg_attr(feature = "schema", schemars(range(max = 9)))]
    pub quorum: u32,
    /// One that rejects the work is enough to send it back.
    pub veto: bool,
}

/// One of the council.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Member {
    /// Under which its verdict is kept: `security`.
    pub name: String,
    /// The profile or program that it is; without it `review.profile`, else `agent`.
    pub profile: Option<String>,
    /// What it looks at before everything else.
    pub focus: Option<String>,
}

impl Default for Review {
    fn default() -> Self {
        Self {
            policy: None,
            profile: None,
            council: Council::default(),
            max_diff: 100_000,
            tags: BTreeMap::new(),
            commands: vec![],
            timeout: Span::secs(600),
            rounds: 3,
        }
    }
}

impl Default for Council {
    fn default() -> Self {
        Self { members: vec![], quorum: 0, veto: true }
    }
}

impl Config {
    /// Who reviews where neither the task nor its tags say. Nobody only where that is said by name: work that nobody looked
    /// at because a key was forgotten is found out too late.
    pub fn reviewer(&self) -> Reviewer {
        let agent = self.review.profile.as_ref().map(|_| Reviewer::Agent);
        self.review.policy.or(agent).unwrap_or(Reviewer::Human)
    }

    /// The council as the core knows it: what a member looks at is between it and its prompt.
    pub(super) fn council_rules(&self) -> CouncilRules {
        let Council { members, quorum, veto } = &self.review.council;
        if members.is_empty() {
            return CouncilRules::default();
        }
        let profile = |member: &Member| {
            let named = member.profile.as_ref().or(self.review.profile.as_ref());
            named.unwrap_or(&self.agent).clone()
        };
        let members = members.iter().map(|member| (member.name.clone(), profile(member))).collect();
        CouncilRules { members, quorum: *quorum, veto: *veto }
    }
}

/// Why these cannot be the members of a council.
pub fn check_members(members: &[Member]) -> Result<(), String> {
    if members.len() > MEMBERS_MAX {
        return Err(format!("a council has at most {MEMBERS_MAX} members, here are {}", members.len()));
    }
    for (n, member) in members.iter().enumerate() {
        check_member(&member.name)?;
        if members[..n].iter().any(|other| other.name == member.name) {
            return Err(format!("two members have the name {}", member.name));
        }
    }
    Ok(())
}
