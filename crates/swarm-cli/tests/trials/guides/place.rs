//! Where a page is followed: a home, a folder and a path of its own, with the binary in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::page::{Block, Step, words};

/// What a page waits for comes by then.
const UNTIL_MAX: Duration = Duration::from_secs(120);

/// What the page of a finished swarm begins with.
const DONE_CONFIG: &str =
    "{ \"agent\": \"script\", \"mode\": \"autopilot\", \"review\": { \"policy\": \"none\" } }\n";
const DONE_PLAN: &str = "# Parse and print\n\
    - [ ] 1.1 Parser\n  ```script\n  write parser.txt parser\n  commit parser\n  complete\n  ```\n\
    - [ ] 1.2 Printer\n  ```script\n  write printer.txt printer\n  commit printer\n  complete\n  ```\n\
    - [ ] 1.3 Docs\n  ```script\n  write docs.txt docs\n  commit docs\n  complete\n  ```\n";

pub struct Place {
    dir: tempfile::TempDir,
    /// Where the reader stands.
    here: PathBuf,
    env: BTreeMap<String, String>,
    /// The process that was named last.
    pid: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Ok(mut stop) = self.command(&["swarm".into(), "stop".into()]) {
            let _ = stop.output();
        }
    }
}

impl Place {
    /// None for a page with nothing to run.
    pub fn for_page(page: &str, text: &str) -> Option<Self> {
        let first = text.lines().next().unwrap_or_default();
        let kind = first.strip_prefix("<!-- run: ").and_then(|rest| rest.strip_suffix(" -->"));
        let place = Self::empty();
        match kind {
            Some("none") => return None,
            Some("empty") => {}
            Some("fresh") => place.begin(),
            Some("done") => {
                place.begin();
                place.write(".swarm/config.json", DONE_CONFIG);
                place.write("plan.md", DONE_PLAN);
                place.must("git add plan.md");
                place.must("git commit --quiet --message plan");
                place.must("swarm run --plan plan.md");
            }
            Some("source") => place.copy_in(&super::source().join("examples")),
            _ => panic!("{page}: its first line has to say what it needs: <!-- run: fresh -->"),
        }
        Some(place)
    }

    pub fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let here = dir.path().join("repo");
        for folder in ["repo", "home", "bin", "tmp"] {
            std::fs::create_dir(dir.path().join(folder)).expect("a folder");
        }
        let identity = "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n";
        std::fs::write(dir.path().join("home/.gitconfig"), identity).expect("a file");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_swarm"), dir.path().join("bin/swarm"))
            .expect("a link to the binary");
        let text = |name: &str| dir.path().join(name).to_str().expect("text").to_owned();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut env: BTreeMap<String, String> = [
            ("HOME", text("home")),
            ("TMPDIR", text("tmp")),
            ("PATH", format!("{}:{path}", text("bin"))),
            ("TERM", "dumb".into()),
            ("LANG", "C.UTF-8".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        // Programs of the reader's own are where they were.
        let home = std::env::var("HOME").unwrap_or_default();
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let value = std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}"));
            env.insert(name.to_owned(), value);
        }
        Self { dir, here, env, pid: "PID".into() }
    }

    fn begin(&self) {
        for command in ["git init --quiet", "git commit --quiet --allow-empty --message start"] {
            self.must(command);
        }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.here.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Everything in this folder, as a reader copies it.
    pub fn copy_in(&self, from: &Path) {
        // The page names the folder from the top of the source on.
        let into = match from.file_name() {
            Some(name) if name == "examples" => self.here.join("examples"),
            _ => self.here.clone(),
        };
        std::fs::create_dir_all(&into).expect("a folder");
        let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(&into).status();
        assert!(copied.is_ok_and(|status| status.success()), "cannot copy {}", from.display());
        for built in ["target", "examples/rust/target"] {
            let _ = std::fs::remove_dir_all(self.here.join(built));
        }
    }

    /// A file that the page tells the reader to write.
    pub fn save(&self, file: &str, block: &Block) {
        self.write(file, &format!("{}\n", block.lines.join("\n")));
        if let Some(mode) = block.mark("mode") {
            let mode = u32::from_str_radix(mode, 8).expect("a mode");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(self.here.join(file), mode).expect("a mode");
        }
        if file == ".swarm/config.json" {
            self.must("swarm config show");
        }
    }

    /// A command that the page does not show.
    pub fn must(&self, line: &str) -> String {
        let (code, said) = self.run(&words(line)).unwrap_or_else(|why| panic!("$ {line}: {why}"));
        assert_eq!(code, 0, "$ {line}\n{said}");
        said
    }

    /// One command of the page; none for a change of folder. With `until` it is asked again until its answer has that.
    pub fn run_until(&mut self, at: &str, step: &Step, until: Option<&str>) -> Option<(i32, String)> {
        let mut words = words(&step.command);
        words.iter_mut().filter(|word| *word == "PID").for_each(|word| word.clone_from(&self.pid));
        if let [cd, folder] = &words[..]
            && cd == "cd"
        {
            self.here = self.here.join(folder).canonicalize().unwrap_or_else(|why| panic!("{at}: {why}"));
            return None;
        }
        let end = Instant::now() + UNTIL_MAX;
        let (code, said) = loop {
            let (code, said) = self.run(&words).unwrap_or_else(|why| panic!("{at}: {why}"));
            if until.is_none_or(|text| said.contains(text)) {
                break (code, said);
            }
            assert!(Instant::now() < end, "{at}\nnever says {until:?}, but:\n{said}");
            std::thread::park_timeout(Duration::from_millis(200));
        };
        if let Some((_, rest)) = said.split_once("(pid ") {
            self.pid = rest.chars().take_while(char::is_ascii_digit).collect();
        }
        Some((code, said))
    }

    fn command(&self, words: &[String]) -> Result<Command, String> {
        let is_setting = |word: &&String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            })
        };
        let settings: Vec<&String> = words.iter().take_while(is_setting).collect();
        let [program, args @ ..] = &words[settings.len()..] else { return Err("no program".into()) };
        let found = match program.as_str() {
            "swarm" => self.dir.path().join("bin/swarm"),
            other => PathBuf::from(other),
        };
        let mut command = Command::new(found);
        command.args(args).env_clear().envs(&self.env).current_dir(&self.here).stdin(Stdio::null());
        command.envs(settings.iter().filter_map(|word| word.split_once('=')));
        Ok(command)
    }

    fn run(&self, words: &[String]) -> Result<(i32, String), String> {
        let out = self.command(words)?.output().map_err(|error| error.to_string())?;
        let said = [out.stdout, out.stderr].concat();
        Ok((out.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned()))
    }
}
