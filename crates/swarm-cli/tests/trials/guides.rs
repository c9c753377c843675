//! README, guides and examples as a reader follows them: every command, in order, as written, in a fresh repository, and
//! what the page shows of its answer.
//!
//! How a page says what it needs stands in CONTRIBUTING.md under "Guides".

mod page;
mod place;

use std::path::{Path, PathBuf};

use page::{Block, Step, blocks, says, steps};
use place::Place;
use unicode_width::UnicodeWidthStr;

const COLUMNS: usize = 80;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the source")
}

/// Follows a page to its end.
fn follow(page: &str) {
    let text = std::fs::read_to_string(source().join(page)).expect("the page");
    let Some(mut place) = Place::for_page(page, &text) else { return };
    let mut ran = 0;
    for block in blocks(&text) {
        if block.mark("skip").is_some() {
            ran += 1;
            continue;
        }
        if let Some(file) = block.mark("file") {
            place.save(file, &block);
            continue;
        }
        let shell = ["sh", "bash", "shell"].contains(&block.language.as_str());
        assert!(!shell, "{page}:{}: a block of {} is not run; write `console`", block.line, block.language);
        if block.language == "console" {
            ran += run_block(page, &block, &mut place);
        }
    }
    assert!(ran > 0, "{page}: there is nothing to run; then it says `<!-- run: none -->`");
}

fn run_block(page: &str, block: &Block, place: &mut Place) -> usize {
    let steps = steps(block);
    for (n, step) in steps.iter().enumerate() {
        let is_last = n + 1 == steps.len();
        let wanted = block.mark("exit").filter(|_| is_last).unwrap_or("0");
        let at = format!("{page}:{}: $ {}", step.line, step.command);
        let until = block.mark("until").filter(|_| is_last);
        let Some((code, said)) = place.run_until(&at, step, until) else { continue };
        assert!(wanted == "any" || code.to_string() == wanted, "{at}\nexit {code}, not {wanted}:\n{said}");
        check_shown(&at, step, &said);
    }
    steps.len()
}

/// Each line that the page shows is among those that the command printed.
fn check_shown(at: &str, step: &Step, said: &str) {
    for line in step.shown.iter().filter(|line| !line.trim().is_empty() && line.trim() != "…") {
        assert!(says(said, line), "{at}\ndoes not print: {line}\nbut:\n{said}");
    }
}

macro_rules! pages {
    ($($name:ident: $page:literal,)*) => {
        /// Every page that is there.
        const PAGES: &[&str] = &[$($page),*];
        $(
            #[test]
            fn $name() {
                follow($page);
            }
        )*
    };
}

pages! {
    readme: "README.md",
    examples: "examples/README.md",
    configuration: "docs/guides/configuration.md",
    conflicts: "docs/guides/conflicts.md",
    first_run: "docs/guides/first-run.md",
    glossary: "docs/guides/glossary.md",
    goal_to_trunk: "docs/guides/goal-to-trunk.md",
    hooks: "docs/guides/hooks.md",
    mcp: "docs/guides/mcp.md",
    observability: "docs/guides/observability.md",
    planning: "docs/guides/planning.md",
    plans: "docs/guides/plans.md",
    platforms: "docs/guides/platforms.md",
    real_agents: "docs/guides/real-agents.md",
    recipes: "docs/guides/recipes.md",
    recovery: "docs/guides/recovery.md",
    reviewing: "docs/guides/reviewing.md",
    script_agent: "docs/guides/script-agent.md",
    security: "docs/guides/security.md",
    taking_back: "docs/guides/taking-back.md",
    terminal: "docs/guides/terminal.md",
    troubleshooting: "docs/guides/troubleshooting.md",
    web: "docs/guides/web.md",
}

#[test]
fn no_guide_is_left_out() {
    let guides = std::fs::read_dir(source().join("docs/guides")).expect("the guides");
    for guide in guides.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
        let page = format!("docs/guides/{guide}");
        assert!(PAGES.contains(&page.as_str()), "{page} is followed by no test");
    }
}

/// What is read on a screen is as wide as a terminal: commands and what they print, and files to write.
#[test]
fn no_block_of_a_page_is_wider_than_a_terminal() {
    let mut wide = Vec::new();
    for page in PAGES {
        let text = std::fs::read_to_string(source().join(page)).expect("a page");
        for block in blocks(&text) {
            let lines = block.lines.iter().enumerate().filter(|(_, line)| line.width() > COLUMNS);
            wide.extend(
                lines.map(|(n, line)| format!("{page}:{}: {} wide: {line}", block.line + n, line.width())),
            );
        }
    }
    assert!(wide.is_empty(), "{} lines:\n{}", wide.len(), wide.join("\n"));
}

/// What stands in the folder of an example is what the program takes: plan, configuration, hooks.
#[test]
fn every_example_has_a_plan_and_a_configuration_that_are_accepted() {
    let folders = std::fs::read_dir(source().join("examples")).expect("the examples");
    let folders: Vec<_> =
        folders.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect();
    assert!(folders.len() >= 3, "{folders:?}");
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let place = Place::empty();
        place.copy_in(&folder);
        for command in ["git init --quiet", "git add --all", "git commit --quiet --message start"] {
            place.must(command);
        }
        place.must("swarm config show");
        let said = place.must("swarm plan save plan.md --dry-run");
        assert!(said.contains("1.1"), "{name}: {said}");
        let hooks = place.must("swarm hooks list");
        let named = std::fs::read_dir(folder.join(".swarm/hooks")).into_iter().flatten().flatten();
        for hook in
            named.filter_map(|entry| entry.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        {
            assert!(hooks.contains(&hook), "{name}: no hook is called {hook}: {hooks}");
        }
        let page = std::fs::read_to_string(source().join("examples/README.md")).expect("the page");
        assert!(page.contains(&format!("[{name}]({name})")), "{name} is not on the page of the examples");
    }
}

/// Each example project is worked on to its end by its scripted agents.
#[test]
fn examples_of_three_languages_are_reviewed_and_merged() {
    for name in ["rust", "node", "python"] {
        let place = Place::empty();
        place.copy_in(&source().join("examples").join(name));
        for command in
            ["git init --quiet", "git add --all", "git commit --quiet --message start", "swarm trust --yes"]
        {
            place.must(command);
        }
        let said = place.must("swarm run --plan plan.md");
        assert!(said.contains("3 of 3 tasks are done, proven on main"), "{name}: {said}");
    }
}
