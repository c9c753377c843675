//! What an attempt that did not end as it should leaves to the next, in the words of a prompt.

use serde::Serialize;
use swarm_protocol::failure::{Failure, FailureClass};
use swarm_protocol::outcome::Ended;

use crate::handover::{AuditEntry, AuditEvent, Handover};

/// How to go on, unless the cause asks for more.
const GO_ON: &str = "Please review the worktree state and continue from where the previous attempt left off.";

/// Characters of what was said about the end.
const ERROR_MAX: usize = 500;

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recovery {
    pub previous_attempts: u32,
    pub audit_log: Vec<AuditEntry>,
    pub worktree_has_changes: bool,
    pub instruction: String,
    /// The first sentence: what really ended the last attempt.
    pub cause: String,
    pub last: LastAttempt,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LastAttempt {
    pub started: Option<String>,
    pub files_modified: Vec<String>,
    /// `4/6 passing`.
    pub tests: Option<String>,
    pub last_commit: Option<String>,
    pub error: Option<String>,
    /// `Crashed during iteration 5`.
    pub ended: String,
}

impl Recovery {
    /// `previous_attempts`: before this one. `changes`: work that is not committed is known of.
    pub fn of(how: &Ended, previous_attempts: u32, changes: bool, left: Option<&Handover>) -> Self {
        let nothing = Handover::default();
        let left = left.unwrap_or(&nothing);
        let log: Vec<AuditEntry> = left.audit_log.clone();
        let of_last = |entry: &&AuditEntry| entry.attempt == left.attempt;
        let started = log.iter().filter(of_last).rfind(|entry| entry.event == AuditEvent::Start);
        let (did, ended) = describe(how);
        let iteration =
            if left.iteration > 0 { format!(" during iteration {}", left.iteration) } else { String::new() };
        Self {
            previous_attempts,
            worktree_has_changes: changes || left.worktree_has_changes || left.under_way,
            instruction: instruction(how),
            cause: format!("This task was previously attempted but {did}."),
            last: LastAttempt {
                started: started.map(|entry| entry.timestamp.clone()),
                files_modified: left.files_modified.clone(),
                tests: left.test_status.map(|tests| tests.describe()),
                last_commit: left.last_commit.clone(),
                error: error(how),
                ended: format!("{ended}{iteration}"),
            },
            audit_log: log,
        }
    }
}

/// As the end of "was previously attempted but …", and as the beginning of "… during iteration 5".
fn describe(how: &Ended) -> (&'static str, &'static str) {
    match how {
        Ended::Crashed { .. } => ("crashed", "Crashed"),
        Ended::Failed { failure } => of_class(failure.class),
        Ended::Lost { .. } => ("lost the daemon that served it", "Lost its daemon"),
        Ended::Orphaned { .. } => ("was interrupted when the swarm itself crashed", "Interrupted"),
        Ended::Timeout { .. } => ("ran out of time", "Timed out"),
        Ended::Stopped => ("was stopped before it was done", "Stopped"),
        Ended::CannotDo { .. } => ("was given up by its agent", "Given up"),
        Ended::AsksHuman { .. } => ("waited for a person", "Waited for a person"),
        Ended::NotStarted { .. } => ("its agent program could not be started", "Not started"),
        Ended::NoWorkspace { .. } => ("had no usable worktree", "Not started"),
    }
}

fn of_class(class: FailureClass) -> (&'static str, &'static str) {
    match class {
        FailureClass::Overflow => ("ran out of its context window", "Ran out of context"),
        FailureClass::Quota => ("was interrupted when the quota was used up", "Out of quota"),
        FailureClass::Looping => ("went round in circles", "Stopped in a loop"),
        FailureClass::Stalled => ("went silent", "Went silent"),
        FailureClass::Denied => ("was not allowed to do what it needs", "Denied"),
        FailureClass::OwnLimit => ("reached its limit of steps", "Reached its limit"),
        FailureClass::Limits => ("took more of the machine than it may", "Over a limit"),
        FailureClass::Shortage => ("was interrupted when the machine had no room left", "Interrupted"),
        FailureClass::OutputCut => ("its answer was cut at the output limit", "Cut off"),
        FailureClass::Refused => ("the service refused to answer", "Refused"),
        FailureClass::Throttled | FailureClass::Overloaded | FailureClass::Network => {
            ("was interrupted by trouble with the service", "Interrupted")
        }
        FailureClass::Billing | FailureClass::Key | FailureClass::Configuration => {
            ("its agent program was not set up", "Interrupted")
        }
        FailureClass::Crashed => ("crashed", "Crashed"),
        FailureClass::Unknown => ("failed for an unknown reason", "Failed"),
    }
}

fn error(how: &Ended) -> Option<String> {
    let text = match how {
        Ended::Stopped => return None,
        Ended::Crashed { code: Some(code), text, .. } => format!("exit code {code} {text}"),
        Ended::Crashed { signal: Some(signal), text, .. } => format!("signal {signal} {text}"),
        Ended::Failed { failure: Failure { text, .. } } | Ended::Crashed { text, .. } => text.clone(),
        Ended::Lost { text } | Ended::Orphaned { text } | Ended::Timeout { text } => text.clone(),
        Ended::CannotDo { text } | Ended::AsksHuman { text } => text.clone(),
        Ended::NotStarted { text } | Ended::NoWorkspace { text } => text.clone(),
    };
    let line: String =
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(ERROR_MAX).collect();
    (!line.is_empty()).then_some(line)
}

fn instruction(how: &Ended) -> String {
    let more = match how {
        Ended::Failed { failure } => match failure.class {
            FailureClass::Denied => {
                " You work under a profile with broader rights now: try again what was denied."
            }
            FailureClass::Overflow => " Do not read everything again: the handover says where it stands.",
            _ => "",
        },
        _ => "",
    };
    format!("{GO_ON}{more}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::handover::{Ground, TestStatus};
    use crate::prompts::{Prompts, Said, TaskWords, WorkPrompt};

    fn left() -> Handover {
        let mut left = Handover::default();
        left.attempt_begins("1.2", "ed-001", "r4", 2);
        left.iteration_begins(5, "# Task 1.2: Add auth");
        left.tool("Bash npm test");
        left.said("Now the tests.");
        left.test_status = Some(TestStatus { passed: 4, failed: 2 });
        let ground = Ground {
            files_modified: vec!["src/auth.ts".into(), "src/auth.test.ts".into()],
            last_commit: Some("abc123 \"feat: add auth module\"".into()),
            kept_at: Some("refs/swarm/wip/1.2/r4".into()),
        };
        left.iteration_ended(ground, "crashed", Some("exit code 7"));
        for entry in &mut left.audit_log {
            entry.timestamp = "2026-01-15T10:00:00Z".into();
        }
        left.written = "2026-01-15T10:30:00Z".into();
        left
    }

    fn words_after(how: &Ended) -> WorkPrompt {
        WorkPrompt {
            task: TaskWords { id: "1.2".into(), title: "Add auth".into(), ..TaskWords::default() },
            worktree: "/r/.swarm/worktrees/1.2".into(),
            branch: "swarm/1.2".into(),
            agent: "ed-001".into(),
            attempt: 3,
            iteration: 1,
            max_iterations: 50,
            recovery: Some(Recovery::of(how, 2, false, Some(&left()))),
            ..WorkPrompt::default()
        }
    }

    /// From this heading on.
    fn told(words: &WorkPrompt, from: &str) -> String {
        let text = Prompts::load(Path::new("nowhere")).expect("built in").work(words);
        let at = text.find(from).unwrap_or_else(|| panic!("{from:?} is not in:\n{text}"));
        text[at..].to_owned()
    }

    fn failed(class: FailureClass, text: &str) -> Ended {
        Ended::Failed { failure: Failure::new(class, text) }
    }

    #[test]
    fn after_a_crash_the_prompt_has_the_recovery_context_in_its_form() {
        let how = Ended::Crashed { code: Some(7), signal: None, text: "out of memory".into() };
        let expected = r#"## Recovery Context

This task was previously attempted but crashed.

**Previous attempts:** 2
**Worktree has uncommitted changes:** Yes

### Last Attempt Log
- Started: 2026-01-15T10:00:00Z
- Files modified: src/auth.ts, src/auth.test.ts
- Tests: 4/6 passing
- Last commit: abc123 "feat: add auth module"
- Error: exit code 7 out of memory
- Crashed during iteration 5

Please review the worktree state and continue from where the previous attempt left off.
"#;
        assert_eq!(told(&words_after(&how), "## Recovery Context"), expected);
    }

    #[test]
    fn the_first_sentence_names_the_real_cause() {
        let sentence = |how: Ended| Recovery::of(&how, 1, false, None).cause;
        for (how, but) in [
            (failed(FailureClass::Overflow, ""), "ran out of its context window"),
            (failed(FailureClass::Quota, ""), "was interrupted when the quota was used up"),
            (failed(FailureClass::Looping, ""), "went round in circles"),
            (failed(FailureClass::Stalled, ""), "went silent"),
            (failed(FailureClass::Denied, ""), "was not allowed to do what it needs"),
            (Ended::Orphaned { text: String::new() }, "was interrupted when the swarm itself crashed"),
            (Ended::Timeout { text: String::new() }, "ran out of time"),
            (Ended::Stopped, "was stopped before it was done"),
        ] {
            assert_eq!(sentence(how), format!("This task was previously attempted but {but}."));
        }
    }

    /// Every variant, as an agent reads it.
    fn variants() -> Vec<(&'static str, WorkPrompt)> {
        let said = |by: &str, text: &str| Said {
            by: by.into(),
            at: "2026-01-15T10:00:00Z".into(),
            text: text.into(),
        };
        let overflow = failed(FailureClass::Overflow, "prompt is too long");
        let seen = "the same call 10 times in a row without a new commit: Bash npm test";
        let looping = failed(FailureClass::Looping, seen);
        let stopped = words_after(&Ended::Stopped);
        vec![
            (
                "After a crash",
                words_after(&Ended::Crashed { code: Some(7), signal: None, text: "out of memory".into() }),
            ),
            (
                "After a stop of which nothing is known",
                WorkPrompt {
                    recovery: Some(Recovery::of(&Ended::Stopped, 1, false, None)),
                    ..stopped.clone()
                },
            ),
            ("After a denial", words_after(&failed(FailureClass::Denied, "Bash touch /srv/x"))),
            (
                "After a full context window",
                WorkPrompt { compact: true, handover: Some(left().markdown()), ..words_after(&overflow) },
            ),
            ("After a circle", WorkPrompt { repeated: Some(seen.into()), ..words_after(&looping) }),
            (
                "In the next iteration, with a nudge and messages",
                WorkPrompt {
                    recovery: None,
                    iteration: 2,
                    nudge: Some("it went silent: no output for 120 s while no tool ran".into()),
                    messages: vec![said("ada", "Use the new parser."), said("bob", "Keep the old tests.")],
                    ..stopped
                },
            ),
        ]
    }

    #[test]
    fn printed_recovery_prompts() {
        let mut page = String::from(
            "# What an agent is told after a failure\n\nPrinted by a test from the built-in templates; yours go to `.swarm/prompts/` under the same names\n(`work.md`, `compact.md`, `recovery.md`, `focused.md`, `notices.md`).\n",
        );
        for (title, words) in variants() {
            page += &format!("\n## {title}\n\n~~~~markdown\n{}\n~~~~\n", told(&words, "# Task").trim_end());
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/prompts.md");
        if std::env::var_os("SWARM_GEN").is_some() {
            std::fs::write(&path, &page).expect("docs/ can be written");
            return;
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            there == page,
            "docs/reference/prompts.md is not what the code says: run `cargo xtask gen`\n{page}"
        );
    }
}
