//! F7: a task that is too large for one context is tried once more with less, and then split.

use serde_json::json;

use super::hurried;
use crate::arena::wait_for;

const TOO_LARGE: &str = "on-attempt 1: write half.txt half\non-attempt 1: commit feat: half\n\
    on-attempt 1: write more.txt more\nfail overflow the context is full";

#[test]
fn a_task_that_overflows_twice_is_split_and_done_when_its_parts_are() {
    let arena = hurried(json!({}));
    arena.plan(&[
        ("1.1", &[], TOO_LARGE.into()),
        ("1.2", &["1.1"], "write after.txt after\ncommit feat: after\ncomplete".into()),
    ]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["attempts"], &view["block"]), (&json!(2), &json!("overflow")), "{view}");
    assert!(arena.waits_for_a_person().contains("swarm task split 1.1"), "{}", arena.waits_for_a_person());
    // Mistakes are told with what is wrong, and change nothing.
    let empty = arena.path("empty.json");
    std::fs::write(&empty, "[]").expect("a file");
    arena.refused(&["task", "split", "1.1", empty.to_str().expect("text")]);
    arena.refused(&["task", "split", "1.1", "no-such-file.json"]);
    let script = |lines: &str| format!("```script\n{lines}\n```");
    let parts = json!([
        { "title": "First", "description": script("sh test -f more.txt\nwrite one.txt one\ncommit feat: one\ncomplete") },
        { "title": "Second", "description": script("sh test -f one.txt\nwrite two.txt two\ncommit feat: two\ncomplete") },
    ]);
    let file = arena.path("parts.json");
    std::fs::write(&file, parts.to_string()).expect("a file");
    let answer = arena.ok(&["task", "split", "1.1", file.to_str().expect("text")]);
    assert!(answer.contains("1.1-1, 1.1-2"), "{answer}");
    assert_eq!(arena.shown("1.1")["parts"], json!(["1.1-1", "1.1-2"]));
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    arena.assert_all_done();
    let files = arena.git(&["ls-tree", "--name-only", "main"]);
    for name in ["half.txt", "more.txt", "one.txt", "two.txt", "after.txt"] {
        assert!(
            files.contains(name),
            "{name} is missing, the first part goes on from what was there: {files}"
        );
    }
    assert_eq!(arena.commits("main", "feat: half"), 1);
    assert_eq!(arena.json(&["attention"]), json!([]));
    arena.assert_tidy();
}

/// The files that the whole had not committed are put into the worktree of the first part one by one, by slow filters of git.
#[test]
fn a_stop_while_the_first_part_takes_up_what_was_not_committed_leaves_it_none_of_it_or_all() {
    let arena = hurried(json!({}));
    arena.write(".gitattributes", "*.txt filter=slow\n");
    arena.git(&["add", ".gitattributes"]);
    arena.git(&["commit", "--quiet", "--message", "filters"]);
    let writes: String = (1..=9).map(|n| format!("on-attempt 1: write {n}.txt text\n")).collect();
    arena.plan(&[("1.1", &[], format!("{writes}fail overflow the context is full"))]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 1, "{said}");
    let script = |lines: &str| format!("```script\n{lines}\n```");
    let all = (1..=9).map(|n| format!("test -f {n}.txt")).collect::<Vec<_>>().join(" && ");
    let parts = json!([
        { "title": "First", "description": script(&format!("sh {all}\ncommit feat: one\ncomplete")) },
        { "title": "Second", "description": script("write b.md b\ncommit feat: two\ncomplete") },
    ]);
    let file = arena.path("parts.json");
    std::fs::write(&file, parts.to_string()).expect("a file");
    arena.ok(&["task", "split", "1.1", file.to_str().expect("text")]);
    // Behind its walls it can make no file for us: it is seen by what it runs.
    let sleeps = format!("sleep 300.{}", std::process::id());
    arena.git(&["config", "filter.slow.smudge", &format!("case %f in 5.txt) {sleeps};; esac; cat")]);
    let run = arena.start(&[]);
    wait_for("git asks the filter", || {
        let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
        let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.any(|line| String::from_utf8_lossy(&line).replace('\0', " ").trim_end() == sleeps)
    });
    arena.ok(&["stop"]);
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    arena.git(&["config", "--unset", "filter.slow.smudge"]);
    let (code, said) = arena.run(&[]);
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    arena.assert_all_done();
    let files = arena.git(&["ls-tree", "--name-only", "main"]);
    assert!((1..=9).all(|n| files.contains(&format!("{n}.txt"))), "{files}");
}
