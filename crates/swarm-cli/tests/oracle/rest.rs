//! Going on until nothing more happens: whatever the swarm asks a person for is answered with the commands that it offers.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{Arena, Running};

/// What happened on the way to rest.
#[derive(Debug, Default)]
pub struct Rested {
    /// Commands and answers, in order.
    pub said: String,
    /// Ends that no weather excuses.
    pub wrong: Vec<String>,
    /// Whether a command was used wrongly or ended in a panic: then nothing has gone on at all.
    pub misused: bool,
    run_max: Duration,
}

/// Far longer than any of these runs takes.
const RUN_MAX: Duration = Duration::from_secs(60);

/// Between two looks at a run that has not ended: at first, and at most.
const LOOK_EVERY: Duration = Duration::from_millis(400);
const LOOK_EVERY_MAX: Duration = Duration::from_millis(1_600);

/// Rounds of answers. What is asked again and again is not answered for ever.
const ROUNDS: usize = 4;

/// Commands that an entry of the attention list may offer and that only show something, or that need words of a person.
const NOT_TRIED: [&str; 8] = ["show", "logs", "list", "status", "doctor", "edit", "debug", "cancel"];

/// Scripts that never get anywhere are tried a few times instead of hours: what is asked here is how it stands in the end.
pub fn give_up_soon(arena: &Arena) {
    let file = arena.root.join(".swarm/config.json");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let mut config: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
    let Some(keys) = config.as_object_mut() else { return };
    keys.insert("maxIterations".into(), json!(2));
    keys.insert("stall".into(), json!("5s"));
    keys.insert("maxTaskDuration".into(), json!("2s"));
    keys.insert("stop".into(), json!({ "grace": "1s", "drain": "1s" }));
    keys.insert(
        "recovery".into(),
        json!({ "maxRetries": 0, "maxCrashes": 1, "maxTransient": 1, "backoffMax": "1s" }),
    );
    std::fs::write(&file, config.to_string()).expect("the configuration");
}

/// What scripts wait for comes.
pub fn let_go(arena: &Arena, scripts: &[&str]) {
    let lines = scripts.iter().flat_map(|script| script.lines());
    let awaited = lines.filter_map(|line| line.trim().rsplit_once("wait-for ").map(|(_, file)| file.trim()));
    for file in awaited.filter(|file| Path::new(file).starts_with(arena.path(""))) {
        let _ = std::fs::write(file, "");
    }
}

/// Answers everything that waits for a person, and runs until nothing more happens.
pub fn go_on(arena: &Arena) -> Rested {
    go_on_within(arena, RUN_MAX, ROUNDS)
}

/// The same for at most so many runs, each for at most so long.
pub fn go_on_within(arena: &Arena, run_max: Duration, rounds: usize) -> Rested {
    let mut rested = Rested { run_max, ..Rested::default() };
    rested.ask(arena, &["mode", "autopilot"]);
    for round in 0..rounds {
        rested.end_pauses(arena);
        rested.start_withheld(arena);
        let answered = if round == 0 { 0 } else { rested.answer(arena) };
        if round > 0 && answered == 0 {
            break;
        }
        rested.run(arena, &["--mode", "autopilot"]);
        if !rested.wrong.is_empty() {
            break;
        }
    }
    rested
}

impl Rested {
    /// One command; a refusal is an answer, a bug is not.
    fn ask(&mut self, arena: &Arena, args: &[&str]) -> i32 {
        let out = arena.swarm(args);
        let code = out.status.code().unwrap_or(-1);
        let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
        // At a terminal a person would be asked.
        if code == 2 && said.contains("--yes") && !args.contains(&"--yes") {
            return self.ask(arena, &[args, &["--yes"]].concat());
        }
        self.said.push_str(&format!("$ swarm {}\n{said}", args.join(" ")));
        self.misused |= is_misuse(code);
        if is_wrong(code) {
            self.wrong.push(format!("swarm {}: exit {code}: {said}", args.join(" ")));
        }
        code
    }

    /// Tasks whose agent a person stopped wait for a word, in every mode.
    fn start_withheld(&mut self, arena: &Arena) {
        let out = arena.swarm(&["task", "list", "--json"]);
        let tasks: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        for task in tasks.as_array().into_iter().flatten() {
            if task["stage"].as_str().is_some_and(|stage| stage.contains("swarm task start"))
                && let Some(id) = task["id"].as_str()
            {
                self.ask(arena, &["task", "start", id]);
            }
        }
    }

    /// A run waits for whoever is to review.
    fn approve_reviews(&mut self, arena: &Arena) {
        let out = arena.swarm(&["review", "list", "--json"]);
        let reviews: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        let of_people = reviews.as_array().into_iter().flatten().filter(|one| one["reviewer"] == "human");
        for id in of_people.filter_map(|one| one["task"].as_str()) {
            self.ask(arena, &["review", "approve", id]);
        }
    }

    /// What keeps a run from ending is answered; whether there was anything.
    fn answer_the_run(&mut self, arena: &Arena) -> bool {
        let status = status(arena);
        let paused = status["paused"].as_array().is_some_and(|reasons| !reasons.is_empty());
        let review = status["attention"].to_string().contains("review");
        if (!paused && !review) || all_closed(arena) {
            return false;
        }
        self.end_pauses(arena);
        self.approve_reviews(arena);
        true
    }

    fn end_pauses(&mut self, arena: &Arena) {
        let status = status(arena);
        for reason in status["paused"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.ask(arena, &["resume", "--reason", reason]);
        }
    }

    /// Commands offered for what waits, each once; how many were done.
    fn answer(&mut self, arena: &Arena) -> usize {
        let mut done = BTreeSet::new();
        for entry in waiting(arena) {
            // The answer to another entry may have been one to this as well.
            if !waiting(arena).iter().any(|now| now["what"] == entry["what"]) {
                continue;
            }
            for command in entry["commands"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                let words: Vec<&str> = command.split_whitespace().skip(1).collect();
                let is_tried = command.starts_with("swarm ")
                    && !words.iter().any(|word| NOT_TRIED.contains(word) || word.contains(['<', '"', '\'']))
                    && words.iter().all(|word| !word.chars().all(|c| c.is_ascii_uppercase()));
                if !is_tried || !done.insert(command.to_owned()) {
                    continue;
                }
                let code = match words.first() {
                    Some(&"run") => self.run(arena, &words[1..]),
                    _ => self.ask(arena, &words),
                };
                // The first that helps is enough.
                if code == 0 {
                    break;
                }
            }
        }
        done.len()
    }

    /// A run to its end, within the limit. A pause that comes up meanwhile waits for a person, so it is ended.
    fn run(&mut self, arena: &Arena, args: &[&str]) -> i32 {
        let mut all = vec!["run", "--agent", "script"];
        all.extend(args);
        let mut run = Running::of(arena.command(&all));
        let (began, mut pause) = (Instant::now(), LOOK_EVERY);
        let ended = loop {
            if run.for_a_while(pause) {
                break true;
            }
            if began.elapsed() > self.run_max {
                run.kill_9();
                break false;
            }
            pause = match self.answer_the_run(arena) {
                true => LOOK_EVERY,
                false => (pause * 2).min(LOOK_EVERY_MAX),
            };
        };
        let (code, said) = run.end();
        self.misused |= is_misuse(code);
        self.said.push_str(&format!("$ swarm {}\n{said}\n", all.join(" ")));
        if !ended {
            self.wrong.push(format!("swarm {} does not end", all.join(" ")));
        } else if is_wrong(code) {
            self.wrong.push(format!("swarm {}: exit {code}", all.join(" ")));
        }
        code
    }
}

fn status(arena: &Arena) -> Value {
    let out = arena.swarm(&["status", "--json"]);
    serde_json::from_slice(&out.stdout).unwrap_or_default()
}

/// What waits for a person now.
fn waiting(arena: &Arena) -> Vec<Value> {
    let out = arena.swarm(&["attention", "--json"]);
    serde_json::from_slice(&out.stdout).unwrap_or_default()
}

/// With nothing left to do a run ends, paused or not.
fn all_closed(arena: &Arena) -> bool {
    let out = arena.swarm(&["task", "list", "--json"]);
    let list: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
    list.as_array().is_some_and(|tasks| {
        tasks.iter().all(|task| task["status"] == "done" || task["status"] == "cancelled")
    })
}

/// A wrong option, a configuration that cannot be read, a panic.
fn is_misuse(code: i32) -> bool {
    [2, 101].contains(&code)
}

/// Done, refused with words, or nobody there to ask. Anything else is a bug, or an error that nobody has made here.
pub fn is_wrong(code: i32) -> bool {
    ![0, 1, 4].contains(&code)
}
