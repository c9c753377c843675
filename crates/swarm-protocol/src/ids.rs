//! Names of things: each is checked where it enters, so that everything behind it can trust it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Why a text is not a name of the asked kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {kind}: {why}")]
pub struct BadName {
    pub kind: &'static str,
    pub text: String,
    pub why: &'static str,
}

fn bad(kind: &'static str, text: &str, why: &'static str) -> BadName {
    let text = text.chars().take(80).collect();
    BadName { kind, text, why }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks the text and takes it as a name.
            pub fn new(text: impl AsRef<str>) -> Result<Self, BadName> {
                $check(text.as_ref())?;
                Ok(Self(text.as_ref().into()))
            }
            pub fn as_str(&self) -> &str { &self.0 }
        }
        impl TryFrom<String> for $name {
            type Error = BadName;
            fn try_from(text: String) -> Result<Self, BadName> { Self::new(text) }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.0)
            }
        }
        /// Checked while it is borrowed, so that a replay allocates each name once.
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Name;
                impl de::Visitor<'_> for Name {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a name")
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::new(text).map_err(E::custom)
                    }
                }
                d.deserialize_str(Name)
            }
        }
        impl From<$name> for String {
            fn from(name: $name) -> String { name.0.into() }
        }
        impl FromStr for $name {
            type Err = BadName;
            fn from_str(text: &str) -> Result<Self, BadName> { Self::new(text) }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
        }
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str { &self.0 }
        }
    };
}

name!(
    /// A task of the plan, `1.2` or `add-login`. Also the last part of its branch `swarm/<task>` and
    /// the name of its worktree folder, hence no slash, no `..`, nothing that git or a file system refuses.
    TaskId, check_task_id
);
name!(
    /// A git object name, 40 or 64 lowercase hex digits.
    Oid, check_oid
);
name!(
    /// A worker identity, `ed-001`: persona and number, never reused within a ledger.
    AgentId, check_agent_id
);
name!(
    /// One run of a program under a daemon, `r17`: numbered through the whole ledger, never reused.
    /// An attempt at a task is a run of kind *work*.
    RunId, check_run_id
);
name!(
    /// The id a client gives its command so that a lost answer can be asked for again.
    CommandId, check_command_id
);

fn check_task_id(text: &str) -> Result<(), BadName> {
    let no = |why| Err(bad("task id", text, why));
    if text.is_empty() || text.len() > 64 {
        return no("it must have 1 to 64 characters");
    }
    if !text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) {
        return no("it must start with a lowercase letter or a digit");
    }
    if !text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-')) {
        return no("only a-z, 0-9, '.', '_' and '-' are allowed");
    }
    if text.contains("..") {
        return no("'..' is not allowed (git refuses it in a branch name)");
    }
    if text.ends_with('.') || text.ends_with(".lock") {
        return no("it must not end in '.' or '.lock' (git refuses it in a branch name)");
    }
    if text == "shared" || text == "merge" {
        return no("the swarm uses this name for its own worktrees");
    }
    Ok(())
}

fn check_oid(text: &str) -> Result<(), BadName> {
    let hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if hex && (text.len() == 40 || text.len() == 64) {
        Ok(())
    } else {
        Err(bad("git object name", text, "it must be 40 or 64 lowercase hex digits"))
    }
}

fn check_agent_id(text: &str) -> Result<(), BadName> {
    let good = text.len() <= 32
        && text.split_once('-').is_some_and(|(persona, number)| {
            !persona.is_empty()
                && persona.bytes().all(|b| b.is_ascii_lowercase())
                && number.len() >= 3
                && number.bytes().all(|b| b.is_ascii_digit())
        });
    if good { Ok(()) } else { Err(bad("agent id", text, "it must look like ed-001")) }
}

fn check_run_id(text: &str) -> Result<(), BadName> {
    let good = text.len() <= 12
        && text
            .strip_prefix('r')
            .is_some_and(|n| !n.is_empty() && !n.starts_with('0') && n.bytes().all(|b| b.is_ascii_digit()));
    if good { Ok(()) } else { Err(bad("run id", text, "it must look like r17")) }
}

fn check_command_id(text: &str) -> Result<(), BadName> {
    let good = (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'));
    if good {
        Ok(())
    } else {
        Err(bad("command id", text, "it must have 1 to 64 letters, digits, '-', '_', '.' or ':'"))
    }
}

impl RunId {
    /// The n-th run of the ledger.
    pub fn nth(n: u64) -> Self {
        Self(format!("r{n}").into())
    }
}

impl AgentId {
    /// The n-th agent of the ledger; its persona is taken from a fixed list in turn.
    pub fn nth(n: u64) -> Self {
        const PERSONAS: [&str; 8] = ["ed", "ada", "max", "ivy", "leo", "mia", "sam", "zoe"];
        let persona = PERSONAS[((n - 1) % 8) as usize];
        Self(format!("{persona}-{n:03}").into())
    }
}

impl TaskId {
    /// The branch on which the task's work is done.
    pub fn branch(&self) -> String {
        format!("swarm/{self}")
    }
}

impl Oid {
    /// The first eight digits, for people.
    pub fn short(&self) -> &str {
        &self.0[..8]
    }
}
