//! Conflicts of every kind between agents and a person: an agent resolves them and both sides are there, or a person is
//! shown the three sides. Trunk never has half of anything.

use std::process::Command;

use serde_json::{Value, json};

use crate::arena::{Arena, Running, wait_for};
use crate::ground::{arena_with, has, task};

/// One file, what an agent and a person make of it, and how the two are put together.
struct Hard {
    id: &'static str,
    base: &'static str,
    agent: &'static str,
    person: &'static str,
    together: &'static str,
    /// It merges by itself.
    fits: bool,
    /// Each has to be in the file, once both sides are.
    path: &'static str,
    intents: &'static [&'static str],
}

const ALL: [Hard; 7] = [
    Hard {
        id: "same",
        base: "printf '1\\n2\\n3\\n' > same.txt",
        agent: "sed -i 's/^2$/2 agent/' same.txt",
        person: "sed -i 's/^2$/2 person/' same.txt",
        together: "printf '1\\n2 agent\\n2 person\\n3\\n' > same.txt",
        fits: false,
        path: "same.txt",
        intents: &["2 agent", "2 person"],
    },
    Hard {
        id: "adjacent",
        base: "printf '1\\n2\\n3\\n4\\n' > adjacent.txt",
        agent: "sed -i 's/^2$/2 agent/' adjacent.txt",
        person: "sed -i 's/^3$/3 person/' adjacent.txt",
        together: "printf '1\\n2 agent\\n3 person\\n4\\n' > adjacent.txt",
        fits: false,
        path: "adjacent.txt",
        intents: &["2 agent", "3 person"],
    },
    Hard {
        id: "moved",
        base: "seq 10 > moved.txt",
        agent: "git mv moved.txt there.txt && sed -i 's/^5$/5 agent/' there.txt",
        person: "git rm -q moved.txt && echo 'person: gone' > gone.txt",
        together: "sed -i 's/^6$/6 for the person/' there.txt",
        fits: false,
        path: "there.txt",
        intents: &["5 agent", "6 for the person"],
    },
    Hard {
        id: "mode",
        base: "echo true > run.sh",
        agent: "echo 'true # agent' > run.sh && chmod +x run.sh",
        person: "echo 'true # person' > run.sh",
        together: "printf 'true # agent\\ntrue # person\\n' > run.sh && chmod +x run.sh",
        fits: false,
        path: "run.sh",
        intents: &["# agent", "# person"],
    },
    Hard {
        id: "lock",
        base: "printf '{\\n  \"a\": \"1\"\\n}\\n' > package-lock.json",
        agent: "printf '{\\n  \"a\": \"1\",\\n  \"agent\": \"1\"\\n}\\n' > package-lock.json",
        person: "printf '{\\n  \"a\": \"1\",\\n  \"person\": \"1\"\\n}\\n' > package-lock.json",
        together: "printf '{\\n  \"a\": \"1\",\\n  \"agent\": \"1\",\\n  \"person\": \"1\"\\n}\\n' > package-lock.json",
        fits: false,
        path: "package-lock.json",
        intents: &["agent", "person"],
    },
    Hard {
        id: "binary",
        base: "printf '\\000base' > picture",
        agent: "printf '\\000agent' > picture",
        person: "printf '\\000person' > picture",
        together: "printf '\\000agent person' > picture",
        fits: false,
        path: "picture",
        intents: &["agent", "person"],
    },
    Hard {
        id: "case",
        base: "seq 20 29 > name.txt",
        agent: "sed -i 's/^25$/25 agent/' name.txt",
        person: "git mv name.txt Name.txt",
        together: "true",
        fits: true,
        path: "Name.txt",
        intents: &["25 agent"],
    },
];

fn by_me(arena: &Arena, commands: &str, message: &str) {
    let script = format!("set -e; {commands}; git add -A -- . ':!.swarm'; git commit -q -m '{message}'");
    let out = Command::new("sh").arg("-c").arg(script).current_dir(&arena.root).output().expect("sh runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

fn each(part: impl Fn(&Hard) -> &'static str) -> String {
    ALL.iter().map(part).collect::<Vec<_>>().join("; ")
}

/// All agents have committed, a person has committed the other side of everything, and the agents may end.
fn started(changes: Value) -> (Arena, Running) {
    let arena = arena_with(changes);
    by_me(&arena, &each(|hard| hard.base), "person: before");
    let go = arena.path("go");
    let tasks = ALL.iter().map(|hard| {
        let Hard { id, agent, together, .. } = hard;
        let script = format!(
            "on-attempt 1: sh {agent}\non-attempt 1: commit feat: {id}\non-attempt 1: wait-for {}\n\
             on-attempt 2: sh git merge -q main; {together}; git add -A; git commit -q -m 'merge: {id}'\ncomplete",
            go.display()
        );
        task(id, &[], &script)
    });
    arena.plan_in_phases(&[tasks.collect()]);
    let run = arena.start(&["--agents", "7"]);
    wait_for("all agents have committed", || {
        let all = arena.committed();
        ALL.iter().all(|hard| all.contains(&format!("feat: {}", hard.id)))
    });
    by_me(&arena, &each(|hard| hard.person), "person: the other side");
    std::fs::write(go, "").expect("a file");
    (arena, run)
}

fn on_main(arena: &Arena, path: &str) -> String {
    let out = arena.git_tried(&["show", &format!("main:{path}")]);
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn verify() -> Value {
    json!({ "commands": ["! grep -rqs '^<<<<<<<' ."] })
}

#[test]
fn conflicts_of_every_kind_are_resolved_by_agents_with_both_sides_in_them() {
    let (arena, run) = started(json!({ "review": { "profile": "script" }, "verify": verify() }));
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}\n{}", arena.printed());
    for Hard { id, path, intents, .. } in &ALL {
        arena.assert_proven(id, "main");
        has(&on_main(&arena, path), intents);
    }
    assert!(arena.git(&["ls-tree", "main", "run.sh"]).starts_with("100755"), "{said}");
    assert_eq!(arena.git(&["ls-tree", "--name-only", "main", "moved.txt", "name.txt"]), "");
    arena.assert_tidy();
}

#[test]
fn conflicts_of_every_kind_are_a_persons_who_is_shown_the_three_sides() {
    let (arena, run) = started(json!({ "verify": verify() }));
    let (code, said) = run.end();
    assert_eq!(code, 1, "{said}");
    for Hard { id, path, intents, fits, .. } in &ALL {
        if *fits {
            arena.assert_proven(id, "main");
            has(&on_main(&arena, path), intents);
            let out = arena.swarm(&["task", "diff", id, "--conflict"]);
            assert_eq!(out.status.code(), Some(1), "what is on trunk conflicts with nothing");
            continue;
        }
        let view = arena.shown(id);
        assert_eq!((&view["status"], &view["block"]), (&json!("blocked"), &json!("conflict")), "{view}");
        has(&arena.attention(), &[&format!("swarm task diff {id} --conflict")]);
        let shown = arena.json(&["task", "diff", id, "--conflict"]);
        let paths: Vec<&str> = shown["files"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|file| file["path"].as_str())
            .collect();
        assert!(paths.contains(path), "{shown}");
        // Of the agent's side nothing is there.
        assert!(!on_main(&arena, path).contains("agent"), "{id}: {}", on_main(&arena, path));
    }
    let file = |id: &str| arena.json(&["task", "diff", id, "--conflict"])["files"][0].clone();
    let place = file("same")["places"][0].clone();
    let texts = ["line", "base", "trunk", "task"].map(|side| match side {
        "line" => place["line"].clone(),
        side => place[side]["text"].clone(),
    });
    assert_eq!(json!(texts), json!([2, "2\n", "2 person\n", "2 agent\n"]), "{place}");
    let kinds = |id: &str| {
        let file = file(id);
        ["base", "trunk", "task"].map(|side| file[side]["is"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(kinds("moved"), ["file", "absent", "file"]);
    assert_eq!(kinds("mode"), ["file", "file", "executable"]);
    assert_eq!(kinds("binary"), ["binary file", "binary file", "binary file"]);
    has(&file("moved")["task"].to_string(), &["5 agent"]);
    let text = arena.ok(&["task", "diff", "same", "--conflict"]);
    has(
        &text,
        &[
            "The work of task same conflicts with main in 1 file",
            "same.txt\n  line 2\n  base:\n  | 2\n  main:\n  | 2 person\n  swarm/same:\n  | 2 agent\n",
            "`git merge main` in .swarm/worktrees/same",
            "`swarm worktree merge same`",
        ],
    );
    // What is told is the way: a person puts the two together, and it lands.
    let place = arena.root.join(".swarm/worktrees/same");
    let there = place.to_str().expect("text");
    arena.git_tried(&["-C", there, "merge", "-q", "main"]);
    arena.write(".swarm/worktrees/same/same.txt", "1\n2 agent\n2 person\n3\n");
    arena.git(&["-C", there, "add", "same.txt"]);
    arena.git(&["-C", there, "commit", "-q", "-m", "merge: both"]);
    arena.ok(&["worktree", "merge", "same"]);
    arena.run(&[]);
    arena.assert_proven("same", "main");
    has(&on_main(&arena, "same.txt"), &["2 agent", "2 person"]);
    arena.assert_nothing_runs();
}

#[test]
fn where_nothing_conflicts_it_is_said_with_what_to_look_at_instead() {
    let arena = arena_with(json!({}));
    let go = arena.path("go");
    let script = format!("write a.txt a\ncommit feat: a\nwait-for {}\ncomplete", go.display());
    arena.plan_in_phases(&[vec![task("1.1", &[], &script), task("1.2", &["1.1"], "complete")]]);
    let refused = |id: &str| {
        let out = arena.swarm(&["task", "diff", id, "--conflict"]);
        assert_eq!(out.status.code(), Some(1));
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    let run = arena.start(&["--agents", "1"]);
    wait_for("it has committed", || arena.committed().contains("feat: a"));
    wait_for("its commit is in the repository", || refused("1.1").contains("does not conflict with main"));
    has(&refused("1.1"), &["swarm task diff 1.1"]);
    has(&refused("1.2"), &["has no work to show yet", "swarm task show 1.2"]);
    std::fs::write(go, "").expect("a file");
    let (code, said) = run.end();
    assert_eq!(code, 0, "{said}");
    has(&refused("1.1"), &["Task 1.1 is on main"]);
}
