//! The plan saved again, reset, and its bookkeeping. Two of these were found by simulation.

use swarm_core::input::Input;
use swarm_core::operation::checkpoints::check_name;
use swarm_core::{show, step};
use swarm_protocol::command::{Command, Envelope, SaveKind};
use swarm_protocol::event::Event;
use swarm_protocol::ids::CommandId;
use swarm_protocol::plan::{PhaseFile, PlanFile, Status, TaskFile};

use crate::check;
use crate::script::{Play, spec};

/// Found by simulation, seed 661: the dependency pointed to nothing, and no dependency of any task
/// could be edited any more.
#[test]
fn a_task_that_worked_on_work_depends_on_is_cancelled_and_not_removed_by_a_save() {
    check(
        "plan a t b | start | ready a | depends a:t | plan b | stopped a",
        r"
            a: Pending → Preparing r1 → Active 1 → Cancelled
            b: Pending → Preparing r2
            t: Pending → Cancelled
            owed: Prepare r2, Remove a
        ",
    );
    check(
        "plan a t b | start | ready a | depends a:t | plan b | depends b:a",
        r"
            a: Pending → Preparing r1 → Active 1 → Cancelled
            b: Pending
            t: Pending → Cancelled
            owed: Stop r1
        ",
    );
}

#[test]
fn a_task_nobody_depends_on_is_removed_by_a_save() {
    check(
        "plan a t | plan a | depends a:t",
        r"
            a: Pending
            t: Pending
            refused: Task a depends on t, which does not exist (try swarm task show a)
        ",
    );
}

/// Found by simulation, seed 1259: the executor had made the worktree and died before its report.
#[test]
fn a_worktree_that_may_have_been_made_is_removed() {
    check(
        "plan a | start | cancel a | stopped a",
        r"
            a: Pending → Preparing r1 → Cancelled
            owed: Remove a
        ",
    );
}

#[test]
fn a_reset_takes_tasks_from_their_agents() {
    check(
        "plan a b | slots 2 | start | ready a | reset | stopped a | stopped b",
        r"
            a: Pending → Preparing r1 → Active 1 → Pending → Preparing r3
            b: Pending → Preparing r2 → Pending → Preparing r4
            owed: Prepare r3, Prepare r4
        ",
    );
}

#[test]
fn a_task_that_was_worked_on_cannot_be_removed() {
    check(
        "plan a | start | ready a | defer a | stopped a | remove a",
        r"
            a: Pending → Preparing r1 → Active 1 → Deferred
            refused: Task a is deferred and cannot be removed, since it was worked on (try swarm task unblock a)
        ",
    );
    check(
        "plan a b:a | remove a",
        r"
            a: Pending
            b: Pending
            refused: Task a is needed by b (try swarm task edit b --depends '')
        ",
    );
}

#[test]
fn a_phase_with_open_tasks_is_not_completed() {
    check(
        "plan a | phase 1",
        r"
            a: Pending
            refused: Phase 1 has open tasks: a (try swarm task cancel a)
        ",
    );
    check(
        "plan a | cancel a | phase 1",
        r"
            a: Pending → Cancelled
            refused: Phase 1 is already complete (try swarm plan show)
        ",
    );
}

#[test]
fn l14_a_handoff_of_a_large_plan_is_short_and_says_where_the_rest_is() {
    let mut play = Play::new();
    let ids: Vec<String> = (1..=1_200).map(|n| format!("t{n}")).collect();
    play.step(&format!("plan {}", ids.join(" ")));
    play.step("start");
    let view = show::handoff(&play.state);
    let bytes = serde_json::to_string(&view).expect("JSON").len();
    assert!(bytes <= 20_000, "{bytes} bytes");
    let working = play.state.runs.values().next().expect("a run").task.clone();
    assert_eq!(view.open[0].id, working, "what is at work comes first");
    let [left] = &view.more[..] else { panic!("one list is cut: {:?}", view.more) };
    assert_eq!((view.open.len() + left.count, left.command.as_str()), (1_200, "swarm task list"));
}

#[test]
fn a_swarm_that_is_left_alone_is_to_be_stopped_only_where_somebody_is_at_work() {
    let mut play = Play::new();
    play.step("plan a");
    assert!(show::left_alone(&play.state).is_none(), "nobody has coordinated it yet");
    play.step("start");
    let told = |play: &Play| show::left_alone(&play.state).expect("it was not stopped in good order");
    assert_eq!(told(&play).commands, ["swarm run", "swarm stop"]);
    for step in ["ready a", "asks a", "stopped a"] {
        play.step(step);
    }
    assert_eq!(told(&play).commands, ["swarm run"]);
    assert!(!told(&play).why.contains("agents"), "nobody is at work");
}

#[test]
fn a_mark_that_an_import_does_not_take_over_is_said() {
    let mut play = Play::new();
    ["plan a b c", "slots 2", "start", "ready a", "block b"].iter().for_each(|step| play.step(step));
    let file = |id: &str, status| TaskFile { status, ..TaskFile::from(spec(id)) };
    let tasks =
        vec![file("a", Some(Status::Done)), file("b", Some(Status::Done)), file("c", Some(Status::Deferred))];
    let phase = PhaseFile { id: 1, name: "one".into(), tasks, ..PhaseFile::default() };
    let plan = PlanFile { goal: "goal".into(), phases: vec![phase], ..PlanFile::default() };
    let kind = SaveKind::Import;
    let command =
        Command::SavePlan { plan, kind, source: "it".into(), reset_statuses: false, planning: None };
    let id = CommandId::new("import").expect("a plain id");
    let asked = Input::Command(Envelope { id, by: "person:cli".into(), command });
    let events = step(&mut play.state, asked, play.now).expect("accepted");
    let answer = events.into_iter().find_map(|event| match event {
        Event::Operation { answer, .. } => Some(answer),
        _ => None,
    });
    let said = "; not taken over is the status of a, which is active, b, which is blocked (only that of a pending task is)";
    assert_eq!(answer, Some(format!("Plan saved{said}")));
}

#[test]
fn the_name_of_a_checkpoint_is_refused_with_what_is_wrong_with_it() {
    let long = "x".repeat(65);
    for (name, why) in [
        ("-x", "it begins with a dash"),
        (".x", "it begins with a dot"),
        ("x.", "it ends with a dot"),
        ("a..b", "it contains two dots in a row"),
        ("a b", "it contains ' '"),
        ("x.lock", "git keeps names that end with .lock for itself"),
        ("", "it is empty"),
        ("7", "a number alone stands for a place in the list of checkpoints; add a letter"),
        (long.as_str(), "it has 65 bytes"),
    ] {
        let refused = check_name(name).expect_err(name).message();
        let possible = "(letters, digits, dots, dashes and underscores are possible, at most 64)";
        assert_eq!(refused, format!("The name {name:?} is not valid: {why} {possible}"));
    }
    for good in ["x", "before-1.2", "_v2.0"] {
        assert_eq!(check_name(good), Ok(()));
    }
}
