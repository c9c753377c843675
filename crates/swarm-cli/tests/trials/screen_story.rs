//! A person at the screen from the first question to the last word: answers, redirects, reviews, makes checkpoints, looks at
//! the past, and loses the coordinator on the way.

use serde_json::json;

use crate::arena::wait_for;
use crate::ground::{arena_with, task};
use crate::tmux::Tmux;

fn select(tmux: &Tmux, task: &str) {
    tmux.press(":");
    tmux.until_said("Commands and tasks");
    tmux.type_in(task);
    tmux.until_said(&format!(": {task}"));
    tmux.until_said("Enter · Esc");
    tmux.press("Enter");
    tmux.until_line(task, "it is selected", |line| line.contains('›'));
}

#[test]
fn a_question_is_answered_an_agent_redirected_and_its_work_approved_on_the_screen() {
    let arena = arena_with(json!({}));
    let asks = "on-attempt 1: blocked MIT or Apache for the README?\nwrite a.txt a\ncommit feat: a\ncomplete";
    let mut asking = task("1.1", &[], asks);
    asking["review"] = json!("human");
    arena.plan_in_phases(&[vec![asking, task("1.2", &[], "hang"), task("1.3", &[], "hang")]]);
    let run = arena.start(&["--agents", "1"]);
    let tmux = Tmux::start(&arena, 120, 40, &["tui"]);
    tmux.until_said("MIT or Apache");
    tmux.until_line("1.2", "1.2 is at work", |line| line.contains("working"));

    tmux.press("a");
    tmux.until_said("answer, and continue");
    tmux.press("1");
    tmux.until_said("Enter send");
    tmux.type_in("Apache");
    tmux.until_said("> Apache");
    tmux.press("Enter");
    wait_for("1.1 is in the queue again", || arena.status_of("1.1") == "pending");

    tmux.press("c");
    tmux.until_said("Enter make it");
    tmux.type_in("before-redirect");
    tmux.until_said("> before-redirect");
    tmux.press("Enter");
    wait_for("the checkpoint is there", || arena.ok(&["checkpoint", "list"]).contains("before-redirect"));

    select(&tmux, "1.2");
    tmux.press("r");
    tmux.until("1.1 is chosen", |screen| {
        let chosen = screen.contains("› 1.1");
        if screen.contains("Enter redirect") && !chosen {
            tmux.press("j");
        }
        chosen && screen.contains("Enter redirect")
    });
    tmux.press("Enter");
    tmux.until_line("1.1", "1.1 waits for its review", |line| line.contains("review"));

    select(&tmux, "1.1");
    tmux.until("a verdict is possible", |screen| screen.contains("v review"));
    tmux.press("v");
    tmux.until_said("Enter send the verdict");
    tmux.press("Enter");
    tmux.until_line("1.1", "1.1 is done", |line| line.contains("done"));

    // The second of three ways to quit: a checkpoint, then all stops.
    tmux.press("q");
    tmux.until_said("make a checkpoint, then quit");
    tmux.until_said("Esc cancel");
    tmux.press("s");
    wait_for("the screen is gone", || tmux.has_ended());
    let (code, said) = run.end();
    assert_eq!(code, 1, "tasks are open: {said}");
    let made = arena.ok(&["op", "log"]);
    assert!(made.to_lowercase().matches("checkpoint").count() >= 2, "{made}");
    arena.assert_nothing_runs();
    arena.assert_true();
    arena.is_judged();
}

#[test]
fn a_coordinator_is_killed_and_comes_back_under_a_screen_that_is_resized() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete"),
        task("1.2", &[], "print the agent speaks\nhang"),
    ]]);
    let mut run = arena.start(&["--agents", "2"]);
    let tmux = Tmux::start(&arena, 80, 24, &["tui"]);
    tmux.until_line("1.1", "1.1 is done", |line| line.contains("done"));
    tmux.until_line("1.2", "1.2 is at work", |line| line.contains("working"));
    run.kill_9();
    tmux.until_said("no coordinator runs");
    tmux.until_said("No coordinator is running");
    let resize = |columns: &str, rows: &str| tmux.run(&["resize-window", "-x", columns, "-y", rows]);
    resize("120", "40");
    let has_panes = |screen: &str| screen.contains("─ 2 Plan ") && screen.contains("─ 4 Events ");
    tmux.until("it has the panes of a wide screen", has_panes);

    let again = arena.start(&["--agents", "2"]);
    tmux.until("somebody coordinates again", |screen| !screen.contains("no coordinator runs"));
    tmux.until_line("1.2", "1.2 is at work", |line| line.contains("working"));
    select(&tmux, "1.2");
    tmux.press("L");
    tmux.until_said("logs of 1 agent");
    tmux.until_said("the agent speaks");
    tmux.press("Escape");

    // The past can be looked at and not be changed, at any size.
    resize("50", "12");
    tmux.until("only what is never hidden is left", |screen| !screen.contains("2 Plan"));
    resize("80", "24");
    tmux.until("the tabs are back", |screen| screen.contains("2 PLAN"));
    tmux.press("<");
    tmux.until_said("PAST");
    tmux.press("b");
    tmux.until_said("cannot be changed");
    tmux.press("t");
    tmux.until("it is the present again", |screen| !screen.contains("PAST"));

    // The third way to quit: all goes on.
    tmux.press("q");
    tmux.until_said("Esc cancel");
    tmux.press("d");
    wait_for("the screen is gone", || tmux.has_ended());
    assert_eq!(arena.status_of("1.2"), "active");
    arena.ok(&["stop"]);
    again.end();
    arena.assert_nothing_runs();
    arena.assert_true();
    arena.is_judged();
}
