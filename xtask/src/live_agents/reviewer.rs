//! A program as the one that reviews, alone and in a council, of work that the same program does.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::service::Part;
use super::stage::{Props, Stage};
use super::story::{COMPLETE, cannot_write, reads, says, sh, sh_sees, when, writes};

const PLAN: &str = "# Greet\n\n## Phase 1: words\n- [ ] 1.1 Write hello.txt with a greeting of two lines\n  acceptance: the second line is world\n";

/// The remark of the review that wants changes; the worker finds it in its next prompt.
const REMARK: &str = "The second line is missing, it has to be world";

fn rejects() -> Value {
    json!({ "verdict": "needs_changes", "summary": "One line is missing.",
            "issues": [{ "file": "hello.txt", "line": 1, "text": REMARK }] })
}

fn approves(summary: &str) -> String {
    format!("I have read it.\n\n```json\n{}\n```\n", json!({ "verdict": "approve", "summary": summary }))
}

/// The author: half of the work, and the other half once it is told. In between it tries to approve its own work.
fn author(worktree: &Path) -> Vec<Value> {
    let commit = "git add hello.txt && git commit -q -m 'feat: hello'";
    vec![
        when(
            &["# Task 1.1", REMARK],
            &[
                sh_sees("cat hello.txt", "hello"),
                sh(format!("echo world >> hello.txt && {commit}")),
                says(COMPLETE),
            ],
        ),
        when(
            &["# Task 1.1"],
            &[
                writes(&worktree.join("hello.txt"), "hello\n"),
                sh_sees("swarm review approve 1.1; echo it ended with $?", "it ended with 1"),
                sh(commit),
                says(COMPLETE),
            ],
        ),
    ]
}

/// No verdict at first, then changes; the second round approves.
pub fn play(props: &Props<'_>, name: &str) -> Result<String> {
    let scene = format!("{name}-reviewer");
    let worktree = props.folder_of(&scene).join("repo/.swarm/worktrees/1.1");
    let mut rules = author(&worktree);
    rules.extend([
        when(&["Your answer cannot be used", "holds no JSON object"], &[says(rejects().to_string())]),
        when(
            &["# Review of task 1.1", "This is round 2", REMARK],
            &[reads(&worktree.join("hello.txt"), "world"), says(approves("Both lines are there."))],
        ),
        when(
            &["# Review of task 1.1"],
            &[
                reads(&worktree.join("hello.txt"), "hello"),
                cannot_write("planted.txt"),
                sh_sees("swarm review approve 1.1; echo it ended with $?", "it ended with 1"),
                says("A line is missing. I would not let this pass."),
            ],
        ),
    ]);
    let stage = Stage::set_up(props, &scene, &[], &Part::Story(rules))?;
    stage.configure(&json!({ "agent": name, "review": { "profile": name } }))?;
    std::fs::write(stage.folder.join("plan.md"), PLAN)?;
    stage.swarm(&["run", "--plan", "../plan.md"])?;
    stage.on_trunk("hello.txt", "hello\nworld\n")?;
    let sent_back = stage.records("changes_requested")?.len();
    if sent_back != 1 {
        bail!("the work was sent back {sent_back} times, not once");
    }
    nobody_judges_himself(&stage)?;
    stage.is_at_rest()?;
    Ok("no JSON at first, then changes; sent back; round 2 approved; on trunk".into())
}

/// One of three rejects, so the work goes back whatever the others say; in the second round it passes.
pub fn play_council(props: &Props<'_>, name: &str) -> Result<String> {
    let scene = format!("{name}-council");
    let worktree = props.folder_of(&scene).join("repo/.swarm/worktrees/1.1");
    let concerns = json!({ "verdict": "concerns", "summary": "It may go on.", "issues": [{ "text": "no newline rule" }] });
    let mut rules = author(&worktree);
    rules.extend([
        when(&["# Review of task 1.1", "whether it is tested"], &[says(concerns.to_string())]),
        when(
            &["# Review of task 1.1", "This is round 2"],
            &[reads(&worktree.join("hello.txt"), "world"), says(approves("Both lines are there."))],
        ),
        when(
            &["# Review of task 1.1", "what an attacker could do"],
            &[cannot_write("planted.txt"), says(rejects().to_string())],
        ),
        when(
            &["# Review of task 1.1"],
            &[reads(&worktree.join("hello.txt"), "hello"), says(approves("Short and clear."))],
        ),
    ]);
    let stage = Stage::set_up(props, &scene, &[], &Part::Story(rules))?;
    let members = json!([
        { "name": "security", "profile": name, "focus": "what an attacker could do" },
        { "name": "tests", "profile": name, "focus": "whether it is tested" },
        { "name": "design", "profile": name },
    ]);
    let council = json!({ "members": members, "quorum": 2, "veto": true });
    stage.configure(&json!({ "agent": name, "review": { "policy": "council", "council": council } }))?;
    std::fs::write(stage.folder.join("plan.md"), PLAN)?;
    stage.swarm(&["run", "--plan", "../plan.md"])?;
    stage.on_trunk("hello.txt", "hello\nworld\n")?;
    let voices: Vec<String> = stage.records("council_spoke")?.iter().map(voice).collect();
    // By name. The one that rejects is enough: the third is not asked.
    let wanted =
        ["design APPROVE", "security REJECT", "design APPROVE", "security APPROVE", "tests CONCERNS"];
    if voices != wanted {
        bail!("the council said {voices:?}");
    }
    nobody_judges_himself(&stage)?;
    stage.is_at_rest()?;
    Ok("one REJECT of two sent it back; round 2: two APPROVE, one CONCERNS; on trunk".into())
}

fn voice(record: &Value) -> String {
    let word = |name: &str| record["data"][name].as_str().unwrap_or_default().to_owned();
    format!("{} {}", word("member"), word("voice"))
}

/// No conversation of a review is one in which the work was done.
fn nobody_judges_himself(stage: &Stage<'_>) -> Result<()> {
    let sessions = |of: &str| -> Result<Vec<String>> {
        let all = stage.records(of)?;
        Ok(all.iter().filter_map(|record| record["data"]["session"].as_str()).map(str::to_owned).collect())
    };
    let (worked, judged) = (sessions("iteration")?, sessions("review_answered")?);
    if let Some(both) = judged.iter().find(|session| worked.contains(session)) {
        bail!("{both} has worked and judged");
    }
    Ok(())
}
