//! Files of a checkout that run with the person's rights because git says so: what its configuration names there, and a
//! folder that git takes for a repository, with a configuration of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use swarm_git::{Git, GitError, path_of};
use swarm_protocol::ids::Oid;

use super::NAMED_MAX;
use crate::worktree::checkouts_of_people;

/// Folders that are named in one call.
const ASKED_MAX: usize = 200;

/// What is in a folder that git takes for a repository; on some machines in any case. `commondir` stands for the other two.
const PARTS: [&str; 4] = ["head", "objects", "refs", "commondir"];

/// Last parts of names of settings that are programs, by the first part.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("core", &["fsmonitor", "sshcommand", "editor", "pager", "askpass", "gitproxy", "alternaterefscommand"]),
    ("filter", &["clean", "smudge", "process"]),
    ("merge", &["driver"]),
    ("diff", &["textconv", "command", "external"]),
    ("difftool", &["cmd", "path"]),
    ("mergetool", &["cmd", "path"]),
    ("credential", &["helper"]),
    ("gpg", &["program", "defaultkeycommand"]),
    ("sequence", &["editor"]),
    ("interactive", &["difffilter"]),
    ("trailer", &["cmd", "command"]),
    ("uploadpack", &["packobjectshook"]),
    ("remote", &["uploadpack", "receivepack"]),
    ("hook", &["command"]),
];

/// Those of the changed files, as `result` has them, that git's configuration names or that make a repository.
pub async fn by_git(git: &Git, result: &Oid, changed: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
    if changed.is_empty() {
        return Ok(vec![]);
    }
    let list = ["config", "--list", "--null", "--show-origin", "--includes"];
    let listed = git.call(list).ok().await?;
    let roots = roots(git);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let places = Places { roots, git_dir: git.common_dir.clone(), home };
    let named = places.named_in(&listed);
    let is_named = |path: &&PathBuf| named.has(path);
    let mut found: Vec<PathBuf> = changed.iter().filter(is_named).take(NAMED_MAX).cloned().collect();
    let repositories = repositories(git, result, changed).await?;
    let is_within = |path: &&PathBuf| repositories.iter().any(|place| path.starts_with(place));
    found.extend(changed.iter().filter(is_within).take(NAMED_MAX).cloned());
    Ok(found)
}

/// The checkouts of the person, by their names, the main one first. Each of them may show trunk, now or later.
fn roots(git: &Git) -> Vec<PathBuf> {
    let linked = checkouts_of_people(git).into_iter().map(|one| one.path);
    let mut roots: Vec<PathBuf> = Vec::new();
    for path in std::iter::once(git.main_checkout.clone()).chain(linked) {
        let real = std::fs::canonicalize(&path).ok();
        for path in std::iter::once(path).chain(real) {
            if !roots.contains(&path) {
                roots.push(path);
            }
        }
    }
    roots
}

/// Where settings of git may lead to.
struct Places {
    /// The checkouts, by their names. What has a relative name is looked for in the first.
    roots: Vec<PathBuf>,
    git_dir: PathBuf,
    home: Option<PathBuf>,
}

/// Paths from the root of the checkout.
#[derive(Debug, Default)]
struct Named {
    /// With all that is in them.
    places: BTreeSet<PathBuf>,
    /// Words of commands without a slash. `store`, `code` and `--wait` are such words too, and a folder of that name is
    /// only a folder: what counts is a file.
    words: BTreeSet<PathBuf>,
}

impl Named {
    fn has(&self, path: &Path) -> bool {
        // A link in the place of a folder changes all that is below it.
        let is_of = |place: &PathBuf| path.starts_with(place) || place.starts_with(path);
        self.words.contains(path) || self.places.iter().any(is_of)
    }
}

impl Places {
    /// `listed`: for each setting the file it is from, a NUL, the key, the value after an end of line, a NUL.
    fn named_in(&self, listed: &[u8]) -> Named {
        let mut found = Named::default();
        let mut words = listed.split(|byte| *byte == 0);
        while let (Some(origin), Some(setting)) = (words.next(), words.next()) {
            // What is said on the command line is ours.
            let Some(origin) = origin.strip_prefix(b"file:") else { continue };
            let mut parts = setting.splitn(2, |byte| *byte == b'\n');
            let (key, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let key = String::from_utf8_lossy(key);
            let (section, name) = (key.split('.').next(), key.rsplit('.').next());
            let (Some(section), Some(name)) = (section, name) else { continue };
            match (section, name) {
                ("include" | "includeif", "path") => {
                    let origin = self.git_dir.join(path_of(origin));
                    self.find(origin.parent().unwrap_or(&self.git_dir), value, &mut found.places);
                }
                ("core", "hookspath") => self.find_hooks(value, &mut found.places),
                ("core", "attributesfile") => self.find(&self.roots[0], value, &mut found.places),
                _ if is_program(section, name) => self.find_words(value, &mut found),
                _ => {}
            }
        }
        found
    }

    fn find_hooks(&self, value: &[u8], found: &mut BTreeSet<PathBuf>) {
        self.find(&self.roots[0], value, found);
        // Husky has what git calls in `_`, and that calls what lies beside it.
        let folder = path_of(value);
        if let (Some(parent), true) = (folder.parent(), folder.ends_with("_")) {
            self.find(&self.roots[0], parent.as_os_str().as_bytes(), found);
        }
    }

    /// Whatever a command line names, in quotes or not.
    fn find_words(&self, value: &[u8], found: &mut Named) {
        let is_quote = |byte: &u8| b"\"'".contains(byte);
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`;|&()<>=!".contains(byte);
        let words = value.split(is_between).chain(value.split(is_quote)).chain([value.trim_ascii()]);
        for word in words.filter(|word| !word.is_empty()) {
            let is_path = word.contains(&b'/');
            self.find(&self.roots[0], word, if is_path { &mut found.places } else { &mut found.words });
        }
    }

    /// The path, and what it leads to, where that lies in the checkout.
    fn find(&self, from: &Path, value: &[u8], found: &mut BTreeSet<PathBuf>) {
        let path = match (value.strip_prefix(b"~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(OsStr::from_bytes(rest)),
            _ => from.join(OsStr::from_bytes(value)),
        };
        let real = std::fs::canonicalize(&path).ok();
        for path in [Some(plain(&path)), real].into_iter().flatten() {
            // One checkout may lie in another.
            let below = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
            found.extend(below.filter(|below| !below.as_os_str().is_empty()).map(Path::to_owned));
        }
    }
}

fn is_program(section: &str, name: &str) -> bool {
    section == "pager" || PROGRAMS.iter().any(|(first, names)| *first == section && names.contains(&name))
}

/// Without `.` and `..`, whether or not anything is there.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
        plain
    })
}

/// Folders below the root, with one of these files, that are repositories for a git that is called in them. Its
/// `config` or a hook is enough: the rest of it may lie on trunk already.
async fn repositories(git: &Git, result: &Oid, changed: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
    let places: Vec<&Path> = folders_above(changed).into_iter().collect();
    let mut found = Vec::new();
    for some in places.chunks(ASKED_MAX) {
        // A folder that is asked for itself is named among those of the folder above only with `-t`.
        let list = git.call(["ls-tree", "-t", "--full-tree", "-z", "--name-only", result.as_str(), "--"]);
        let listed = list.args(some.iter().map(|place| place.join(""))).long_list().ok().await?;
        found.extend(repositories_in(&listed));
    }
    Ok(found)
}

/// Each folder on the way to one of these files, once.
fn folders_above(changed: &[PathBuf]) -> BTreeSet<&Path> {
    let mut folders = BTreeSet::new();
    for path in changed {
        let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        for folder in above {
            // So were those above it.
            if !folders.insert(folder) {
                break;
            }
        }
    }
    folders
}

fn part_of(path: &Path) -> Option<usize> {
    let name = path.file_name()?;
    PARTS.iter().position(|part| name.eq_ignore_ascii_case(part))
}

fn repositories_in(listed: &[u8]) -> Vec<PathBuf> {
    let mut parts: BTreeMap<PathBuf, BTreeSet<&str>> = BTreeMap::new();
    for path in listed.split(|byte| *byte == 0).map(path_of) {
        if let (Some(folder), Some(part)) = (path.parent(), part_of(&path)) {
            parts.entry(folder.to_owned()).or_default().insert(PARTS[part]);
        }
    }
    let is_whole = |parts: &BTreeSet<&str>| {
        let has = |part: &str| parts.contains(part);
        has("head") && (has("commondir") || (has("objects") && has("refs")))
    };
    parts.into_iter().filter(|(_, parts)| is_whole(parts)).map(|(folder, _)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(origin: &str, key: &str, value: &str) -> Named {
        let places = Places {
            roots: vec!["/no/repo".into(), "/no/linked".into(), "/no/repo/in".into()],
            git_dir: "/no/repo/.git".into(),
            home: Some("/no".into()),
        };
        places.named_in(format!("{origin}\0{key}\n{value}\0").as_bytes())
    }

    #[test]
    fn what_the_configuration_names_is_found_in_the_checkout_alone() {
        let ours = "file:/no/repo/.git/config";
        let cases: &[(&str, &str, &str, &[&str])] = &[
            (ours, "include.path", "../.gitconfig", &[".gitconfig"]),
            ("file:config", "include.path", "../.gitconfig", &[".gitconfig"]),
            (ours, "includeif.gitdir:~/x.y/.path", "/no/repo/conf/git", &["conf/git"]),
            ("file:/no/.gitconfig", "include.path", "repo/conf", &["conf"]),
            ("file:/no/.gitconfig", "include.path", "~/repo/./conf", &["conf"]),
            ("file:/no/.gitconfig", "include.path", "more", &[]),
            // A linked worktree of the person, beside the main checkout or in it.
            (ours, "include.path", "/no/linked/conf", &["conf"]),
            (ours, "core.hookspath", "/no/linked/.githooks", &[".githooks"]),
            (ours, "include.path", "/no/repo/in/conf", &["conf", "in/conf"]),
            (ours, "core.hookspath", ".githooks", &[".githooks"]),
            (ours, "core.hookspath", ".husky/_", &[".husky", ".husky/_"]),
            (ours, "core.hookspath", "/no/hooks", &[]),
            ("command line:", "core.hookspath", "hooks", &[]),
            (
                ours,
                "filter.a.b.clean",
                "'tools/my clean.sh' %f",
                &["%f", "clean.sh", "tools/my", "tools/my clean.sh"],
            ),
            (ours, "merge.x.driver", "./merge.sh", &["merge.sh"]),
            (ours, "alias.x", "!tools/x", &[]),
            (ours, "user.name", "tools", &[]),
        ];
        for (origin, key, value, wanted) in cases {
            let Named { places, words } = named(origin, key, value);
            let all: BTreeSet<PathBuf> = places.into_iter().chain(words).collect();
            let mut found: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
            found.retain(|path| !path.starts_with('\'') && !path.starts_with(' '));
            assert_eq!(found, *wanted, "{origin} {key} {value}");
        }
    }

    #[test]
    fn a_word_of_a_command_is_a_file_of_that_name_and_nothing_that_lies_in_a_folder_of_that_name() {
        for (key, value, path, expected) in [
            ("credential.helper", "store", "store/cart.ts", false),
            ("credential.helper", "cache --timeout=9", "cache/mod.rs", false),
            ("core.editor", "code --wait", "code/main.rs", false),
            ("filter.lfs.process", "git-lfs filter-process", "a.bin", false),
            ("merge.x.driver", "sh merge.sh %A", "merge.sh", true),
            ("diff.x.textconv", "tools/show", "tools/show", true),
            // A link in the place of the folder.
            ("diff.x.textconv", "tools/show", "tools", true),
            ("core.hookspath", "hooks", "hooks/pre-commit", true),
        ] {
            let found = named("file:/no/repo/.git/config", key, value);
            assert_eq!(found.has(Path::new(path)), expected, "{key} {value} {path}");
        }
    }

    #[test]
    fn a_folder_with_the_parts_of_a_repository_is_one() {
        let check = |files: &[&str], wanted: &[&str]| {
            let listed: String = files.iter().map(|file| format!("{file}\0")).collect();
            assert_eq!(
                repositories_in(listed.as_bytes()),
                wanted.iter().map(PathBuf::from).collect::<Vec<_>>()
            );
        };
        check(&["v/HEAD", "v/config", "v/objects", "v/refs", "w/HEAD", "w/refs"], &["v"]);
        check(&["v/head", "v/Objects", "v/REFS"], &["v"]);
        check(&["v/HEAD", "v/commondir"], &["v"]);
        check(&["v/objects", "v/refs", "v/HEAD.txt"], &[]);
    }

    #[test]
    fn every_folder_above_a_changed_file_is_asked_for_once() {
        let changed: Vec<PathBuf> =
            ["a/b/config", "a/b/hooks/post-commit", "a/c", "d"].map(PathBuf::from).into();
        let folders: Vec<&Path> = folders_above(&changed).into_iter().collect();
        assert_eq!(folders, ["a", "a/b", "a/b/hooks"].map(Path::new));
    }
}
