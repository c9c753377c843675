//! The throw-away repository of the demo: a few files and one rule that work must keep.

use std::path::{Path, PathBuf};

use swarm_git::GitCall;

use crate::error::CliError;

pub struct Repository {
    pub root: PathBuf,
    pub plan: PathBuf,
}

/// The check of this project: every chapter has a title, and no chapter is unfinished.
const CHECK: &str = "#!/bin/sh
set -e
for chapter in chapters/*.md; do
  head -n 1 \"$chapter\" | grep -q '^# ' || { echo \"$chapter: no title\"; exit 1; }
  if grep -q TODO \"$chapter\"; then echo \"$chapter: unfinished\"; exit 1; fi
done
echo \"$(ls chapters/*.md | wc -l) chapters are fine\"
";

const CONFIG: &str = r#"{
  // What must hold in a worktree before its work is taken, and on the merged tree before trunk moves.
  "check": { "commands": ["sh check.sh"] },
  // Nobody reviews, unless a task says so.
  "review": { "policy": "none", "profile": "script", "tags": { "reviewed": "agent" } },
  "recovery": { "backoffMax": "1s", "loops": { "note": 3, "stop": 6 } },
  "quota": { "probeEvery": "1s" },
  "stop": { "grace": "2s", "drain": "2s" },
}
"#;

/// Makes the folder, its first commit, its configuration and its plan.
pub fn make() -> Result<Repository, CliError> {
    let failed = |e: std::io::Error| CliError::environment("Cannot make the demo's repository").because(e);
    let root = tempfile::Builder::new().prefix("swarm-demo-").tempdir().map_err(failed)?.keep();
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        path.parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(failed)
    };
    write("README.md", "# A book, written by a swarm\n")?;
    write("chapters/00-preface.md", "# Preface\n\nWritten by a person.\n")?;
    write("COLOPHON", "The colophon.\n")?;
    write("check.sh", CHECK)?;
    write(".swarm/config.json", CONFIG)?;
    git(&root, &["init", "--quiet", "--initial-branch=main"])?;
    git(&root, &["config", "user.name", "Swarm demo"])?;
    git(&root, &["config", "user.email", "demo@localhost"])?;
    git(&root, &["add", "README.md", "COLOPHON", "chapters", "check.sh"])?;
    git(&root, &["commit", "--quiet", "--message", "docs: a preface"])?;
    let plan = root.join(".swarm").join("demo-plan.json");
    let text = serde_json::to_string_pretty(&super::plan::plan()).expect("plain data serialises");
    write(".swarm/demo-plan.json", &text)?;
    Ok(Repository { root, plan })
}

/// Git as a person would call it, in the demo's own repository only.
pub fn git(root: &Path, args: &[&str]) -> Result<String, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| CliError::environment("Cannot start").because(e))?;
    let said = runtime.block_on(GitCall::by_hand(root).args(args).ok())?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}
