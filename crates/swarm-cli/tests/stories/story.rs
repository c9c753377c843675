//! One story: the repository, what was done so far as a person would type it, and what the one who plays knows.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::arena::oracle::Known;
use crate::arena::oracle::found::{found_marks, marks_that_people_see};
use crate::arena::{Arena, Running};
use crate::seeded::Seeded;

pub struct Story {
    pub arena: Arena,
    pub chance: Seeded,
    pub known: Known,
    /// The swarm that runs in the background.
    pub run: Option<Running>,
    pub ids: Vec<String>,
    pub gates: u64,
    /// Where the person stands.
    pub branch: String,
    /// Commands as typed, with what came of them.
    typed: Vec<String>,
    /// Ends that no story excuses.
    pub wrong: Vec<String>,
    made: u64,
}

/// For one command. Far longer than any takes.
const COMMAND_MAX: Duration = Duration::from_secs(100);

impl Story {
    pub fn new(arena: Arena, chance: Seeded) -> Self {
        Self {
            arena,
            chance,
            known: Known::default(),
            run: None,
            ids: Vec::new(),
            gates: 0,
            branch: "main".into(),
            typed: Vec::new(),
            wrong: Vec::new(),
            made: 0,
        }
    }

    pub fn note(&mut self, line: impl Into<String>) {
        self.typed.push(line.into());
    }

    /// The whole story as it would be typed.
    pub fn script(&self) -> String {
        self.typed.join("\n").replace(&self.arena.path("").display().to_string(), "$DIR/")
    }

    /// A command of the swarm. To refuse is fine; to break is not.
    pub fn swarm(&mut self, args: &[&str]) -> i32 {
        let typed = format!("swarm {}", quoted(args));
        let mut command = Running::of(self.arena.command(args));
        let ended = command.for_a_while(COMMAND_MAX);
        if !ended {
            command.kill_9();
        }
        let (code, said) = command.end();
        let first = said.lines().next().unwrap_or_default();
        self.note(if code == 0 { typed.clone() } else { format!("{typed}    # exit {code}: {first}") });
        let fine = [0, 1, 4].contains(&code) || (code == 3 && self.broke_a_commit(&said));
        if !ended {
            self.wrong.push(format!("{typed} does not end: {said}"));
        } else if !fine {
            self.wrong.push(format!("{typed}: exit {code}: {said}"));
        }
        code
    }

    /// `git gc --prune=now` beside an agent's `git commit` takes the tree away before the commit is there: git warns
    /// of that, and a command that has to read the commit can only say so. Trunk never has such a hole.
    fn broke_a_commit(&self, said: &str) -> bool {
        let pruned = self.typed.iter().any(|typed| typed.contains("gc -q --prune=now"));
        pruned && said.contains("failed to unpack tree object")
    }

    /// A command of git, as a person types it; it may fail. In the checkout.
    pub fn git(&mut self, args: &[&str]) -> bool {
        let mut command = std::process::Command::new("git");
        let out = command.arg("-C").arg(&self.arena.root).args(args).output().expect("git runs");
        let how = if out.status.success() {
            String::new()
        } else {
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            format!("    # {}", said.lines().next().unwrap_or_default())
        };
        self.note(format!("git {}{how}", quoted(args)));
        self.remember_branch();
        out.status.success()
    }

    /// A branch of one's own is where one left it, and nobody else moves it.
    fn remember_branch(&mut self) {
        let head = self.arena.git(&["rev-parse", "--abbrev-ref", "HEAD"]).trim().to_owned();
        if head.starts_with("other-") {
            let tip = self.arena.git(&["rev-parse", "HEAD"]).trim().to_owned();
            self.known.branches.insert(head, tip);
        }
    }

    /// A command of git that takes something away: that is the person's own loss.
    pub fn by_hand(&mut self, args: &[&str]) {
        let before = found_marks(&self.arena);
        let seen = marks_that_people_see(&self.arena);
        self.git(args);
        let after = found_marks(&self.arena);
        self.known.thrown_away.extend(before.difference(&after).cloned());
        // What a person takes off the own branch is the person's to take, also where the swarm still holds it for a while.
        let let_go: BTreeSet<String> =
            seen.difference(&marks_that_people_see(&self.arena)).cloned().collect();
        self.known.thrown_away.extend(let_go.intersection(&self.known.of_people).cloned());
    }

    /// A mark that no one else has made.
    pub fn mark(&mut self) -> String {
        self.made += 1;
        let mark = format!("mark:person:{};", self.made);
        self.known.of_people.insert(mark.clone());
        mark
    }

    pub fn append(&mut self, file: &str, text: &str) {
        let old = std::fs::read_to_string(self.arena.root.join(file)).unwrap_or_default();
        self.arena.write(file, &format!("{old}{text}\n"));
        self.note(format!("mkdir -p $(dirname {file}); echo '{text}' >> {file}"));
    }

    pub fn one_id(&mut self) -> String {
        let ids = self.ids.clone();
        self.chance.one_of(&ids).cloned().unwrap_or_else(|| "1.1".into())
    }

    pub fn one_of<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        self.chance.one_of(all).cloned()
    }

    /// True so many times out of a hundred.
    pub fn often(&mut self, percent: u64) -> bool {
        self.chance.below(100) < percent
    }

    /// Lets whatever runs go on for a moment.
    pub fn moment(&mut self, up_to_ms: u64) {
        let time = Duration::from_millis(self.chance.below(up_to_ms));
        if let Some(run) = &mut self.run {
            let ended = run.for_a_while(time);
            self.note(format!("sleep 0.{:03}", time.as_millis()));
            if ended {
                self.run_has_ended();
            }
        }
    }

    /// The swarm in the background is over.
    pub fn run_has_ended(&mut self) {
        let Some(run) = self.run.take() else { return };
        let (code, said) = run.end();
        let last = said.lines().last().unwrap_or_default();
        self.note(format!("# the run has ended with {code}: {last}"));
        // Killed: -1.
        if ![0, 1, -1].contains(&code) {
            self.wrong.push(format!("swarm run: exit {code}: {said}"));
        }
    }

    /// Waits for the end of what runs in the background.
    pub fn wait_for_the_run(&mut self, at_most: Duration) {
        let Some(run) = &mut self.run else { return };
        if run.for_a_while(at_most) {
            self.note("wait");
            self.run_has_ended();
        }
    }

    pub fn open_gates(&mut self) {
        for gate in 1..=self.gates {
            self.open_gate(gate);
        }
    }

    pub fn open_gate(&mut self, gate: u64) {
        std::fs::write(self.arena.path(&format!("gate-{gate}")), "").expect("a gate");
        self.note(format!("touch ../gate-{gate}"));
    }
}

fn quoted(args: &[&str]) -> String {
    let quote = |arg: &&str| match arg.chars().all(|c| c.is_ascii_alphanumeric() || "-_./~:=".contains(c)) {
        true => (*arg).to_owned(),
        false => format!("'{arg}'"),
    };
    args.iter().map(quote).collect::<Vec<_>>().join(" ")
}
