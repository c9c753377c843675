//! Everything that the command line changes can be done on the screen, and the ledger says the same of it but for who asked:
//! each command of the list is carried out in a shell, the repository is put back, and it is done once more with keys.
//!
//! Nobody works in that repository; what the list calls refused there is walked behind what makes it possible, or where
//! somebody works. What the ledger says nothing of is compared by the files that it makes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::arena::Arena;
use crate::dry_runs::{CHANGES, everything, half_way};
use crate::tmux::{EDITOR, Tmux};

/// It starts a run or an agent that plans, or belongs to the machine and not to the swarm.
const ELSEWHERE: &[&str] = &["run", "plan make", "plan refine", "doctor", "man"];

/// Those that have a key. `=` types, `~` waits until the screen says it, `1.3` selects that task.
const WITH_KEYS: &[(&str, &[&str])] = &[
    ("task edit", &["1.3", "e", "~Enter save", "Tab", "C-u", "=Other", "~> Other", "Enter"]),
    ("task block", &["1.3", "b", "~Enter block", "=waits", "~> waits", "Enter"]),
    ("task unblock", &["1.4", "u"]),
    ("task defer", &["1.3", "P"]),
    ("pause", &["Space"]),
    ("mode", &["m"]),
    ("agent message", &["1.3", "M", "~Enter send", "=look here", "~look here", "Enter"]),
    ("checkpoint create", &["c", "~Enter make", "=mine", "~> mine", "Enter"]),
    ("undo", &["z"]),
];

/// What is refused in that repository, and what has to be done before.
const AFTERWARDS: &[(&[&str], &str, &[&str])] = &[
    (&["undo", "--yes"], "redo", &[]),
    (&["pause"], "resume", &[]),
    (&["reservations", "add", "src/**"], "reservations release", &["1"]),
];

/// They change files and say nothing to the ledger.
const SILENT: &[&str] = &["hooks run", "restore"];

/// Files that are there and were not, where people look: not what git and the swarm keep for themselves.
fn made(arena: &Arena, before: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let own = [".git/", ".swarm/run/", ".swarm/state/", ".swarm/log"];
    let mut names: Vec<String> = everything(&arena.root)
        .into_keys()
        .filter(|name| !before.contains_key(name) && !own.iter().any(|dir| name.starts_with(dir)))
        .collect();
    names.iter_mut().for_each(|name| *name = nameless(&without_moments(name)));
    names.sort();
    names
}

/// The records of all ledgers below the repository, also of those that were closed.
fn records(arena: &Arena) -> Vec<Value> {
    let mut files: Vec<PathBuf> = crate::arena::files_below(&arena.root.join(".swarm"), ".jsonl");
    files.retain(|file| !file.components().any(|part| part.as_os_str() == "worktrees"));
    files.sort();
    let text = |file: &PathBuf| std::fs::read_to_string(file).unwrap_or_default();
    let all: String = files.iter().map(text).collect();
    let lines = all.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|record| record.get("seq").is_some() && record.get("type").is_some()).collect()
}

/// What was added, without what differs each time: places in the ledger, moments, ids, commits.
fn added(arena: &Arena, before: usize) -> Vec<String> {
    let mut all = records(arena);
    all.sort_by_key(|record| record["seq"].as_u64());
    all.drain(..before.min(all.len()));
    all.into_iter().map(plain).collect()
}

/// What people asked for, in the same form: operations, since what the coordinator does next may come sooner or later.
pub fn by_people(arena: &Arena) -> Vec<String> {
    let mut all = records(arena);
    all.sort_by_key(|record| record["seq"].as_u64());
    let by_person = |record: &Value| record["by"].as_str().is_some_and(|by| by.starts_with("person:"));
    all.retain(|record| record["type"] == "operation" && by_person(record));
    all.into_iter().map(plain).collect()
}

fn plain(mut record: Value) -> String {
    for name in ["len", "seq", "batch", "synced", "ts", "by", "prev", "hash", "cmd"] {
        record.as_object_mut().expect("a record").remove(name);
    }
    // Who confirms on a screen is held to what they saw, as in a terminal; `--yes` is not.
    if let Some(data) = record["data"].as_object_mut() {
        data.remove("expect");
        // The record at which a checkpoint is due.
        data.remove("seq");
        // What the file system calls the folder, which is another one each time.
        data.get_mut("policy").and_then(Value::as_object_mut).map(|policy| policy.remove("place"));
        // How long the task had taken by then, as its hook is told.
        data.get_mut("variables").and_then(Value::as_object_mut).map(|told| told.remove("DURATION"));
    }
    let text = record.to_string().replace("person:tui", "person").replace("person:cli", "person");
    without_moments(&text).split('"').map(nameless).collect::<Vec<_>>().join("\"")
}

/// Moments, as a clock or a name has them: `2026-01-13T10:00:00.000Z`, `2026-01-13T10-00-00`.
fn without_moments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("-") {
        let (start, end) = (at.saturating_sub(4), (at + 7).min(rest.len()));
        let date = rest.get(start..end).unwrap_or_default();
        let is_date = date.len() == 11 && date.starts_with("20") && date.ends_with('T');
        if !is_date {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        out.push_str(&rest[..start]);
        out.push('#');
        rest = rest[end..]
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | '-' | 'Z'));
    }
    out + rest
}

/// Names that are made anew each time.
fn nameless(word: &str) -> String {
    let is_hash = |part: &str| {
        part.len() >= 7
            && part.chars().all(|c| c.is_ascii_hexdigit())
            && part.contains(|c: char| c.is_ascii_digit())
    };
    let is_id =
        |part: &str| part.len() == 26 && part.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    let is_moment =
        |part: &str| part.len() >= 6 && part.chars().all(|c| c.is_ascii_digit() || c == 'T' || c == 'Z');
    let part = |part: &str| match part {
        part if is_id(part) || is_hash(part) || is_moment(part) => "#".to_owned(),
        part => part.to_owned(),
    };
    word.split_inclusive(|c: char| !c.is_alphanumeric())
        .map(|piece| {
            let cut = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            format!("{}{}", part(cut), &piece[cut.len()..])
        })
        .collect()
}

fn who(arena: &Arena, before: usize) -> Vec<String> {
    let mut all = records(arena);
    all.sort_by_key(|record| record["seq"].as_u64());
    let by = |record: &Value| record["by"].as_str().unwrap_or_default().to_owned();
    all.iter().skip(before).map(by).filter(|by| by.starts_with("person:")).collect()
}

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(copied.success(), "{} can be copied", from.display());
}

/// As it would be typed: what has blanks in quotes.
fn line_of(name: &str, args: &[&str]) -> String {
    let quoted = |word: &&str| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() };
    [name.to_owned()].into_iter().chain(args.iter().map(quoted)).collect::<Vec<_>>().join(" ")
}

pub fn with_keys(tmux: &Tmux, steps: &[&str]) {
    for step in steps {
        match step.split_at(1) {
            ("=", text) => tmux.type_in(text),
            ("~", text) => tmux.until_said(text),
            ("1", _) => {
                tmux.press(":");
                tmux.type_in(step);
                tmux.until_said("Enter · Esc");
                tmux.press("Enter");
                tmux.until_line(step, "it is selected", |line| line.contains('›'));
                tmux.until("its own lines are there", |screen| screen.contains(&format!("─ {step} ")));
            }
            _ => tmux.press(step),
        }
    }
}

fn typed(tmux: &Tmux, name: &str, args: &[&str]) {
    let line = line_of(name, args);
    tmux.press(":");
    tmux.until_said("Commands and tasks");
    tmux.type_in(&line);
    tmux.until_said("Enter · Esc");
    tmux.until("all of it was typed", |screen| {
        screen.contains(&format!("swarm    {}", &line[..line.len().min(24)]))
    });
    tmux.press("Enter");
    if name != "plan edit" {
        tmux.until("it was looked at to its end", |screen| {
            assert!(!screen.contains("Esc close"), "swarm {line} is refused on the screen:\n{screen}");
            if screen.contains("PgDn") {
                tmux.press("G");
            }
            screen.contains("Enter or y confirm")
        });
        tmux.press("Enter");
    }
}

/// A command of the command line, and what is done before it.
struct Walk {
    first: &'static [&'static str],
    name: &'static str,
    args: &'static [&'static str],
}

/// Carries it out in a shell, puts the repository back, and does it with keys. True when there is something to be said of it.
fn walked(arena: &Arena, kept: &Path, walk: &Walk) -> bool {
    let Walk { first, name, args } = walk;
    let put_back = || {
        copy(kept, &arena.root);
        if !first.is_empty() {
            arena.ok(first);
        }
        (records(arena).len(), everything(&arena.root))
    };
    let (before, files) = put_back();
    let words: Vec<&str> = name.split(' ').chain(args.iter().copied()).collect();
    let asks = arena.ok(&[&words[..name.split(' ').count()], &["--help"]].concat()).contains("--yes");
    let words = if asks { [&words[..], &["--yes"]].concat() } else { words };
    let mut command = arena.command(&words);
    let out = command.current_dir(&arena.root).env("EDITOR", EDITOR).output().expect("swarm runs");
    let complains = String::from_utf8_lossy(&out.stderr).into_owned();
    if complains.contains("othing would change") {
        return false;
    }
    assert!(out.status.success(), "swarm {words:?}: {complains}");
    let expected = (added(arena, before), made(arena, &files));
    let silent = SILENT.contains(name);
    if expected.0.is_empty() && !silent {
        return false;
    }
    assert!(!silent || !expected.1.is_empty(), "swarm {words:?} makes no file");
    let (before, files) = put_back();
    let tmux = Tmux::start(arena, 80, 24, &["tui"]);
    tmux.until("the plan is there", |screen| screen.contains("Do 1.3") && screen.contains("no coordinator"));
    match WITH_KEYS.iter().find(|(command, _)| command == name) {
        Some((_, steps)) => with_keys(&tmux, steps),
        None => typed(&tmux, name, args),
    }
    if silent {
        tmux.until("the files are there", |_| made(arena, &files).len() >= expected.1.len());
        drop(tmux);
        assert_eq!(made(arena, &files), expected.1, "swarm {words:?}");
        assert_eq!(added(arena, before), expected.0, "swarm {words:?}");
        return true;
    }
    tmux.until("the ledger has it", |_| added(arena, before).len() >= expected.0.len());
    drop(tmux);
    assert_eq!(added(arena, before), expected.0, "swarm {words:?}");
    let by = who(arena, before);
    assert!(!by.is_empty() && by.iter().all(|by| by == "person:tui"), "swarm {words:?}: {by:?}");
    true
}

/// Most of the time is spent waiting for screens, so several are at it at once.
const AT_ONCE: usize = 5;

/// Those of the list that this one takes; gives back how many the ledger had something to say of, and what went wrong.
fn part(from: usize) -> (usize, Vec<&'static str>) {
    let arena = half_way();
    // So that there is something to roll back.
    arena.ok(&["task", "add", "Later"]);
    let kept = arena.path("kept");
    copy(&arena.root, &kept);
    let (mut count, mut failed) = (0, Vec::new());
    let alone = CHANGES.iter().filter(|(name, _, accepted)| *accepted && !ELSEWHERE.contains(name));
    let alone = alone.map(|&(name, args, _)| Walk { first: &[], name, args });
    let after = AFTERWARDS.iter().map(|&(first, name, args)| Walk { first, name, args });
    for walk in alone.chain(after).skip(from).step_by(AT_ONCE) {
        // All that is wrong is told at once.
        let tried = std::panic::AssertUnwindSafe(|| walked(&arena, &kept, &walk));
        match std::panic::catch_unwind(tried) {
            // Not everything that changes a file is a matter of the ledger.
            Ok(recorded) => count += usize::from(recorded),
            Err(_) => failed.push(walk.name),
        }
    }
    copy(&kept, &arena.root);
    arena.is_judged();
    (count, failed)
}

#[test]
fn every_change_of_the_command_line_can_be_made_on_the_screen_and_the_ledger_says_the_same_of_it() {
    let parts: Vec<_> = (0..AT_ONCE).map(|from| std::thread::spawn(move || part(from))).collect();
    let parts: Vec<_> = parts.into_iter().map(|part| part.join().expect("it ran to its end")).collect();
    let failed: Vec<&str> = parts.iter().flat_map(|(_, failed)| failed.clone()).collect();
    assert!(failed.is_empty(), "not the same on the screen: {failed:?}");
    let count: usize = parts.iter().map(|(count, _)| count).sum();
    assert!(count >= 35, "only {count} commands were walked");
}
