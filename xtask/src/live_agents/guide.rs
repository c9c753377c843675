//! Writes the output in `docs/guides/goal-to-trunk.md` anew: a real program, a real project, and the scripted model.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::service::Part;
use super::stage::{Props, Stage};
use super::story::{COMPLETE, reads, says, sh_sees, when, writes};

const PAGE: &str = "docs/guides/goal-to-trunk.md";

/// Before a block whose commands are run here.
const MARK: &str = "<!-- skip: written by cargo xtask live-agents --role guide -->";

/// Before a block that is a file.
const FILE: &str = "<!-- file: ";

pub const CAST: &[&str] = &["claude"];

/// The project, without the configuration for scripted agents.
const PROJECT: &[&str] = &["package.json", "package-lock.json", "src/slug.js", "test/slug.test.js"];

const REMARK: &str = "A cut can end in a hyphen: cut(\"hello-world\", 6) gives \"hello-\". Take it away.";

const CUT: &str = "/** The slug, at most so many letters long. */\nexport function cut(slug, most) {\n  return slug.slice(0, most);\n}\n";

const CUT_BETTER: &str = "/** The slug, at most so many letters long, without a hyphen at its end. */\n\
    export function cut(slug, most) {\n  return slug.slice(0, most).replace(/-+$/, \"\");\n}\n";

const CUT_TEST: &str = "import assert from \"node:assert/strict\";\nimport { test } from \"node:test\";\n\n\
    import { cut } from \"../src/cut.js\";\n\ntest(\"a long slug is cut\", () => {\n  \
    assert.equal(cut(\"hello-world\", 8), \"hello-wo\");\n});\n";

const CUT_TEST_BETTER: &str = "\ntest(\"a cut never ends in a hyphen\", () => {\n  assert.equal(cut(\"hello-world\", 6), \"hello\");\n});\n";

const TITLE: &str = "/** The words of a slug, the first with a capital letter. */\nexport function title(slug) {\n  \
    const words = slug.split(\"-\").join(\" \");\n  return words.charAt(0).toUpperCase() + words.slice(1);\n}\n";

const TITLE_TEST: &str = "import assert from \"node:assert/strict\";\nimport { test } from \"node:test\";\n\n\
    import { title } from \"../src/title.js\";\n\ntest(\"a slug becomes a title\", () => {\n  \
    assert.equal(title(\"hello-world\"), \"Hello world\");\n});\n";

fn proposal() -> String {
    let plan = json!({ "phases": [{ "id": 1, "name": "Slugs", "tasks": [
        { "id": "1.1", "title": "Cut slugs to a length", "files": ["src/cut.js", "test/cut.test.js"], "size": "small",
          "acceptance": ["cut(slug, most) has at most that many letters"] },
        { "id": "1.2", "title": "Make a title of a slug", "files": ["src/title.js", "test/title.test.js"],
          "size": "small", "acceptance": ["title(\"hello-world\") is \"Hello world\""] },
    ] }] });
    format!(
        "The library has one function and one test. Two additions that do not touch each other:\n\n```json\n{plan:#}\n```"
    )
}

/// What the model does in each of its parts.
fn rules(repo: &Path) -> Vec<Value> {
    let place = |task: &str, file: &str| repo.join(format!(".swarm/worktrees/{task}/{file}"));
    let commit = |message: &str| sh_sees(format!("git add --all && git commit -m '{message}'"), message);
    let approve = |summary: &str| says(json!({ "verdict": "approve", "summary": summary }).to_string());
    let wants = json!({ "verdict": "needs_changes", "summary": "One case is missing.",
                        "issues": [{ "file": "src/cut.js", "line": 3, "text": REMARK }] });
    vec![
        when(&["# Make a plan"], &[reads(&repo.join("src/slug.js"), "toLowerCase"), says(proposal())]),
        when(
            &["# Review of task 1.1", "This is round 2"],
            &[reads(&place("1.1", "src/cut.js"), "replace"), approve("Cuts well, and the case is tested.")],
        ),
        when(
            &["# Review of task 1.1"],
            &[reads(&place("1.1", "src/cut.js"), "slice"), says(wants.to_string())],
        ),
        when(
            &["# Review of task 1.2"],
            &[reads(&place("1.2", "src/title.js"), "toUpperCase"), approve("Does what was asked.")],
        ),
        when(
            &["# Task 1.1", REMARK],
            &[
                reads(&place("1.1", "src/cut.js"), "slice"),
                writes(&place("1.1", "src/cut.js"), CUT_BETTER),
                sh_sees(
                    format!("cat >> test/cut.test.js <<'END'\n{CUT_TEST_BETTER}END\nnode --test"),
                    "fail 0",
                ),
                commit("fix: a cut never ends in a hyphen"),
                says(COMPLETE),
            ],
        ),
        when(
            &["# Task 1.1"],
            &[
                writes(&place("1.1", "src/cut.js"), CUT),
                writes(&place("1.1", "test/cut.test.js"), CUT_TEST),
                sh_sees("node --test", "fail 0"),
                commit("feat: cut slugs to a length"),
                says(COMPLETE),
            ],
        ),
        when(
            &["# Task 1.2"],
            &[
                writes(&place("1.2", "src/title.js"), TITLE),
                writes(&place("1.2", "test/title.test.js"), TITLE_TEST),
                sh_sees("node --test", "fail 0"),
                commit("feat: make a title of a slug"),
                says(COMPLETE),
            ],
        ),
    ]
}

/// Each marked block of the page is run, in the project, and gets what it printed.
pub fn write(props: &Props<'_>, name: &str) -> Result<String> {
    let scene = format!("{name}-guide");
    let project = props.root.join("examples/node");
    let read =
        |path: &&str| fs::read_to_string(project.join(path)).with_context(|| format!("Cannot read {path}"));
    let texts = PROJECT.iter().map(read).collect::<Result<Vec<_>>>()?;
    let files: Vec<(&str, &str)> = PROJECT.iter().copied().zip(texts.iter().map(String::as_str)).collect();
    let rules = rules(&props.folder_of(&scene).join("repo"));
    let stage = Stage::set_up(props, &scene, &files, &Part::Story(rules))?;
    let page = props.root.join(PAGE);
    let before = fs::read_to_string(&page)?;
    let after = rewritten(&stage, &before)?;
    stage.is_at_rest()?;
    fs::write(&page, after)?;
    Ok(format!("{PAGE} is written"))
}

fn rewritten(stage: &Stage<'_>, before: &str) -> Result<String> {
    let (mut after, mut lines) = (String::new(), before.lines());
    while let Some(line) = lines.next() {
        after.push_str(line);
        after.push('\n');
        let file = line.strip_prefix(FILE).and_then(|rest| rest.strip_suffix(" -->"));
        if line != MARK && file.is_none() {
            continue;
        }
        let fence = lines.next().unwrap_or_default();
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let block = match file {
            Some(path) => {
                let text = block.join("\n") + "\n";
                fs::write(stage.repo().join(path), &text)?;
                text
            }
            None => commands(&block)
                .iter()
                .map(|command| played(stage, command))
                .collect::<Result<Vec<_>>>()?
                .concat(),
        };
        after.push_str(&format!("{fence}\n{block}```\n"));
    }
    Ok(after)
}

/// The commands of a block, as they stand there: a backslash at the end of a line goes on in the next one.
fn commands(block: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push(command.to_owned()),
            (None, Some(last)) if last.ends_with('\\') => last.push_str(&format!("\n{line}")),
            _ => {}
        }
    }
    found
}

/// The command and what it printed on a terminal of eighty columns.
fn played(stage: &Stage<'_>, command: &str) -> Result<String> {
    let narrow = format!("COLUMNS=80; export COLUMNS; {command}");
    let (status, said) = stage.run(Path::new("sh"), &["-c", &narrow])?;
    if !status.success() {
        bail!("`{command}` ended with {status}{}: {said}", stage.unseen());
    }
    let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
    let said = lines.join("\n");
    let end = if said.is_empty() { "" } else { "\n" };
    Ok(format!("$ {command}\n{said}{end}"))
}
