//! One program in a scratch repository with a home folder of its own: a plan of one task, and what became of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::PROFILES;
use super::install::Programs;
use super::remains;
use super::service::{SLOW, Service};

/// The programs take up to half a minute to start on a loaded machine.
const WITHIN: Duration = Duration::from_secs(300);

/// From the end of an attempt until nothing of it is left.
const GONE_WITHIN: Duration = Duration::from_secs(2);

const PLAN: &str = "# Greet\n\n## Phase 1: words\n- [ ] 1.1 Write hello.txt with a greeting, and commit it\n";

pub struct Scene<'a> {
    pub name: &'a str,
    pub swarm: &'a Path,
    pub programs: &'a Programs,
    pub root: &'a Path,
}

pub struct Verdict {
    pub text: String,
}

impl Scene<'_> {
    /// The task comes to its end: the commit is on trunk, and nothing is left running.
    pub fn play(&self) -> Result<Verdict> {
        let (service, folder) = self.set_up("task", "done")?;
        let mut run = self.start(&service, &folder)?;
        let status = wait(&mut run, WITHIN)?;
        let log = || fs::read_to_string(folder.join("run.log")).unwrap_or_default();
        let Some(status) = status else {
            self.end(&mut run, &folder);
            bail!("not finished within {} s: {}", WITHIN.as_secs(), tail(&log()));
        };
        let file = git(&folder.join("repo"), &["show", "main:hello.txt"]).unwrap_or_default();
        if file != "hello\n" {
            bail!("hello.txt is not on trunk ({status}): {}", tail(&log()));
        }
        let left = remains::left_after(&folder.join("home"), GONE_WITHIN, |_| true);
        if !left.is_empty() {
            bail!("left running: {left:?}");
        }
        Ok(Verdict { text: "commit on trunk, nothing left running".into() })
    }

    /// A daemon that is ended while a tool runs takes the tool with it.
    pub fn play_killed(&self) -> Result<Verdict> {
        let mut said = Vec::new();
        for signal in ["TERM", "KILL"] {
            let (service, folder) = self.set_up("slow_tool", signal)?;
            let home = folder.join("home");
            let mut run = self.start(&service, &folder)?;
            let tool = remains::wait_for(&home, WITHIN, |command| command == SLOW);
            let daemon = remains::wait_for(&home, GONE_WITHIN, |command| command.contains(" daemon --spec"));
            let (Some(tool), Some(daemon)) = (tool, daemon) else {
                self.end(&mut run, &folder);
                bail!("no tool and daemon within {} s", WITHIN.as_secs());
            };
            send(signal, daemon)?;
            let began = Instant::now();
            while Path::new("/proc").join(tool.to_string()).exists() && began.elapsed() < WITHIN {
                std::thread::park_timeout(Duration::from_millis(20));
            }
            let took = began.elapsed();
            self.end(&mut run, &folder);
            let left = remains::left_after(&home, Duration::from_secs(30), |_| true);
            if !left.is_empty() {
                bail!("left running after {signal}: {left:?}");
            }
            said.push(format!("{signal}: tool gone after {:.1} s", took.as_secs_f64()));
        }
        Ok(Verdict { text: said.join(", ") })
    }

    fn set_up(&self, scenario: &str, what: &str) -> Result<(Service, PathBuf)> {
        let folder = self.programs.folder.join("scenes").join(format!("{}-{what}", self.name));
        let _ = fs::remove_dir_all(&folder);
        let (home, repo) = (folder.join("home"), folder.join("repo"));
        for below in [".codex", ".gemini", ".config/opencode", ".claude"] {
            fs::create_dir_all(home.join(below))?;
        }
        fs::create_dir_all(&repo)?;
        let worktree = repo.join(".swarm/worktrees/1.1");
        let service = Service::start(self.root, scenario, &worktree, &folder)?;
        settings(&home, service.port)?;
        fs::write(home.join(".gitconfig"), "[user]\n\tname = Live\n\temail = live@localhost\n")?;
        git(&repo, &["init", "-q", "-b", "main"])?;
        let identity = ["-c", "user.name=Live", "-c", "user.email=live@localhost"];
        git(&repo, &[&identity[..], &["commit", "-q", "--allow-empty", "-m", "first"]].concat())?;
        let init = self.command(&service, &folder).arg("init").output()?;
        if !init.status.success() {
            bail!("swarm init: {}", String::from_utf8_lossy(&init.stderr));
        }
        let profiles: Vec<String> =
            PROFILES.iter().map(|(name, profile)| format!("{name:?}: {profile}")).collect();
        let config = format!("{{ \"mode\": \"autopilot\", \"profiles\": {{ {} }} }}", profiles.join(", "));
        fs::write(repo.join(".swarm/config.json"), config)?;
        fs::write(folder.join("plan.md"), PLAN)?;
        Ok((service, folder))
    }

    fn start(&self, service: &Service, folder: &Path) -> Result<Child> {
        let log = fs::File::create(folder.join("run.log"))?;
        let mut command = self.command(service, folder);
        command.args(["run", "--agent", self.name, "--plan"]).arg(folder.join("plan.md"));
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command.spawn().context("Cannot start swarm")
    }

    /// The environment of a person with these programs and nothing else.
    fn command(&self, service: &Service, folder: &Path) -> Command {
        let url = format!("http://127.0.0.1:{}", service.port);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs = std::iter::once(self.programs.bin()).chain(std::env::split_paths(&path));
        let mut command = Command::new(self.swarm);
        command.current_dir(folder.join("repo")).env_clear();
        command.env("PATH", std::env::join_paths(dirs).unwrap_or(path));
        command.env("HOME", folder.join("home")).env("TERM", "dumb").env("LANG", "C.UTF-8");
        command.env("ANTHROPIC_BASE_URL", &url).env("ANTHROPIC_API_KEY", "dummy");
        command.env("GOOGLE_GEMINI_BASE_URL", &url).env("GEMINI_API_KEY", "dummy");
        command.env("FAKE_KEY", "dummy");
        command
    }

    /// Asks the swarm to stop, twice, and at last ends what is left of the scene.
    fn end(&self, run: &mut Child, folder: &Path) {
        for _ in 0..2 {
            let _ = send("INT", run.id());
            if let Ok(Some(_)) = wait(run, Duration::from_secs(20)) {
                break;
            }
        }
        let _ = run.kill();
        let _ = run.wait();
        for (id, command) in remains::left_after(&folder.join("home"), Duration::from_secs(10), |_| true) {
            eprintln!("live-agents: had to end {id} {command}");
            let _ = send("KILL", id);
        }
    }
}

/// Each program pointed at the scripted model in its own way.
fn settings(home: &Path, port: u16) -> Result<()> {
    let url = format!("http://127.0.0.1:{port}/v1");
    let codex = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"{url}\"\n\
         env_key = \"FAKE_KEY\"\nwire_api = \"responses\"\n"
    );
    fs::write(home.join(".codex/config.toml"), codex)?;
    let opencode = serde_json::json!({
        "model": "fake/fake-model",
        "provider": { "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "fake",
            "options": { "baseURL": url, "apiKey": "dummy" },
            "models": { "fake-model": { "name": "fake", "limit": { "context": 200_000, "output": 8000 } } },
        } },
    });
    fs::write(home.join(".config/opencode/opencode.json"), opencode.to_string())?;
    let gemini = serde_json::json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
    fs::write(home.join(".gemini/settings.json"), gemini.to_string())?;
    Ok(())
}

fn wait(child: &mut Child, within: Duration) -> Result<Option<std::process::ExitStatus>> {
    let until = Instant::now() + within;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > until {
            return Ok(None);
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

fn send(signal: &str, id: u32) -> Result<()> {
    Command::new("kill").args(["-s", signal, &id.to_string()]).stderr(Stdio::null()).status()?;
    Ok(())
}

fn git(dir: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new("git").arg("-C").arg(dir).args(args).output().context("Cannot run git")?;
    if !output.status.success() {
        bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(6)..].join(" | ")
}
