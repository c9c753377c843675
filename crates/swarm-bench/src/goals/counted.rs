//! G12 and G9: how many programs the swarm starts and how often it syncs for one task, counted by strace.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::json;
use swarm_sim::bench::report::Report;

use crate::arena::{Arena, Planned};
use crate::setting::Setting;

const FEW: usize = 2;
const MANY: usize = 8;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    if Command::new("strace").arg("-V").output().is_err() {
        report.note("G12", "programs and syncs of one task: not counted, strace is not installed");
        return Ok(());
    }
    let few = calls(setting, FEW)?;
    let many = calls(setting, MANY)?;
    let each = |name: &str| {
        let count = |calls: &BTreeMap<String, usize>| calls.get(name).copied().unwrap_or(0) as f64;
        (count(&many) - count(&few)) / (MANY - FEW) as f64
    };
    report.note(
        "G12",
        &format!(
            "one task, from ready to done and removed: {:.1} programs started ({:.1} git), {:.1} fdatasync, {:.1} fsync, {:.1} syncfs",
            each("execve"),
            each("git"),
            each("fdatasync"),
            each("fsync"),
            each("syncfs"),
        ),
    );
    let mut kinds: Vec<(&String, f64)> =
        many.keys().filter(|name| name.starts_with("git ")).map(|name| (name, each(name))).collect();
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown: Vec<String> =
        kinds.iter().filter(|(_, n)| *n >= 0.5).map(|(name, n)| format!("{} {n:.0}", &name[4..])).collect();
    report.note("G12", &format!("of git, agent's own included: {}", shown.join(", ")));
    Ok(())
}

/// System calls of a whole run of so many tasks, one after the other, daemons and agents included.
fn calls(setting: &Setting, tasks: usize) -> Result<BTreeMap<String, usize>> {
    let arena = Arena::new(setting, &format!("g12-counted-{tasks}"), 20, json!({}))?;
    let plan: Vec<Planned> = (0..tasks)
        .map(|n| {
            let task = Planned::new(format!("t{n}"), format!("write f{n} x\ncommit f{n}\ncomplete"));
            if n == 0 { task } else { task.after(format!("t{}", n - 1)) }
        })
        .collect();
    arena.save_plan(&plan)?;
    let trace = arena.beside("trace");
    // Only what succeeded: a program is looked for along PATH, and one that is not found is none.
    let mut command = Command::new("strace");
    arena.with_home(&mut command);
    command
        .args(["-f", "-z", "-qq", "-s", "200", "-e", "trace=execve,fdatasync,fsync,syncfs", "-o"])
        .arg(&trace);
    command.arg(&arena.swarm).arg("-C").arg(&arena.root).args(["run", "--agent", "script", "--agents", "1"]);
    let out = command.output()?;
    let done = arena.tasks_with("done")?;
    ensure!(done == tasks, "{done} of {tasks} tasks are done: {}", String::from_utf8_lossy(&out.stderr));
    count(&trace)
}

fn count(trace: &Path) -> Result<BTreeMap<String, usize>> {
    let mut calls = BTreeMap::new();
    for line in std::fs::read_to_string(trace)?.lines() {
        let Some((_, call)) = line.split_once(char::is_whitespace) else { continue };
        let call = call.trim_start();
        let Some((name, rest)) = call.split_once('(') else { continue };
        *calls.entry(name.to_owned()).or_default() += 1;
        if name == "execve" && rest.split('"').nth(1).is_some_and(|program| program.ends_with("/git")) {
            *calls.entry("git".to_owned()).or_default() += 1;
            *calls.entry(format!("git {}", subcommand(rest))).or_default() += 1;
        }
    }
    Ok(calls)
}

/// The first argument of git that is neither a switch nor the value of one.
fn subcommand(arguments: &str) -> String {
    let words: Vec<&str> = arguments.split('"').skip(3).step_by(2).collect();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match *word {
            "-c" | "-C" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => return word.to_owned(),
        }
    }
    "?".into()
}
