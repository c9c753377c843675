//! Disks that take nothing more: the answer is an error, the ledger stays what it was, and it goes on when there is room.

mod world;

use std::os::unix::fs::PermissionsExt;

use world::World;

const PLAN: &str = "# Goal\n\n- [ ] 1.1 One\n";

fn planned() -> World {
    let world = World::new();
    world.file("plan.md", PLAN);
    world.swarm(&["plan", "save", "plan.md"]).good();
    world
}

#[test]
fn a_read_only_ledger_can_be_read_and_says_so_when_written() {
    let world = planned();
    let before = std::fs::read(world.ledger()).expect("a ledger");
    let mut files = vec![world.repo.join(".swarm")];
    while let Some(path) = files.pop() {
        let mode = if path.is_dir() { 0o555 } else { 0o444 };
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).expect("a folder").flatten().map(|entry| entry.path()));
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("closed");
    }
    let read = world.without_rights(&["task", "list"]);
    assert!(read.clone().good().contains("One"), "{}", read.err);
    let written = world.without_rights(&["task", "add", "Two"]);
    assert_eq!(written.code, Some(3), "{}{}", written.out, written.err);
    assert!(written.err.contains("Error: ") && written.err.contains("Hint: "), "{}", written.err);
    assert_eq!(std::fs::read(world.ledger()).expect("a ledger"), before);
}

/// A limit on the size of files, as a full disk gives: the write fails in the middle.
#[test]
fn a_ledger_that_finds_no_room_keeps_every_byte_and_goes_on_later() {
    let world = planned();
    let before = std::fs::read(world.ledger()).expect("a ledger");
    let limit = before.len() / 1024 + 1;
    let title = "x".repeat(450);
    let mut full = None;
    for n in 0..40 {
        // ulimit -f counts in blocks of 1024 bytes (sh: 512); the signal of the limit is ignored, so writes fail.
        let line =
            format!("trap '' XFSZ; ulimit -f {}; exec swarm task add {title} --id t{n}", (limit + 2) * 2);
        let ran = world.shell(&line);
        if ran.code != Some(0) {
            full = Some(ran);
            break;
        }
    }
    let full = full.expect("the limit is met");
    assert_eq!(full.code, Some(3), "{}{}", full.out, full.err);
    assert!(full.err.contains("Error: "), "{}", full.err);
    assert!(std::fs::read(world.ledger()).expect("a ledger").starts_with(&before));
    world.swarm(&["plan", "verify"]).good();
    world.swarm(&["task", "add", "There is room again", "--id", "room"]).good();
    world.swarm(&["plan", "verify"]).good();
}
