//! On a terminal of eighty columns no line is wider and nothing is broken that is one thing: a word, an id, a hash, a command to
//! paste. The tree of commands is walked as its help prints it, so that a new command cannot be left out.

use std::collections::BTreeMap;

use unicode_width::UnicodeWidthStr;

use crate::arena::Arena;
use crate::dry_runs::{CHANGES, READS, half_way, leaves};

const COLUMNS: usize = 80;

const TITLE: &str = "Replace the way in which sessions are kept in memory, 在内存中保存会话, by one that survives a restart of the \
                     service and that two instances can share without asking each other";

/// What is printed as it is, because it is read by programs or is somebody else's text.
const AS_IT_IS: &[(&str, &str)] = &[
    ("plan show", "Markdown, which `swarm plan save` reads"),
    ("plan export", "a plan file"),
    ("plan import", "Markdown, which `swarm plan save` reads"),
    ("handoff", "Markdown for the next agent or person"),
    ("metrics", "the format of Prometheus"),
    ("trace export", "spans as JSON"),
    ("completions", "a script for the shell"),
    ("man", "roff"),
    ("agent logs", "what an agent printed"),
    ("task diff", "a diff"),
];

/// Commands that are a whole screen, or play for a while and print what these commands do.
const NOT_HERE: &[&str] = &["tui", "demo"];

/// What a command that reads wants to know; the others need nothing.
const ASKED: &[(&str, &[&str])] = &[
    ("task show", &["1.2"]),
    ("task diff", &["1.1"]),
    ("review show", &["1.2"]),
    ("agent logs", &["1.1"]),
    ("agent debug", &["1.1"]),
    ("checkpoint show", &["named"]),
    ("op show", &["1"]),
    ("completions", &["bash"]),
    ("debug classify", &["claude"]),
    ("web revoke", &["0"]),
    ("mcp revoke", &["nobody"]),
];

struct Said {
    whole: String,
    narrow: String,
}

/// The same words twice: into a pipe, and for eighty columns.
fn said(arena: &Arena, words: &[&str]) -> Said {
    let told = |columns: Option<usize>| {
        let mut command = arena.command(words);
        command.current_dir(&arena.root).env("EDITOR", "true").env_remove("COLUMNS");
        columns.map(|columns| command.env("COLUMNS", columns.to_string()));
        let out = command.output().expect("swarm runs");
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
    };
    Said { whole: told(None), narrow: told(Some(COLUMNS)) }
}

/// One thing, which is never broken: it may be wider than any terminal.
fn is_one_thing(line: &str) -> bool {
    let text = line.trim_start();
    let is_command = ["$ ", "git ", "swarm "].iter().any(|start| text.starts_with(start));
    let quoted = text.starts_with('`') && text.trim_end_matches(['.', ',', ';', ':', ')']).ends_with('`');
    !text.contains(' ') || is_command || (quoted && text.matches('`').count() == 2)
}

/// How often each word is said; clocks and counters go on between two calls.
fn words(text: &str) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    // Where there are no blanks a line may end anywhere.
    let ascii = text.replace(|c: char| !c.is_ascii(), " ");
    for word in ascii.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit())) {
        *count.entry(word.to_owned()).or_default() += 1;
    }
    count
}

fn wrong(name: &str, said: &Said) -> Vec<String> {
    let wide = said.narrow.lines().filter(|line| line.width() > COLUMNS && !is_one_thing(line));
    let mut wrong: Vec<String> =
        wide.map(|line| format!("swarm {name}: {} wide: {line}", line.width())).collect();
    let odd = |line: &&str| line.matches('`').count() % 2 == 1;
    wrong.extend(
        said.narrow.lines().filter(odd).map(|line| format!("swarm {name}: a command is broken: {line}")),
    );
    let (whole, narrow) = (words(&said.whole), words(&said.narrow));
    if whole != narrow {
        let differ: Vec<&String> =
            whole.keys().chain(narrow.keys()).filter(|word| whole.get(*word) != narrow.get(*word)).collect();
        wrong.push(format!("swarm {name}: other words: {differ:?}\n{}\n{}", said.whole, said.narrow));
    }
    wrong
}

/// Titles, reasons and a goal as long as people write them.
fn wordy(arena: &Arena) {
    for id in ["1.1", "1.2", "1.3", "1.4"] {
        arena.swarm(&["task", "edit", id, "--title", TITLE, "--description", TITLE]);
    }
    arena.ok(&["task", "add", TITLE, "--depends", "1.2"]);
    arena.ok(&["task", "block", "1.3", TITLE]);
    arena.ok(&["reservations", "add", "src/**", "docs/a-rather-long-name-of-a-folder/and-one-more/**"]);
    arena.ok(&["checkpoint", "create", "before-a-rather-long-change-of-the-sessions"]);
    let plan = format!("# {TITLE}\n\n## Phase 1: {TITLE}\n- [ ] 1.1 {TITLE}\n- [ ] 1.9 {TITLE}\n");
    arena.write("other.md", &plan);
}

#[test]
fn no_command_prints_a_line_wider_than_eighty_columns_or_breaks_what_is_one_thing() {
    let arena = half_way();
    wordy(&arena);
    let leaves = leaves(&arena, vec![]);
    assert!(leaves.len() > 60, "{leaves:?}");
    let mut all_wrong = vec![];
    let mut look = |words: &[&str]| {
        let name = words.join(" ");
        all_wrong.extend(wrong(&name, &said(&arena, words)));
    };
    for leaf in &leaves {
        let name = leaf.join(" ");
        let leaf: Vec<&str> = leaf.iter().map(String::as_str).collect();
        look(&[&leaf[..], &["--help"]].concat());
        look(
            &[
                &leaf[..],
                &["--no-such-option-anywhere-in-this-program-and-not-in-any-other-one-of-this-kind"],
            ]
            .concat(),
        );
        if NOT_HERE.contains(&name.as_str()) || AS_IT_IS.iter().any(|(raw, _)| *raw == name) {
            continue;
        }
        match CHANGES.iter().find(|(command, ..)| *command == name) {
            Some((_, args, _)) => look(&[&leaf[..], args, &["--dry-run"]].concat()),
            None => {
                assert!(READS.contains(&name.as_str()), "swarm {name} is not known here");
                let args =
                    ASKED.iter().find(|(command, _)| *command == name).map_or(&[][..], |(_, args)| args);
                look(&[&leaf[..], args].concat());
            }
        }
    }
    // A look says little where there is nothing to look at: these are done, and the mistakes are made.
    for words in [
        &["help", "topics"][..],
        &["help", "plan"],
        &["help", "config"],
        &["help", "troubleshooting"],
        &["--version", "--verbose"],
        &["task", "show", "no-such-task-of-a-rather-long-name-that-nobody-would-ever-think-of-typing"],
        &["task", "start", "1.3"],
        &["task", "unblock", "1.3", "--dry-run"],
        &["task", "defer", "1.3", "--dry-run"],
        &["worktree", "cleanup", "1.2", "--dry-run"],
        &["doctor", "--verbose"],
    ] {
        look(words);
    }
    assert!(all_wrong.is_empty(), "{} mistakes:\n{}", all_wrong.len(), all_wrong.join("\n"));
}

#[test]
fn into_a_pipe_each_row_is_one_line() {
    let arena = half_way();
    wordy(&arena);
    let tasks = arena.ok(&["task", "list"]);
    assert_eq!(tasks.lines().count(), 1 + arena.tasks().len(), "{tasks}");
    assert!(tasks.lines().any(|line| line.contains(TITLE)), "{tasks}");
}
