//! What executors report, by the words of the scripts.

use swarm_core::input::{Missing, Report};
use swarm_core::stage::Stage;
use swarm_protocol::channel::IterationOutcome;
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::event::Proof;
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{RunId, TaskId};
use swarm_protocol::operation::{Landed, Left};
use swarm_protocol::outcome::{Ended, Gate};

use super::{Play, id, oid, operations};
use crate::words;

impl Play {
    /// The run a report is about: the current one, or the last that is still to be stopped.
    pub(super) fn run(&self, task: &TaskId) -> RunId {
        let current = self.state.task(task).and_then(|t| t.stage.run().cloned());
        let any = || self.state.runs.iter().find(|(_, r)| r.task == *task).map(|(id, _)| id.clone());
        current.or_else(any).unwrap_or_else(|| RunId::nth(999))
    }

    pub(super) fn report(&self, words: &[&str]) -> Option<Report> {
        if let Some(report) = self.long_report(words) {
            return Some(report);
        }
        let [what, name] = words else { return None };
        let (task, text) = (TaskId::new(name).ok()?, || "output".to_string());
        let run = self.run(&task);
        let (iteration, tip) = match self.state.task(&task).map(|t| &t.stage) {
            Some(Stage::Active { iteration, .. }) => (*iteration, oid('b')),
            Some(Stage::Checking { iteration, tip, .. }) => (*iteration, tip.clone()),
            _ => (0, oid('b')),
        };
        let boundary = |outcome| {
            let (run, tip, usage) = (run.clone(), Some(oid('b')), Usage::default());
            Some(Report::Boundary {
                run,
                iteration,
                outcome,
                tip,
                note: None,
                usage,
                session: None,
                known: 0,
            })
        };
        let ended = |how| Some(Report::WorkEnded { run: run.clone(), how });
        match *what {
            "complete" => return boundary(IterationOutcome::Complete),
            "unfinished" => return boundary(IterationOutcome::NoSignal),
            "asks" => return boundary(IterationOutcome::AsksHuman { text: text() }),
            "cannot" => return boundary(IterationOutcome::CannotDo { text: text() }),
            "crash" => {
                return boundary(IterationOutcome::Crashed { code: Some(1), signal: None, text: text() });
            }
            "lost" => return ended(Ended::Lost { text: text() }),
            "ended" => return ended(Ended::Stopped),
            _ => {}
        }
        Some(match *what {
            "ready" => Report::Prepared { run, branch: task.branch(), base: oid('a'), tip: oid('a') },
            "hello" => Report::Spawned { run, host: "here".into() },
            "unready" => Report::PrepareFailed { run, why: text(), setup: false },
            "green" | "red" | "leaks" => {
                let passed = *what == "green";
                let gate = if *what == "leaks" { Gate::Scan } else { Gate::Check };
                let gate = (!passed).then_some(gate);
                Report::Checked { run, iteration, passed, tip, tree: oid('d'), output: text(), gate }
            }
            "stopped" => {
                let over = self.state.runs.iter().find(|(_, r)| r.task == task && r.ended);
                Report::Stopped { run: over.map_or(run, |(id, _)| id.clone()), wip: None, session: None }
            }
            _ => return self.merge_report(what, task),
        })
    }

    /// Reports that take more than the name of a task.
    fn long_report(&self, words: &[&str]) -> Option<Report> {
        let known = words::report(&self.state, words);
        if let Some(report) = known.or_else(|| operations::report(&self.state, words)) {
            return Some(report);
        }
        let boundary = |name: &str, outcome, session| {
            let run = self.run(&id(name));
            let iteration = match self.state.task(&id(name)).map(|t| &t.stage) {
                Some(Stage::Active { iteration, .. }) => *iteration,
                _ => 0,
            };
            let (tip, usage) = (Some(oid('b')), Usage { input_tokens: 100, ..Usage::default() });
            Report::Boundary { run, iteration, outcome, tip, note: None, usage, session, known: 0 }
        };
        Some(match words {
            ["fails", name, class] => {
                let class = FailureClass::ALL.into_iter().find(|c| c.word() == *class).expect("a class");
                let mut failure = Failure::new(class, "output");
                failure.resets_in_secs = (class == FailureClass::Quota).then_some(120);
                failure.hint = (class == FailureClass::Key).then(|| "program login".into());
                boundary(name, IterationOutcome::Failed { failure }, None)
            }
            ["stopped", name, session] => {
                let over = self.state.runs.iter().find(|(_, r)| r.task == id(name) && r.ended);
                let run = over.map_or_else(|| self.run(&id(name)), |(id, _)| id.clone());
                Report::Stopped { run, wip: None, session: Some((*session).into()) }
            }
            ["said", name] => boundary(name, IterationOutcome::NoSignal, Some("s1".into())),
            ["trunk", "moved"] => Report::TrunkChanged { commit: oid('a'), now: oid('e') },
            ["trunk", "stays"] => Report::TrunkChanged { commit: oid('a'), now: oid('a') },
            ["trunk", verdict, name] => {
                let (run, task) = (self.judging(&id(name)), id(name));
                Report::Verified { run, task, passed: *verdict == "green", output: "trunk".into() }
            }
            _ => return None,
        })
    }

    /// The review or verification of the task that is running, or the last there was.
    fn judging(&self, task: &TaskId) -> RunId {
        let current = self.state.task(task).and_then(|t| t.stage.judging_run().cloned());
        let any = || self.state.runs.iter().find(|(_, r)| r.task == *task && r.agent.is_none());
        current.or_else(|| any().map(|(id, _)| id.clone())).unwrap_or_else(|| RunId::nth(999))
    }

    fn merge_report(&self, what: &str, task: TaskId) -> Option<Report> {
        let verify = || self.judging(&task);
        let proof = Proof::new("main", oid('c'), vec![oid('c')]);
        Some(match what {
            // Elsewhere: trunk has moved since it was looked up.
            "built" | "built-elsewhere" | "built-protected" => {
                let known = self.state.proven.clone().filter(|_| what != "built-elsewhere");
                let (base, commits) = (known.unwrap_or_else(|| oid('a')), vec![oid('c')]);
                let touched = what == "built-protected";
                let protected = if touched { vec![".swarm/config.json".into()] } else { vec![] };
                let (result, squashed, resolved, found) = (oid('c'), false, vec![], vec![]);
                let changed = vec!["src/a.rs".into()];
                Report::Built { task, base, result, commits, squashed, resolved, protected, changed, found }
            }
            "resolved" | "joined" => {
                let base = self.state.proven.clone().unwrap_or_else(|| oid('a'));
                let resolved = vec![Resolved { path: "src/a.rs".into(), way: Way::Imports }];
                match what {
                    "joined" => Report::BuildJoined { task, base, tip: oid('c'), tree: oid('d'), resolved },
                    _ => {
                        let (result, commits, squashed) = (oid('c'), vec![oid('c')], true);
                        let protected = vec![];
                        Report::Built {
                            task,
                            base,
                            result,
                            commits,
                            squashed,
                            resolved,
                            protected,
                            changed: vec![],
                            found: vec![],
                        }
                    }
                }
            }
            "branch-changed" => Report::BranchChanged { task, tip: oid('e'), tree: oid('f'), base: None },
            "conflict" => Report::BuildConflict { task, paths: vec!["src/a.rs".into()], why: None },
            "empty" | "known" | "set-to-trunk" => {
                let found = match what {
                    "known" => vec![oid('b')],
                    // What `built` brought there for somebody else.
                    "set-to-trunk" => vec![oid('c')],
                    _ => vec![],
                };
                Report::BuildEmpty { task, trunk: "main".into(), commit: oid('a'), found }
            }
            "found" => {
                Report::Proven { commit: oid('c'), missing: Default::default(), standing: Default::default() }
            }
            "gone" | "lost" => {
                let work = Landed { base: oid('a'), tip: oid('b'), tree: oid('d'), stands: vec![] };
                let why = "main was reset".into();
                let missing = Missing { why, work: (what == "gone").then_some(work) };
                Report::Proven {
                    commit: oid('e'),
                    missing: [(task, missing)].into(),
                    standing: Default::default(),
                }
            }
            "verified" | "unverified" => {
                Report::Verified { run: verify(), task, passed: what == "verified", output: "output".into() }
            }
            "approves" | "rejects" => {
                Report::Reviewed { run: verify(), task, passed: what == "approves", output: "notes".into() }
            }
            // The verdict of the run before.
            "approved-before" => {
                Report::Reviewed { run: RunId::nth(2), task, passed: true, output: "notes".into() }
            }
            "says-good" | "says-but" | "says-bad" | "says-nothing" | "says-quota" | "says-key" => {
                Report::ReviewAnswered { run: verify(), task, answered: words::answered(what) }
            }
            "unreviewed" => Report::ReviewLost { run: verify(), task, why: "killed".into() },
            "righted" => Report::Righted { task, what: "its branch was deleted".into() },
            "oversteps" => Report::Overstep { task, run: None, what: "moved another branch".into() },
            "published" => Report::Published { task, proof },
            "busy" => {
                let (why, hint) = ("src/a.rs is changed".into(), "git stash".into());
                Report::PublishWaits { task, why, paths: vec!["src/a.rs".into()], hint }
            }
            "moved" => Report::TrunkMoved { task, now: oid('e') },
            "released" => Report::Released { task },
            "free" => Report::CheckoutChanged { task },
            "removed" => {
                let left = Some(Left { base: oid('a'), tip: oid('b'), dirty: None });
                Report::WorktreeRemoved { task, left }
            }
            "revived" => Report::Revived { task, base: Some(oid('a')) },
            "kept" => Report::WorktreeKept { task, why: ".env is ignored by git".into() },
            _ => return None,
        })
    }
}
