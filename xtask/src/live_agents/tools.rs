//! A program as the agent of a task that speaks by the tools of its attempt and by no tag: it asks, is answered, and completes.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::service::Part;
use super::stage::{Props, Stage, tail};
use super::story::{calls, says, sh, when};

const PLAN: &str = "# Greet\n\n## Phase 1: words\n- [ ] 1.1 Write hello.txt with a greeting, and commit it\n";

const QUESTION: &str = "Which greeting is wanted?";
const ANSWER: &str = "the short one";
const LEARNED: &str = "greetings are short here";

/// No answer of the model holds a tag: what is known of the task, it was told by a tool.
fn rules() -> Vec<Value> {
    let complete = json!({ "summary": "The greeting is there." });
    vec![
        when(
            &[ANSWER],
            &[
                calls("swarm_context", &json!({}), ANSWER),
                calls("swarm_progress", &json!({ "percent": 40 }), "Noted"),
                calls("swarm_reserve", &json!({ "globs": ["docs/**"] }), "Reserved docs/**"),
                calls("swarm_learning", &json!({ "text": LEARNED, "scope": "all" }), "Noted for the next"),
                sh("printf 'hello\\n' > hello.txt && git add hello.txt && git commit -q -m 'feat: hello'"),
                calls("swarm_blocked", &json!({ "reason": "not sure yet" }), "a person is told"),
                // The last word counts.
                calls("swarm_complete", &complete, "what you leave uncommitted is committed"),
                says("The greeting is there."),
            ],
        ),
        when(
            &["# Task 1.1"],
            &[
                calls("swarm_context", &json!({}), "Task 1.1"),
                calls("swarm_ask", &json!({ "question": QUESTION, "choices": ["long", "short"] }), "Asked"),
                says("I have asked, and wait for the answer."),
            ],
        ),
    ]
}

/// The question is on the attention list, its answer in the next prompt, the commit on trunk and the learning kept.
pub fn play(props: &Props<'_>, name: &str) -> Result<String> {
    let stage = Stage::set_up(props, &format!("{name}-tools"), &[], &Part::Story(rules()))?;
    stage.configure(&json!({ "agent": name }))?;
    std::fs::write(stage.folder.join("plan.md"), PLAN)?;
    // A task that waits for an answer is not done, so this run does not end well.
    let (status, said) = stage.run(props.swarm, &["run", "--plan", "../plan.md"])?;
    if status.code() != Some(1) {
        bail!("swarm run ended with {status}{}: {}", stage.unseen(), tail(&said));
    }
    let attention = stage.view(&["attention"])?.to_string();
    if !attention.contains(QUESTION) {
        bail!("nobody is asked{}: {attention}", stage.unseen());
    }
    stage.swarm(&["agent", "message", "1.1", ANSWER])?;
    stage.swarm(&["run"])?;
    stage.on_trunk("hello.txt", "hello\n")?;
    let learned = std::fs::read_to_string(stage.repo().join(".swarm/learnings.md")).unwrap_or_default();
    if !learned.contains(LEARNED) {
        bail!("nothing was learned: {learned:?}");
    }
    stage.is_at_rest()?;
    Ok("seven tools called; asked, answered, completed by the last word; on trunk".into())
}
