//! What the programs of a run are put into: their walls, their temporary folder, their environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use swarm_protocol::config::{ContainmentKind, SandboxKind};

use super::run_context::RunContext;
use super::spec::DaemonSpec;
use crate::person::{caches, from_home, limits, masked, redirect_caches, visible};
use swarm_agents::{AgentSetup, Surroundings};
use swarm_process::Containment;
use swarm_process::complain;
use swarm_process::environment;
use swarm_process::sandbox::{Bind, GitRights, SandboxSpec, make_tmp, tmp_of};

/// Overrides the net that would be chosen, for trials and tests.
const CONTAINMENT_VARIABLE: &str = "SWARM_CONTAINMENT";

/// Who is going to be behind the walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Agent,
    /// A command of the project: what it runs was written by the agent, so it gets no keys.
    Command,
    /// Such a command where the agent works, in a tree that it shares with others.
    SetUp,
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
            (SandboxKind::Landlock | SandboxKind::Strict | SandboxKind::Program, _) => {}
        }
        let writable = self.writable(who);
        let git = self.git_rights().await;
        Some(SandboxSpec {
            // Whoever only has a question finds everything and changes nothing.
            worktree: if self.spec.question.is_some() { self.tmp() } else { self.place_of(who) },
            binds: git
                .as_ref()
                .and_then(|_| self.shown_as_git())
                .or_else(|| self.fixed_git(who))
                .into_iter()
                .collect(),
            git,
            tmp: self.tmp(),
            masked: masked(&self.spec.guard.hide, &writable),
            writable,
            covered: self.git().await.map(|git| git.swarm_dir()).into_iter().collect(),
            hidden: vec![self.spec.swarm_dir().join("run")],
            // Who plans works at the top of the checkout, on the way to what is hidden.
            listed: self.spec.question.iter().map(|_| self.place_of(who)).collect(),
            visible: visible(&self.spec.root),
            caches: caches(),
            network: self.spec.guard.network,
            limits: limits(self.spec.guard.limits),
            strict: self.spec.guard.sandbox == SandboxKind::Strict,
            best_effort: false,
        })
    }

    fn writable(&self, who: Who) -> Vec<PathBuf> {
        let around = Surroundings::of_this_process();
        let mut all: Vec<PathBuf> = self.spec.guard.writable.iter().map(|name| from_home(name)).collect();
        if who == Who::Agent {
            all.extend(swarm_agents::writable(&setup_of(&self.spec), &around));
        }
        all
    }

    /// The environment: the list for everybody, what the user names, and for the agent what its adapter names.
    pub(super) fn environment(&self, who: Who) -> BTreeMap<OsString, OsString> {
        let names = match who {
            Who::Agent => names_handed_on(&self.spec),
            Who::Command | Who::SetUp => self.spec.guard.env.clone(),
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
        if self.spec.guard.sandbox != SandboxKind::None {
            // The person's sockets lie there, and nothing else.
            env.remove(std::ffi::OsStr::new("XDG_RUNTIME_DIR"));
            redirect_caches(&mut env, &self.tmp(), self.has_own_view());
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

    /// Whether the programs of this run see files of their own, as far as it is known by now.
    pub(super) fn has_own_view(&self) -> bool {
        let walled = matches!(self.spec.guard.sandbox, SandboxKind::Landlock | SandboxKind::Strict)
            || self.spec.question.is_some();
        walled && self.net_as_known().is_some_and(Containment::can_bind)
    }

    /// In a tree that several share nobody changes which repository it belongs to.
    fn fixed_git(&self, who: Who) -> Option<Bind> {
        let shared = self.spec.shared.as_ref().filter(|_| who != Who::Command && self.has_own_view())?;
        let file = shared.join(".git");
        Some(Bind { source: file.clone(), target: file, read_only: true })
    }

    /// A verdict is about one commit: whoever judges it cannot make another, and has no repository to make it in.
    async fn git_rights(&self) -> Option<GitRights> {
        let own = self.open_own().await?.dir;
        Some(GitRights { common_dir: self.git().await.ok()?.common_dir.clone(), own })
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
