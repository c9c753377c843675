//! The plan of the demo. Each description holds the script that the scripted agent carries out.

use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{PhaseFile, PlanFile, TaskFile, TaskSpec};
use swarm_protocol::review::Reviewer;

pub fn plan() -> PlanFile {
    PlanFile {
        goal: "A small book on how a swarm works".into(),
        phases: vec![phase(1, "Chapters", chapters()), phase(2, "The book", book())],
        ..PlanFile::default()
    }
}

/// Work beside each other, a crash, checks that fail once, an agent that hangs.
fn chapters() -> Vec<TaskFile> {
    vec![
        task(
            "1.1",
            "Write the chapter on ledgers",
            &[],
            &[
                "print looking at the preface",
                "write chapters/01-ledgers.md # Ledgers",
                "sleep 1500",
                "append chapters/01-ledgers.md Append only.",
                "commit feat: chapter on ledgers",
                "complete",
            ],
        ),
        task(
            "1.2",
            "Write the chapter on worktrees",
            &[],
            &[
                "write chapters/02-worktrees.md # Worktrees",
                "commit feat: chapter on worktrees",
                "on-attempt 1: crash 42",
                "sleep 1000",
                "append chapters/02-worktrees.md One for each task.",
                "complete",
            ],
        ),
        task(
            "1.3",
            "Write the chapter on merging",
            &["1.1"],
            &[
                "on-iteration 1: write chapters/03-merging.md # Merging TODO",
                "on-iteration 2: write chapters/03-merging.md # Merging",
                "on-iteration 2: append chapters/03-merging.md Verified before it is published.",
                "commit feat: chapter on merging",
                "complete",
            ],
        ),
        task(
            "1.4",
            "Write the chapter on recovery",
            &["1.1"],
            &[
                "write chapters/04-recovery.md # Recovery",
                "on-iteration 1: repeat 12: tool Bash make book",
                "on-iteration 1: hang",
                "append chapters/04-recovery.md Every failure has its own.",
                "commit feat: chapter on recovery",
                "complete",
            ],
        ),
    ]
}

/// Reviews, an allowance that is used up, two tasks in one file.
fn book() -> Vec<TaskFile> {
    vec![
        reviewed(
            task(
                "2.1",
                "Write the table of contents",
                &["1.1", "1.2", "1.3", "1.4"],
                &[
                    "on-attempt 1: write chapters/99-contents.md # Contents",
                    "on-attempt 1: append chapters/99-contents.md Ledgers, worktrees, merging.",
                    "on-attempt 2: append chapters/99-contents.md Recovery.",
                    "commit feat: table of contents",
                    "complete",
                ],
            ),
            &[
                r#"on-attempt 1: print {"verdict":"needs_changes","issues":[{"file":"chapters/99-contents.md","line":2,"text":"the chapter on recovery is missing"}]}"#,
                r#"on-attempt 2: print {"verdict":"approve","summary":"all four chapters are named"}"#,
            ],
        ),
        task(
            "2.2",
            "Name the authors in the README",
            &["1.2"],
            &[
                "on-attempt 1: fail quota resets=2 five hours of work are used up",
                "append README.md Written by agents, checked before every merge.",
                "commit docs: authors",
                "complete",
            ],
        ),
        reviewed(
            task(
                "2.3",
                "Name the licence",
                &["1.2"],
                &[&in_colophon("Free for everybody.", "2.4"), "complete"],
            ),
            &[r#"print {"verdict":"approve"}"#],
        ),
        reviewed(
            task(
                "2.4",
                "Name the printer",
                &["1.2"],
                &[&in_colophon("Printed on demand.", "2.3"), "complete"],
            ),
            &[r#"print {"verdict":"approve"}"#],
        ),
    ]
}

/// Adds a line where another task adds one as well, at the same time: it waits for the other's branch, for a few seconds,
/// since it may have come and gone. Whoever comes second has its line already, and puts both there.
fn in_colophon(line: &str, other: &str) -> String {
    format!(
        "sh if ! grep -q '{line}' COLOPHON; then echo '{line}' >> COLOPHON; git commit -q -a -m 'docs: {line}'; \
         for n in $(seq 20); do git rev-parse -q --verify swarm/{other} && break; sleep 0.2; done; \
         elif ! git merge -q main; then git show main:COLOPHON > COLOPHON; echo '{line}' >> COLOPHON; \
         git commit -q -a -m 'merge: both lines'; fi"
    )
}

/// An agent reviews it, with a script of its own.
fn reviewed(mut task: TaskFile, script: &[&str]) -> TaskFile {
    task.review = Some(Reviewer::Agent.word().into());
    task.description += &format!("\n\n```review-script\n{}\n```", script.join("\n"));
    task
}

fn phase(id: u32, name: &str, tasks: Vec<TaskFile>) -> PhaseFile {
    PhaseFile { id, name: name.into(), tasks, ..PhaseFile::default() }
}

fn task(id: &str, title: &str, depends: &[&str], script: &[&str]) -> TaskFile {
    let name = |text: &str| TaskId::new(text).expect("the demo's ids are good");
    let mut spec = TaskSpec::new(name(id), title);
    spec.depends = depends.iter().map(|d| name(d)).collect();
    spec.description = format!("```script\n{}\n```", script.join("\n"));
    spec.into()
}
