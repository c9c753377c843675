//! A file of git rots or goes while a swarm is idle, works, merges or stops: in the person's repository, and in the one that an
//! agent commits to. Every command answers within seconds and says what is wrong, a stop comes to its end, nobody is blamed,
//! nothing goes; and once the person has the file back everything comes to its end.
//!
//! One place for each moment and a few more; `SWARM_TRIALS=full` takes every place at every moment, both ways.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::arena::{Arena, Running, files_below, wait_for};
use crate::at_once::all_play;
use crate::ground::scaled;

const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// With a daemon in between that tries to save what it cannot.
const END_WITHIN: Duration = Duration::from_secs(40);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Head,
    Config,
    Index,
    Trunk,
    Commit,
    Tree,
    File,
    Pack,
    PackIndex,
    PackedRefs,
    /// Of the task, in the person's repository.
    Branch,
    /// Of the agent's own repository.
    OwnHead,
    OwnIndex,
    OwnObject,
}

const PLACES: &[Place] = &[
    Place::Head,
    Place::Config,
    Place::Index,
    Place::Trunk,
    Place::Commit,
    Place::Tree,
    Place::File,
    Place::Pack,
    Place::PackIndex,
    Place::PackedRefs,
    Place::Branch,
    Place::OwnHead,
    Place::OwnIndex,
    Place::OwnObject,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Idle,
    Working,
    Merging,
    Stopping,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    Rots,
    Goes,
}

type Case = (Place, When, Damage);

/// Tried in every run.
const FEW: &[Case] = &[
    (Place::Head, When::Working, Damage::Rots),
    (Place::Tree, When::Working, Damage::Rots),
    (Place::Config, When::Idle, Damage::Rots),
    (Place::Index, When::Stopping, Damage::Rots),
    (Place::Trunk, When::Merging, Damage::Rots),
    (Place::OwnHead, When::Working, Damage::Goes),
];

fn all() -> Vec<Case> {
    let whens = [When::Idle, When::Working, When::Merging, When::Stopping];
    let places = PLACES.iter().flat_map(|place| whens.map(|when| (*place, when)));
    // The agent's own repository is there while an agent works.
    let there = places.filter(|(place, when)| {
        let is_of_agent =
            matches!(place, Place::OwnHead | Place::OwnIndex | Place::OwnObject | Place::Branch);
        !is_of_agent || matches!(when, When::Working | When::Stopping)
    });
    there.flat_map(|(place, when)| [Damage::Rots, Damage::Goes].map(|damage| (place, when, damage))).collect()
}

struct Scene {
    arena: Arena,
    go: PathBuf,
    hold: PathBuf,
}

impl Scene {
    fn new(place: Place) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (go, hold) = (dir.path().join("go"), dir.path().join("hold"));
        let verify = format!("while test -e {}; do sleep 0.1; done", hold.display());
        let config = json!({
            "mode": "autopilot",
            "verify": { "commands": [verify] },
            "recovery": { "maxRetries": 2, "backoffMax": "1s" },
            "stop": { "grace": "1s", "drain": "1s" },
            "disk": { "low": 64, "enough": 96 },
        });
        let arena = Arena::inside(dir, &config.to_string());
        arena.write("lib/one.txt", &"one\n".repeat(50));
        arena.git(&["add", "lib"]);
        arena.git(&["commit", "--quiet", "--message", "lib"]);
        if matches!(place, Place::Pack | Place::PackIndex | Place::PackedRefs) {
            arena.git(&["repack", "-a", "-d", "--quiet"]);
            arena.git(&["pack-refs", "--all"]);
        }
        let first = format!(
            "write work/a.txt a\ncommit feat: a\nwait-for {}\nwrite work/b.txt b\ncommit feat: b\ncomplete",
            go.display()
        );
        let second = "write work/c.txt c\ncommit feat: c\ncomplete".to_owned();
        arena.plan(&[("1.1", &[], first), ("1.2", &["1.1"], second)]);
        Self { arena, go, hold }
    }

    fn file_of(&self, place: Place) -> PathBuf {
        let git = self.arena.root.join(".git");
        let own = self.arena.root.join(".swarm/worktrees/.git-of/1.1");
        let packed = |ending: &str| files_below(&git.join("objects/pack"), ending).remove(0);
        match place {
            Place::Head => git.join("HEAD"),
            Place::Config => git.join("config"),
            Place::Index => git.join("index"),
            Place::Trunk => git.join("refs/heads/main"),
            Place::Commit => self.object("main"),
            Place::Tree => self.object("main^{tree}"),
            Place::File => self.object("main:lib/one.txt"),
            Place::Pack => packed(".pack"),
            Place::PackIndex => packed(".idx"),
            Place::PackedRefs => git.join("packed-refs"),
            Place::Branch => git.join("refs/heads/swarm/1.1"),
            Place::OwnHead => own.join("HEAD"),
            Place::OwnIndex => own.join("index"),
            Place::OwnObject => files_below(&own.join("objects"), "")
                .into_iter()
                .find(|file| {
                    file.parent().is_some_and(|dir| dir.file_name().is_some_and(|name| name.len() == 2))
                })
                .expect("the agent has committed"),
        }
    }

    fn object(&self, name: &str) -> PathBuf {
        let oid = self.arena.git(&["rev-parse", name]);
        let (folder, file) = oid.trim().split_at(2);
        self.arena.root.join(".git/objects").join(folder).join(file)
    }

    fn reach(&self, when: When) -> (Running, Option<Running>) {
        match when {
            When::Idle => drop(self.arena.ok(&["pause"])),
            When::Merging => std::fs::write(&self.hold, "").expect("a file"),
            When::Working | When::Stopping => {}
        }
        let mut run = self.arena.start(&["--agents", "2"]);
        if when == When::Idle {
            run.until("started (epoch");
            return (run, None);
        }
        wait_for("the agent has committed", || self.arena.committed().contains("feat: a"));
        if when == When::Merging {
            std::fs::write(&self.go, "").expect("a file");
            wait_for("its work is verified", || self.arena.records("verification_started") > 0);
        }
        let stop = (when == When::Stopping).then(|| {
            let stop = Running::of(self.arena.command(&["stop"]));
            run.until("stopping");
            stop
        });
        (run, stop)
    }

    /// Whatever it was about to do it tries now.
    fn go_on(&self, when: When) {
        std::fs::write(&self.go, "").expect("a file");
        let _ = std::fs::remove_file(&self.hold);
        if when == When::Idle {
            self.arena.swarm(&["resume"]);
        }
    }

    fn answers(&self, command: &str) -> (Option<i32>, String) {
        let began = Instant::now();
        let out = self.arena.swarm(&[command]);
        let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        assert!(began.elapsed() < ANSWER_WITHIN, "{command} took {:?}: {said}", began.elapsed());
        assert!(!said.contains("git init"), "there is a repository: {said}");
        (out.status.code(), said)
    }

    fn play(&self, (place, when, damage): Case) {
        let (mut run, stop) = self.reach(when);
        let file = self.file_of(place);
        let good = std::fs::read(&file).expect("it is there");
        let bad = hit(&file, damage);
        self.go_on(when);
        run.for_a_while(Duration::from_secs(2));
        for command in ["status", "attention"] {
            let (code, said) = self.answers(command);
            assert_eq!(code, Some(0), "{command}: {said}");
        }
        let (code, found) = self.answers("doctor");
        // What belongs to an agent is made again when it is needed, or is gone with its task.
        let is_told = bad.is_none_or(|bad| std::fs::read(&file).is_ok_and(|now| now == bad));
        if is_told && !matches!(place, Place::OwnHead | Place::OwnIndex | Place::OwnObject | Place::Branch) {
            assert_eq!(code, Some(1), "the doctor finds nothing: {found}");
        }
        match stop {
            Some(mut stop) => assert!(stop.for_a_while(END_WITHIN), "the stop does not end: {}", run.said()),
            None => {
                let (code, said) = self.answers("stop");
                assert!(matches!(code, Some(0 | 4)), "stop: {said}");
            }
        }
        assert!(run.for_a_while(END_WITHIN), "the run does not end: {:?}", self.arena.processes());
        let (_, said) = run.end();
        put_back(&file, &good, place);
        self.comes_to_its_end(&format!("{said}\n{found}"));
    }

    /// With the file back: the person says of what waits for them that it is to go on.
    fn comes_to_its_end(&self, before: &str) {
        let mut said = before.to_owned();
        for _ in 0..3 {
            for reason in [&["resume"][..], &["resume", "--reason", "setup"]] {
                self.arena.swarm(reason);
            }
            for task in self.arena.tasks() {
                if matches!(task["status"].as_str(), Some("blocked" | "failed" | "timeout")) {
                    self.arena.ok(&["task", "unblock", task["id"].as_str().expect("an id")]);
                }
            }
            let mut run = self.arena.start(&["--agents", "2"]);
            if !run.for_a_while(END_WITHIN) {
                self.arena.ok(&["stop"]);
            }
            said += &run.end().1;
            if self.arena.tasks().iter().all(|task| task["status"] == "done") {
                break;
            }
        }
        assert!(self.arena.tasks().iter().all(|task| task["status"] == "done"), "{said}");
        for file in ["a", "b", "c"] {
            let commits = self.arena.git(&["log", "--format=%h", "main", "--", &format!("work/{file}.txt")]);
            assert_eq!(commits.lines().count(), 1, "{file} is on trunk once: {said}");
        }
        for blame in ["may not do", "out of service"] {
            assert!(!said.contains(blame), "{blame}: a disk that rots is nobody's fault: {said}");
        }
        let status = self.arena.git(&["status", "--porcelain", "--untracked-files=no"]);
        assert_eq!(status, "", "the person's checkout: {said}");
        self.arena.assert_tidy();
    }
}

/// What is left of it; none where it has gone.
fn hit(file: &Path, damage: Damage) -> Option<Vec<u8>> {
    let mut bytes = std::fs::read(file).expect("it is there");
    // Objects cannot be written to, but they can be replaced.
    std::fs::remove_file(file).expect("removed");
    if damage == Damage::Goes {
        return None;
    }
    let middle = bytes.len() / 2;
    bytes[0] ^= 1;
    bytes[middle] ^= 0x10;
    std::fs::write(file, &bytes).expect("written");
    Some(bytes)
}

/// What the swarm has made again itself stays: an index, a branch, the agent's own repository.
fn put_back(file: &Path, good: &[u8], place: Place) {
    let is_of_agent = matches!(place, Place::OwnHead | Place::OwnIndex | Place::OwnObject | Place::Branch);
    if is_of_agent {
        return;
    }
    let _ = std::fs::remove_file(file);
    std::fs::write(file, good).expect("the person has it back");
}

#[test]
fn a_file_of_git_that_rots_or_goes_is_told_and_with_it_back_everything_ends() {
    let cases = if scaled(0, 1) > 0 { all() } else { FEW.to_vec() };
    all_play(&cases, 4, |case| Scene::new(case.0).play(*case));
}

#[test]
fn whoever_waits_for_a_damaged_repository_waits_no_longer_than_a_person_does() {
    // The commands alone, without a swarm at work: they are asked of a repository that git calls none.
    let scene = Scene::new(Place::Head);
    let head = scene.file_of(Place::Head);
    let good = std::fs::read(&head).expect("it is there");
    // Git itself takes it for a branch without a commit.
    std::fs::write(&head, b"ref: refs/he\0ds/main\n").expect("written");
    let (code, said) = scene.answers("status");
    assert!(code == Some(0) && said.contains("0 of 2 done"), "{said}");
    for bad in [&b"rff: refs/heads/main\n"[..], b"", b"\0\0\0\0"] {
        std::fs::write(&head, bad).expect("written");
        let (code, said) = scene.answers("status");
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("git cannot read the repository") && said.contains("0 of 2 done"), "{said}");
        let (code, said) = scene.answers("doctor");
        assert!(code == Some(1) && said.contains("HEAD has to say"), "{said}");
        let (code, said) = scene.answers("run");
        assert!(code == Some(3) && said.contains("HEAD has to say"), "{said}");
    }
    std::fs::write(&head, good).expect("mended");
    let (_, said) = scene.answers("doctor");
    assert!(!said.contains("git cannot read the repository"), "mended: {said}");
    let (code, said) = scene.answers("status");
    assert!(code == Some(0) && !said.contains("git cannot read"), "{said}");
    scene.arena.is_judged();
}
