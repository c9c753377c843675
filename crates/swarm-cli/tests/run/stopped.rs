//! Ctrl+C, agents that hang, crash or ask: what a person finds afterwards.

use swarm_process::is_stopped;

use crate::arena::Arena;

const CONFIG: &str = r#"{
  "check": { "commands": ["true"] },
  "recovery": { "maxRetries": 1, "backoffMax": "1s" },
  "stop": { "grace": "1s", "drain": "1s" },
}"#;

#[test]
fn ctrl_c_stops_in_good_order_and_the_next_run_goes_on() {
    let arena = Arena::new(CONFIG);
    let go = arena.path("go");
    let script = format!(
        "write half.txt unfinished\nprint waiting\nwait-for {}\ncommit feat: it\ncomplete",
        go.display()
    );
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    run.until("is working");
    crate::arena::wait_for("the agent has written", || {
        arena.root.join(".swarm/worktrees/1.1/half.txt").exists()
    });
    run.signal("INT");
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    arena.assert_nothing_runs();
    assert_eq!(arena.tasks()[0]["status"], "pending");
    // What was not committed is on a ref, with its content.
    let wip = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/wip"]);
    assert_eq!(arena.git(&["show", &format!("{}:half.txt", wip.trim())]).trim(), "unfinished");
    std::fs::write(&go, "").expect("the signal file");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_nothing_left();
}

#[test]
fn a_filter_of_git_that_hangs_while_worktrees_are_made_keeps_no_stop() {
    let arena = Arena::new(CONFIG);
    for n in 0..3 {
        arena.write(&format!("{n}.txt"), "text\n");
    }
    arena.write(".gitattributes", "*.txt filter=slow\n");
    arena.git(&["add", ".gitattributes", "0.txt", "1.txt", "2.txt"]);
    arena.git(&["commit", "--quiet", "--message", "texts"]);
    // Behind its walls it can make no file for us: it is seen by what it runs.
    let sleeps = format!("sleep 300.{}", std::process::id());
    arena.git(&["config", "filter.slow.smudge", &sleeps]);
    let script = || "write a.md a\ncommit feat: a\ncomplete".to_owned();
    arena.plan(&[("1.1", &[], script()), ("1.2", &[], script())]);
    let run = arena.start(&[]);
    crate::arena::wait_for("git asks the filter", || {
        let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
        let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.any(|line| String::from_utf8_lossy(&line).replace('\0', " ").trim_end() == sleeps)
    });
    let begun = std::time::Instant::now();
    arena.ok(&["stop"]);
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(60), "it took {:?}", begun.elapsed());
    arena.assert_nothing_runs();
    // Files that were not there yet are no work of anybody.
    assert_eq!(arena.git(&["for-each-ref", "refs/swarm/wip"]), "");
    arena.git(&["config", "--unset", "filter.slow.smudge"]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
    arena.assert_nothing_left();
}

/// Broken off in the middle of its first iteration, before it could say at a boundary where it stands.
#[test]
fn a_first_ctrl_c_and_a_killed_daemon_keep_the_session_of_the_program() {
    for killed in [false, true] {
        let arena = Arena::new(CONFIG);
        let go = arena.path("go");
        let script = format!(
            "sh echo ${{SWARM_SESSION:-nothing}} >> resumed.txt\nsession s-17\nwait-for {}\ncommit feat: it\ncomplete",
            go.display()
        );
        arena.plan(&[("1.1", &[], script)]);
        let mut run = arena.start(&[]);
        let context = arena.root.join(".swarm/context/1.1.json");
        crate::arena::wait_for("its session is kept", || {
            std::fs::read_to_string(&context).is_ok_and(|text| text.contains("\"session\":\"s-17\""))
        });
        if killed {
            let record = std::fs::read(arena.root.join(".swarm/run/daemons/r1.json")).expect("a record");
            let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
            run.kill_9();
            crate::arena::send("KILL", u32::try_from(record["pid"].as_u64().expect("a pid")).expect("a pid"));
        } else {
            run.signal("INT");
            let (code, said) = run.end();
            assert_eq!(code, 1, "{said}");
        }
        std::fs::write(&go, "").expect("the signal file");
        let (code, said) = arena.start(&[]).end();
        assert_eq!(code, 0, "{said}");
        assert_eq!(arena.git(&["show", "main:resumed.txt"]), "nothing\ns-17\n", "killed: {killed}\n{said}");
        arena.assert_nothing_left();
    }
}

#[test]
fn work_that_cannot_be_saved_keeps_no_stop_and_is_named_with_its_place() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "write half.txt unfinished\nprint waiting\nhang".into())]);
    let mut run = arena.start(&[]);
    run.until("is working");
    let half = arena.root.join(".swarm/worktrees/1.1/half.txt");
    crate::arena::wait_for("the agent has written", || half.exists());
    // A ref where the folder of saved work would be: git refuses every name below it.
    arena.git(&["update-ref", "refs/swarm/wip", "HEAD"]);
    let said = arena.ok(&["stop"]);
    let (code, _) = run.end();
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("Not saved") && said.contains("1.1: .swarm/worktrees/1.1"), "{said}");
    arena.assert_nothing_runs();
    assert_eq!(std::fs::read_to_string(&half).expect("it lies there"), "unfinished\n");
    // Nothing is forgotten: the next one saves it.
    arena.git(&["update-ref", "-d", "refs/swarm/wip"]);
    let run = arena.start(&[]);
    crate::arena::wait_for("the work is saved", || {
        let wip = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/wip"]);
        wip.lines().any(|name| arena.git(&["ls-tree", "--name-only", name]).contains("half.txt"))
    });
    run.signal("INT");
    run.end();
}

#[test]
fn a_run_that_ctrl_z_put_aside_is_stopped_from_another_terminal() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "print waiting\nhang".into())]);
    let mut run = arena.start(&[]);
    run.until("is working");
    run.signal("TSTP");
    crate::arena::wait_for("it stands still", || is_stopped(run.child.id()));
    // A coordinator that somebody stopped is asked all the same.
    let coordinator = run.coordinator();
    crate::arena::send("STOP", coordinator);
    crate::arena::wait_for("so does the coordinator", || is_stopped(coordinator));
    arena.ok(&["stop"]);
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    arena.assert_nothing_runs();
}

#[test]
fn a_swarm_that_nobody_coordinates_any_more_waits_for_a_person() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "print waiting\nhang".into())]);
    let mut run = arena.start(&[]);
    run.until("is working");
    assert!(!arena.ok(&["attention"]).contains("No coordinator is running"));
    run.kill_9();
    let told = arena.json(&["attention"]);
    assert_eq!(
        (&told[0]["what"], &told[0]["commands"][0]),
        (&"No coordinator is running".into(), &"swarm run".into())
    );
    assert_eq!(arena.json(&["status"])["attention"], told, "it is one list");
    arena.ok(&["stop"]);
    assert!(!arena.ok(&["attention"]).contains("No coordinator is running"));
    arena.assert_nothing_runs();
}

#[test]
fn where_nobody_is_at_work_only_what_is_not_refused_is_offered() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "complete".into())]);
    let mut run = arena.start_with(&["--mode", "semi-auto"]);
    run.until("started (epoch");
    run.kill_9();
    let told = arena.json(&["attention"]);
    assert_eq!(
        (&told[0]["what"], &told[0]["commands"]),
        (&"No coordinator is running".into(), &serde_json::json!(["swarm run"]))
    );
    assert_eq!(arena.swarm(&["stop"]).status.code(), Some(4), "there is nothing to stop");
}

#[test]
fn a_stop_with_a_checkpoint_is_one_record_and_the_checkpoint_is_there_afterwards() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "write half.txt unfinished\nprint waiting\nhang".into())]);
    let mut run = arena.start(&[]);
    run.until("is working");
    crate::arena::wait_for("the agent has written", || {
        arena.root.join(".swarm/worktrees/1.1/half.txt").exists()
    });
    arena.ok(&["stop", "--checkpoint"]);
    run.end();
    arena.assert_nothing_runs();
    let ledger = std::fs::read_to_string(arena.root.join(".swarm/plan-ledger.jsonl")).expect("a ledger");
    let records: Vec<serde_json::Value> =
        ledger.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let batch_of = |kind: &str| {
        let mut found = records.iter().rev().filter(|record| record["type"] == kind);
        found.next().map(|record| record["batch"].clone()).unwrap_or_default()
    };
    assert!(batch_of("drain_started").is_u64());
    assert_eq!(
        batch_of("checkpoint_due"),
        batch_of("drain_started"),
        "one cannot be there without the other"
    );
    // A person's, which does not go by its age, with what was not committed.
    let made = records.iter().rev().find(|record| record["type"] == "checkpoint_made").expect("it was made");
    let checkpoint = &made["data"]["checkpoint"];
    assert_eq!((&checkpoint["auto"], &checkpoint["full"]), (&false.into(), &true.into()), "{made}");
    let dirty = checkpoint["dirty"]["1.1"].as_str().expect("a commit of what was not committed").to_owned();
    assert_eq!(arena.git(&["show", &format!("{dirty}:half.txt")]).trim(), "unfinished");
}

#[test]
fn whoever_tells_the_process_and_its_group_at_once_has_said_it_once() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "print waiting\nhang".into())]);
    let mut run = arena.start(&[]);
    let mut stdout = run.child.stdout.take().expect("a pipe");
    run.until("is working");
    run.signal("TERM");
    run.signal("TERM");
    run.end();
    let mut summary = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut summary).expect("text");
    assert!(summary.contains("Stopped") && !summary.contains("is still stopping"), "{summary}");
    arena.assert_nothing_runs();
}

#[test]
fn a_second_signal_leaves_at_once_and_the_agents_stop_all_the_same() {
    // The daemon drains for longer than anybody needs to send a second signal.
    let arena = Arena::new(&CONFIG.replace("\"drain\": \"1s\"", "\"drain\": \"10s\""));
    arena.plan(&[("1.1", &[], "ignore-term\nprint waiting\nhang".into())]);
    let mut run = arena.start(&[]);
    let mut stdout = run.child.stdout.take().expect("a pipe");
    run.until("is working");
    run.signal("TERM");
    run.until("stopping: SIGTERM");
    run.signal("INT");
    let (_, said) = run.end();
    assert!(said.contains("Stopping; send it again to leave at once (agents stop by themselves)"), "{said}");
    // Whoever does not wait is told the truth of whoever is left.
    let mut summary = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut summary).expect("text");
    assert!(summary.contains("1 agent is still stopping: it saves its work and ends"), "{summary}");
    assert!(!summary.contains("Stopped"), "{summary}");
    // Nobody is there to tell the daemon anything more; it has its order.
    arena.assert_nothing_runs();
    let (code, _) = arena.start(&["--agents", "1"]).end_after_drain(&arena);
    assert_eq!(code, 1);
}

impl crate::arena::Running {
    /// Lets the next coordinator find what happened, then stops it.
    fn end_after_drain(mut self, arena: &Arena) -> (i32, String) {
        self.until("is working");
        arena.ok(&["task", "defer", "1.1"]);
        self.end()
    }
}

#[test]
fn an_agent_that_hangs_is_stopped_with_its_tree_and_tried_again_until_a_person_is_asked() {
    let config = CONFIG.replace("\"check\"", "\"maxTaskDuration\": \"1s\", \"check\"");
    let arena = Arena::new(&config);
    arena.plan(&[("1.1", &[], "ignore-term\nspawn-child 600\nhang".into())]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 1, "{said}");
    let task = &arena.tasks()[0];
    assert_eq!((&task["status"], &task["attempts"]), (&"timeout".into(), &2.into()), "{said}");
    arena.assert_nothing_runs();
    assert!(arena.ok(&["status"]).contains("swarm task unblock 1.1"));
}

#[test]
fn an_agent_that_crashes_goes_on_in_its_own_worktree() {
    let arena = Arena::new(CONFIG);
    let script = "on-attempt 1: write a.txt one\non-attempt 1: commit feat: before the crash\n\
                  on-attempt 1: crash 137\nappend a.txt two\ncommit feat: after the crash\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    assert_eq!(arena.commits("main", "feat: before the crash"), 1);
    assert_eq!(arena.commits("main", "feat: after the crash"), 1);
    arena.assert_nothing_left();
}

#[test]
fn an_agent_that_asks_or_gives_up_leaves_its_words_for_a_person() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[
        ("1.1", &[], "blocked which colour?".into()),
        ("1.2", &[], "failed there is no such file".into()),
    ]);
    let (code, _) = arena.start(&["--agents", "2"]).end();
    assert_eq!(code, 1);
    let status = arena.ok(&["status"]);
    for words in ["which colour?", "there is no such file", "swarm task unblock 1.1"] {
        assert!(status.contains(words), "{words:?} is missing:\n{status}");
    }
    arena.assert_nothing_runs();
}

#[test]
fn close_with_stop_ends_what_a_dead_coordinator_left_running() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[
        ("1.1", &[], "write half.txt unfinished\nhang".into()),
        ("1.2", &["1.1"], "complete".into()),
    ]);
    let mut run = arena.start(&[]);
    run.until("is working");
    crate::arena::wait_for("the agent has written", || {
        arena.root.join(".swarm/worktrees/1.1/half.txt").exists()
    });
    let with = arena.swarm(&["status"]);
    assert!(with.status.success() && with.stderr.is_empty(), "{}", String::from_utf8_lossy(&with.stderr));
    run.kill_9();
    let without = arena.swarm(&["status"]);
    assert!(String::from_utf8_lossy(&without.stderr).contains("no coordinator is running"));
    let refused = arena.swarm(&["close"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("swarm close --stop"));
    arena.ok(&["close", "--stop", "--yes"]);
    arena.assert_nothing_runs();
    assert!(!arena.root.join(".swarm/plan-ledger.jsonl").exists(), "the ledger is archived");
    let wip = arena.git(&["for-each-ref", "--format=%(refname)", "refs/swarm/wip"]);
    assert_eq!(arena.git(&["show", &format!("{}:half.txt", wip.trim())]).trim(), "unfinished");
}

/// Beside a coordinator that is at work: what the answer says is true when it is read, and the way back goes on.
#[test]
fn close_with_stop_is_over_when_it_says_so_and_its_undo_leaves_no_pause() {
    let arena = Arena::new(CONFIG);
    let go = arena.path("go");
    let script = format!("write a.txt a\nwait-for {}\ncommit feat: a\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    run.until("is working");
    arena.ok(&["close", "--stop", "--yes"]);
    assert!(!arena.root.join(".swarm/plan-ledger.jsonl").exists(), "the ledger is archived");
    run.end();
    arena.ok(&["undo", "--yes"]);
    let status = arena.ok(&["status"]);
    assert!(!status.to_lowercase().contains("paused"), "{status}");
    let log = arena.ok(&["op", "log"]);
    assert!(!log.contains("person:cli  Paused"), "nobody asked for a pause:\n{log}");
    std::fs::write(go, "").expect("a file");
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 0, "{said}");
    arena.assert_all_done();
}

#[test]
fn a_paused_run_says_why_it_waits_and_what_goes_on() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "complete".into())]);
    arena.ok(&["pause", "--reason", "lunch"]);
    let mut run = arena.start(&[]);
    run.until("The swarm is paused: lunch; `swarm resume` goes on");
    arena.ok(&["resume"]);
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
}

#[test]
fn the_agent_that_was_chosen_is_the_one_of_the_next_run() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "complete".into()), ("1.2", &[], "complete".into())]);
    arena.ok(&["task", "defer", "1.2"]);
    assert_eq!(arena.start(&[]).end().0, 1);
    arena.ok(&["task", "unblock", "1.2"]);
    let (code, said) = crate::arena::Running::of(arena.command(&["run"])).end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Agents run script, as chosen before"), "{said}");
}

#[test]
fn bytes_of_another_program_in_the_ledger_cost_a_restart_and_no_work() {
    let arena = Arena::new(CONFIG);
    let go = arena.path("go");
    let script = format!("wait-for {}\nwrite a.txt a\ncommit feat: it\ncomplete", go.display());
    arena.plan(&[("1.1", &[], script)]);
    let mut run = arena.start(&[]);
    run.until("is working");
    let ledger = arena.root.join(".swarm/plan-ledger.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(ledger).expect("a ledger");
    std::io::Write::write_all(&mut file, b"a line of somebody else\n").expect("written");
    std::fs::write(&go, "").expect("the signal file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Another writer changed") && said.contains("restarting in"), "{said}");
    arena.assert_all_done();
    arena.assert_nothing_left();
}

#[test]
fn a_swarm_whose_folder_is_taken_away_ends_by_itself_and_says_so() {
    let arena = Arena::new(CONFIG);
    arena.plan(&[("1.1", &[], "complete".into())]);
    let mut run = arena.start_with(&["--mode", "semi-auto"]);
    run.until("started (epoch");
    // It waits for a person, and nothing happens by itself.
    std::fs::rename(arena.root.join(".swarm"), arena.path("swarm-of-before")).expect("moved away");
    let (code, said) = run.end();
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("was removed or moved while the swarm ran"), "{said}");
    assert!(said.contains("`swarm plan rebuild`"), "{said}");
    arena.ok(&["plan", "rebuild"]);
    assert!(arena.root.join(".swarm/plan-ledger.jsonl").is_file(), "the ledger is there again");
}
