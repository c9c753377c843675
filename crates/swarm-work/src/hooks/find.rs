//! Which program is the hook of a name: the configured one, else the file of that name.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use swarm_protocol::config;
use swarm_protocol::near::nearest;

use super::{ALIASES, Found, Hook, TIMEOUT};
use crate::shell_word::word;

/// A hook as the configuration has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    /// A path from the repository's root; where there is no such file, a line for the shell.
    pub command: String,
    pub timeout: Duration,
    pub blocking: bool,
}

/// The hooks of the configuration.
pub fn configured(hooks: &config::Hooks) -> BTreeMap<String, Configured> {
    let one = |hook: &config::Hook| Configured {
        command: hook.command().to_owned(),
        timeout: Duration::from_secs(hook.timeout().secs),
        blocking: hook.blocking(),
    };
    hooks.iter().map(|(name, hook)| (name.clone(), one(hook))).collect()
}

/// The hook of this name, if there is one. A configured one replaces the file of the same name.
pub fn find(root: &Path, name: &str, configured: &BTreeMap<String, Configured>) -> Found {
    let Some(name) = config::Hook::canonical(name) else { return Found::Nothing };
    if let Some(wanted) = names_of(name).find_map(|name| configured.get(name)) {
        return of_configuration(root, name, wanted);
    }
    let files = names_of(name).map(|name| PathBuf::from(format!(".swarm/hooks/{name}.sh")));
    match files.into_iter().find(|path| std::fs::symlink_metadata(root.join(path)).is_ok()) {
        Some(path) => of_file(root, name, &path, TIMEOUT, false, false),
        None => Found::Nothing,
    }
}

/// Every hook that there is, by name.
pub fn list(root: &Path, configured: &BTreeMap<String, Configured>) -> Vec<(&'static str, Found)> {
    let all = config::Hook::NAMES.into_iter().map(|name| (name, find(root, name, configured)));
    all.filter(|(_, found)| *found != Found::Nothing).collect()
}

/// Files of the repository that hooks name or are links to, from its root: whoever changes one changes what runs with the
/// person's rights. What such a program starts in turn nobody here knows.
pub fn files(root: &Path, configured: &BTreeMap<String, Configured>) -> BTreeSet<PathBuf> {
    let between = |c: char| c.is_whitespace() || "\"'`;|&()<>=".contains(c);
    let commands = configured.values().map(|hook| hook.command.as_str());
    let words = commands.flat_map(|command| command.split(between).chain([command.trim()]));
    let named = words.filter(|word| !word.is_empty()).map(|word| root.join(word));
    let beside = std::fs::read_dir(root.join(".swarm/hooks")).into_iter().flatten().flatten();
    let real = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let below = |path: &Path, top: &Path| {
        let below = path.strip_prefix(top).ok()?.components().collect::<PathBuf>();
        (!below.as_os_str().is_empty()).then_some(below)
    };
    let mut found = BTreeSet::new();
    for path in named.chain(beside.map(|entry| entry.path())) {
        found.extend(below(&path, root));
        found.extend(std::fs::canonicalize(&path).ok().and_then(|path| below(&path, &real)));
    }
    found
}

/// Files beside the hooks that no hook is called, as a sentence each: they are never run, and somebody may wait for that.
pub fn misnamed(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join(".swarm/hooks")).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names.iter().filter_map(|name| misnamed_file(name)).collect()
}

/// Nothing for a hook, and for what is near to none: a program that hooks call, a text about them.
fn misnamed_file(file: &str) -> Option<String> {
    let (stem, ending) = file.split_once('.').unwrap_or((file, ""));
    let told = |name: &str| {
        Some(format!(".swarm/hooks/{file} is no hook and is never run: `.swarm/hooks/{name}.sh` would be"))
    };
    if config::Hook::canonical(stem).is_some() {
        let is_kept_aside = ["bak", "old", "orig", "off", "disabled", "sample", "example"]
            .contains(&ending.rsplit('.').next().unwrap_or_default());
        return if ending == "sh" || is_kept_aside { None } else { told(stem) };
    }
    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
    let plain = stem.replace('_', "-");
    told(nearest(&plain, config::Hook::NAMES.into_iter().chain(aliases))?)
}

/// The name itself first, then what else people call it.
fn names_of(name: &'static str) -> impl Iterator<Item = &'static str> {
    let aliases = ALIASES.iter().filter(move |(_, real)| *real == name).map(|(alias, _)| *alias);
    std::iter::once(name).chain(aliases)
}

fn of_configuration(root: &Path, name: &'static str, wanted: &Configured) -> Found {
    let Configured { command, timeout, blocking } = wanted;
    let blocking = *blocking && name.starts_with("pre-");
    let path = Path::new(command);
    if std::fs::symlink_metadata(root.join(path)).is_ok() {
        return of_file(root, name, path, *timeout, blocking, true);
    }
    // A line with arguments is what the shell is for; a single word that is no file is a mistake.
    if command.trim().contains(char::is_whitespace) {
        let argv: Vec<OsString> = ["/bin/sh", "-c", command].map(OsString::from).to_vec();
        let shown = command.clone();
        return Found::Hook(Hook { name, argv, shown, timeout: *timeout, blocking, configured: true });
    }
    let why = format!("there is no {command} in the repository: correct hooks.{name} in the configuration");
    Found::Unfit { shown: command.clone(), why, blocking }
}

fn of_file(
    root: &Path,
    name: &'static str,
    path: &Path,
    timeout: Duration,
    blocking: bool,
    configured: bool,
) -> Found {
    let (full, shown) = (root.join(path), path.display().to_string());
    let unfit = |why: String| Found::Unfit { shown: shown.clone(), why, blocking };
    match std::fs::metadata(&full) {
        Err(error) => unfit(format!("{shown} cannot be read: {error}")),
        Ok(meta) if !meta.is_file() => unfit(format!("{shown} is not a file")),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => {
            unfit(format!("{shown} is not executable: `chmod +x {}`", word(&shown)))
        }
        Ok(_) => {
            let argv = vec![full.into_os_string()];
            Found::Hook(Hook { name, argv, shown, timeout, blocking, configured })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hooks_run_of_the_repository_is_known_by_name_and_through_links() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        for folder in [".swarm/hooks", "tools"] {
            std::fs::create_dir_all(root.join(folder)).expect("made");
        }
        std::fs::write(root.join("tools/linked.sh"), "").expect("written");
        let link = root.join(".swarm/hooks/pre-merge.sh");
        std::os::unix::fs::symlink("../../tools/linked.sh", link).expect("linked");
        let hook = |command: &str| {
            let hook = Configured { command: command.into(), timeout: TIMEOUT, blocking: false };
            (command.to_owned(), hook)
        };
        let commands = ["./tools/a.sh", "python3 'tools/b.py' --to=x; /bin/true", "my tools/c d.sh"];
        let found = files(root, &BTreeMap::from(commands.map(hook)));
        for path in ["tools/a.sh", "tools/b.py", "my tools/c d.sh", "tools/linked.sh"] {
            assert!(found.contains(Path::new(path)), "{path}: {found:?}");
        }
        assert!(found.iter().all(|path| path.is_relative()), "{found:?}");
    }

    #[test]
    fn a_file_that_is_nearly_a_hook_is_told_and_others_are_nobodys_business() {
        for (file, meant) in [
            ("post_complete.sh", "post-complete"),
            ("post-completed.sh", "post-complete"),
            ("pre-merge", "pre-merge"),
            ("on-error.py", "on-error"),
            ("Post-Merge.sh", "post-merge"),
            ("pre-task-starts.sh", "pre-task-start"),
        ] {
            let said = misnamed_file(file).unwrap_or_default();
            assert!(said.contains(&format!("hooks/{meant}.sh`")), "{file}: {said}");
        }
        for file in [
            "post-complete.sh",
            "pre-task-start.sh",
            "notify.sh",
            "README.md",
            "on-pause.sh.bak",
            "on-pause.bak",
        ] {
            assert_eq!(misnamed_file(file), None, "{file}");
        }
    }
}
