//! The terminal UI in a real terminal: `swarm tui` under tmux, keys in, screen out.

use serde_json::json;

use crate::arena::{Arena, is_gone, wait_for};
use crate::ground::{arena_with, task};
use crate::tmux::Tmux;

/// One that is done at once, one to be steered, and one that keeps the swarm from coming to rest.
fn three_tasks() -> Arena {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![
        task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete"),
        task("1.2", &[], "print the agent speaks\nwrite b.txt b\nhang"),
        task("1.3", &[], "hang"),
    ]]);
    arena
}

#[test]
fn a_swarm_is_watched_and_steered_in_a_real_terminal() {
    let arena = three_tasks();
    let run = arena.start(&["--agents", "3"]);
    let tmux = Tmux::start(&arena, 80, 24, &["tui"]);
    tmux.until_line("1.1", "1.1 is done", |line| line.contains("done"));
    tmux.until_line("1.2", "1.2 is at work", |line| line.contains("working"));
    tmux.press("G");
    tmux.press("k");
    tmux.until_line("1.2", "1.2 is selected", |line| line.contains('›'));
    tmux.until_said("the agent speaks");

    // Pause; it hangs, so it is forced; then it goes on.
    tmux.press("Space");
    tmux.until_said("Space stop those still running");
    tmux.press("Space");
    tmux.until("everybody is held", |screen| screen.contains("PAUSED") && screen.contains("0 still running"));
    tmux.press("Escape");
    tmux.until("the dialog is closed", |screen| !screen.contains("Esc stay") && !screen.contains("Esc wait"));
    tmux.press("Space");
    tmux.until("it goes on", |screen| !screen.contains("PAUSED"));
    tmux.until_line("1.2", "1.2 is at work again", |line| line.contains("working"));

    // Block and unblock.
    tmux.press("b");
    tmux.until_said("Block task 1.2");
    tmux.type_in("need access");
    tmux.until_said("need access");
    tmux.until_said("Enter block");
    tmux.press("Enter");
    tmux.until_line("1.2", "1.2 is blocked", |line| line.contains("blocked"));
    assert_eq!(arena.status_of("1.2"), "blocked");
    tmux.press("u");
    tmux.until_line("1.2", "1.2 is at work again", |line| line.contains("working"));

    // Edit.
    tmux.press("e");
    tmux.until_said("Enter save");
    tmux.press("Tab");
    tmux.until_said("> Do 1.2");
    tmux.type_in(" better");
    tmux.until_said("Do 1.2 better");
    tmux.press("Enter");
    tmux.until_line("1.2", "1.2 has its new title", |line| line.contains("better"));

    // Nothing starts by itself from here on; the work of 1.1 goes out of trunk, and comes back.
    tmux.press("m");
    tmux.until_said("SEMI-AUTO");
    tmux.press("k");
    tmux.until_line("1.1", "1.1 is selected", |line| line.contains('›'));
    tmux.until_said("R roll back");
    tmux.press("R");
    tmux.until_said("Enter or y confirm");
    tmux.press("Enter");
    tmux.until_line("1.1", "1.1 is not done any more", |line| !line.contains("done") && line.contains("Do"));
    let on_trunk = || arena.git(&["ls-tree", "--name-only", "main", "a.txt"]);
    wait_for("its file is gone from trunk", || on_trunk().is_empty());
    tmux.until_said("z undo");
    tmux.press("z");
    tmux.until_said("Enter or y confirm");
    tmux.press("Enter");
    tmux.until_line("1.1", "1.1 is done again", |line| line.contains("done"));
    wait_for("its file is back", || on_trunk() == "a.txt\n");

    // Quit: its agent is stopped, and nothing of it is lost.
    tmux.press("q");
    tmux.until_said("leave them running");
    tmux.until_said("Esc cancel");
    tmux.press("q");
    wait_for("the screen is gone", || tmux.has_ended());
    let (code, said) = run.end();
    assert_eq!(code, 1, "a task is open: {said}");
    arena.assert_nothing_runs();
    arena.assert_true();
    arena.is_judged();
}

/// The editor outlives the terminal, as one with a window of its own does; then nobody is there to go back to.
#[test]
fn a_terminal_that_goes_while_an_editor_is_open_takes_its_screen_along() {
    let arena = three_tasks();
    let run = arena.start(&["--agents", "3"]);
    let (open, go) = (arena.path("open"), arena.path("go"));
    let editor = format!(
        "trap '' HUP; : > '{}'; while [ ! -e '{}' ]; do sleep 0.1; done; :",
        open.display(),
        go.display()
    );
    let tmux = Tmux::start_with_editor(&arena, &["tui"], &editor);
    tmux.until_line("1.2", "1.2 is at work", |line| line.contains("working"));
    tmux.press("G");
    tmux.press("k");
    tmux.until_line("1.2", "1.2 is selected", |line| line.contains('›'));
    let pid = tmux.program();
    tmux.press("d");
    wait_for("the editor is open", || open.exists());
    drop(tmux);
    assert!(!is_gone(pid), "an editor is waited for");
    std::fs::write(&go, "").expect("the signal file");
    wait_for("the screen has ended", || is_gone(pid));
    arena.ok(&["stop"]);
    run.end();
    arena.assert_nothing_runs();
    arena.assert_true();
    arena.is_judged();
}

#[test]
fn without_a_coordinator_the_ledger_is_shown_and_written() {
    let arena = three_tasks();
    let tmux = Tmux::start(&arena, 120, 40, &["tui", "--ascii"]);
    tmux.until_said("no coordinator runs");
    tmux.until("the plan is there", |screen| screen.contains("Do 1.1") && screen.is_ascii());
    tmux.press("b");
    tmux.until_said("Enter block");
    tmux.type_in("later");
    tmux.until_said("later");
    tmux.press("Enter");
    tmux.until_line("1.1", "1.1 is blocked", |line| line.contains("blocked"));
    assert_eq!(arena.status_of("1.1"), "blocked");
    tmux.press("q");
    wait_for("the screen is gone", || tmux.has_ended());
    arena.assert_true();
    arena.is_judged();
}

#[test]
fn a_run_opens_its_screen_and_goes_on_without_it() {
    let arena = three_tasks();
    let tmux = Tmux::start(&arena, 80, 24, &["run", "--agent", "script", "--mode", "autopilot", "--tui"]);
    tmux.until_line("1.1", "1.1 is done", |line| line.contains("done"));
    tmux.until_line("1.2", "1.2 is at work", |line| line.contains("working"));
    tmux.press("q");
    tmux.until_said("Esc cancel");
    tmux.press("d");
    wait_for("the screen is gone", || tmux.has_ended());
    assert_eq!(arena.status_of("1.2"), "active", "it goes on without the screen");
    arena.ok(&["stop"]);
    arena.assert_nothing_runs();
    arena.assert_true();
    arena.is_judged();
}

const RUN: [&str; 5] = ["run", "--agent", "script", "--mode", "autopilot"];

#[test]
fn a_run_on_a_terminal_is_a_screen_that_ends_with_it() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let script = format!("write a.txt a\ncommit feat: a\nwait-for {}\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &script)]]);
    let tmux = Tmux::start_and_stay(&arena, &RUN);
    tmux.until_line("1.1", "1.1 is at work", |line| line.contains("working"));
    std::fs::write(&go, "").expect("the signal file");
    assert_eq!(tmux.exit_code(), "0");
    tmux.until_said("See `swarm plan history`");
    drop(tmux);
    arena.assert_nothing_runs();
    arena.assert_all_done();
    arena.is_judged();
}

#[test]
fn a_run_on_a_terminal_says_lines_where_they_are_wanted() {
    let arena = arena_with(json!({}));
    arena.plan_in_phases(&[vec![task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete")]]);
    let tmux = Tmux::start_and_stay(&arena, &[&RUN[..], &["--no-tui"]].concat());
    assert_eq!(tmux.exit_code(), "0");
    tmux.until("the lines are there", |screen| {
        screen.contains("started (epoch") && screen.contains("1 of 1 task is done")
    });
    assert!(!arena.root.join(".swarm/run/result.txt").exists(), "nobody was put into the background");
    arena.assert_all_done();
    arena.is_judged();
}

#[test]
fn quitting_the_screen_of_a_run_stops_it_and_tells_what_it_came_to() {
    let arena = three_tasks();
    let tmux = Tmux::start_and_stay(&arena, &RUN);
    tmux.until_line("1.1", "1.1 is done", |line| line.contains("done"));
    tmux.until_line("1.2", "1.2 is at work", |line| line.contains("working"));
    tmux.press("q");
    tmux.until_said("leave them running");
    tmux.until_said("Esc cancel");
    tmux.press("q");
    assert_eq!(tmux.exit_code(), "1", "two tasks are open");
    tmux.until_said("1 of 3 tasks are done");
    drop(tmux);
    arena.assert_nothing_runs();
    arena.assert_true();
    arena.is_judged();
}

#[test]
fn a_screen_is_recorded_as_it_was_shown() {
    let arena = three_tasks();
    let file = arena.path("shown.cast");
    let tmux = Tmux::start(&arena, 80, 24, &["tui", "--record", &file.display().to_string()]);
    tmux.until_said("Do 1.3");
    tmux.press("?");
    tmux.until_said("Selected agent");
    tmux.press("q");
    wait_for("the screen is gone", || tmux.has_ended());
    let text = std::fs::read_to_string(&file).expect("a recording");
    let mut lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let head = lines.next().expect("a head");
    assert_eq!((&head["version"], &head["width"], &head["height"]), (&json!(2), &json!(80), &json!(24)));
    let pieces: Vec<serde_json::Value> = lines.collect();
    assert!(pieces.iter().all(|piece| piece[0].is_f64() && piece[1] == "o"), "{pieces:?}");
    let shown: String = pieces.iter().filter_map(|piece| piece[2].as_str()).collect();
    // Blanks between words are jumped over, not written.
    assert!(shown.contains("ledger") && shown.contains("Selected"), "{shown}");
    arena.is_judged();
}

#[test]
fn keys_of_the_configuration_hold_and_a_clash_is_refused_with_its_line() {
    let arena = arena_with(json!({ "tui": { "keys": { "block": "B" } } }));
    arena.plan_in_phases(&[vec![task("1.1", &[], "hang")]]);
    let tmux = Tmux::start(&arena, 80, 24, &["tui"]);
    tmux.until_said("B block");
    tmux.press("B");
    tmux.until_said("Block task 1.1");
    tmux.press("Escape");
    tmux.until("the dialog is closed", |screen| !screen.contains("Block task 1.1"));
    tmux.press("q");
    wait_for("the screen is gone", || tmux.has_ended());
    let refused = |keys: serde_json::Value| {
        let config = format!("{{\n  \"tui\": {{\n    \"keys\": {keys}\n  }}\n}}\n");
        std::fs::write(arena.root.join(".swarm/config.json"), config).expect("a configuration");
        let out = arena.swarm(&["config", "show"]);
        assert!(!out.status.success(), "{keys} is refused");
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    let said = refused(json!({ "stop": "x" }));
    assert!(said.contains("config.json:3") && said.contains("x would be both stop and kill"), "{said}");
    let said = refused(json!({ "stopp": "X" }));
    assert!(said.contains("config.json:3") && said.contains("Did you mean stop?"), "{said}");
    arena.is_judged();
}

#[test]
fn who_opens_the_screen_again_is_told_what_happened_since() {
    let arena = three_tasks();
    let seen = arena.path(".local/state/swarm/seen.json");
    wait_for("how far the person has seen the plan is remembered", || {
        let tmux = Tmux::start(&arena, 80, 24, &["tui"]);
        tmux.until_said("no coordinator");
        tmux.press("q");
        wait_for("the screen is gone", || tmux.has_ended());
        seen.exists()
    });
    // It was long ago.
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("what is remembered");
    let mut all = read(&std::fs::read_to_string(&seen).expect("what is remembered"));
    for one in all.as_object_mut().expect("each ledger").values_mut() {
        one["at"] = json!("2026-01-01T00:00:00.000Z");
    }
    std::fs::write(&seen, all.to_string()).expect("it can be written");
    arena.ok(&["task", "cancel", "1.3"]);
    let tmux = Tmux::start(&arena, 80, 24, &["tui"]);
    tmux.until("it says what happened", |screen| {
        screen.contains("Since you left") && screen.contains("1.3 cancelled")
    });
}
