//! Finding the repository and refusing what the swarm cannot work on, with words.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::call::{Git, GitCall, GitError, Version, base_env, failed};
use super::commits::Identity;
use super::plain_place::plain_place;
use super::unread::{OLDEST, a_branch_in, seen_above};
use swarm_process::Ended;

/// What was found out about a repository, for a process of ours that is told it instead of asking git again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    common_dir: PathBuf,
    main_checkout: PathBuf,
    version: Version,
    identity: Identity,
}

impl Git {
    /// What is known of this repository.
    pub fn repository(&self) -> Repository {
        Repository {
            common_dir: self.common_dir.clone(),
            main_checkout: self.main_checkout.clone(),
            version: self.version,
            identity: self.identity.clone(),
        }
    }

    /// The repository that another process of ours has found.
    pub fn of(known: Repository) -> Self {
        let Repository { common_dir, main_checkout, version, identity } = known;
        let (here, env, shared) = (common_dir.clone(), base_env(), Default::default());
        Self { common_dir, main_checkout, here, version, identity, env, shared }
    }

    /// Finds the repository that `path` lies in, from anywhere inside the main checkout or a worktree.
    ///
    /// Every command of a person begins here, so git is asked few times.
    pub async fn discover(path: &Path) -> Result<Self, GitError> {
        let found = Self::found_at(path).await?;
        // Inside an agent's walls the worktree belongs to a repository of its own.
        match super::own::main_of(&found.common_dir) {
            Some(main) => Ok(Self { here: found.here, ..Self::found_at(&main).await? }),
            None => Ok(found),
        }
    }

    async fn found_at(path: &Path) -> Result<Self, GitError> {
        let at = |args: &[&str]| GitCall::new(base_env(), None, path).args(args);
        let (told, common_dir, git_dir) = match plain_place(path) {
            Some(git_dir) => (None, git_dir.clone(), git_dir),
            None => located(path, &at).await?,
        };
        // Its answers are lines of text, and paths stand in them.
        if common_dir.to_str().is_none_or(|text| text.contains('\n')) {
            return Err(GitError::OddPath(common_dir.parent().unwrap_or(&common_dir).to_owned()));
        }
        let mut git = Self {
            main_checkout: common_dir.clone(),
            here: git_dir.clone(),
            common_dir,
            version: OLDEST,
            identity: Identity::of_the_swarm(),
            env: base_env(),
            shared: Default::default(),
        };
        let (also_told, settings) = git.settings().await?;
        git.version = match told.or(also_told) {
            Some(version) => version,
            None => version().await?,
        };
        check_age(git.version)?;
        let settings = settings?;
        if settings.reftable {
            return Err(GitError::Reftable { path: git.common_dir });
        }
        // Also seen from a worktree of it, where git says no.
        if settings.bare {
            return Err(GitError::Bare { path: git.common_dir });
        }
        git.main_checkout =
            if git.common_dir.file_name().is_some_and(|name| name == ".git") && settings.worktree.is_none() {
                git.common_dir.parent().expect("a path that ends in .git has a parent").to_owned()
            } else if git.common_dir == git_dir {
                PathBuf::from(at(&["rev-parse", "--path-format=absolute", "--show-toplevel"]).line().await?)
            } else {
                return Err(GitError::NoMainCheckout { common_dir: git.common_dir });
            };
        // A branch just made with `git switch --orphan` is no reason to refuse a repository with history.
        if git.current_commit().await?.is_none()
            && git.call(["for-each-ref", "--count=1", "refs/heads"]).ok().await?.is_empty()
        {
            // Git passes over a branch that it cannot read.
            return Err(match a_branch_in(&git.common_dir) {
                Some(name) => {
                    GitError::Damaged { git_dir: git.common_dir, said: format!("{name} names no commit") }
                }
                None => GitError::NoCommits { path: git.main_checkout },
            });
        }
        if let Some(identity) = settings.identity {
            git.identity = identity;
        }
        Ok(git)
    }

    /// What is configured, and which git it is that says so.
    async fn settings(&self) -> Result<(Option<Version>, Result<Settings, GitError>), GitError> {
        let settings = r"extensions\.refstorage|core\.bare|core\.worktree|user\.name|user\.email";
        let asked = format!("^({settings}|{})$", super::filters::ASKED);
        let (version, ended) = versioned(self.call(["config", "--null", "--get-regexp", &asked])).await?;
        // Exit code 1: nothing of it is configured.
        let found = match ended.status.code() {
            Some(0 | 1) => {
                self.shared.filters.learn(&ended.stdout);
                Ok(Settings::read(&String::from_utf8_lossy(&ended.stdout)))
            }
            _ => Err(failed("config".into(), &ended)),
        };
        Ok((version, found))
    }
}

/// What the repository's configuration says that matters here.
#[derive(Debug, Default)]
struct Settings {
    reftable: bool,
    bare: bool,
    worktree: Option<String>,
    identity: Option<Identity>,
}

impl Settings {
    /// Reads `key LF value NUL` entries; of several values of a key the last one counts, as in git.
    fn read(text: &str) -> Self {
        let mut settings = Self::default();
        let (mut name, mut email) = (None, None);
        for entry in text.split('\0').filter(|entry| !entry.is_empty()) {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            match key {
                "extensions.refstorage" => settings.reftable = value == "reftable",
                "core.bare" => {
                    settings.bare = matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
                }
                "core.worktree" => settings.worktree = Some(value.to_owned()),
                "user.name" => name = Some(value.trim().to_owned()),
                "user.email" => email = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        settings.identity =
            name.zip(email).map(|(name, email)| Identity { name, email }).filter(Identity::is_usable);
        settings
    }
}

/// What git says of the folder: the common git directory, and that of the checkout. And which git it is.
async fn located(
    path: &Path,
    at: &impl Fn(&[&str]) -> GitCall,
) -> Result<(Option<Version>, PathBuf, PathBuf), GitError> {
    if !path.is_dir() {
        return Err(GitError::NotARepository { path: path.to_owned(), said: "no such folder".into() });
    }
    let asked =
        ["rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir", "--is-bare-repository"];
    let (mut told, ended) = versioned(at(&asked)).await?;
    if told.is_none() {
        told = Some(version().await?);
    }
    told.map_or(Ok(()), check_age)?;
    if !ended.status.success() {
        return Err(match failed("rev-parse".into(), &ended) {
            // Also "dubious ownership", whose words tell the person what to do.
            // A git that was killed has said nothing about the folder.
            GitError::Failed { said, how, .. } if how.starts_with("exit") => {
                // It says so of one whose HEAD or configuration it cannot read, too.
                match seen_above(path).filter(|_| !said.contains("dubious ownership")) {
                    Some(git_dir) => GitError::Damaged { git_dir, said },
                    None => GitError::NotARepository { path: path.to_owned(), said },
                }
            }
            other => other,
        });
    }
    let unreadable = |what: String| GitError::Unreadable { command: "rev-parse".into(), what };
    let odd = || GitError::OddPath(std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    let text = String::from_utf8(ended.stdout).map_err(|_| odd())?;
    let lines: Vec<&str> = text.lines().collect();
    let [common_dir, git_dir, bare] = lines[..] else {
        return Err(if lines.len() > 3 { odd() } else { unreadable(lines.join(" ")) });
    };
    match bare {
        "true" => Err(GitError::Bare { path: common_dir.into() }),
        _ => Ok((told, common_dir.into(), git_dir.into())),
    }
}

fn check_age(version: Version) -> Result<(), GitError> {
    let (major, minor, patch) = version;
    match version < OLDEST {
        true => Err(GitError::TooOld { found: format!("{major}.{minor}.{patch}") }),
        false => Ok(()),
    }
}

/// A call whose git tells its version along with the answer, where it knows how.
async fn versioned(call: GitCall) -> Result<(Option<Version>, Ended), GitError> {
    let mut ended = call.env("GIT_TRACE2_EVENT", "1").env("GIT_TRACE2_EVENT_BRIEF", "1").any().await?;
    let version = without_trace(&mut ended.stderr_tail);
    Ok((version, ended))
}

/// Takes the lines of git's trace out of what it said; the version that they tell.
fn without_trace(said: &mut Vec<u8>) -> Option<Version> {
    #[derive(Deserialize)]
    struct Traced {
        event: String,
        exe: Option<String>,
    }
    let (mut version, mut words) = (None, Vec::new());
    for line in said.split_inclusive(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Traced>(line) {
            Ok(Traced { event, exe }) if event == "version" => {
                version = exe.and_then(|exe| parse_version(&format!("git version {exe}")));
            }
            Ok(_) => {}
            Err(_) => words.extend_from_slice(line),
        }
    }
    *said = words;
    version
}

/// Of the git that would be run. For one, or something in its place, that does not tell it along with an answer.
pub async fn version() -> Result<Version, GitError> {
    let text = GitCall::new(base_env(), None, Path::new("/")).arg("version").line().await?;
    parse_version(&text).ok_or_else(|| GitError::Unreadable { command: "version".into(), what: text.clone() })
}

/// Reads `git version 2.39.3 (Apple Git-146)`, `git version 2.38.0.rc1.windows.1` and the like.
fn parse_version(text: &str) -> Option<Version> {
    let number = text.strip_prefix("git version ")?.split_whitespace().next()?;
    let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
    Some((parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{Settings, parse_version, without_trace};

    #[test]
    fn what_git_said_is_left_without_its_trace() {
        let check = |said: &str, version, left: &str| {
            let mut said = said.as_bytes().to_vec();
            assert_eq!(without_trace(&mut said), version);
            assert_eq!(String::from_utf8_lossy(&said), left);
        };
        let trace =
            "{\"event\":\"version\",\"evt\":\"4\",\"exe\":\"2.47.3\"}\n{\"event\":\"start\",\"argv\":[]}\n";
        check(trace, Some((2, 47, 3)), "");
        check(
            &format!("{trace}fatal: not a git repository\n"),
            Some((2, 47, 3)),
            "fatal: not a git repository\n",
        );
        check("fatal: {\"event\" is no option\n", None, "fatal: {\"event\" is no option\n");
        check("", None, "");
    }

    #[test]
    fn versions_are_read_however_the_vendor_decorates_them() {
        let check = |text: &str, expected| assert_eq!(parse_version(text), expected, "{text}");
        check("git version 2.47.3", Some((2, 47, 3)));
        check("git version 2.39.3 (Apple Git-146)", Some((2, 39, 3)));
        check("git version 2.38.0.rc1.windows.1", Some((2, 38, 0)));
        check("git version 2.40.GIT", Some((2, 40, 0)));
        check("hub version 2", None);
        check("git version two", None);
    }

    #[test]
    fn of_several_values_the_last_one_counts() {
        let settings =
            Settings::read("user.name\nA\0user.email\na@b\0user.name\nB\0core.bare\0core.bare\nfalse\0");
        assert_eq!(settings.identity.map(|who| who.name), Some("B".into()));
        assert!(!settings.bare && !settings.reftable);
        assert!(Settings::read("core.bare\0").bare);
    }
}
