//! kill -9 at every system call of the commands that write: what was answered is there, what is there verifies,
//! and the same command again succeeds.
//!
//! An ordinary run of the tests takes `POINTS_MAX` of a command's points, spread over all of it; `SWARM_KILL_POINTS=all`
//! takes every one, and so does `cargo xtask torture`.

mod tracing;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::{Point, killed_at, require_strace, spread, trace};
use world::{World, dense_chain};

/// Points per command when not all are asked for.
const POINTS_MAX: usize = 40;
/// Where the renames, which are few, have a test of each of their own, and the rest is that of a save.
const POINTS_OF_IMPORT: usize = 25;

const PLAN: &str = "# Goal\n\n## Phase 1: first\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n  depends: 1.1\n";
const PLAN_AFTER: &str = "# Goal\n\n## Phase 1: first\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n- [ ] 1.3 Three\n";

const THEIRS: [(&str, &str); 3] = [
    ("context.md", "notes\n"),
    ("plan-ledger.jsonl", "{\"seq\":1,\"event_type\":\"plan_created\",\"plan_id\":\"p\"}\n"),
    (
        "plan.json",
        r#"{"schema_version":"1.0.0","title":"T","swarm":"s","phases":[{"id":1,"name":"n","tasks":[{"id":"1.1","description":"One"}]}]}"#,
    ),
];

struct Case {
    args: &'static [&'static str],
    /// Whether there is a plan before.
    planned: bool,
    /// Looks with the binary whether the command has taken effect.
    effect: fn(&World) -> bool,
    /// Whether the files of opencode-swarm lie where ours would.
    foreign: bool,
    /// The refusal that asking again may get when it had taken effect.
    already: &'static [&'static str],
}

fn has_task(world: &World, id: &str) -> bool {
    let ran = world.swarm(&["--json", "task", "list"]);
    ran.code == Some(0) && ran.json().as_array().is_some_and(|rows| rows.iter().any(|row| row["id"] == id))
}

/// The ledger stands in the archive, whole, or says itself that the plan is closed.
fn is_closed(world: &World) -> bool {
    let archived = std::fs::read_dir(world.repo.join(".swarm/archive")).map(|entries| {
        entries.flatten().filter(|e| e.path().extension().is_some_and(|end| end == "jsonl")).count()
    });
    let last_record = std::fs::read_to_string(world.ledger()).unwrap_or_default();
    archived.unwrap_or(0) > 0 || last_record.contains("\"type\":\"plan_closed\"")
}

fn prepared(case: &Case) -> World {
    let world = World::new();
    world.file("plan.md", PLAN);
    world.file("plan-after.md", PLAN_AFTER);
    if case.planned {
        world.swarm(&["plan", "save", "plan.md"]).good();
        world.swarm(&["task", "defer", "1.2"]).good();
    }
    if case.args.starts_with(&["plan", "reopen"]) {
        world.swarm(&["close", "--yes"]).good();
    }
    if case.foreign {
        THEIRS.iter().for_each(|(name, text)| world.file(&format!(".swarm/{name}"), text));
    }
    world
}

fn check(case: &Case) {
    require_strace();
    let template = prepared(case);
    let counted = template.copy();
    let whole = trace(&counted, case.args);
    assert_eq!(whole.ran.code, Some(0), "{:?}: {}{}", case.args, whole.ran.out, whole.ran.err);
    assert!((case.effect)(&counted), "{:?} has its effect when nobody kills it", case.args);
    let answer = whole.ran.out.clone();
    let points = whole.points(&counted.base);
    let all = points.len();
    let usual = if case.foreign { POINTS_OF_IMPORT } else { POINTS_MAX };
    let wanted = std::env::var("SWARM_KILL_POINTS").unwrap_or_default();
    let most = if wanted == "all" { all } else { wanted.parse().unwrap_or(usual) };
    let points = spread(points, most);
    println!("{:?}: killed at {} of {all} system calls", case.args, points.len());
    let (next, killed, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(vec![]));
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get().min(4)) {
            threads.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match survives(case, &template, point, &answer) {
                        Ok(was_killed) => drop(killed.fetch_add(usize::from(was_killed), Ordering::Relaxed)),
                        Err(why) => wrong.lock().expect("no panic").push(format!("{point:?}: {why}")),
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{:?}\n{}", case.args, wrong.join("\n"));
    let killed = killed.into_inner();
    assert!(killed * 10 >= points.len() * 9, "only {killed} of {} runs were killed", points.len());
}

/// One kill and what is left of it. Ok(false): this run did not come to the point.
fn survives(case: &Case, template: &World, point: &Point, answer: &str) -> Result<bool, String> {
    let world = template.copy();
    let ran = killed_at(&world, case.args, point);
    let was_killed = ran.code.is_none();
    if !was_killed && ran.code != Some(0) {
        return Err(format!("not killed, and still ended with {:?}: {}{}", ran.code, ran.out, ran.err));
    }
    let answered = !answer.is_empty() && ran.out.len() == answer.len();
    look(case, &world, "after the kill", answered)?;
    let again = world.swarm(&[&["--json"], case.args].concat());
    if again.code != Some(0) {
        let kind = serde_json::from_str::<serde_json::Value>(&again.out).unwrap_or_default();
        let kind = kind["error"]["kind"].as_str().unwrap_or_default().to_owned();
        if !case.already.contains(&kind.as_str()) || !(case.effect)(&world) {
            return Err(format!(
                "the same command again ended with {:?}: {}{}",
                again.code, again.out, again.err
            ));
        }
    }
    look(case, &world, "after the second time", true)?;
    Ok(was_killed)
}

/// What was answered is there, what is there verifies.
fn look(case: &Case, world: &World, when: &str, must_be_there: bool) -> Result<(), String> {
    let verified = world.swarm(&["--json", "plan", "verify"]);
    let no_plan = verified.out.contains("\"no_plan\"");
    // No plan is right before the first save and after the close.
    let may_be_none = !case.planned || is_closed(world);
    // Until all of it is moved it is theirs, and nobody reads it as ours.
    let theirs = case.foreign && verified.out.contains("belongs to opencode-swarm");
    if verified.code != Some(0) && !(no_plan && may_be_none) && !theirs {
        return Err(format!(
            "{when}: verify ended with {:?}: {}{}",
            verified.code, verified.out, verified.err
        ));
    }
    if must_be_there && !(case.effect)(world) {
        return Err(format!("{when}: it was answered and is not there"));
    }
    if case.foreign {
        nothing_of_theirs_is_lost(world, when)?;
    }
    if case.planned && !is_closed(world) && !(has_task(world, "1.1") && has_task(world, "1.2")) {
        return Err(format!("{when}: tasks of before are gone"));
    }
    if verified.code == Some(0)
        && std::fs::metadata(world.ledger()).is_ok_and(|meta| meta.len() > 0)
        && must_be_there
    {
        dense_chain(&world.ledger());
    }
    Ok(())
}

/// Each of their files lies in exactly one place, byte for byte.
fn nothing_of_theirs_is_lost(world: &World, when: &str) -> Result<(), String> {
    let aside = std::fs::read_dir(world.repo.join(".swarm/imported")).into_iter().flatten().flatten();
    let folders: Vec<_> = aside.map(|entry| entry.path()).chain([world.repo.join(".swarm")]).collect();
    for (name, text) in THEIRS {
        let same = |folder: &&std::path::PathBuf| {
            std::fs::read_to_string(folder.join(name)).is_ok_and(|it| it == text)
        };
        let places = folders.iter().filter(same).count();
        if places != 1 || folders.len() > 2 {
            return Err(format!("{when}: {name} lies in {places} places of {folders:?}"));
        }
    }
    Ok(())
}

#[test]
fn plan_import_that_moves_the_files_of_opencode_swarm() {
    check(&Case {
        args: &["plan", "import", "--from", "opencode-swarm"],
        planned: false,
        foreign: true,
        effect: |world| has_task(world, "1.1"),
        already: &[],
    });
}

#[test]
fn plan_save_that_makes_the_ledger() {
    check(&Case {
        args: &["plan", "save", "plan.md"],
        planned: false,
        foreign: false,
        effect: |world| has_task(world, "1.2"),
        already: &[],
    });
}

#[test]
fn plan_save_over_a_plan() {
    check(&Case {
        args: &["plan", "save", "plan-after.md"],
        planned: true,
        foreign: false,
        effect: |world| has_task(world, "1.3"),
        already: &[],
    });
}

#[test]
fn task_add() {
    check(&Case {
        args: &["task", "add", "New", "--id", "new"],
        planned: true,
        foreign: false,
        effect: |world| has_task(world, "new"),
        already: &["duplicate_task"],
    });
}

#[test]
fn plan_export() {
    check(&Case {
        args: &["plan", "export"],
        planned: true,
        foreign: false,
        effect: |world| {
            let history = world.swarm(&["plan", "history"]);
            history.out.contains("plan_exported") && world.repo.join(".swarm/SWARM_PLAN.json").exists()
        },
        already: &[],
    });
}

#[test]
fn reopen() {
    check(&Case {
        args: &["plan", "reopen", "--yes"],
        planned: true,
        foreign: false,
        effect: |world| has_task(world, "1.1") && has_task(world, "1.2"),
        already: &["nothing_there"],
    });
}

#[test]
fn close() {
    check(&Case {
        args: &["close", "--yes"],
        planned: true,
        foreign: false,
        effect: is_closed,
        already: &["no_plan", "plan_closed"],
    });
}
