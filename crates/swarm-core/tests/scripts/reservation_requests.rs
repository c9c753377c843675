//! A thousand requests for files at random, of people and of tasks, against a model that knows nothing of patterns: it asks of
//! every file of a small world who means it.

use std::collections::BTreeMap;

use swarm_core::show;
use swarm_protocol::channel::RunKind;
use swarm_protocol::reservation::Reservation;
use swarm_protocol::time::Timestamp;

use crate::script::Play;

const REQUESTS: usize = 1_000;

/// What people and tasks ask for. Any two of them that can mean the same file mean the same one in the small world.
const PATTERNS: [&str; 16] = [
    "a",
    "b/",
    "a/b",
    "a/*",
    "a/**",
    "**",
    "*.rs",
    "**/*.rs",
    "**/b.md",
    "a/*.rs",
    "a/b.md",
    "b/**/a.rs",
    "a/?.rs",
    "b/*/*.md",
    "a/b/**",
    "*/a.rs",
];

/// Every path of up to four names: folders first, a file or a folder last.
fn world() -> Vec<String> {
    let folders = ["a", "b", "c"];
    let last = ["a", "b", "c", "a.rs", "b.rs", "b.md", "c.md", "long.rs"];
    let mut open = vec![String::new()];
    let mut paths = Vec::new();
    for _ in 0..4 {
        paths.extend(open.iter().flat_map(|folder| last.iter().map(move |name| format!("{folder}{name}"))));
        open = open
            .iter()
            .flat_map(|folder| folders.iter().map(move |name| format!("{folder}{name}/")))
            .collect();
    }
    paths
}

/// Whether the pattern means the path, by trying every way to cut both.
fn means(pattern: &str, path: &str) -> bool {
    let mut names: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty()).collect();
    if pattern.ends_with('/') || !names.last().is_some_and(|name| name.contains(['.', '*'])) {
        names.push("**");
    }
    names_mean(&names, &path.split('/').collect::<Vec<_>>())
}

fn names_mean(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        [] => path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|cut| names_mean(rest, &path[cut..])),
        [name, rest @ ..] => {
            path.first().is_some_and(|first| name_means(name, first)) && names_mean(rest, &path[1..])
        }
    }
}

fn name_means(pattern: &str, name: &str) -> bool {
    match pattern.chars().next() {
        None => name.is_empty(),
        Some('*') => (0..=name.len()).any(|cut| name_means(&pattern[1..], &name[cut..])),
        Some(c) => {
            name.chars().next().is_some_and(|n| c == '?' || c == n) && name_means(&pattern[1..], &name[1..])
        }
    }
}

/// Which paths of the world each pattern means.
struct World(BTreeMap<&'static str, Vec<bool>>);

impl World {
    fn new() -> Self {
        let paths = world();
        Self(
            PATTERNS.map(|pattern| (pattern, paths.iter().map(|path| means(pattern, path)).collect())).into(),
        )
    }

    fn meet(&self, a: &[String], b: &[String]) -> bool {
        let both = |a: &String, b: &String| {
            let (a, b) = (&self.0[a.as_str()], &self.0[b.as_str()]);
            a.iter().zip(b).any(|(a, b)| *a && *b)
        };
        a.iter().any(|a| b.iter().any(|b| both(a, b)))
    }

    fn clash(&self, one: &Held, other: &Held) -> bool {
        self.meet(&one.files, &other.files)
            || self.meet(&one.files, &other.shared)
            || self.meet(&one.shared, &other.files)
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Held {
    files: Vec<String>,
    shared: Vec<String>,
    until: Timestamp,
}

impl From<&Reservation> for Held {
    fn from(one: &Reservation) -> Self {
        Self { files: one.files.clone(), shared: one.shared.clone(), until: one.until() }
    }
}

/// The same numbers every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pattern(&mut self) -> &'static str {
        PATTERNS[self.below(PATTERNS.len())]
    }
}

struct Trial {
    play: Play,
    world: World,
    dice: Dice,
    /// What people have, as the model knows it.
    people: BTreeMap<u64, Held>,
    granted: usize,
    refused: usize,
}

impl Trial {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let tasks: Vec<String> = (0..12)
            .map(|n| format!("t{n}{}{}", if dice.below(3) == 0 { '~' } else { '#' }, dice.pattern()))
            .collect();
        let mut play = Play::new();
        play.step(&format!("plan {}", tasks.join(" ")));
        play.step("slots 6");
        play.step("start");
        Self { play, world: World::new(), dice, people: BTreeMap::new(), granted: 0, refused: 0 }
    }

    fn asks(&mut self) {
        let files: Vec<String> = (0..=self.dice.below(2)).map(|_| self.dice.pattern().to_owned()).collect();
        let (is_shared, secs) = (self.dice.below(3) == 0, 1 + self.dice.below(600) as u64);
        let until = self.play.now.plus_secs(secs);
        let (own, shared) = if is_shared { (vec![], files.clone()) } else { (files.clone(), vec![]) };
        let wish = Held { files: own, shared, until };
        let renews = |held: &Held| (&held.files, &held.shared) == (&wish.files, &wish.shared) && !is_shared;
        let others = self.play.state.reservations.iter();
        let mut others = others.filter(|(number, _)| !self.people.get(number).is_some_and(renews));
        let stands = others.all(|(_, other)| !self.world.clash(&wish, &other.into()));
        let before = self.play.state.reservations.clone();
        self.play.reserve(files, is_shared, secs);
        let mut all = self.play.state.reservations.iter();
        // Tasks may have been granted some in the same decision.
        match all.find(|(number, one)| one.task.is_none() && !before.contains_key(number)) {
            Some((&number, _)) => {
                assert!(stands, "{wish:?} was granted beside {before:?}");
                self.people.retain(|_, held| !renews(held));
                self.people.insert(number, wish);
                self.granted += 1;
            }
            None => {
                assert!(!stands, "{wish:?} was refused beside {before:?}");
                assert_eq!(self.play.state.reservations, before, "a refusal changed something");
                self.refused += 1;
            }
        }
    }

    fn goes_on(&mut self) {
        let task = self.dice.below(12);
        let words = [
            "ready",
            "complete",
            "green",
            "stopped",
            "built",
            "verified",
            "published",
            "stopped",
            "removed",
            "asks",
            "crash",
            "stopped",
            "unblock",
        ];
        let word = words[self.dice.below(words.len())];
        self.play.step(&format!("{word} t{task}"));
    }

    fn one_more(&mut self) {
        match self.dice.below(10) {
            0..4 => self.asks(),
            4 => {
                let all: Vec<u64> = self.play.state.reservations.keys().copied().collect();
                if !all.is_empty() {
                    let number = all[self.dice.below(all.len())];
                    self.play.step(&format!("release {number}"));
                    self.people.remove(&number);
                }
            }
            5 => {
                let secs = 1 + self.dice.below(200);
                self.play.step(&format!("+{secs}s"));
            }
            _ => self.goes_on(),
        }
        let now = self.play.now;
        self.people.retain(|_, held| held.until > now);
        self.judge();
    }

    fn judge(&self) {
        let state = &self.play.state;
        let all: Vec<(&u64, Held)> = state.reservations.iter().map(|(n, one)| (n, one.into())).collect();
        for (at, (n, one)) in all.iter().enumerate() {
            for (m, other) in &all[at + 1..] {
                assert!(!self.world.clash(one, other), "{n} and {m} have the same files: {one:?}, {other:?}");
            }
        }
        let of_people = state.reservations.iter().filter(|(_, one)| one.task.is_none());
        let of_people: BTreeMap<u64, Held> = of_people.map(|(n, one)| (*n, one.into())).collect();
        assert_eq!(
            of_people, self.people,
            "what people have is what they were given, until its time is over"
        );
        let listed: Vec<u64> =
            show::reservations(state, self.play.now).iter().map(|one| one.number).collect();
        assert_eq!(listed, state.reservations.keys().copied().collect::<Vec<_>>());
    }
}

#[test]
fn w3_a_thousand_requests_at_random_never_give_a_file_to_two_and_refuse_nobody_without_a_reason() {
    for seed in 1..=8 {
        let mut trial = Trial::new(seed);
        let mut claimed = 0;
        for _ in 0..REQUESTS {
            trial.one_more();
            let works = trial.play.state.runs.values().filter(|run| run.kind == RunKind::Work).count();
            claimed = claimed.max(works);
        }
        let met = (trial.granted, trial.refused, claimed);
        assert!(met.0 > 40 && met.1 > 100 && claimed > 1, "too little happened: {met:?}");
    }
}
