//! Carrying the script out, for real.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::call::called;
use super::parse::{Line, Step, lines_of, role_script_in, script_in};
use super::{MEMBER_VARIABLE, ROLE_PLAN, ROLE_RESOLVE, ROLE_VARIABLE};
use swarm_process::Call;

/// The script has a line that means nothing.
pub const EXIT_BAD_SCRIPT: u8 = 2;
/// The world refused a step.
const EXIT_FAILED: u8 = 1;

/// A file that is waited for and does not come in this time ends the agent: no test hangs for ever on a typo.
const WAIT_MAX: Duration = Duration::from_secs(600);

/// Between two looks whether the file is there. Only this agent polls: it plays a program of somebody else.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Commits as an agent would: by the shell, in its own folder. Nothing to commit is no failure. The names stand in where
/// none are configured, which is asked only after a commit was refused: nearly everybody has some.
const COMMIT: &str = r#"git add -A || exit
git -c user.useConfigOnly=true commit -q -m "$1" >/dev/null 2>&1 && exit
git diff --cached --quiet && exit
export GIT_AUTHOR_NAME="$(git config user.name || echo Script)" GIT_AUTHOR_EMAIL="$(git config user.email || echo script@swarm.invalid)"
export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME" GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"
git commit -q -m "$1""#;

/// What is answered where the prompt has no script for it, so that any goal and any plan can be tried.
fn answer_of(role: &str) -> &'static str {
    match role {
        ROLE_PLAN => {
            r#"print {"phases": [{"id": 1, "name": "All of it", "tasks": [{"id": "1.1", "title": "Reach the goal"}]}]}"#
        }
        ROLE_RESOLVE => "print only a person can decide this",
        _ => r#"print {"verdict": "approve", "summary": "nothing to say against it"}"#,
    }
}

/// Names the file with the answer to a question of the swarm; set where nothing else is wanted.
pub const PROBE_VARIABLE: &str = "SWARM_PROBE";

/// What the agent finds around it.
#[derive(Debug, Clone)]
pub struct Surroundings {
    pub dir: PathBuf,
    pub task: String,
    /// How often it was sent to the task, with this one: an attempt, or the same attempt once more.
    pub start: u32,
    pub iteration: u32,
    /// Only asked whether its service answers; the file says what it does then.
    pub probe: Option<PathBuf>,
    /// What it is there for, where that is not work. Of a review the start is the round.
    pub role: String,
    /// As whom of a council it is asked.
    pub member: String,
}

impl Surroundings {
    /// From the variables that the daemon sets.
    pub fn from_env() -> std::io::Result<Self> {
        let text = |name| std::env::var(name).unwrap_or_default();
        let number = |name| text(name).parse().unwrap_or(1);
        let task = Some(text("SWARM_TASK")).filter(|task| !task.is_empty()).unwrap_or_else(|| "task".into());
        let dir = std::env::current_dir()?;
        let probe = std::env::var_os(PROBE_VARIABLE).map(PathBuf::from);
        let start = std::env::var_os("SWARM_START").map_or("SWARM_ATTEMPT", |_| "SWARM_START");
        let (start, iteration) = (number(start), number("SWARM_ITERATION"));
        Ok(Self {
            dir,
            task,
            start,
            iteration,
            probe,
            role: text(ROLE_VARIABLE),
            member: text(MEMBER_VARIABLE),
        })
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.join(path)
    }
}

/// Does what the prompt's script says; answers with the exit code.
pub async fn run(prompt: &str, around: &Surroundings) -> u8 {
    let script = match &around.probe {
        Some(file) => Some(lines_of(&std::fs::read_to_string(file).unwrap_or_else(|_| "print yes".into()))),
        None if !around.role.is_empty() => {
            Some(role_script_in(prompt, &around.role).unwrap_or_else(|| lines_of(answer_of(&around.role))))
        }
        None => script_in(prompt),
    };
    let lines = match script {
        Some(Ok(lines)) => lines,
        Some(Err(bad)) => {
            eprintln!("{bad}");
            return EXIT_BAD_SCRIPT;
        }
        None => without_script(prompt, around),
    };
    // Held until the end: dropping it would make TERM deadly again.
    let mut deaf = None;
    for line in lines.into_iter().filter(|line| is_meant(line, around)) {
        match perform(line.step, around, &mut deaf).await {
            Ok(Next::Go) => {}
            Ok(Next::End(code)) => return code,
            Err(error) => {
                eprintln!("{error}");
                return EXIT_FAILED;
            }
        }
    }
    0
}

fn is_meant(line: &Line, around: &Surroundings) -> bool {
    line.on_attempt.is_none_or(|n| n == around.start)
        && line.on_iteration.is_none_or(|n| n == around.iteration)
        && line.as_member.as_ref().is_none_or(|name| *name == around.member)
}

/// So that any plan can be tried: a note with the task's title, committed.
fn without_script(prompt: &str, around: &Surroundings) -> Vec<Line> {
    let title = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(no prompt)");
    let path = format!("notes/{}.md", around.task);
    let message = format!("{}: {}", around.task, title.trim_start_matches('#').trim());
    let steps = [
        Step::Print { text: format!("no script in the prompt: writing {path}") },
        Step::Write { path, text: title.to_owned() },
        Step::Commit { message },
        Step::Complete,
    ];
    steps.map(|step| Line { on_attempt: None, on_iteration: None, as_member: None, step }).into()
}

enum Next {
    Go,
    End(u8),
}

async fn perform(step: Step, around: &Surroundings, deaf: &mut Option<Signal>) -> std::io::Result<Next> {
    match step {
        Step::Write { path, text } => write(&around.path(&path), &text, false)?,
        Step::Append { path, text } => write(&around.path(&path), &text, true)?,
        Step::Count { path } => {
            write(&around.path(&path), &format!("{} {}", around.start, around.iteration), true)?
        }
        Step::Delete { path } => std::fs::remove_file(around.path(&path))?,
        Step::Commit { message } => return commit(&message, around).await,
        Step::Print { text } => say(&text)?,
        Step::Progress { percent } => say(&format!("<swarm>PROGRESS: {percent}</swarm>"))?,
        Step::Sleep(time) => tokio::time::sleep(time).await,
        Step::WaitFor { path } => wait_for(&around.path(&path)).await?,
        Step::Shell { command } => tool(&command, around).await?,
        Step::Call { tool, arguments } => say(&called(&tool, &arguments, &around.dir).await?)?,
        Step::CloseOutput => close_output()?,
        Step::SpawnChild { secs } => spawn_child(secs, around).await?,
        Step::IgnoreTerm => *deaf = Some(signal(SignalKind::terminate())?),
        Step::Flood { lines } => (1..=lines).try_for_each(|n| say(&format!("flood line {n}")))?,
        Step::Hang => std::future::pending().await,
        Step::Burn(time) => burn(time),
        Step::Tool { call } => {
            say(&format!("<swarm>TOOL: {call}</swarm>\n<swarm>TOOL_END: ok</swarm>"))?;
        }
        Step::ToolBegin { call } => say(&format!("<swarm>TOOL: {call}</swarm>"))?,
        Step::ToolEnd => say("<swarm>TOOL_END: ok</swarm>")?,
        Step::Denied { what } => say(&format!("<swarm>DENIED: {what}</swarm>"))?,
        Step::Usage { what } => say(&format!("<swarm>USAGE: {what}</swarm>"))?,
        Step::Session { id } => say(&format!("<swarm>SESSION: {id}</swarm>"))?,
        Step::Fail { why } => {
            say(&format!("<swarm>FAILURE: {why}</swarm>"))?;
            return Ok(Next::End(EXIT_FAILED));
        }
        Step::Weather { path } => {
            let why = std::fs::read_to_string(around.path(&path)).unwrap_or_default();
            if !why.trim().is_empty() {
                say(&format!("<swarm>FAILURE: {}</swarm>", why.trim()))?;
                return Ok(Next::End(EXIT_FAILED));
            }
        }
        Step::Repeat { times, step } => {
            for _ in 0..times {
                if let Next::End(code) = Box::pin(perform((*step).clone(), around, deaf)).await? {
                    return Ok(Next::End(code));
                }
            }
        }
        Step::Crash { code } => return Ok(Next::End(code)),
        Step::KillSelf => {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
            std::future::pending().await
        }
        Step::Complete => return last_word("<swarm>COMPLETE</swarm>"),
        Step::Blocked { reason } => return last_word(&format!("<swarm>BLOCKED: {reason}</swarm>")),
        Step::Failed { reason } => return last_word(&format!("<swarm>FAILED: {reason}</swarm>")),
        Step::NoSignal => return Ok(Next::End(0)),
    }
    Ok(Next::Go)
}

fn last_word(text: &str) -> std::io::Result<Next> {
    say(text)?;
    Ok(Next::End(0))
}

fn say(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

fn burn(time: Duration) {
    let until = std::time::Instant::now() + time;
    while std::time::Instant::now() < until {
        std::hint::spin_loop();
    }
}

fn write(path: &Path, text: &str, append: bool) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut file = OpenOptions::new().create(true).write(true).append(append).truncate(!append).open(path)?;
    file.write_all(format!("{text}\n").as_bytes())
}

async fn commit(message: &str, around: &Surroundings) -> std::io::Result<Next> {
    let ended = shell(COMMIT, message, around).run().await.map_err(std::io::Error::other)?;
    if ended.status.success() {
        return Ok(Next::Go);
    }
    eprint!("{}", String::from_utf8_lossy(&ended.stderr_tail));
    Ok(Next::End(EXIT_FAILED))
}

/// It inherits our output and keeps it open, as a careless agent's child would.
async fn spawn_child(secs: u64, around: &Surroundings) -> std::io::Result<()> {
    let call = shell(r#"setsid sleep "$1" &"#, &secs.to_string(), around);
    let mut running = call.spawn(Stdio::inherit(), Stdio::inherit()).map_err(std::io::Error::other)?;
    running.wait().await?;
    Ok(())
}

/// Its output is the agent's; an end other than 0 is said and not acted upon, as agents do.
async fn tool(command: &str, around: &Surroundings) -> std::io::Result<()> {
    let call = shell(command, "", around);
    let mut running = call.spawn(Stdio::inherit(), Stdio::inherit()).map_err(std::io::Error::other)?;
    let status = running.wait().await?;
    if !status.success() {
        say(&format!("the command ended with {status}"))?;
    }
    Ok(())
}

/// Whoever reads our output sees its end now, long before ours.
fn close_output() -> std::io::Result<()> {
    let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(())
}

fn shell(script: &str, argument: &str, around: &Surroundings) -> Call {
    let mut call = Call::new("sh").args(["-c", script, "sh", argument]).cwd(&around.dir);
    call.env.extend(std::env::vars_os());
    call
}

async fn wait_for(path: &Path) -> std::io::Result<()> {
    let until = tokio::time::Instant::now() + WAIT_MAX;
    while !path.exists() {
        if tokio::time::Instant::now() > until {
            return Err(std::io::Error::other(format!("{} did not come", path.display())));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}
