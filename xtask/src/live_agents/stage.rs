//! Where a program is tried: a scratch repository, a home folder of its own, and the scripted model on loopback.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::PROFILES;
use super::install::Programs;
use super::remains;
use super::service::{Part, Service};

/// The programs take up to half a minute to start on a loaded machine.
pub const WITHIN: Duration = Duration::from_secs(600);

/// From the end of a command until nothing of it is left.
pub const GONE_WITHIN: Duration = Duration::from_secs(2);

/// What a stage is made of.
pub struct Props<'a> {
    pub swarm: &'a Path,
    pub programs: &'a Programs,
    /// The sources, for the scripted model.
    pub root: &'a Path,
}

impl Props<'_> {
    pub fn folder_of(&self, scene: &str) -> PathBuf {
        self.programs.folder.join("scenes").join(scene)
    }
}

pub struct Stage<'a> {
    props: &'a Props<'a>,
    pub folder: PathBuf,
    /// Ended with the stage.
    pub service: Service,
    around: Around,
}

/// What a scene has otherwise than the others.
pub struct Around {
    /// The name of the host of the model.
    pub host: &'static str,
    /// Variables; an empty one is not set.
    pub env: &'static [(&'static str, &'static str)],
}

/// The model on loopback, each program with a key.
pub const PLAIN: Around = Around { host: "127.0.0.1", env: &[] };

impl<'a> Stage<'a> {
    /// A repository with these files in its first commit, and a model that plays `part`.
    pub fn set_up(props: &'a Props<'a>, name: &str, files: &[(&str, &str)], part: &Part) -> Result<Self> {
        Self::set_up_in(props, name, files, part, PLAIN)
    }

    pub fn set_up_in(
        props: &'a Props<'a>,
        name: &str,
        files: &[(&str, &str)],
        part: &Part,
        around: Around,
    ) -> Result<Self> {
        let folder = props.folder_of(name);
        let _ = fs::remove_dir_all(&folder);
        let (home, repo) = (folder.join("home"), folder.join("repo"));
        for below in [".codex", ".gemini", ".config/opencode", ".claude"] {
            fs::create_dir_all(home.join(below))?;
        }
        for (path, text) in files {
            let file = repo.join(path);
            fs::create_dir_all(file.parent().unwrap_or(&repo))?;
            fs::write(file, text)?;
        }
        fs::create_dir_all(&repo)?;
        let worktree = repo.join(".swarm/worktrees/1.1");
        let service = Service::start(props.root, part, &worktree, &folder)?;
        settings(&home, around.host, service.port)?;
        fs::write(home.join(".gitconfig"), "[user]\n\tname = Live\n\temail = live@localhost\n")?;
        let stage = Self { props, folder, service, around };
        stage.git(&["init", "-q", "-b", "main"])?;
        stage.git(&["add", "--all"])?;
        stage.git(&["commit", "-q", "--allow-empty", "-m", "first"])?;
        stage.swarm(&["init"])?;
        Ok(stage)
    }

    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub fn repo(&self) -> PathBuf {
        self.folder.join("repo")
    }

    /// The profiles of all programs, and what else the configuration says.
    pub fn configure(&self, more: &Value) -> Result<()> {
        let mut profiles = serde_json::Map::new();
        for (name, profile) in PROFILES {
            profiles.insert((*name).to_owned(), serde_json::from_str(profile)?);
        }
        let mut config = serde_json::json!({
            "mode": "autopilot", "profiles": profiles, "review": { "policy": "none" },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        Ok(fs::write(self.repo().join(".swarm/config.json"), format!("{config:#}\n"))?)
    }

    /// The environment of a person with these programs and nothing else.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let url = format!("http://{}:{}", self.around.host, self.service.port);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let ours =
            [self.props.programs.bin(), self.props.swarm.parent().unwrap_or(Path::new("/")).to_owned()];
        let dirs = ours.into_iter().chain(std::env::split_paths(&path));
        let mut command = Command::new(program);
        command.current_dir(self.repo()).env_clear();
        command.env("PATH", std::env::join_paths(dirs).unwrap_or(path));
        command.env("HOME", self.home()).env("TERM", "dumb").env("LANG", "C.UTF-8");
        command.env("ANTHROPIC_BASE_URL", &url).env("ANTHROPIC_API_KEY", "dummy");
        command.env("GOOGLE_GEMINI_BASE_URL", &url).env("GEMINI_API_KEY", "dummy");
        // As a client of MCP Claude shows its model all tools at once: the script looks for none.
        command.env("ENABLE_TOOL_SEARCH", "false");
        command.env("FAKE_KEY", "dummy").stdin(Stdio::null());
        for (name, value) in self.around.env {
            match *value {
                "" => command.env_remove(name),
                value => command.env(name, value),
            };
        }
        command
    }

    /// Starts a program that prints into `LOG` of the stage.
    pub fn start(&self, program: &Path, args: &[&str], log: &str) -> Result<Child> {
        let out = fs::File::create(self.folder.join(log))?;
        let mut command = self.command(program);
        command.args(args).stdout(out.try_clone()?).stderr(out);
        command.spawn().with_context(|| format!("Cannot start {}", program.display()))
    }

    /// Runs one to its end; what it printed, and how it ended.
    pub fn run(&self, program: &Path, args: &[&str]) -> Result<(ExitStatus, String)> {
        let log = "command.log";
        let mut child = self.start(program, args, log)?;
        let said = || fs::read_to_string(self.folder.join(log)).unwrap_or_default();
        let Some(status) = wait(&mut child, WITHIN)? else {
            self.end(&mut child);
            bail!("not finished within {} s: {} {}", WITHIN.as_secs(), args.join(" "), tail(&said()));
        };
        let said = said();
        // All of it, one after the other, for whoever looks.
        let mut all = fs::File::options().create(true).append(true).open(self.folder.join("all.log"))?;
        use std::io::Write;
        writeln!(all, "$ {} {}\n{said}({status})\n", program.display(), args.join(" "))?;
        Ok((status, said))
    }

    /// A `swarm` that has to succeed; what it printed.
    pub fn swarm(&self, args: &[&str]) -> Result<String> {
        let (status, said) = self.run(self.props.swarm, args)?;
        if !status.success() {
            bail!("swarm {} ({status}): {}{}", args.join(" "), tail(&said), self.unseen());
        }
        Ok(said)
    }

    pub fn start_swarm(&self, args: &[&str], log: &str) -> Result<Child> {
        self.start(self.props.swarm, args, log)
    }

    /// A view as JSON.
    pub fn view(&self, args: &[&str]) -> Result<Value> {
        let output = self.command(self.props.swarm).args(args).arg("--json").output()?;
        serde_json::from_slice(&output.stdout).with_context(|| {
            format!("swarm {} --json: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim())
        })
    }

    /// The records of the ledger of one type.
    pub fn records(&self, of: &str) -> Result<Vec<Value>> {
        let all = self.view(&["plan", "history", "--limit", "100000"])?;
        let all = all.as_array().cloned().unwrap_or_default();
        Ok(all.into_iter().filter(|record| record["type"] == of).collect())
    }

    pub fn git(&self, args: &[&str]) -> Result<String> {
        let output = self.command("git").args(args).output().context("Cannot run git")?;
        if !output.status.success() {
            bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The file as trunk has it.
    pub fn on_trunk(&self, path: &str, wanted: &str) -> Result<()> {
        let found = self.git(&["show", &format!("main:{path}")]).unwrap_or_default();
        if found != wanted {
            let status = self.swarm(&["status"]).unwrap_or_default();
            bail!("{path} on trunk is {found:?}, not {wanted:?}{}: {}", self.unseen(), tail(&status));
        }
        Ok(())
    }

    /// Nobody works on anything, and the checkout is as trunk has it.
    pub fn is_at_rest(&self) -> Result<()> {
        let left =
            remains::left_after(&self.home(), GONE_WITHIN, |command| !command.contains("fake_model.py"));
        if !left.is_empty() {
            bail!("left running: {left:?}");
        }
        let changed = self.git(&["status", "--porcelain", "--", ".", ":!.swarm"])?;
        if !changed.is_empty() {
            bail!("somebody wrote into the checkout: {}", changed.replace('\n', " | "));
        }
        let unseen = self.unseen();
        if !unseen.is_empty() {
            bail!("the model did not see what it should{unseen}");
        }
        Ok(())
    }

    /// What the model missed in the answers of tools, and questions it had no rule for.
    pub fn unseen(&self) -> String {
        let log = fs::read_to_string(self.folder.join("model.log")).unwrap_or_default();
        let lines = log.lines().filter(|line| line.contains("\"unseen\"") || line.contains("\"no_rule\""));
        lines.map(|line| format!(" [{line}]")).collect()
    }

    /// Asks it to stop, twice, and at last ends what is left on the stage.
    pub fn end(&self, run: &mut Child) {
        for _ in 0..2 {
            let _ = send("INT", run.id());
            if let Ok(Some(_)) = wait(run, Duration::from_secs(20)) {
                break;
            }
        }
        let _ = run.kill();
        let _ = run.wait();
        for (id, command) in remains::left_after(&self.home(), Duration::from_secs(10), |_| true) {
            eprintln!("live-agents: had to end {id} {command}");
            let _ = send("KILL", id);
        }
    }
}

/// Each program pointed at the scripted model in its own way.
fn settings(home: &Path, host: &str, port: u16) -> Result<()> {
    let url = format!("http://{host}:{port}/v1");
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

pub fn wait(child: &mut Child, within: Duration) -> Result<Option<ExitStatus>> {
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

pub fn send(signal: &str, id: u32) -> Result<()> {
    Command::new("kill").args(["-s", signal, &id.to_string()]).stderr(Stdio::null()).status()?;
    Ok(())
}

pub fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(6)..].join(" | ")
}
