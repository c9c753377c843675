//! A program as the one that resolves: two tasks change the same line, and it puts both together.

use anyhow::{Result, bail};
use serde_json::json;

use super::service::Part;
use super::stage::{Props, Stage};
use super::story::{COMPLETE, says, sh, sh_sees, when, writes};

/// 1.1 is done by the scripted agent, as soon as 1.2 has begun on the same commit.
const PLAN: &str = "# Words\n\n## Phase 1: words\n- [ ] 1.1 Say yes\n  profile: script\n  ```script\n  \
    sh until test -d ../1.2; do sleep 0.2; done\n  write word.txt yes\n  commit yes\n  complete\n  ```\n\
    - [ ] 1.2 Say no\n";

/// Both lines are on trunk, in a merge that the program made.
pub fn play(props: &Props<'_>, name: &str) -> Result<String> {
    let scene = format!("{name}-resolver");
    let worktree = props.folder_of(&scene).join("repo/.swarm/worktrees/1.2");
    let file = worktree.join("word.txt");
    // The model waits and not the program: what others merge meanwhile the agent does not see.
    let mut begins = writes(&file, "no\n");
    begins["after"] = json!({ "path": props.folder_of(&scene).join("repo/word.txt"), "holds": "yes" });
    let rules = vec![
        when(
            &["# Task 1.2", "do not fit together in these files", "- word.txt"],
            &[
                sh_sees("git log -p swarm/1.2..main -- word.txt", "+yes"),
                sh_sees("git merge main; git status --short", "AA word.txt"),
                // Not with its own tool: Claude behind ACP says that the file is as it read it last.
                sh_sees("cat word.txt", "<<<<<<<"),
                sh(r"printf 'yes\nno\n' > word.txt"),
                sh("git add word.txt && git commit -q --no-edit"),
                says(COMPLETE),
            ],
        ),
        when(
            &["# Task 1.2"],
            &[begins, sh("git add word.txt && git commit -q -m 'feat: no'"), says(COMPLETE)],
        ),
    ];
    let stage = Stage::set_up(props, &scene, &[], &Part::Story(rules))?;
    // Level 3 of the ladder is for work that is reviewed.
    let review = json!({ "policy": "command", "commands": [["grep", "-q", "", "word.txt"]] });
    stage.configure(&json!({ "agent": name, "review": review }))?;
    std::fs::write(stage.folder.join("plan.md"), PLAN)?;
    stage.swarm(&["run", "--plan", "../plan.md", "--agents", "2"])?;
    stage.on_trunk("word.txt", "yes\nno\n")?;
    let task = stage.view(&["task", "show", "1.2"])?;
    if (&task["attempts"], &task["retries"]) != (&json!(2), &json!(0)) {
        bail!("1.2 came through in {} attempts with {} retries", task["attempts"], task["retries"]);
    }
    let said = std::fs::read_to_string(stage.folder.join("all.log"))?;
    if !said.contains("the work conflicts with trunk in word.txt; an agent resolves it") {
        bail!("nobody was asked to resolve a conflict");
    }
    stage.is_at_rest()?;
    Ok("conflict in word.txt; merged by it; both lines on trunk".into())
}
