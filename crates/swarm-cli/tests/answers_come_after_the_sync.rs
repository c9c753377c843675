//! Nothing is said on stdout before the disk has it.

mod tracing;
mod world;

use tracing::{require_strace, trace};
use world::World;

/// The last sync of the ledger comes after the last write to it and before the first word of the answer.
fn check(world: &World, args: &[&str]) {
    let traced = trace(world, args);
    assert_eq!(traced.ran.code, Some(0), "{args:?}: {}", traced.ran.err);
    let last = |wanted: &dyn Fn(&str) -> bool| traced.lines.iter().rposition(|line| wanted(line));
    // The ledger itself; its second copy under .git has no sync of its own.
    let ledger = |line: &str| line.contains("/.swarm/plan-ledger.jsonl") || line.contains("/.swarm/archive/");
    let writes = ["write(", "pwrite64(", "writev(", "pwritev(", "pwritev2("];
    let written = last(&|line| ledger(line) && writes.iter().any(|call| line.contains(call)));
    let synced = last(&|line| ledger(line) && (line.contains("fdatasync(") || line.contains("fsync(")));
    let answered = traced.lines.iter().position(|line| line.contains(" write(1<"));
    let (written, synced, answered) = (
        written.unwrap_or_else(|| panic!("{args:?} wrote to the ledger:\n{}", traced.lines.join("\n"))),
        synced.unwrap_or_else(|| panic!("{args:?} synced the ledger")),
        answered.unwrap_or_else(|| panic!("{args:?} said something")),
    );
    assert!(written < synced, "{args:?}: the sync comes after the write");
    assert!(
        synced < answered,
        "{args:?}: the answer comes after the sync:\n{}",
        traced.lines[written..=answered].join("\n")
    );
}

#[test]
fn each_answer_comes_after_the_sync_of_the_ledger() {
    require_strace();
    let world = World::new();
    world.file("plan.md", "# Goal\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n");
    let commands: &[&[&str]] = &[
        &["plan", "save", "plan.md"],
        &["plan", "approve"],
        &["task", "add", "Three", "--id", "three"],
        &["task", "block", "1.1", "waits"],
        &["task", "unblock", "1.1"],
        &["task", "move", "1.2", "--first"],
        &["plan", "profile", "set", "--parallel", "true", "--max", "2"],
        &["plan", "export"],
        &["pause"],
        &["resume"],
        &["plan", "reset"],
        &["close", "--yes"],
    ];
    for args in commands {
        check(&world, args);
    }
}
