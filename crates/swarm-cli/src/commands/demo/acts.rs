//! What the demo does: run, kill, look around.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use swarm_protocol::view::TaskRow;

use super::repository::{Repository, git};
use crate::error::CliError;
use crate::output;

/// What is said when a line of the run shows one of the scenes, each once.
const SCENES: [(&str, &str); 9] = [
    ("; restarts at ", "An agent crashed. It restarts in its own worktree and is told what happened."),
    ("checks failed", "Submitted work fails its check. It goes back to its agent; trunk has not moved."),
    ("noted: the same call", "An agent repeats the same tool call. First this is noted …"),
    (
        "the agent is told and continues",
        "… then the iteration ends, its work is kept, and the agent is told.",
    ),
    (
        "is used up; ",
        "The quota is used up. Nothing starts, nothing counts as a failure, and a small probe asks the service.",
    ),
    ("is back; waiting tasks go first", "The quota is back. Waiting tasks go first."),
    (
        "an agent resolves it",
        "Two agents changed the same lines. The second one merges trunk into its branch, keeps both, and is checked again.",
    ),
    (
        "the reviewer requests changes",
        "An agent reviews this task and wants something changed. The next attempt gets its notes.",
    ),
    ("all four chapters are named", "The second round is approved: this tree, and no other, may be merged."),
];

/// Tasks of the tour, in which nothing goes wrong.
const TOUR_TASKS: usize = 3;

/// Runs the plan to its end, tells the scenes as they come, and kills the coordinator without warning while two
/// agents are at work.
pub fn run(repository: &Repository) -> Result<(), CliError> {
    let mut run = start(repository)?;
    let (mut working, mut told) = (0, [false; SCENES.len()]);
    let stderr = run.stderr.take().map(BufReader::new);
    for line in stderr.into_iter().flat_map(|lines| lines.lines().map_while(Result::ok)) {
        output::note(&format!("  {line}"));
        for ((sign, words), told) in SCENES.iter().zip(&mut told) {
            if line.contains(sign) && !std::mem::replace(told, true) {
                output::note(&format!("  » {words}"));
            }
        }
        working += usize::from(line.ends_with(" is working"));
        if working == 2 && kill_coordinator(repository) {
            working += 1;
            output::note(
                "  » The coordinator was just killed with SIGKILL. Its agents continue; watch it restart.",
            );
        }
    }
    let ended = run.wait().map_err(|e| CliError::environment("Cannot wait for swarm run").because(e))?;
    match ended.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(CliError::environment(format!("swarm run ended with {ended}"))),
    }
}

/// `swarm run` as a process of its own, as a person would start it.
fn start(repository: &Repository) -> Result<Child, CliError> {
    let failed = |e: std::io::Error| CliError::environment("Cannot start swarm run").because(e);
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg("-C").arg(&repository.root).arg("run").args(["--agent", "script", "--agents", "2"]);
    command.args(["--mode", "autopilot", "--plan"]).arg(&repository.plan);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(failed)
}

/// False when it is not there to be killed.
fn kill_coordinator(repository: &Repository) -> bool {
    let owner = std::fs::read(repository.root.join(".swarm").join("run").join("owner.lock"));
    let owner: serde_json::Value = serde_json::from_slice(&owner.unwrap_or_default()).unwrap_or_default();
    let pid = owner["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

/// What is there now, looked up from outside: git, the process list, the files.
#[derive(Debug, Serialize)]
pub struct Ending {
    pub folder: String,
    /// The program that ran it, for whoever has not installed it.
    pub program: String,
    pub tasks: Vec<TaskRow>,
    pub trunk: Vec<String>,
    pub ledger: String,
    pub left_behind: Vec<String>,
}

pub fn look_around(repository: &Repository) -> Result<Ending, CliError> {
    let swarm = |args: &[&str]| -> Result<std::process::Output, CliError> {
        let failed = |e: std::io::Error| CliError::environment("Cannot run swarm").because(e);
        let exe = std::env::current_exe().map_err(failed)?;
        Command::new(exe).arg("-C").arg(&repository.root).args(args).output().map_err(failed)
    };
    let list = swarm(&["task", "list", "--json"])?;
    let tasks = serde_json::from_slice(&list.stdout)
        .map_err(|e| CliError::environment("Cannot read the task list").because(e))?;
    let verify = swarm(&["plan", "verify"])?;
    let ledger =
        if verify.status.success() { "verified: chain, snapshots, projections" } else { "NOT valid" };
    let trunk = git(&repository.root, &["log", "--reverse", "--format=%h %s", "main"])?;
    Ok(Ending {
        folder: repository.root.display().to_string(),
        program: std::env::current_exe().map_or_else(|_| "swarm".into(), |exe| exe.display().to_string()),
        tasks,
        trunk: trunk.lines().map(str::to_owned).collect(),
        ledger: ledger.into(),
        left_behind: left_behind(repository)?,
    })
}

/// Worktrees of tasks, daemon files and the socket: all of it should be gone.
fn left_behind(repository: &Repository) -> Result<Vec<String>, CliError> {
    let mut left = Vec::new();
    let worktrees = git(&repository.root, &["worktree", "list", "--porcelain"])?;
    let linked = worktrees.lines().filter_map(|l| l.strip_prefix("worktree ")).skip(1);
    left.extend(linked.filter(|path| !path.ends_with("/merge")).map(|path| format!("worktree {path}")));
    let run = repository.root.join(".swarm").join("run");
    for folder in [run.join("daemons"), run] {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let ours = entry.path().is_file() || name == "coordinator.sock";
            let stays = ["door.lock", "owner.lock", "planner.lock", "secret.key"];
            if ours && !stays.contains(&name.as_str()) {
                left.push(format!("file {}", entry.path().display()));
            }
        }
    }
    Ok(left)
}

impl Ending {
    pub fn is_good(&self) -> bool {
        use swarm_protocol::plan::Status;
        self.left_behind.is_empty() && self.tasks.iter().all(|t| t.status == Status::Done)
    }

    pub fn text(&self) -> String {
        let mut lines = vec![String::new(), "What happened:".into()];
        for task in &self.tasks {
            let mut tries =
                if task.attempts > 1 { format!(", after {} attempts", task.attempts) } else { String::new() };
            match task.restarts {
                0 => {}
                1 => tries.push_str(", started again once"),
                n => tries.push_str(&format!(", started again {n} times")),
            }
            lines.push(format!(
                "  {:<5} {:<34} {} ({}{tries})",
                task.id,
                task.title,
                task.status.word(),
                task.stage
            ));
        }
        lines.push(String::new());
        lines.push("Trunk, oldest first:".into());
        lines.extend(self.trunk.iter().map(|line| format!("  {line}")));
        lines.push(String::new());
        lines.push(format!("Ledger: {}.", self.ledger));
        lines.push(match self.left_behind.is_empty() {
            true => "Left behind: no process, no worktree, no lock.".into(),
            false => format!("Left behind: {}", self.left_behind.join(", ")),
        });
        lines.push(String::new());
        lines.push(format!("Where to look: cd {}", self.folder));
        lines.push(format!("  (swarm is {})", self.program));
        lines.push("  swarm status                 the plan at a glance".into());
        lines.push("  swarm plan history           every decision, as recorded".into());
        if self.tasks.len() > TOUR_TASKS {
            lines.push("  swarm task show 1.2          the task whose agent crashed".into());
            lines.push("  swarm task show 2.2          the task that ran out of quota".into());
        }
        lines.push("  git log --stat               what the agents did".into());
        lines.push(format!("Done with it? rm -r {}", self.folder));
        lines.join("\n")
    }
}
