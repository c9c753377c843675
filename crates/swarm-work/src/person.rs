//! What of the person's own things a program of a run gets: copies of the caches, and nothing of what is hidden.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use swarm_agents::Surroundings;
use swarm_git::FilterRule;
use swarm_process::{Limits, complain};

/// Below the home folder: what tools download once for all projects. A program sees what is there and may change it; its
/// changes are its own and go with the run.
const CACHES: [&str; 14] = [
    ".cache",
    ".npm",
    ".yarn",
    ".pnpm-store",
    ".local/share/pnpm",
    ".bun",
    ".cargo",
    ".rustup",
    "go",
    ".gradle",
    ".m2",
    ".nuget",
    ".composer",
    ".pyenv",
];

/// Variables that name such a folder elsewhere.
const CACHE_VARIABLES: [&str; 6] =
    ["XDG_CACHE_HOME", "CARGO_HOME", "npm_config_cache", "NPM_CONFIG_CACHE", "GOMODCACHE", "GOCACHE"];

/// The same folders below the run's own, by the variables that the tools look at.
const OWN_CACHES: [(&str, &str); 8] = [
    ("XDG_CACHE_HOME", "cache"),
    ("npm_config_cache", "npm"),
    ("CARGO_HOME", "cargo"),
    ("GOMODCACHE", "gomod"),
    ("GOCACHE", "gocache"),
    ("GRADLE_USER_HOME", "gradle"),
    ("NUGET_PACKAGES", "nuget"),
    ("COMPOSER_CACHE_DIR", "composer"),
];

/// The folders of which a program gets changes of its own.
pub fn caches() -> Vec<PathBuf> {
    let around = Surroundings::of_this_process();
    let named = CACHE_VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let named = named.filter(|path| path.is_absolute());
    CACHES.iter().map(|below| around.home(below)).chain(named).collect()
}

/// Places that a program must see wherever they lie: the repository, the home folder, and ourselves.
pub fn visible(root: &Path) -> Vec<PathBuf> {
    let ourselves = std::env::current_exe().ok();
    let home = Surroundings::of_this_process().home("");
    [root.to_owned(), home].into_iter().chain(ourselves).collect()
}

/// As the kernel and whoever looks from outside count them.
pub fn limits(of: swarm_protocol::config::Limits) -> Limits {
    let some = |value: u64| (value > 0).then_some(value);
    Limits {
        memory_bytes: some(of.memory.saturating_mul(1 << 20)),
        processes: some(of.processes),
        open_files: some(of.open_files),
        cpu_weight: (1..100).contains(&of.cpu_weight).then_some(of.cpu_weight),
        worktree_bytes: some(of.worktree.saturating_mul(1 << 20)),
    }
}

/// Hidden places, but for those that the program itself has its things in.
pub fn masked(hide: &[String], needed: &[PathBuf]) -> Vec<PathBuf> {
    let all = hide.iter().map(|name| from_home(name));
    all.filter(|place| !needed.iter().any(|needed| needed.starts_with(place))).collect()
}

/// How git's filters are run on what agents write.
pub fn filter_rule(network: bool, hide: &[String]) -> FilterRule {
    FilterRule::Walled { network, masked: masked(hide, &[]) }
}

/// `~/` is the home folder.
pub fn from_home(name: &str) -> PathBuf {
    match name.strip_prefix("~/") {
        Some(below) => Surroundings::of_this_process().home(below),
        None => PathBuf::from(name),
    }
}

/// Where the person's caches can only be read, tools are told of others in the run's own folder. Where they could be
/// changed unseen, only those that are not there need another place.
pub fn redirect_caches(env: &mut BTreeMap<OsString, OsString>, tmp: &Path, own_view: bool) {
    let around = Surroundings::of_this_process();
    let usual = [("XDG_CACHE_HOME", ".cache"), ("npm_config_cache", ".npm"), ("CARGO_HOME", ".cargo")];
    for (variable, below) in OWN_CACHES {
        let there = usual.iter().any(|(name, usual)| *name == variable && around.home(usual).is_dir());
        let known = usual.iter().any(|(name, _)| *name == variable);
        let named = env.contains_key(OsStr::new(variable));
        let redirected = if own_view { known && !there && !named } else { true };
        if !redirected {
            continue;
        }
        let folder = tmp.join(below);
        if variable == "CARGO_HOME" {
            let old = env.get(OsStr::new(variable)).map_or_else(|| around.home(".cargo"), PathBuf::from);
            complain("make a home for cargo", keep_settings(&old, &folder));
        }
        env.insert(variable.into(), folder.into());
    }
}

/// Where a registry is, and how it is reached, holds in every home of cargo. An earlier program of the run may have put a
/// link or a pipe there: neither is followed or waited for.
fn keep_settings(old: &Path, new: &Path) -> std::io::Result<()> {
    match std::fs::create_dir(new) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ if !std::fs::symlink_metadata(new)?.is_dir() => return Err(ErrorKind::NotADirectory.into()),
        _ => {}
    }
    for name in ["config.toml", "config"] {
        let settings = match std::fs::read(old.join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            read => read?,
        };
        let place = new.join(name);
        match std::fs::remove_file(&place) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => std::fs::File::create_new(&place)?.write_all(&settings)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_itself_needs_is_not_hidden() {
        let hide = ["/h/.docker".to_owned(), "/h/.config/gh".to_owned()];
        assert_eq!(masked(&hide, &["/h/.config/gh/own".into()]), [PathBuf::from("/h/.docker")]);
        assert_eq!(masked(&hide, &[]).len(), 2);
    }

    #[test]
    fn settings_are_not_written_through_what_a_program_left() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("old")).expect("made");
        std::fs::write(at("old/config.toml"), "[net]").expect("written");
        std::fs::write(at("mine"), "mine").expect("written");
        keep_settings(&at("old"), &at("new")).expect("kept");
        std::fs::remove_file(at("new/config.toml")).expect("removed");
        std::os::unix::fs::symlink(at("mine"), at("new/config.toml")).expect("linked");
        keep_settings(&at("old"), &at("new")).expect("kept again");
        let text = |name: &str| std::fs::read_to_string(at(name)).expect("read");
        assert_eq!((text("new/config.toml"), text("mine")), ("[net]".to_owned(), "mine".to_owned()));
        std::os::unix::fs::symlink(at("old"), at("link")).expect("linked");
        keep_settings(&at("old"), &at("link")).expect_err("a folder elsewhere");
    }
}
