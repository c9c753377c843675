//! Many operations by chance, with everybody held, and then all of them taken back: nothing is different from before.

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::{arena_with, scaled, task};
use crate::outside::Outside;

/// A simple generator: the same seed, the same operations.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// One of what a person could do; it may be refused.
fn operation(chance: &mut Chance, n: u64) -> Vec<String> {
    let task = ["1.1", "1.2", "1.3", "2.1", "2.2"][chance.below(5) as usize];
    let words: Vec<String> = match chance.below(13) {
        0 => vec!["task".into(), "block".into(), task.into(), "by chance".into()],
        1 => vec!["task".into(), "unblock".into(), task.into()],
        2 => vec!["task".into(), "defer".into(), task.into()],
        3 => vec!["task".into(), "cancel".into(), task.into()],
        4 | 5 => vec!["task".into(), "edit".into(), task.into(), "--title".into(), format!("Title {n}")],
        6 => vec![
            "task".into(),
            "add".into(),
            format!("More {n}"),
            "--id".into(),
            format!("x{n}"),
            "--phase".into(),
            "2".into(),
        ],
        7 => vec!["task".into(), "move".into(), task.into(), "--first".into()],
        8 => vec!["mode".into(), ["semi-auto", "autopilot"][chance.below(2) as usize].into()],
        9 => vec!["checkpoint".into(), "create".into(), format!("c{n}")],
        10 => vec!["task".into(), "rollback".into(), task.into(), "--cascade".into(), "--yes".into()],
        11 => vec![
            "plan".into(),
            "profile".into(),
            "set".into(),
            "--max".into(),
            (1 + chance.below(5)).to_string(),
        ],
        _ => vec!["rollback".into(), "the-beginning".into(), "--yes".into()],
    };
    words
}

/// Two tasks on trunk, one held at its boundary with uncommitted work, two that have not begun.
fn arena() -> Arena {
    let arena = arena_with(json!({ "checkpoints": { "keep": 2000 } }));
    arena.plan_in_phases(&[
        vec![
            task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
            task("1.2", &[], "write two.txt two\ncommit feat: two\ncomplete"),
            task("1.3", &["1.1", "1.2"], "write three.txt three\nprint half way\nsleep 300\nno-signal"),
        ],
        vec![task("2.1", &["1.3"], "complete"), task("2.2", &["2.1"], "complete")],
    ]);
    arena
}

#[test]
fn operations_by_chance_undone_in_reverse_order_leave_everything_as_it_was() {
    let arena = arena();
    let run = arena.start(&["--agents", "2"]);
    wait_for("it is half way", || arena.printed().contains("half way"));
    arena.ok(&["pause"]);
    wait_for("everybody is held", || {
        let status = arena.json(&["status"]);
        status["agents"].as_array().is_none_or(|agents| agents.iter().all(|agent| agent["held"] == true))
    });
    arena.ok(&["stop"]);
    let (code, said) = run.end();
    assert!(code == 0 || code == 1, "{said}");
    arena.ok(&["checkpoint", "create", "the-beginning"]);
    let first = Outside::of(&arena);
    let wanted = scaled(40, 1000) as usize;
    let (mut chance, mut done) = (Chance(20_261_115), Vec::new());
    for n in 0.. {
        let words = operation(&mut chance, n);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let out = arena.swarm(&words);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(matches!(out.status.code(), Some(0 | 1)), "{words:?}: {said}");
        if out.status.success() {
            let newest = arena.json(&["op", "log", "-n", "1"])[0]["id"].as_str().expect("an id").to_owned();
            if done.last().is_none_or(|(last, _)| *last != newest) {
                done.push((newest, words.join(" ")));
            }
        }
        if done.len() >= wanted {
            break;
        }
    }
    for (id, what) in done.iter().rev() {
        let out = arena.swarm(&["undo", id, "--yes"]);
        assert!(out.status.success(), "undo of {what}: {}", String::from_utf8_lossy(&out.stderr));
    }
    // What was given up with a cancelled task is back when somebody has carried out what is owed.
    arena.ok(&["checkpoint", "create", "the-end"]);
    Outside::of(&arena).assert_is(&first, "after all of it was undone");
    arena.assert_tidy();
}
