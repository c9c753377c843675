//! Transcripts of the real binary. Each file under `transcripts/` is a story in a fresh repository:
//!
//! - `$ line` is run by a shell; below it stand its stdout, its stderr (`! ` before each line) and, unless it
//!   is 0, its exit code (`? 1`).
//! - `--- name` up to `---` is a file put into the repository.
//! - `$ a coordinator starts and dies` is played by the test: it leaves what a killed coordinator leaves.
//! - `# …` is for the reader; `# refusal: kind` says that the next command is refused in that way.
//!
//! `SWARM_GEN=1` writes the files anew. Every refusal's hint is carried out in a copy of the repository and
//! must be accepted there.

mod transcript;
mod world;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use swarm_core::input::Input;
use swarm_engine::paths::Paths;
use swarm_engine::store::{OpenOptions, Opened, Store};
use swarm_protocol::policy::Policy;
use swarm_protocol::refusal::Refusal;
use transcript::{Item, Transcript};
use world::World;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let entries = std::fs::read_dir(folder).expect("the folder of transcripts");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn printed_transcripts_are_what_the_binary_says() {
    let mut wrong = vec![];
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a transcript");
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let played = play(&name, &text);
        if played == text {
            continue;
        }
        if std::env::var_os("SWARM_GEN").is_some() {
            std::fs::write(&file, played).expect("the transcript can be written");
        } else {
            wrong.push(format!("== {name}\n{}", transcript::difference(&text, &played)));
        }
    }
    assert!(wrong.is_empty(), "Run `cargo xtask gen` if this is meant:\n{}", wrong.join("\n"));
}

const WANTS_MERGED_WORK: &str = "wants merged work or an operation under way: tests/operations";

/// Kinds that nobody at a terminal ever sees, with the reason.
const NEVER_SHOWN: &[(&str, &str)] = &[
    ("already_proposed", "programs propose, over MCP: tests/mcp/proposals.rs"),
    (
        "plan_closed",
        "a one-shot command finishes the archiving before it looks at anything, and asks a coordinator again that is just leaving",
    ),
    ("operation_under_way", WANTS_MERGED_WORK),
    ("checkpoint_needed", WANTS_MERGED_WORK),
    ("unknown_operation", WANTS_MERGED_WORK),
    ("has_dependents", WANTS_MERGED_WORK),
    ("preview_changed", WANTS_MERGED_WORK),
    ("cannot_move", WANTS_MERGED_WORK),
];

#[test]
fn every_kind_of_refusal_has_a_transcript() {
    let mut shown = BTreeSet::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a transcript");
        shown.extend(text.lines().filter_map(|line| line.strip_prefix("# refusal: ")).map(str::to_owned));
    }
    let seen = |kind: &&&str| NEVER_SHOWN.iter().all(|(never, _)| never != *kind);
    let kinds: BTreeSet<String> = Refusal::KINDS.iter().filter(seen).map(|kind| kind.to_string()).collect();
    let missing: Vec<&String> = kinds.difference(&shown).collect();
    let unknown: Vec<&String> = shown.difference(&kinds).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "without a transcript: {missing:?}; unknown: {unknown:?}"
    );
    assert_eq!(shown.len() + NEVER_SHOWN.len(), Refusal::KINDS.len());
}

/// Carries a transcript out and gives it back with what really happened.
fn play(name: &str, text: &str) -> String {
    let world = World::new();
    let mut transcript = Transcript::read(text);
    let mut expected_refusal: Option<String> = None;
    for item in &mut transcript.items {
        match item {
            Item::Comment(line) => {
                if let Some(kind) = line.strip_prefix("# refusal: ") {
                    expected_refusal = Some(kind.to_owned());
                }
            }
            Item::File { name, text } => world.file(name, text.as_bytes()),
            Item::Command { line, said } if line == "a coordinator starts and dies" => {
                starts_and_dies(&world);
                said.clear();
            }
            Item::Command { line, said } => {
                let before = expected_refusal.as_ref().map(|_| world.copy());
                let ran = world.shell(line);
                assert_ne!(ran.code, Some(70), "{name}: `{line}` met a bug: {}", ran.err);
                if let (Some(kind), Some(before)) = (expected_refusal.take(), before) {
                    check_refusal(name, line, &kind, &before, &world);
                }
                *said = transcript::said(&ran, &world.base);
            }
        }
    }
    transcript.write()
}

/// The command was refused in this way, changed nothing, and its hint is accepted.
fn check_refusal(name: &str, line: &str, kind: &str, before: &World, after: &World) {
    let ran = before.shell(&with_json(line));
    let answer: serde_json::Value = serde_json::from_str(ran.out.trim())
        .unwrap_or_else(|error| panic!("{name}: `{line}` is no JSON ({error}): {}{}", ran.out, ran.err));
    assert_eq!(answer["error"]["kind"], kind, "{name}: `{line}`");
    assert_eq!(ran.code, Some(1), "{name}: `{line}`");
    let length = |world: &World| std::fs::metadata(world.ledger()).map_or(0, |meta| meta.len());
    assert_eq!(length(before), length(after), "{name}: `{line}` was refused, so no record may be there");
    let hint = answer["error"]["hint"].as_str().unwrap_or_default();
    let command = hint.split('`').nth(1).unwrap_or(hint);
    assert!(command.starts_with("swarm "), "{name}: the hint of {kind} is no command: {hint}");
    let helped = after.copy();
    // FILE stands for any good plan, and a file that is to be put right is.
    let good_plan = "# Goal\n\n- [ ] 1.1 One\n";
    helped.file("hint-plan.md", good_plan);
    for word in command.split_whitespace().filter(|word| helped.repo.join(word).is_file()) {
        helped.file(word, good_plan);
    }
    // The person would be asked, and says yes.
    let asks = [
        "swarm close",
        "swarm plan reopen",
        "swarm undo",
        "swarm redo",
        "swarm rollback",
        "swarm abort",
        "swarm task rollback",
    ];
    let yes = if asks.iter().any(|ask| command.starts_with(ask)) { " --yes" } else { "" };
    let tried = helped.shell(&(command.replace("FILE", "hint-plan.md") + yes));
    assert_eq!(
        tried.code,
        Some(0),
        "{name}: the hint `{command}` of {kind} is refused too: {}{}",
        tried.out,
        tried.err
    );
}

/// Takes the ledger as a coordinator does, grants what can be granted, and is gone without a word.
fn starts_and_dies(world: &World) {
    let paths = Paths::new(&world.repo, &world.repo.join(".git"));
    let Ok(Opened::Writer(mut store)) = Store::become_coordinator(&paths, OpenOptions::new("test")) else {
        panic!("the ledger is free");
    };
    let started = Input::Started {
        epoch: store.state().epoch + 1,
        version: "0".into(),
        host: "here".into(),
        trunk: "main".into(),
        policy: Policy::default(),
    };
    let now = store.clock().now();
    let decided = store.submit(started, now, "swarm:coordinator").expect("it starts");
    decided.ticket.wait().expect("the disk has it");
}

fn with_json(line: &str) -> String {
    let at = line.find("swarm ").expect("a refused line runs swarm") + "swarm".len();
    format!("{} --json{}", &line[..at], &line[at..])
}
