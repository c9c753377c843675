//! Puts the walls up around the calling process. To be called by the launcher alone, for good.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::readable::readable_trees;
use super::spec::SandboxSpec;
use super::status::SandboxStatus;

/// The newest version whose rules were tried with real programs. Older kernels enforce their part of it.
const TRIED: ABI = ABI::V6;

/// Devices that every program may write to: they hold nothing.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// Memory that processes of one program share.
const SHARED_MEMORY: &str = "/dev/shm";

/// Restricts this process and all that it starts. Cannot be undone.
pub fn enforce(spec: &SandboxSpec) -> Result<SandboxStatus, String> {
    for dir in spec.git.iter().flat_map(|git| git.folders()) {
        std::fs::create_dir_all(&dir).map_err(|error| format!("cannot make {}: {error}", dir.display()))?;
    }
    let (readable, in_sight) = readable_trees(&spec.hidden);
    let status = restrict(spec, &readable).map_err(|error| error.to_string())?;
    let enforced = status.ruleset != RulesetStatus::NotEnforced;
    let mut status = SandboxStatus::of(&status);
    let seen = in_sight.iter().map(|path| format!("{} can be read", path.display()));
    status.missing.extend(seen);
    if enforced || spec.best_effort {
        return Ok(status);
    }
    let why = status.missing.join("; ");
    Err(format!("this machine has no sandbox: {why}; set `sandbox` to `program` or `none` to go without"))
}

fn restrict(spec: &SandboxSpec, readable: &[PathBuf]) -> Result<landlock::RestrictionStatus, RulesetError> {
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(TRIED))?;
    if !spec.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let mut rules = ruleset.scope(Scope::from_all(TRIED))?.create()?;
    for tree in readable {
        rules = allow(rules, tree, AccessFs::from_read(TRIED))?;
    }
    for device in DEVICES {
        rules = allow(rules, Path::new(device), AccessFs::from_file(TRIED) | AccessFs::ReadDir)?;
    }
    // No devices may be made, though: they would be ways out.
    let all = AccessFs::from_all(TRIED) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let git = spec.git.iter().flat_map(|git| git.folders());
    let own = [spec.worktree.clone(), spec.tmp.clone(), SHARED_MEMORY.into()];
    for path in own.into_iter().chain(git).chain(spec.writable.iter().cloned()) {
        rules = allow(rules, &path, all)?;
    }
    rules.restrict_self()
}

/// Adds what applies to the path: a file takes fewer rights than a folder. What is not there, or what we
/// may not even open, needs no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(TRIED) };
    rules.add_rule(PathBeneath::new(opened, access))
}
