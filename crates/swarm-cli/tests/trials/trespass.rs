//! Agents that write where they may not: the kernel refuses, and the swarm's own state is untouched.

use serde_json::json;

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, task};

/// Places outside the worktree, from the repository's root, and whether they exist before.
const PLACES: &[&str] = &[
    "README.md",
    "new-in-the-checkout.txt",
    ".git/config",
    ".git/HEAD",
    ".git/hooks/post-commit",
    ".git/refs/heads/main",
    ".git/packed-refs",
    ".git/swarm/plan-ledger.jsonl",
    ".swarm/plan-ledger.jsonl",
    ".swarm/config.json",
    ".swarm/plan.json",
    ".swarm/state/snapshot.json",
    ".swarm/prompts/work.md",
    ".swarm/run/owner.lock",
    ".swarm/run/daemons/r2.json",
    ".swarm/worktrees/1.2/planted.txt",
    "../of-the-home.txt",
    "../.bashrc",
];

#[test]
fn an_agent_cannot_write_outside_its_worktree() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let root = arena.root.display().to_string();
    let mut attack = format!("cd \"$1\"; root='{root}'\n");
    for place in PLACES {
        attack.push_str(&format!(
            "test -e \"$root/{place}\" && before=yes || before=no\n\
             (echo planted-by-an-agent >> \"$root/{place}\") && echo WROTE {place}\n\
             rm -f \"$root/{place}\"; test $before = yes && test ! -e \"$root/{place}\" && echo REMOVED {place}\n"
        ));
    }
    // Its own git has a `main` of its own, which is nobody else's.
    attack.push_str("git update-ref refs/heads/main HEAD; git branch -f main HEAD\n");
    attack.push_str("git -C \"$root\" update-ref refs/heads/main HEAD && echo WROTE the ref of trunk\n");
    attack.push_str(
        "git -C \"$root\" commit --allow-empty -qm agent-was-here && echo WROTE a commit on trunk\n",
    );
    attack.push_str("echo ATTACKED\n");
    let attack = format!(
        "write mine.txt mine\ncommit feat: mine\nwait-for {}\nsh sh {} \"$PWD\"\ncomplete",
        arena.path("both-work").display(),
        arena.script_beside("attack.sh", &attack),
    );
    let bystander = format!(
        "write theirs.txt theirs\nwait-for {}\nsh test ! -e planted.txt && echo UNTOUCHED\ncommit feat: theirs\ncomplete",
        go.display()
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &attack), task("1.2", &[], &bystander)]]);
    let config = std::fs::read_to_string(arena.root.join(".git/config")).expect("it");
    let run = Running::of(arena.command(&["run", "--agent", "script", "--agents", "2"]));
    wait_for("both work", || arena.root.join(".swarm/worktrees/1.2/theirs.txt").exists());
    std::fs::write(arena.path("both-work"), "").expect("a file");
    wait_for("the attack is over", || arena.status_of("1.1") != "active");
    std::fs::write(&go, "").expect("a file");
    let (code, said) = run.end();
    let printed = arena.printed();
    let wrote: Vec<&str> =
        printed.lines().filter(|l| l.starts_with("WROTE") || l.starts_with("REMOVED")).collect();
    assert!(wrote.is_empty(), "{wrote:#?}\n{said}");
    assert_eq!(code, 0, "{said}\n{printed}");
    for place in PLACES {
        let bytes = std::fs::read(arena.root.join(place)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            !text.contains("planted-by-an-agent\n") || place.ends_with("snapshot.json"),
            "{place}: {text}"
        );
    }
    assert_eq!(std::fs::read_to_string(arena.root.join(".git/config")).expect("it"), config);
    assert!(printed.contains("UNTOUCHED") && printed.contains("ATTACKED"), "{printed}");
    assert_eq!(arena.commits("main", "feat: mine") + arena.commits("main", "feat: theirs"), 2);
    assert_eq!(arena.commits("main", "agent-was-here"), 0);
    arena.assert_tidy();
}

/// Runs an attack of 1.1 on the branch of 1.2 while 1.2 is in the middle of its work; then 1.2 goes on
/// with these steps. Without walls, where all agents work in the person's repository.
fn attack_on_a_branch(attack: &str, goes_on: &str) -> (Arena, i32, String) {
    attack_with("none", attack, goes_on)
}

fn attack_with(sandbox: &str, attack: &str, goes_on: &str) -> (Arena, i32, String) {
    let arena = arena_with(json!({ "sandbox": sandbox }));
    let (ready, go) = (arena.path("ready"), arena.path("go"));
    let attacker = format!(
        "write mine.txt mine\ncommit feat: mine\nwait-for {}\nsh {attack}\ncomplete",
        ready.display()
    );
    let victim = format!(
        "write theirs.txt theirs\ncommit feat: theirs\nwait-for {}\n{goes_on}\ncomplete",
        go.display()
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &attacker), task("1.2", &[], &victim)]]);
    let run = arena.start(&["--agents", "2"]);
    wait_for("the victim has committed", || arena.committed().contains("feat: theirs"));
    std::fs::write(ready, "").expect("a file");
    wait_for("the attack is over", || arena.status_of("1.1") == "done");
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    (arena, code, said)
}

/// Both works are on trunk, each with what it changed and nothing else.
fn assert_both_works_are_right(arena: &Arena, code: i32, said: &str) {
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    for subject in ["feat: mine", "feat: theirs"] {
        assert_eq!(arena.commits("main", subject), 1, "{subject}: {said}");
    }
    let names = arena.git(&["ls-tree", "-r", "--name-only", "main"]);
    for name in ["mine.txt", "theirs.txt", "README.md"] {
        assert!(names.lines().any(|line| line == name), "{name} is gone: {names}");
    }
    arena.assert_tidy();
}

#[test]
fn a_branch_moved_by_another_task_is_put_right_and_shown() {
    let attack = "git update-ref refs/heads/swarm/1.2 HEAD";
    let (arena, code, said) = attack_on_a_branch(attack, "append theirs.txt more");
    assert_both_works_are_right(&arena, code, &said);
    assert!(arena.attention().contains("the branch swarm/1.2 was moved to "), "{}", arena.attention());
}

/// Git makes the victim's next commit upon the foreign one; it is built again upon the victim's own.
#[test]
fn a_commit_of_the_victim_upon_a_moved_branch_stays_its_own() {
    for attack in ["git update-ref refs/heads/swarm/1.2 HEAD", "git update-ref refs/heads/swarm/1.2 HEAD^"] {
        let (arena, code, said) =
            attack_on_a_branch(attack, "append theirs.txt more\ncommit feat: more of theirs");
        assert_both_works_are_right(&arena, code, &said);
        assert_eq!(arena.commits("main", "feat: more of theirs"), 1, "{attack}: {said}");
        assert!(
            arena.attention().contains("Somebody changed the branch of task 1.2"),
            "{attack}: {}",
            arena.attention()
        );
    }
}

#[test]
fn a_branch_deleted_by_another_task_is_put_right_and_shown() {
    // Git itself could not: it would lock a file that is behind the walls.
    let attack = "rm $(git rev-parse --git-common-dir)/refs/heads/swarm/1.2";
    let (arena, code, said) = attack_on_a_branch(attack, "sleep 1");
    assert_both_works_are_right(&arena, code, &said);
    let told = arena.attention();
    assert!(told.contains("Somebody changed the branch of task 1.2"), "{told}");
    assert!(
        told.contains("the branch swarm/1.2 was deleted, nobody knows by whom; it is back at "),
        "{told}"
    );
}

/// Behind walls there is nothing to put right: a branch of another task is moved in the attacker's own repository at most.
#[test]
fn behind_walls_the_branch_of_another_task_cannot_be_moved_at_all() {
    let attack = "git update-ref refs/heads/swarm/1.2 HEAD; git branch -f swarm/1.2 HEAD; \
                  git symbolic-ref refs/heads/swarm/1.2 refs/heads/main; \
                  main=$(cat ../.git-of/.main)/.git; git --git-dir=$main update-ref refs/heads/swarm/1.2 HEAD; \
                  rm $main/refs/heads/swarm/1.2 ../.git-of/1.2/HEAD; echo ATTACKED";
    let (arena, code, said) = attack_with("landlock", attack, "append theirs.txt more");
    assert!(arena.printed().contains("ATTACKED"), "{}", arena.printed());
    assert_both_works_are_right(&arena, code, &said);
    assert!(!arena.attention().contains("Somebody changed"), "{}", arena.attention());
    arena.git(&["fsck", "--strict"]);
}

/// The same would be refused again and again, so a person is asked at once, and everything is kept.
#[test]
fn commits_that_cannot_be_taken_block_the_task_with_the_reason_and_reach_nothing() {
    let arena = arena_with(json!({}));
    let script = "sh touch \"$(printf 'a\\033[2Jb')\"\ncommit feat: a name for terminals\ncomplete";
    arena.plan(&[("1.1", &[], script.into())]);
    let (code, said) = arena.start(&[]).end();
    assert_eq!(code, 1, "{said}");
    let view = arena.shown("1.1");
    assert_eq!((&view["status"], &view["attempts"]), (&json!("blocked"), &json!(1)), "{view}");
    assert!(arena.attention().contains("holds control characters"), "{}", arena.attention());
    assert_eq!(arena.commits("main", "feat: a name for terminals"), 0);
    assert!(arena.committed().contains("feat: a name for terminals"));
    arena.git(&["fsck", "--strict"]);
    arena.assert_nothing_runs();
}

#[test]
fn an_agent_cannot_end_the_coordinator_its_daemon_or_another_agent() {
    let arena = arena_with(json!({}));
    let pids = arena.path("pids");
    // The numbers are handed to it: it needs to guess nothing. Only these are ever signalled.
    let attacker = format!(
        "write mine.txt mine\ncommit feat: mine\nwait-for {0}\nsh for p in $(cat {0}); do kill -9 $p && echo KILLED $p; done\nsleep 200\ncomplete",
        pids.display()
    );
    let victim = format!(
        "wait-for {}\nsleep 1000\nwrite theirs.txt theirs\ncommit feat: theirs\ncomplete",
        pids.display()
    );
    arena.plan_in_phases(&[vec![task("1.1", &[], &attacker), task("1.2", &[], &victim)]]);
    let run = arena.start(&["--agents", "2"]);
    let record = |name: &str| {
        let text = std::fs::read_to_string(arena.root.join(".swarm/run/daemons").join(name)).ok()?;
        serde_json::from_str::<serde_json::Value>(&text).ok()?["pid"].as_u64()
    };
    wait_for("both daemons have said who they are", || {
        record("r1.json").is_some() && record("r2.json").is_some()
    });
    wait_for("both agents work", || {
        arena.processes().iter().filter(|p| p.contains("script-agent")).count() >= 2
    });
    let mut all = vec![u64::from(run.child.id()), u64::from(run.coordinator())];
    all.extend([record("r1.json"), record("r2.json")].into_iter().flatten());
    let own = arena.root.join(".swarm/worktrees/1.1");
    let in_own = |pid: &str| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == own);
    for line in arena.processes().iter().filter(|p| p.contains("script-agent")) {
        let pid = line.split(' ').next().expect("a number");
        if !in_own(pid) {
            all.push(pid.parse().expect("a number"));
        }
    }
    let text: Vec<String> = all.iter().map(u64::to_string).collect();
    std::fs::write(arena.path("pids.tmp"), text.join("\n")).expect("a file");
    std::fs::rename(arena.path("pids.tmp"), &pids).expect("a file");
    let (code, said) = run.end();
    assert!(!arena.printed().contains("KILLED"), "{}", arena.printed());
    assert_eq!(code, 0, "{said}");
    for task in arena.tasks() {
        assert_eq!(task["attempts"], 1, "{task}");
    }
    arena.assert_tidy();
}

/// Said when a run starts, by `swarm status` and to whoever reads its JSON.
#[test]
fn agents_without_walls_are_told_on_every_screen() {
    for (config, bare) in
        [(json!({ "agent": "script", "sandbox": "none" }), json!(["script"])), (json!({}), json!(null))]
    {
        let arena = arena_with(config);
        arena.plan(&[("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete".into())]);
        let (code, said) = arena.run(&[]);
        assert_eq!(code, 0, "{said}");
        let (status, words) = (arena.json(&["status"]), arena.ok(&["status"]));
        assert_eq!((&status["without_walls"], &status["coordinator"]), (&bare, &json!(false)), "{status}");
        for text in [said, words] {
            assert_eq!(text.contains("Agents of script run without walls"), bare.is_array(), "{text}");
        }
    }
}

/// What is verified was written by agents: one that has no network must not have its tests speak for it. Seen by
/// somebody who listens outside.
#[test]
fn verification_has_no_network_where_the_agents_profile_closes_it() {
    for (network, heard) in [(json!(null), false), (json!(true), true)] {
        let outside = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        outside.set_nonblocking(true).expect("it does not wait");
        let port = outside.local_addr().expect("an address").port();
        let calls = format!("timeout 5 git ls-remote git://127.0.0.1:{port}/nothing; true");
        let arena = arena_with(json!({
            "agent": "closed",
            "network": network,
            "profiles": { "closed": { "program": "script", "network": false } },
            "verify": { "commands": [calls] },
        }));
        arena.plan_in_phases(&[vec![task("1.1", &[], "write a.txt a\ncommit feat: a\ncomplete")]]);
        let run = Running::of(arena.command(&["run", "--agent", "closed"]));
        let (code, said) = run.end();
        assert_eq!(code, 0, "{said}");
        arena.assert_all_done();
        assert_eq!(outside.accept().is_ok(), heard, "network {network}: {said}");
    }
}
