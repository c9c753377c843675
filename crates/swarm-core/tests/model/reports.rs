//! The ordinary reports an executor may give about an effect, the good one first.

use swarm_core::effect::{Effect, WorkOrder};
use swarm_core::input::{KeyName, Missing, Report};
use swarm_core::stage::Stage;
use swarm_core::state::State;
use swarm_protocol::channel::{Answered, IterationOutcome};
use swarm_protocol::conflict::{Resolved, Way};
use swarm_protocol::event::Proof;
use swarm_protocol::failure::{Failure, FailureClass, Usage};
use swarm_protocol::ids::{Oid, RunId, TaskId};
use swarm_protocol::operation::{Landed, Left};
use swarm_protocol::outcome::{Ended, Gate};

use crate::operations;

pub fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).expect("hex digits")
}

pub fn proof() -> Proof {
    Proof::new("main", oid('c'), vec![oid('c')])
}

/// One class for each consequence.
const FAILURES: [FailureClass; 10] = [
    FailureClass::Throttled,
    FailureClass::Quota,
    FailureClass::Key,
    FailureClass::Refused,
    FailureClass::Overflow,
    FailureClass::OwnLimit,
    FailureClass::Stalled,
    FailureClass::Looping,
    FailureClass::Denied,
    FailureClass::Unknown,
];

fn built(task: &TaskId, base: &Oid, commits: &[Oid], resolved: Vec<Resolved>) -> Report {
    built_of(task, base, commits, resolved, vec![])
}

fn built_of(
    task: &TaskId,
    base: &Oid,
    commits: &[Oid],
    resolved: Vec<Resolved>,
    protected: Vec<String>,
) -> Report {
    Report::Built {
        task: task.clone(),
        base: base.clone(),
        result: oid('c'),
        commits: commits.to_vec(),
        squashed: false,
        resolved,
        protected,
        changed: vec![],
        found: vec![],
    }
}

pub fn reports(state: &State, effect: &Effect) -> Vec<Report> {
    match effect {
        Effect::Probe { run, .. } => {
            let probed = |failure| Report::Probed { run: run.clone(), failure };
            vec![probed(None), probed(Some(Failure::new(FailureClass::Quota, "not yet"))), failed(effect)]
        }
        Effect::Prepare { run, task, .. } => {
            let failed = |setup| Report::PrepareFailed { run: run.clone(), why: "git".into(), setup };
            let branch = "swarm/a".into();
            // The branch is where it was left.
            let tip = state.task(task).and_then(|t| t.submitted.clone()).unwrap_or_else(|| oid('a'));
            let prepared = Report::Prepared { run: run.clone(), branch, base: oid('a'), tip };
            vec![prepared, failed(false), failed(true)]
        }
        Effect::Work { run, task, order, .. } => work(state, run, task, order),
        Effect::Stop { run, .. } => vec![Report::Stopped { run: run.clone(), wip: None, session: None }],
        Effect::Build { task, .. } => {
            let (base, commits) = (state.proven.clone().unwrap_or_else(|| oid('a')), vec![oid('c')]);
            let resolved = |way| vec![Resolved { path: "a.rs".into(), way }];
            let mut all = vec![
                built(task, &base, &commits, vec![]),
                Report::BuildConflict { task: task.clone(), paths: vec!["a.rs".into()], why: None },
                empty(task, vec![oid('b')]),
                empty(task, vec![]),
                failed(effect),
            ];
            all.push(built_of(task, &base, &commits, vec![], vec![".swarm/config.json".into()]));
            all.extend(changed_since(effect));
            // What rules resolve concerns one task alone; with two there are more states than time.
            if state.tasks.len() == 1 {
                all.push(built(task, &base, &commits, resolved(Way::Imports)));
                let (tip, tree, resolved) = (oid('b'), oid('d'), resolved(Way::Whitespace));
                all.push(Report::BuildJoined { task: task.clone(), base, tip, tree, resolved });
            }
            all
        }
        Effect::Verify { run, task, .. } => {
            let verified = |passed| Report::Verified {
                run: run.clone(),
                task: task.clone(),
                passed,
                output: "output".into(),
            };
            let lost = Report::VerifyLost { run: run.clone(), task: task.clone(), why: "killed".into() };
            vec![verified(true), verified(false), lost]
        }
        Effect::Review { run, task, by: Some(_), .. } => {
            let answered = |text: &str, failure: Option<FailureClass>| Report::ReviewAnswered {
                run: run.clone(),
                task: task.clone(),
                answered: Answered {
                    text: text.into(),
                    failure: failure.map(|class| Failure::new(class, "no")),
                    ..Answered::default()
                },
            };
            let lost = Report::ReviewLost { run: run.clone(), task: task.clone(), why: "killed".into() };
            vec![
                answered(r#"{"verdict":"approve"}"#, None),
                answered(r#"{"verdict":"needs_changes","issues":[{"text":"not yet"}]}"#, None),
                answered("looks good", None),
                answered("", Some(FailureClass::Quota)),
                answered("", Some(FailureClass::Key)),
                lost,
            ]
        }
        Effect::Review { run, task, .. } => {
            let reviewed = |passed| Report::Reviewed {
                run: run.clone(),
                task: task.clone(),
                passed,
                output: "output".into(),
            };
            let lost = Report::ReviewLost { run: run.clone(), task: task.clone(), why: "killed".into() };
            vec![reviewed(true), reviewed(false), lost]
        }
        Effect::WatchTrunk { commit, .. } => {
            vec![Report::TrunkChanged { commit: commit.clone(), now: oid('e') }]
        }
        Effect::Publish { task, .. } => {
            let (why, paths, hint) = ("a.rs is changed".into(), vec!["a.rs".into()], "git stash".into());
            let tried = vec![
                Report::Published { task: task.clone(), proof: proof() },
                Report::PublishWaits { task: task.clone(), why, paths, hint },
                Report::TrunkMoved { task: task.clone(), now: oid('e') },
                failed(effect),
            ];
            tried.into_iter().chain(changed_since(effect)).collect()
        }
        // A publish that was told to stop may have been past its point of no return.
        Effect::Release { task } => {
            vec![
                Report::Released { task: task.clone() },
                Report::Published { task: task.clone(), proof: proof() },
            ]
        }
        Effect::Watch { task, .. } => vec![Report::CheckoutChanged { task: task.clone() }, failed(effect)],
        Effect::Prove { tasks } => {
            let work = Some(Landed { base: oid('a'), tip: oid('b'), tree: oid('d'), stands: vec![] });
            let proven = |missing| Report::Proven { commit: oid('c'), missing, standing: Default::default() };
            let gone = |work: &Option<Landed>| {
                let missing = |id: &TaskId| (id.clone(), Missing { why: "reset".into(), work: work.clone() });
                proven(tasks.keys().map(missing).collect())
            };
            vec![proven(Default::default()), gone(&work), gone(&None), failed(effect)]
        }
        Effect::Remove { task, remember, .. } => vec![
            Report::WorktreeRemoved {
                task: task.clone(),
                left: remember.map(|_| Left { base: oid('a'), tip: oid('b'), dirty: None }),
            },
            Report::WorktreeKept { task: task.clone(), why: ".env".into() },
        ],
        Effect::Revive { task, left } => {
            let revived = |base| Report::Revived { task: task.clone(), base };
            vec![revived(Some(left.base.clone())), revived(None), failed(effect)]
        }
        of_operation => operations::reports(state, of_operation, failed(of_operation)),
    }
}

/// Where the work goes to trunk by an approval, its branch may be another one by then.
fn changed_since(effect: &Effect) -> Option<Report> {
    let (Effect::Build { task, approval: Some(_), .. } | Effect::Publish { task, approval: Some(_), .. }) =
        effect
    else {
        return None;
    };
    Some(Report::BranchChanged { task: task.clone(), tip: oid('e'), tree: oid('f'), base: Some(oid('a')) })
}

fn empty(task: &TaskId, found: Vec<Oid>) -> Report {
    Report::BuildEmpty { task: task.clone(), trunk: "main".into(), commit: oid('a'), found }
}

fn failed(effect: &Effect) -> Report {
    let why = "git failed".into();
    let key = KeyName::from(&effect.key());
    match effect.task() {
        Some(task) => Report::EffectFailed { key, task: task.clone(), why },
        None => Report::Broke { key, why },
    }
}

fn work(state: &State, run: &RunId, task: &TaskId, order: &WorkOrder) -> Vec<Report> {
    let ended = |how| Report::WorkEnded { run: run.clone(), how };
    let text = || "output".to_string();
    let spawned = Report::Spawned { run: run.clone(), host: "here".into() };
    let boundary = |iteration, outcome| {
        let tip = Some(oid('b'));
        Report::Boundary {
            run: run.clone(),
            iteration,
            outcome,
            tip,
            note: None,
            usage: Usage { input_tokens: 1, ..Usage::default() },
            session: None,
            known: state.seq,
        }
    };
    let mut all = match (order, state.task(task).map(|t| &t.stage)) {
        (WorkOrder::Drain, _) => vec![ended(Ended::Stopped)],
        (_, Some(Stage::Active { iteration, .. })) => vec![
            boundary(*iteration, IterationOutcome::Complete),
            boundary(*iteration, IterationOutcome::NoSignal),
            boundary(*iteration, IterationOutcome::AsksHuman { text: text() }),
            boundary(*iteration, IterationOutcome::CannotDo { text: text() }),
            boundary(*iteration, IterationOutcome::Crashed { code: Some(1), signal: None, text: text() }),
            boundary(*iteration, IterationOutcome::NotStarted { text: text() }),
        ]
        .into_iter()
        .chain(FAILURES.map(|class| {
            boundary(*iteration, IterationOutcome::Failed { failure: Failure::new(class, text()) })
        }))
        .collect(),
        (_, Some(Stage::Checking { iteration, tip, .. })) => {
            let checked = |passed, gate| Report::Checked {
                run: run.clone(),
                iteration: *iteration,
                passed,
                tip: tip.clone(),
                tree: oid('d'),
                output: text(),
                gate,
            };
            vec![checked(true, None), checked(false, Some(Gate::Check)), checked(false, Some(Gate::Scan))]
        }
        _ => vec![],
    };
    all.extend([
        ended(Ended::Lost { text: text() }),
        ended(Ended::Orphaned { text: text() }),
        ended(Ended::Timeout { text: text() }),
        ended(Ended::Stopped),
        spawned,
    ]);
    all
}
