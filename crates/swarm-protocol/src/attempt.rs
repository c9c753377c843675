//! What an agent inside an attempt may ask for by a tool. None of it names a task: that is the caller's own.

mod context;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reservation::check_glob;
use crate::time::Timestamp;
pub use context::{CONTEXT_MAX, Neighbour, Reservations, Said, TaskContext};

/// Bytes of one call.
pub const CALL_MAX: usize = 64 * 1024;

/// Characters of a text in a call. Longer ones are refused, not cut: the agent can say it shorter.
pub const TEXT_MAX: usize = 2000;

const CHOICES_MAX: usize = 8;
const CHOICE_MAX: usize = 200;
const GLOBS_MAX: usize = 50;

/// The tools, in the order in which they are shown.
pub const TOOLS: [&str; 7] = [
    "swarm_context",
    "swarm_complete",
    "swarm_blocked",
    "swarm_ask",
    "swarm_progress",
    "swarm_learning",
    "swarm_reserve",
];

/// A call of any tool of an agent program, as its daemon heard of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub iteration: u32,
    /// Counted from 1 in the iteration.
    pub n: u32,
    pub name: String,
    pub began: Timestamp,
    pub ended: Timestamp,
    /// None where the program did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
}

/// One call as it goes over the socket of a run: a line of JSON, answered by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFrame {
    pub tool: String,
    #[serde(default)]
    pub arguments: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallAnswer {
    /// False: refused, and nothing was changed.
    pub ok: bool,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Box<TaskContext>>,
}

impl CallAnswer {
    pub fn done(text: impl Into<String>) -> Self {
        Self { ok: true, text: text.into(), context: None }
    }

    pub fn refused(text: impl Into<String>) -> Self {
        Self { ok: false, text: text.into(), context: None }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextArgs {}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompleteArgs {
    /// What was done, in a few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockedArgs {
    /// What a person must decide or do first. It begins with `sandbox-denied` when you were not allowed what the work needs.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskArgs {
    /// One question to a person, with all that is needed to answer it.
    pub question: String,
    /// Answers to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgressArgs {
    /// How much of the task is done, 0 to 100.
    pub percent: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningArgs {
    /// Something that is worth knowing the next time somebody works here.
    pub text: String,
    /// Who should know it.
    #[serde(default)]
    pub scope: LearningScope,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LearningScope {
    /// Agents of your own persona.
    #[default]
    Persona,
    /// Every agent.
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReserveArgs {
    /// Files that the task needs besides those that it has, from the top of the repository on.
    pub globs: Vec<String>,
    /// `exclusive`: nobody else changes them; `shared`: others may share them too, and nobody has them alone.
    #[serde(default)]
    pub mode: ReserveMode,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReserveMode {
    #[default]
    Exclusive,
    Shared,
}

/// A call whose arguments were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentCall {
    Context,
    Complete { summary: Option<String> },
    Blocked { reason: String },
    Ask { question: String },
    Progress { percent: u8 },
    Learning { text: String, scope: LearningScope },
    Reserve(ReserveArgs),
}

impl AgentCall {
    /// Reads what a program sent, or says what is wrong with it.
    pub fn read(frame: CallFrame) -> Result<Self, String> {
        let CallFrame { tool, arguments } = frame;
        let arguments = if arguments.is_null() { Value::Object(Default::default()) } else { arguments };
        Ok(match tool.as_str() {
            "swarm_context" => {
                let ContextArgs {} = of(arguments)?;
                Self::Context
            }
            "swarm_complete" => {
                let CompleteArgs { summary } = of(arguments)?;
                let summary = summary.filter(|text| !text.trim().is_empty());
                Self::Complete { summary: summary.map(|text| said("summary", &text)).transpose()? }
            }
            "swarm_blocked" => {
                Self::Blocked { reason: said("reason", &of::<BlockedArgs>(arguments)?.reason)? }
            }
            "swarm_ask" => Self::Ask { question: question(of(arguments)?)? },
            "swarm_progress" => match of(arguments)? {
                ProgressArgs { percent } if percent <= 100 => Self::Progress { percent },
                ProgressArgs { .. } => return Err("percent is 0 to 100".into()),
            },
            "swarm_learning" => {
                let LearningArgs { text, scope } = of(arguments)?;
                Self::Learning { text: said("text", &text)?, scope }
            }
            "swarm_reserve" => Self::Reserve(files(of(arguments)?)?),
            _ => return Err(format!("there is no tool {tool:?}: use {}", TOOLS.join(", "))),
        })
    }
}

fn of<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| error.to_string())
}

/// One line: what is said goes where a tag in the output would go.
fn said(what: &str, text: &str) -> Result<String, String> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    match text.chars().count() {
        0 => Err(format!("{what} is empty")),
        n if n > TEXT_MAX => Err(format!("{what} has {n} characters, at most {TEXT_MAX} are taken")),
        _ => Ok(text),
    }
}

fn question(asked: AskArgs) -> Result<String, String> {
    let AskArgs { question, choices } = asked;
    let question = said("question", &question)?;
    if choices.is_empty() {
        return Ok(question);
    }
    if choices.len() > CHOICES_MAX {
        return Err(format!("there are {} choices, at most {CHOICES_MAX} are taken", choices.len()));
    }
    let mut read = Vec::new();
    for (n, choice) in (1..).zip(&choices) {
        let choice = said("a choice", choice)?;
        if choice.chars().count() > CHOICE_MAX {
            return Err(format!("choice {n} has more than {CHOICE_MAX} characters"));
        }
        read.push(format!("({n}) {choice}"));
    }
    Ok(format!("{question} {}", read.join(" ")))
}

fn files(asked: ReserveArgs) -> Result<ReserveArgs, String> {
    match asked.globs.len() {
        0 => return Err("globs names no file".into()),
        n if n > GLOBS_MAX => return Err(format!("{n} globs are too many, at most {GLOBS_MAX} are taken")),
        _ => {}
    }
    asked.globs.iter().try_for_each(|glob| check_glob(glob))?;
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(tool: &str, arguments: Value) -> Result<AgentCall, String> {
        AgentCall::read(CallFrame { tool: tool.into(), arguments })
    }

    #[test]
    fn no_tool_takes_a_task_an_agent_or_a_run() {
        for (tool, good) in [
            ("swarm_context", json!({})),
            ("swarm_complete", json!({ "summary": "all of it" })),
            ("swarm_blocked", json!({ "reason": "no key" })),
            ("swarm_ask", json!({ "question": "which?" })),
            ("swarm_progress", json!({ "percent": 5 })),
            ("swarm_learning", json!({ "text": "look first", "scope": "all" })),
            ("swarm_reserve", json!({ "globs": ["src/**"], "mode": "shared" })),
        ] {
            assert!(TOOLS.contains(&tool));
            read(tool, good.clone()).expect(tool);
            for member in ["task", "run", "agent", "attempt", "id"] {
                let mut bad = good.clone();
                bad[member] = json!("1.2");
                let why = read(tool, bad).expect_err("refused");
                assert!(why.contains(&format!("unknown field `{member}`")), "{tool}: {why}");
            }
        }
    }

    #[test]
    fn what_cannot_be_taken_is_refused_with_the_reason() {
        let long = "x".repeat(TEXT_MAX + 1);
        for (tool, arguments, why) in [
            ("swarm_done", json!({}), "there is no tool \"swarm_done\": use swarm_context, "),
            ("swarm_blocked", json!({ "reason": " \n" }), "reason is empty"),
            ("swarm_blocked", json!({ "reason": long }), "reason has 2001 characters"),
            ("swarm_blocked", json!([]), "invalid length 0"),
            ("swarm_progress", json!({ "percent": 101 }), "percent is 0 to 100"),
            ("swarm_ask", json!({ "question": "q", "choices": vec!["a"; 9] }), "there are 9 choices"),
            ("swarm_learning", json!({ "text": "t", "scope": "task" }), "unknown variant `task`"),
            ("swarm_reserve", json!({ "globs": [] }), "globs names no file"),
            ("swarm_reserve", json!({ "globs": ["../other"] }), "leaves the repository"),
        ] {
            let said = read(tool, arguments).expect_err("refused");
            assert!(said.contains(why), "{tool}: {said}");
        }
    }

    #[test]
    fn a_question_carries_its_choices_and_a_text_is_one_line() {
        let asked = read("swarm_ask", json!({ "question": "which\n one?", "choices": ["tabs", "spaces"] }));
        assert_eq!(asked, Ok(AgentCall::Ask { question: "which one? (1) tabs (2) spaces".into() }));
        let forged = read("swarm_blocked", json!({ "reason": "a\u{1b}[2J\r\nb" }));
        assert_eq!(forged, Ok(AgentCall::Blocked { reason: "a[2J b".into() }));
    }
}
