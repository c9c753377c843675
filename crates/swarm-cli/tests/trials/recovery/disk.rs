//! F11: a disk that fills up pauses the swarm before it hurts, and the swarm goes on when there is room.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::arena::{Arena, wait_for};
use crate::ground::arena_with;

/// A small file system of its own, where the machine lets us have one.
pub struct SmallDisk {
    pub place: PathBuf,
}

impl SmallDisk {
    pub fn at(place: PathBuf) -> Option<Self> {
        Self::mounted(place, "size=64m")
    }

    fn mounted(place: PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir_all(&place).expect("a folder");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&place).output();
        mounted.is_ok_and(|out| out.status.success()).then_some(Self { place })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.place).status();
    }
}

pub fn moved_to(arena: &mut Arena, disk: &SmallDisk) {
    let there = disk.place.join("repo");
    let copied = Command::new("cp").arg("-a").arg(&arena.root).arg(&there).status().expect("cp runs");
    assert!(copied.success());
    arena.root = there;
}

/// Two tasks, of which the first waits until the file is there.
fn two_in_a_row(arena: &Arena) -> PathBuf {
    let go = arena.path("go");
    let ready = format!("write a.txt a\ncommit feat: a\nwait-for {}\ncomplete", go.display());
    arena.plan(&[("1.1", &[], ready), ("1.2", &["1.1"], "write b.txt b\ncommit feat: b\ncomplete".into())]);
    go
}

#[test]
fn a_disk_that_fills_up_pauses_the_swarm_and_room_lets_it_go_on() {
    let mut arena = arena_with(json!({ "disk": { "low": 24, "enough": 32 } }));
    let Some(disk) = SmallDisk::at(arena.path("small")) else {
        println!("not tried: this machine lets nobody mount a small disk");
        return;
    };
    moved_to(&mut arena, &disk);
    let go = two_in_a_row(&arena);
    let mut run = arena.start(&[]);
    run.until("is working");
    let ballast = disk.place.join("ballast");
    std::fs::write(&ballast, vec![1u8; 44 << 20]).expect("it still fits");
    run.until("paused: ");
    let status = arena.ok(&["status"]);
    assert!(status.contains("the disk is nearly full"), "{status}");
    assert!(arena.attention().contains("MiB are free where the repository lies"), "{}", arena.attention());
    // What runs comes to its boundary; nothing new is begun.
    std::fs::write(go, "").expect("a file");
    assert_eq!(arena.status_of("1.2"), "pending");
    std::fs::remove_file(&ballast).expect("it was there");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    wait_for("nobody is asked any more", || arena.json(&["attention"]) == json!([]));
    arena.assert_proven("1.2", "main");
    arena.assert_nothing_runs();
}

#[test]
fn a_file_system_that_takes_few_more_files_pauses_the_swarm_and_it_goes_on_after() {
    let mut arena = arena_with(json!({ "disk": { "low": 1, "enough": 2 } }));
    let Some(disk) = SmallDisk::mounted(arena.path("small"), "size=256m,nr_inodes=20000") else {
        println!("not tried: this machine lets nobody mount a small disk");
        return;
    };
    moved_to(&mut arena, &disk);
    let go = two_in_a_row(&arena);
    let mut run = arena.start(&[]);
    run.until("is working");
    let ballast = disk.place.join("ballast");
    std::fs::create_dir(&ballast).expect("a folder");
    for n in 0.. {
        let left = rustix::fs::statvfs(&disk.place).expect("a file system").f_favail;
        if left < 900 {
            break;
        }
        std::fs::write(ballast.join(n.to_string()), "").expect("it still fits");
    }
    run.until("paused: ");
    assert!(
        arena.attention().contains("more files can be created where the repository lies"),
        "{}",
        arena.attention()
    );
    std::fs::write(go, "").expect("a file");
    assert_eq!(arena.status_of("1.2"), "pending");
    std::fs::remove_dir_all(&ballast).expect("it was there");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    arena.assert_proven("1.2", "main");
    arena.assert_nothing_runs();
}
