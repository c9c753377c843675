//! What the programs of a run are put into: their walls, their temporary folder, their environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use swarm_protocol::channel::RunKind;
use swarm_protocol::config::{ContainmentKind, SandboxKind};

use super::run_context::RunContext;
use super::spec::DaemonSpec;
use swarm_agents::{AgentSetup, Surroundings};
use swarm_process::complain;
use swarm_process::environment;
use swarm_process::sandbox::{GitRights, SandboxSpec, make_tmp, tmp_of};

/// Overrides the net that would be chosen, for trials and tests.
const CONTAINMENT_VARIABLE: &str = "SWARM_CONTAINMENT";

/// Below the home folder: what tools download once for all projects. Without them no set-up and few
/// checks would work. They are shared with what runs outside, as they are between any two projects.
const CACHES: [&str; 16] = [
    ".cache",
    ".npm",
    ".yarn",
    ".pnpm-store",
    ".local/share/pnpm",
    ".bun/install/cache",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/.global-cache",
    "go/pkg",
    ".gradle/caches",
    ".m2/repository",
    ".nuget/packages",
    ".composer/cache",
];

/// Who is going to be behind the walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Agent,
    /// A command of the project: what it runs was written by the agent, so it gets no keys.
    Command,
}

/// What commands of a project may write besides their worktree.
pub fn caches() -> Vec<PathBuf> {
    let home = Surroundings::of_this_process().home("");
    CACHES.iter().map(|below| home.join(below)).collect()
}

/// Names of the variables that a daemon of this run needs besides those that everybody gets.
pub fn names_handed_on(spec: &DaemonSpec) -> Vec<String> {
    let mut names = spec.guard.env.clone();
    names.extend(swarm_agents::pass_env(&setup_of(spec)).into_iter().map(str::to_owned));
    names
}

fn setup_of(spec: &DaemonSpec) -> AgentSetup {
    spec.agent_setup.clone().unwrap_or_default()
}

impl RunContext {
    /// The net that is wanted.
    pub(super) fn wanted_containment(&self) -> ContainmentKind {
        let word = std::env::var(CONTAINMENT_VARIABLE).unwrap_or_default();
        serde_json::from_value(word.into()).unwrap_or(self.spec.guard.containment)
    }

    /// The walls; none where the program has its own, or where a person wants none.
    pub(super) async fn sandbox(&self, who: Who) -> Option<SandboxSpec> {
        match (self.spec.guard.sandbox, who) {
            (SandboxKind::None, _) => return None,
            // Its own walls would let it write into the worktree.
            (SandboxKind::Program, Who::Agent) if self.spec.question.is_none() => return None,
            // The program's own walls are not around what we run ourselves.
            (SandboxKind::Landlock | SandboxKind::Program, _) => {}
        }
        Some(SandboxSpec {
            // Whoever only has a question finds everything and changes nothing.
            worktree: if self.spec.question.is_some() { self.tmp() } else { self.place() },
            git: self.git_rights().await,
            tmp: self.tmp(),
            writable: self.writable(who),
            hidden: vec![self.spec.swarm_dir().join("run")],
            network: self.spec.guard.network,
            best_effort: false,
        })
    }

    fn writable(&self, who: Who) -> Vec<PathBuf> {
        let around = Surroundings::of_this_process();
        let home = around.home("");
        let from_home = |name: &String| match name.strip_prefix("~/") {
            Some(below) => home.join(below),
            None => PathBuf::from(name),
        };
        let mut all: Vec<PathBuf> = self.spec.guard.writable.iter().map(from_home).collect();
        all.extend(caches());
        if who == Who::Agent {
            all.extend(swarm_agents::writable(&setup_of(&self.spec), &around));
        }
        all
    }

    /// The environment: the list for everybody, what the user names, and for the agent what its adapter names.
    pub(super) fn environment(&self, who: Who) -> BTreeMap<OsString, OsString> {
        let names = match who {
            Who::Agent => names_handed_on(&self.spec),
            Who::Command => self.spec.guard.env.clone(),
        };
        let mut env = environment::for_program(&names);
        env.insert("TMPDIR".into(), self.tmp().into());
        // Nothing tidies up the repository behind our back, and in the sandbox it could not.
        let quiet = [("gc.auto", "0"), ("maintenance.auto", "false")];
        env.insert("GIT_CONFIG_COUNT".into(), quiet.len().to_string().into());
        for (n, (key, value)) in quiet.into_iter().enumerate() {
            env.insert(format!("GIT_CONFIG_KEY_{n}").into(), key.into());
            env.insert(format!("GIT_CONFIG_VALUE_{n}").into(), value.into());
        }
        // npm would make its cache in the home folder, where it may not.
        let home = Surroundings::of_this_process().home(".npm");
        if !home.is_dir() && !env.contains_key(std::ffi::OsStr::new("npm_config_cache")) {
            env.insert("npm_config_cache".into(), self.tmp().join("npm").into());
        }
        env
    }

    /// The folder for temporary files that all programs of this run share, and nobody else.
    pub fn tmp(&self) -> PathBuf {
        match make_tmp(&self.spec.nonce) {
            Ok(dir) => dir,
            Err(error) => {
                complain::<(), _>("make a folder for temporary files", Err(error));
                tmp_of(&self.spec.nonce)
            }
        }
    }

    /// A verification judges commits, it makes none.
    async fn git_rights(&self) -> Option<GitRights> {
        // A verdict is about one commit: whoever judges it cannot make another.
        if self.spec.kind != RunKind::Work {
            return None;
        }
        let common_dir = self.git().await.ok()?.common_dir.clone();
        let admin_dir = admin_dir_of(&common_dir, &self.spec.worktree)?;
        Some(GitRights { common_dir, admin_dir })
    }
}

/// `.git/worktrees/ID` of the worktree. First the one of the same name: the programs of another
/// worktree can write into theirs what they like.
pub(super) fn admin_dir_of(common_dir: &Path, worktree: &Path) -> Option<PathBuf> {
    let all = common_dir.join("worktrees");
    let is_its = |dir: &PathBuf| {
        let named = std::fs::read_to_string(dir.join("gitdir")).unwrap_or_default();
        Path::new(named.trim_end()).parent() == Some(worktree)
    };
    let same_name = all.join(worktree.file_name()?);
    if is_its(&same_name) {
        return Some(same_name);
    }
    let others = std::fs::read_dir(&all).into_iter().flatten().flatten().map(|entry| entry.path());
    others.filter(|dir| dir.is_dir()).find(is_its)
}
