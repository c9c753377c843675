//! The power is cut while a checkpoint is made, or on the way from one checkpoint to another.

use std::time::Duration;

use serde_json::json;

use super::cuts::{DISK_MB, all_die};
use crate::arena::{Arena, Running, wait_for};
use crate::ground::task;
use crate::loop_disk::{Kind, LoopDisk};
use crate::outside::Outside;
use crate::seeded::Seeded;

/// The checkpoints between which it goes back and forth: one task is on trunk, or two, and a third one half way.
const ENDS: [&str; 2] = ["early", "late"];

/// Longer than most of these commands take.
const WITHIN_MS: u64 = 900;

const HALF_WAY: &str = "write committed.txt half\ncommit feat: half\nsh head -c 3000 /dev/urandom > three.bin\n\
                        print half way\nno-signal";

pub struct Ways {
    // Before the disk: its folder lies on it.
    arena: Arena,
    disk: LoopDisk,
    chance: Seeded,
    /// How everything is at each of the ends.
    seen: [Outside; 2],
    at: usize,
}

impl Ways {
    pub fn new(kind: Kind) -> Self {
        let disk = LoopDisk::new(kind, DISK_MB);
        let config = json!({
            "mode": "autopilot",
            "recovery": { "maxRetries": 2, "backoffMax": "1s" },
            "stop": { "grace": "1s", "drain": "1s" },
        });
        let place = tempfile::tempdir_in(disk.mount_point()).expect("a folder");
        let arena = Arena::inside(place, &config.to_string());
        arena.plan_in_phases(&[vec![
            task("1.1", &[], "write one.txt one\ncommit feat: one\ncomplete"),
            task("1.2", &["1.1"], "write two.txt two\ncommit feat: two\ncomplete"),
            task("1.3", &["1.2"], HALF_WAY),
        ]]);
        let run = arena.start(&["--agents", "1"]);
        wait_for("it is half way", || arena.printed().contains("half way"));
        arena.ok(&["pause"]);
        wait_for("it is held", || arena.json(&["status"])["agents"][0]["held"] == true);
        arena.ok(&["stop"]);
        run.end();
        arena.ok(&["checkpoint", "create", "late"]);
        let late = Outside::of(&arena);
        arena.ok(&["rollback", "before-merge-1.2", "--yes"]);
        arena.ok(&["checkpoint", "create", "early"]);
        let early = Outside::of(&arena);
        let _ = std::process::Command::new("sync").status();
        Self { arena, disk, chance: Seeded::new(11), seen: [early, late], at: 0 }
    }

    /// A command, the power cut in its middle or right after its answer, a look at what came back, and the same again.
    pub fn one_more(&mut self, cut: u64) {
        let name = format!("cut-{cut}");
        let to = if self.chance.below(3) == 0 { self.at } else { 1 - self.at };
        let command = match to == self.at {
            true => ["checkpoint", "create", name.as_str()],
            false => ["rollback", ENDS[to], "--yes"],
        };
        let mut run = Running::of(self.arena.command(&command));
        let ended = run.for_a_while(Duration::from_millis(self.chance.between(0, WITHIN_MS)));
        let answered = ended && run.child.wait().is_ok_and(|status| status.success());
        self.disk.cut();
        all_die(&self.arena);
        let _ = run.child.wait();
        self.disk.come_back();
        let what = format!("cut {cut} of {command:?}, answered: {answered}");
        let there = self.whole_checkpoints();
        if answered {
            assert!(to != self.at || there.contains(&name), "{what}: {there:?}");
            Outside::of(&self.arena).assert_is(&self.seen[to], &what);
        }
        self.go_on(to, &name, &what);
    }

    /// What the cut broke off is finished, or done anew, by whoever comes next.
    fn go_on(&mut self, to: usize, name: &str, what: &str) {
        if to == self.at {
            self.arena.ok(&["checkpoint", "create", &format!("{name}-again")]);
        } else {
            // What the cut tore in the checkout is a change of the person's to git, and goes to a ref.
            let out = self.arena.swarm(&["rollback", ENDS[to], "--save-local", "--yes"]);
            let said = String::from_utf8_lossy(&out.stderr);
            // What was finished first leaves nothing to do, and that is said.
            let finished = said.contains("Finishing an interrupted operation first")
                && said.contains("the state is already as requested");
            assert!(out.status.success() || finished, "{what}, and once more: {said}");
        }
        Outside::of(&self.arena).assert_is(&self.seen[to], &format!("{what}, and gone on"));
        self.at = to;
    }

    /// The checkpoints that there are by the ledger: everything that they name can be read.
    fn whole_checkpoints(&self) -> Vec<String> {
        self.arena.git(&["log", "--patch", "--format=%H %T", "main"]);
        let listed = self.arena.json(&["checkpoint", "list"]);
        let mut names = Vec::new();
        for checkpoint in listed.as_array().expect("a list") {
            let trunk = checkpoint["trunk"].as_str().unwrap_or_else(|| panic!("no trunk: {checkpoint}"));
            let of_tasks =
                ["tips", "dirty"].iter().filter_map(|part| checkpoint[*part].as_object()).flatten();
            for oid in of_tasks.filter_map(|(_, oid)| oid.as_str()).chain([trunk]) {
                self.arena.git(&["rev-list", "--quiet", "--verify-objects", oid]);
            }
            names.push(checkpoint["name"].as_str().expect("a name").to_owned());
        }
        assert!(ENDS.iter().all(|end| names.iter().any(|name| name == end)), "{names:?}");
        names
    }

    /// In the light again both ends can be gone to.
    pub fn end(mut self) {
        for _ in ENDS {
            let to = 1 - self.at;
            self.go_on(to, "", "there is power");
        }
        self.arena.ok(&["plan", "verify"]);
        self.arena.assert_nothing_runs();
        self.arena.is_judged();
    }
}
