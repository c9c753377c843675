//! A swarm that is left alone, with its time compressed: outages, used-up allowances, an expired key, a closed lid, a full disk, and
//! nobody who says a word to it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::disk::{SmallDisk, moved_to};
use crate::arena::{Arena, Running, send, wait_for};
use crate::ground::{arena_with, task};

/// Tasks that meet each kind of weather; one kind more comes with the disk.
const TASKS_EACH: usize = 8;

/// What the service says, in the words of the scripted agent.
const WEATHER: [&str; 4] = [
    "network connection refused",
    "quota resets=2 all of it is used up",
    "key the key has expired",
    "overloaded 529 for a while",
];

struct Place {
    arena: Arena,
    weather: PathBuf,
}

impl Place {
    fn gate(&self, group: usize) -> PathBuf {
        self.arena.path(&format!("go-{group}"))
    }

    /// Groups of tasks, one after the other; each waits for its weather before it asks the service.
    fn plan(&self) {
        let phase = |group: usize| -> Vec<Value> {
            let script = |id: &str| {
                format!(
                    "wait-for {}\nweather {}\nwrite {id}.txt by {id}\ncommit feat: {id}\ncomplete",
                    self.gate(group).display(),
                    self.weather.display()
                )
            };
            let id = |n: usize| format!("{}.{n}", group + 1);
            (1..=TASKS_EACH).map(|n| task(&id(n), &[], &script(&id(n)))).collect()
        };
        let groups: Vec<Vec<Value>> = (0..=WEATHER.len()).map(phase).collect();
        self.arena.plan_in_phases(&groups);
    }

    /// The weather comes while the group is at work, is told, and goes.
    fn passes(&self, group: usize) {
        std::fs::write(&self.weather, WEATHER[group]).expect("the weather");
        std::fs::write(self.gate(group), "").expect("the signal");
        let probed = self.arena.recorded("quota_probe_failed");
        self.arena.until_recorded("quota_exhausted", group + 1);
        self.arena.until_recorded("quota_probe_failed", probed + 1);
        std::fs::write(&self.weather, "").expect("the weather");
        self.arena.until_recorded("quota_restored", group + 1);
    }

    fn until_done(&self, group: usize) {
        let of_group = format!("{}.", group + 1);
        wait_for("the group is done", || {
            let tasks = self.arena.tasks();
            let mut own =
                tasks.iter().filter(|task| task["id"].as_str().is_some_and(|id| id.starts_with(&of_group)));
            own.all(|task| task["status"] == "done")
        });
    }
}

/// Everything of the swarm sleeps, as behind a closed lid, and wakes up later.
fn the_lid_is_closed(arena: &Arena) {
    let asleep: Vec<u32> =
        arena.processes().iter().filter_map(|line| line.split(' ').next()?.parse().ok()).collect();
    asleep.iter().for_each(|pid| send("STOP", *pid));
    let seen = arena.recorded("iteration");
    assert!(
        !crate::arena::holds_within(std::time::Duration::from_secs(2), || arena.recorded("iteration") > seen)
    );
    asleep.iter().for_each(|pid| send("CONT", *pid));
}

fn the_disk_is_full_for_a_while(place: &Path, run: &mut Running) {
    let ballast = place.join("ballast");
    std::fs::write(&ballast, vec![1u8; 44 << 20]).expect("it still fits");
    run.until("paused: ");
    std::fs::remove_file(&ballast).expect("it was there");
}

#[test]
fn forty_tasks_that_are_left_alone_in_bad_weather_are_done_and_a_person_is_asked_for_the_key_alone() {
    let mut arena = arena_with(json!({
        "disk": { "low": 24, "enough": 32 },
        "recovery": { "maxRetries": 0, "backoffMax": "1s", "maxCrashes": 1 },
        "quota": { "probeEvery": "1s" },
        "hooks": { "on-pause": "echo $SWARM_REASON >> ../pauses" },
    }));
    let disk = SmallDisk::at(arena.path("small"));
    match &disk {
        Some(disk) => moved_to(&mut arena, disk),
        None => println!("without a full disk: this machine lets nobody mount a small one"),
    }
    let weather = arena.path("weather");
    std::fs::write(&weather, "").expect("fine weather");
    std::fs::write(arena.root.join(".swarm/script-probe"), format!("weather {}", weather.display()))
        .expect("a file");
    let place = Place { arena, weather };
    place.plan();
    let mut run = place.arena.start(&["--agents", "4"]);
    for (group, weather) in WEATHER.iter().enumerate() {
        run.until("is working");
        place.passes(group);
        if weather.starts_with("overloaded") {
            the_lid_is_closed(&place.arena);
        }
        place.until_done(group);
    }
    if let Some(disk) = &disk {
        the_disk_is_full_for_a_while(&disk.place, &mut run);
    }
    std::fs::write(place.gate(WEATHER.len()), "").expect("the signal");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    let arena = &place.arena;
    arena.assert_all_done();
    for task in arena.tasks() {
        let id = task["id"].as_str().expect("an id");
        assert_eq!(arena.commits("main", &format!("feat: {id}")), 1, "of {id}");
        assert_eq!(arena.shown(id)["retries"], 0, "{id}");
    }
    assert_eq!(arena.recorded("agent_degraded"), 0, "{said}");
    let asked = said.lines().filter(|line| line.contains("blocked (")).count();
    assert!(asked <= 1, "asked for the key once: {said}");
    // Everything that stopped the group was told to the hook, in order.
    let pauses = std::fs::read_to_string(arena.root.join("../pauses")).unwrap_or_default();
    let of_gates: Vec<&str> = pauses.lines().filter(|line| *line != "disk").collect();
    assert_eq!(of_gates, ["service", "quota", "key", "service"], "{pauses}");
    assert_eq!(arena.json(&["attention"]), json!([]));
    arena.assert_tidy();
}
