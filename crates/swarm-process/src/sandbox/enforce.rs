//! Puts the walls up around the calling process. To be called by the launcher alone, for good.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::calls::{Refused, refuse};
use super::readable::{on_the_way, readable_trees};
use super::rights::give_up_rights;
use super::spec::SandboxSpec;
use super::status::SandboxStatus;
use super::view::Seen;

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

const SETTINGS_OF_THE_MACHINE: &str = "/etc";

/// Memory that processes of one program share.
const SHARED_MEMORY: &str = "/dev/shm";

/// Restricts this process and all that it starts. Cannot be undone. `seen`: what came of a view of its own.
pub fn enforce(spec: &SandboxSpec, seen: Option<&Seen>) -> Result<SandboxStatus, String> {
    give_up_rights().map_err(|error| format!("cannot give up rights: {error}"))?;
    let hidden: Vec<PathBuf> = match seen {
        // What covers a place in the view is gone when the person puts another file there, so it is hidden twice.
        Some(_) => spec.hidden.iter().cloned().chain(made_anew(spec)).collect(),
        // Of the devices only those that are named below: the others are the machine's.
        None => spec.hidden.iter().chain(&spec.masked).cloned().chain(["/dev".into()]).collect(),
    };
    let (readable, in_sight) = readable_trees(&hidden);
    let listed: Vec<PathBuf> = match seen {
        Some(_) => {
            let secret = on_the_way(&spec.hidden);
            on_the_way(&made_anew(spec)).into_iter().filter(|folder| !secret.contains(folder)).collect()
        }
        None => vec![],
    };
    let status = restrict(spec, &readable, &listed, seen).map_err(|error| error.to_string())?;
    let enforced = status.ruleset != RulesetStatus::NotEnforced;
    let mut status = SandboxStatus::of(&status);
    status.own_view = seen.is_some();
    let in_sight = in_sight.iter().map(|path| match seen.is_some() && !hides(spec, path) {
        true => format!("{} can be read once it is made anew", path.display()),
        false => format!("{} can be read", path.display()),
    });
    status.missing.extend(in_sight.chain(seen.iter().flat_map(|seen| seen.missing.clone())));
    let network = !spec.network && !seen.is_some_and(|seen| seen.network_closed);
    match refuse(Refused { network }) {
        Ok(()) => {}
        Err(why) if spec.best_effort => status.missing.push(format!("system calls are not filtered: {why}")),
        Err(why) => return Err(format!("cannot filter system calls: {why}")),
    }
    if spec.strict && !(status.own_view && status.fully && status.missing.is_empty()) {
        let view = if status.own_view { "" } else { "no view of the files of its own; " };
        let why = format!("{view}{}", status.missing.join("; "));
        return Err(format!("`sandbox` is `strict` and a wall is missing: {why}"));
    }
    if enforced || spec.best_effort {
        return Ok(status);
    }
    let why = status.missing.join("; ");
    Err(format!("this machine has no sandbox: {why}; set `sandbox` to `program` or `none` to go without"))
}

/// Places that are covered in the view, and that the person may replace or make while the program runs. Those of the machine
/// are not: beside them lie names, addresses and libraries, which change as well and which every program must read.
fn made_anew(spec: &SandboxSpec) -> Vec<PathBuf> {
    spec.masked.iter().filter(|place| !place.starts_with(SETTINGS_OF_THE_MACHINE)).cloned().collect()
}

/// Whether the kernel's rules alone hide it.
fn hides(spec: &SandboxSpec, path: &Path) -> bool {
    spec.hidden.iter().any(|place| place.canonicalize().is_ok_and(|place| place == *path))
}

fn restrict(
    spec: &SandboxSpec,
    readable: &[PathBuf],
    listed: &[PathBuf],
    seen: Option<&Seen>,
) -> Result<landlock::RestrictionStatus, RulesetError> {
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(TRIED))?;
    // In a network of its own a program may speak with itself.
    if !spec.network && !seen.is_some_and(|seen| seen.network_closed) {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let mut rules = ruleset.scope(Scope::from_all(TRIED))?.create()?;
    for tree in readable {
        rules = allow(rules, tree, AccessFs::from_read(TRIED))?;
    }
    for folder in spec.listed.iter().chain(listed) {
        rules = allow(rules, folder, AccessFs::ReadDir.into())?;
    }
    for device in DEVICES {
        rules = allow(rules, Path::new(device), AccessFs::from_file(TRIED) | AccessFs::ReadDir)?;
    }
    // No devices may be made, though: they would be ways out.
    let all = AccessFs::from_all(TRIED) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let own = seen.iter().flat_map(|seen| seen.own.iter().cloned());
    let bound = spec.binds.iter().filter(|bind| seen.is_some() && !bind.read_only);
    let more = own.chain(bound.map(|bind| bind.target.clone())).chain([SHARED_MEMORY.into()]);
    for path in spec.writable_places().into_iter().chain(more) {
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
