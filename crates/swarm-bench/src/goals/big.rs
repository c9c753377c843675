//! The big run: 200 tasks, 50 agents, 5,000 files. Everything done, proven on trunk, nothing left.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use swarm_sim::bench::report::Report;

use crate::arena::{Arena, Planned};
use crate::bare::BareAgent;
use crate::readings::{cpu, peak_kb};
use crate::running::{Running, processes_of, wait_for};
use crate::setting::Setting;

const TASKS: usize = 200;
const AGENTS: usize = 50;
const FILES: usize = 5_000;
/// Tasks by which the floor is measured.
const FLOOR_TASKS: usize = 20;
const WITHIN: Duration = Duration::from_secs(900);

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    // As many used worktrees kept as there are agents: otherwise most are made anew and lie in the trash.
    let arena = Arena::new(setting, "big", FILES, json!({ "worktree": { "pool": AGENTS } }))?;
    let floor = floor(&arena)?;
    let tasks: Vec<Planned> = (0..TASKS)
        .map(|n| {
            Planned::new(
                format!("t{n}"),
                format!("write made/f{n}.txt by t{n}\ncommit made by t{n}\ncomplete"),
            )
        })
        .collect();
    arena.save_plan(&tasks)?;
    let started = Instant::now();
    let mut running = Running::start(&arena, AGENTS)?;
    let pid = running.pid();
    let (mut used, mut peak, mut code) = (Duration::ZERO, 0.0, None);
    wait_for(WITHIN, || {
        used = cpu(pid).map_or(used, |now| now.max(used));
        peak = peak_kb(pid).unwrap_or(peak);
        code = running.child.try_wait()?;
        Ok(code.is_some())
    })?;
    let time = started.elapsed().as_secs_f64();
    ensure!(code.is_some_and(|code| code.success()), "swarm run ended with {code:?}");
    proven(&arena)?;
    nothing_left(&arena)?;
    let each = time / TASKS as f64;
    report.note(
        "also",
        &format!(
            "{TASKS} tasks × {AGENTS} agents, {FILES} files: all proven on trunk, nothing left, {time:.0} s; {:.0} ms a task, floor {:.0} ms, {:.1} times the floor",
            each * 1e3,
            floor * 1e3,
            each / floor
        ),
    );
    report.note(
        "also",
        &format!(
            "its coordinator used {:.1} s CPU of its own and {:.0} MB memory at most",
            used.as_secs_f64(),
            peak / 1024.0
        ),
    );
    Ok(())
}

fn proven(arena: &Arena) -> Result<()> {
    let done = arena.tasks_with("done")?;
    ensure!(done == TASKS, "{done} of {TASKS} tasks are done");
    let on_trunk = arena.git(["ls-tree", "--name-only", "main", "made/"])?;
    ensure!(on_trunk.lines().count() == TASKS, "trunk has {} of {TASKS} files", on_trunk.lines().count());
    let commits = arena.git(["log", "--format=%s", "main"])?;
    ensure!(commits.lines().count() == TASKS + 1, "trunk has {} commits", commits.lines().count());
    arena.git(["fsck", "--connectivity-only", "--no-dangling"]).map(drop)
}

fn nothing_left(arena: &Arena) -> Result<()> {
    wait_for(Duration::from_secs(10), || Ok(processes_of(&arena.root).is_empty()))
        .context("processes are left")?;
    let listed = arena.git(["worktree", "list", "--porcelain"])?;
    ensure!(listed.matches("worktree ").count() == 1, "worktrees are left: {listed}");
    let branches = arena.git(["for-each-ref", "--format=%(refname)", "refs/heads"])?;
    ensure!(branches.trim() == "refs/heads/main", "branches are left: {branches}");
    let swarm = arena.root.join(".swarm");
    let daemons = std::fs::read_dir(swarm.join("run/daemons")).into_iter().flatten().count();
    ensure!(daemons == 0, "{daemons} files of daemons are left");
    ensure!(!swarm.join("run/coordinator.sock").exists(), "the socket is left");
    let locks = locks_below(&arena.root.join(".git"));
    ensure!(locks.is_empty(), "locks of git are left: {locks:?}");
    Ok(())
}

fn locks_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        // Our own lock files in git's folder are never unlinked.
        if path.is_dir() && entry.file_name() != "swarm" {
            found.extend(locks_below(&path));
        } else if path.is_file() && path.extension().is_some_and(|end| end == "lock") {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Seconds that one task costs at the least: its agent at work in a worktree that is there, and the
/// three commands of a merge; on all cores but for the merge.
fn floor(arena: &Arena) -> Result<f64> {
    let cores = std::thread::available_parallelism()?.get();
    let mut places = Vec::new();
    for n in 0..cores {
        let place = arena.beside(&format!("floor{n}"));
        let text = place.to_str().context("a path of text")?.to_owned();
        arena.git(["worktree", "add", "--quiet", "-b", &format!("floor{n}"), &text])?;
        places.push(place);
    }
    let started = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = places
            .iter()
            .map(|place| {
                scope.spawn(|| (0..FLOOR_TASKS / cores).try_for_each(|n| floor_task(arena, place, n)))
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker that does not panic"))
    })?;
    let each = started.elapsed().as_secs_f64() / FLOOR_TASKS as f64;
    for (n, place) in places.iter().enumerate() {
        arena.git(["worktree", "remove", "--force", place.to_str().context("a path of text")?])?;
        arena.git(["branch", "-D", &format!("floor{n}"), "--quiet"])?;
    }
    arena.git(["update-ref", "-d", "refs/bench/floor"])?;
    Ok(each)
}

fn floor_task(arena: &Arena, place: &Path, n: usize) -> Result<()> {
    let folder = place.parent().context("a folder")?;
    let name = format!("{}-{n}", place.file_name().unwrap_or_default().to_string_lossy());
    let script = format!("write made/{name}.txt x\ncommit {name}\ncomplete");
    let agent = BareAgent::new(&arena.swarm, folder, &name, &script)?;
    let status = agent.command_in(place)?.stdout(Stdio::null()).status()?;
    ensure!(status.success(), "the scripted agent ended with {status}");
    let tip = arena.git_in(place, ["rev-parse", "HEAD"])?;
    let tree = arena.git(["merge-tree", "--write-tree", "main", tip.trim()])?;
    let commit = arena.git(["commit-tree", "-p", "main", "-m", "floor", tree.trim()])?;
    arena.git(["update-ref", "refs/bench/floor", commit.trim()]).map(drop)
}
