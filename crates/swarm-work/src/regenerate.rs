//! Files that a command of the project makes again where they conflict: lock files, generated code.
//!
//! The command works in the merge worktree, with everything else merged already. What it runs was written by agents, so it
//! stands behind the same walls and in the same net as a verification; nothing of it outlives this.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_protocol::channel::CommandLine;
use swarm_protocol::config::{Limits, Regenerate, SandboxKind, Span};
use swarm_protocol::gist::gist;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::person::{caches, from_home, limits, masked, redirect_caches, visible};
use crate::worktree::names;
use swarm_process::containment::end_run;
use swarm_process::launcher::Launcher;
use swarm_process::sandbox::{SandboxSpec, make_tmp, remove_tmp};
use swarm_process::{Call, Containment, Enclosure, NONCE_VARIABLE, complain, environment};

/// Of what a command prints the end is kept, for whoever has to find out why it failed.
const OUTPUT_MAX_BYTES: usize = 4 * 1024;
/// A file that was made is not read when it is longer.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Where and how the commands run.
#[derive(Debug)]
pub struct Box<'a> {
    /// The merge worktree, which shows what is merged so far.
    pub place: PathBuf,
    pub swarm_dir: &'a Path,
    /// What the swarm keeps in the common git directory.
    pub kept: PathBuf,
    pub launcher: Launcher,
    pub containment: Containment,
    pub guarded: Guarded,
    /// Marks all that is started. The same for the same task, so that whoever comes after a death finds it.
    pub nonce: String,
    pub grace: Duration,
}

/// What the commands stand behind and what they are given: as runs of check commands.
#[derive(Debug, Clone)]
pub struct Guarded {
    pub sandbox: SandboxKind,
    pub network: bool,
    /// Places that may be written besides the worktree, as the profile says them.
    pub writable: Vec<String>,
    /// Places that the commands do not see.
    pub hide: Vec<String>,
    pub limits: Limits,
    /// Names of variables that are handed on.
    pub env: Vec<String>,
}

/// The rules that make these files again, each once, in their order.
pub fn rules_for<'a>(rules: &'a [Regenerate], paths: &[PathBuf]) -> Vec<&'a Regenerate> {
    rules.iter().filter(|rule| paths.iter().any(|path| is_made(std::slice::from_ref(rule), path))).collect()
}

/// Whether one of the rules makes this file: by its path, or by its name wherever it lies.
pub fn is_made(rules: &[Regenerate], path: &Path) -> bool {
    let set = names(&rules.iter().map(|rule| rule.files.clone()).collect::<Vec<_>>());
    set.is_match(path) || path.file_name().is_some_and(|name| set.is_match(name))
}

impl Box<'_> {
    /// Runs the commands and answers with the bytes of the files, in their order. The error is a sentence for a person.
    pub async fn make(&self, rules: &[&Regenerate], paths: &[PathBuf]) -> Result<Vec<Vec<u8>>, String> {
        // What an earlier one left that was killed.
        end_run(&self.nonce, Duration::ZERO).await;
        let made = self.run_all(rules).await;
        end_run(&self.nonce, Duration::ZERO).await;
        complain("remove the temporary files", remove_tmp(&self.nonce));
        made?;
        paths.iter().map(|path| self.read(path)).collect()
    }

    /// Runs commands that judge what the worktree shows, each within this time. The error says which one is red, and why.
    pub async fn judge(&self, commands: &[CommandLine], within: Span) -> Result<(), String> {
        end_run(&self.nonce, Duration::ZERO).await;
        let mut judged = Ok(());
        for command in commands {
            judged = self.run(command, within).await.map_err(|why| format!("`{}` {why}", command.shown()));
            if judged.is_err() {
                break;
            }
        }
        end_run(&self.nonce, Duration::ZERO).await;
        complain("remove the temporary files", remove_tmp(&self.nonce));
        judged
    }

    async fn run_all(&self, rules: &[&Regenerate]) -> Result<(), String> {
        for rule in rules {
            let ran = self.run(&rule.command, rule.timeout).await;
            ran.map_err(|why| format!("`{}` {why}", rule.command.shown()))?;
        }
        Ok(())
    }

    async fn run(&self, command: &CommandLine, within: Span) -> Result<(), String> {
        let argv = command.argv();
        let (program, args) = argv.split_first().ok_or("is empty")?;
        let tmp =
            make_tmp(&self.nonce).map_err(|error| format!("has no place for temporary files: {error}"))?;
        let mut call = Call::new(program).args(args).cwd(&self.place).ends_with_us();
        call.env = self.environment(&tmp);
        let sandbox = self.sandbox(tmp);
        let enclosure = Enclosure {
            launcher: &self.launcher,
            containment: &self.containment,
            sandbox: sandbox.as_ref(),
            swarm_dir: self.swarm_dir,
            nonce: &self.nonce,
            leftover_grace: self.grace,
        };
        let mut boxed = enclosure.start(call).map_err(|error| format!("could not be started: {error}"))?;
        let (out, err) = (boxed.running.child.stdout.take(), boxed.running.child.stderr.take());
        let heard = tokio::spawn(async move { tokio::join!(end_of(out), end_of(err)) });
        let limit = Duration::from_secs(within.secs);
        let ended = tokio::time::timeout(limit, boxed.running.wait()).await;
        boxed.held.clone().end(self.nonce.clone(), self.grace).await;
        let status = match ended {
            Err(_) => return Err(format!("was not done within {within}")),
            Ok(status) => status.map_err(|error| error.to_string())?,
        };
        boxed.begun(status, false).map_err(|error| format!("could not be started: {error}"))?;
        if status.success() {
            return Ok(());
        }
        let said = tokio::time::timeout(self.grace, heard).await.ok().and_then(Result::ok);
        let said = said.map(|(out, err)| gist(&format!("{out}\n{err}"))).unwrap_or_default();
        Err(format!("failed ({status}): {said}").trim_end_matches(": ").to_owned())
    }

    fn has_walls(&self) -> bool {
        self.guarded.sandbox != SandboxKind::None
    }

    fn environment(&self, tmp: &Path) -> BTreeMap<OsString, OsString> {
        let mut env = environment::for_program(&self.guarded.env);
        let named: [(&str, OsString); 2] =
            [("TMPDIR", tmp.into()), (NONCE_VARIABLE, self.nonce.clone().into())];
        env.extend(named.map(|(name, value)| (name.into(), value)));
        if self.has_walls() {
            // The person's sockets lie there, and nothing else.
            env.remove(OsStr::new("XDG_RUNTIME_DIR"));
            redirect_caches(&mut env, tmp, self.containment.can_bind());
        }
        env
    }

    /// None where a person wants no walls.
    fn sandbox(&self, tmp: PathBuf) -> Option<SandboxSpec> {
        let Guarded { sandbox, network, writable, hide, limits: most, .. } = &self.guarded;
        let writable: Vec<PathBuf> = writable.iter().map(|name| from_home(name)).collect();
        self.has_walls().then(|| SandboxSpec {
            worktree: self.place.clone(),
            git: None,
            tmp,
            hidden: vec![self.swarm_dir.join("run")],
            masked: masked(hide, &writable),
            writable,
            covered: vec![self.kept.clone()],
            visible: self.swarm_dir.parent().map(visible).unwrap_or_default(),
            caches: caches(),
            binds: vec![],
            network: *network,
            limits: limits(*most),
            strict: *sandbox == SandboxKind::Strict,
            listed: vec![],
            best_effort: false,
        })
    }

    /// Only what lies in the worktree itself: a link could lead anywhere.
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let file = self.place.join(path);
        let plain =
            std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= FILE_BYTES_MAX);
        let inside = match (std::fs::canonicalize(&file), std::fs::canonicalize(&self.place)) {
            (Ok(file), Ok(place)) => file == place.join(path),
            _ => false,
        };
        if !plain || !inside {
            return Err(format!("{} was not made as a file", path.display()));
        }
        std::fs::read(&file).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    }
}

/// The last of what was printed.
async fn end_of(from: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut from) = from else { return String::new() };
    let (mut kept, mut chunk) = (Vec::new(), vec![0; 16 * 1024]);
    while let Ok(bytes @ 1..) = from.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..bytes]);
        let excess = kept.len().saturating_sub(OUTPUT_MAX_BYTES);
        kept.drain(..excess);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_for_a_path_a_glob_or_a_name_anywhere() {
        let rule = |files: &str| Regenerate { files: files.into(), ..Regenerate::default() };
        let rules = [rule("package-lock.json"), rule("gen/**/*.rs"), rule("*.pb.go")];
        for (path, made) in [
            ("package-lock.json", true),
            ("web/package-lock.json", true),
            ("gen/a/b.rs", true),
            ("src/b.rs", false),
            ("api/x.pb.go", true),
            ("package.json", false),
        ] {
            assert_eq!(is_made(&rules, Path::new(path)), made, "{path}");
        }
        let wanted = rules_for(&rules, &["a.pb.go".into(), "web/package-lock.json".into()]);
        assert_eq!(
            wanted.iter().map(|rule| rule.files.as_str()).collect::<Vec<_>>(),
            ["package-lock.json", "*.pb.go"]
        );
    }
}
