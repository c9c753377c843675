//! Several agents judge the same work, each for itself, and the work goes on when enough of them let it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{Oid, RunId};
use crate::review::ReviewNote;
use crate::time::Timestamp;

/// Members of a council at most: each is asked about every piece of work.
pub const MEMBERS_MAX: usize = 9;
const NAME_MAX: usize = 40;

/// What one member says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Voice {
    Approve,
    /// It may go on; what is remarked is kept with the verdict.
    Concerns,
    Reject,
    /// It was asked, and had no verdict to give.
    Absent,
}

impl Voice {
    pub fn passes(self) -> bool {
        matches!(self, Self::Approve | Self::Concerns)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Approve => "approves",
            Self::Concerns => "has concerns",
            Self::Reject => "rejects it",
            Self::Absent => "has no verdict",
        }
    }
}

/// A voice, and the work that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seat {
    /// Of another tree it says nothing.
    pub tree: Oid,
    /// Of another round neither: work that was sent back is judged anew, also where nothing has changed.
    pub round: u32,
    /// In which it was asked.
    pub run: RunId,
    pub voice: Voice,
    pub said: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<ReviewNote>,
    pub at: Timestamp,
}

/// Who sits in the council, and what it takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CouncilRules {
    /// The profile of each member.
    pub members: BTreeMap<String, String>,
    /// Members that must let the work pass; 0: more than half of them.
    pub quorum: u32,
    /// One that rejects is enough to send the work back.
    pub veto: bool,
}

/// What follows from the voices there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Passes,
    SentBack,
    /// Everybody was asked, and too few had a verdict.
    NoQuorum,
    /// It depends on who has not spoken.
    Open,
}

impl CouncilRules {
    /// Nobody sits in it.
    pub fn is_none(&self) -> bool {
        self.members.is_empty()
    }

    pub fn quorum(&self) -> usize {
        let most = self.members.len();
        match self.quorum as usize {
            0 => most / 2 + 1,
            // More than there are members: nothing passes, and it is said.
            quorum => quorum,
        }
    }

    /// What is decided by the voices there are. Absence lets nothing pass.
    pub fn decide(&self, voice_of: impl Fn(&str) -> Option<Voice>) -> Decision {
        let voices = self.members.keys().filter_map(|name| voice_of(name));
        let (mut pass, mut reject, mut absent) = (0, 0, 0);
        for voice in voices {
            match voice {
                Voice::Approve | Voice::Concerns => pass += 1,
                Voice::Reject => reject += 1,
                Voice::Absent => absent += 1,
            }
        }
        let silent = self.members.len() - pass - reject - absent;
        let (could_pass, against) =
            (pass + silent >= self.quorum(), self.members.len().saturating_sub(self.quorum()));
        match () {
            () if self.veto && reject > 0 => Decision::SentBack,
            // Whoever has not spoken could still reject it.
            () if pass >= self.quorum() && (!self.veto || silent == 0) => Decision::Passes,
            () if could_pass => Decision::Open,
            // Those who rejected it decided it, and not those who were not there.
            () if reject > against => Decision::SentBack,
            () if reject + silent > against => Decision::Open,
            () => Decision::NoQuorum,
        }
    }
}

/// Why a word cannot be the name of a member: it becomes part of file contents and prompts.
pub fn check_member(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(fits) {
        true => Ok(()),
        false => Err(format!(
            "{name:?} cannot be the name of a council member: up to {NAME_MAX} lower-case letters, digits and hyphens"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(rules: &str, voices: &str) -> Decision {
        let (members, rest) = rules.split_once(' ').expect("members, then rules");
        let rules = CouncilRules {
            members: members.chars().map(|c| (c.to_string(), "p".to_owned())).collect(),
            quorum: rest.chars().find_map(|c| c.to_digit(10)).unwrap_or(0),
            veto: rest.contains("veto"),
        };
        let voice = |word: char| match word {
            'y' => Some(Voice::Approve),
            'c' => Some(Voice::Concerns),
            'n' => Some(Voice::Reject),
            'x' => Some(Voice::Absent),
            _ => None,
        };
        let spoken = |name: &str| members.find(name).and_then(|at| voice(voices.chars().nth(at)?));
        rules.decide(spoken)
    }

    #[test]
    fn a_council_decides_as_soon_as_it_is_certain_and_not_before() {
        for (rules, voices, wanted) in [
            ("abc -", "...", Decision::Open),
            ("abc -", "y..", Decision::Open),
            ("abc -", "yc.", Decision::Passes),
            ("abc -", "nn.", Decision::SentBack),
            ("abc -", "yn.", Decision::Open),
            ("abc -", "ynn", Decision::SentBack),
            // Who is absent lets nothing pass, and sends nothing back either.
            ("abc -", "yx.", Decision::Open),
            ("abc -", "yxn", Decision::NoQuorum),
            ("abc -", "xx.", Decision::NoQuorum),
            ("abc -", "xn.", Decision::Open),
            ("abc -", "xxy", Decision::NoQuorum),
            ("abc -", "xxx", Decision::NoQuorum),
            ("abc 1", "x.y", Decision::Passes),
            ("abc 3", "yyx", Decision::NoQuorum),
            ("abc 3", "yyn", Decision::SentBack),
            ("abc veto", "yy.", Decision::Open),
            ("abc veto", "yyn", Decision::SentBack),
            ("abc veto", "n..", Decision::SentBack),
            ("abc veto", "yyx", Decision::Passes),
            ("abc veto", "yxx", Decision::NoQuorum),
            ("a -", "y", Decision::Passes),
            ("ab 3", "yy", Decision::NoQuorum),
        ] {
            assert_eq!(decided(rules, voices), wanted, "{rules}: {voices}");
        }
    }

    #[test]
    fn names_of_members_are_plain() {
        assert_eq!(check_member("security-2"), Ok(()));
        for bad in ["", "A", "a b", "../a", &"a".repeat(41)] {
            assert!(check_member(bad).is_err(), "{bad}");
        }
    }
}
