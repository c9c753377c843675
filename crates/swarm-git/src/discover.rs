//! Finding the repository and refusing what the swarm cannot work on, with words.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::call::{Git, GitCall, GitError, Version, base_env};
use super::commits::Identity;

/// `git merge-tree --write-tree` came with it.
const OLDEST: Version = (2, 38, 0);

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
    /// Every command of a person begins here, so git is asked few times, and twice at once.
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
        let (version, lines) = tokio::join!(version(), located(path, &at));
        let (version, lines) = (version?, lines?);
        let [common_dir, git_dir, bare] = &lines[..] else {
            return Err(GitError::Unreadable { command: "rev-parse".into(), what: lines.join(" ") });
        };
        let (common_dir, git_dir) = (PathBuf::from(common_dir), PathBuf::from(git_dir));
        if bare == "true" {
            return Err(GitError::Bare { path: common_dir });
        }
        let mut git = Self {
            main_checkout: common_dir.clone(),
            here: git_dir.clone(),
            common_dir,
            version,
            identity: Identity::of_the_swarm(),
            env: base_env(),
            shared: Default::default(),
        };
        let (settings, head) = tokio::join!(git.settings(), git.resolve("HEAD"));
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
        if head?.is_none() && git.call(["for-each-ref", "--count=1", "refs/heads"]).ok().await?.is_empty() {
            return Err(GitError::NoCommits { path: git.main_checkout });
        }
        if let Some(identity) = settings.identity {
            git.identity = identity;
        }
        Ok(git)
    }

    async fn settings(&self) -> Result<Settings, GitError> {
        let asked = r"^(extensions\.refstorage|core\.bare|core\.worktree|user\.name|user\.email)$";
        let found =
            self.call(["config", "--null", "--get-regexp", asked]).if_yes().await?.unwrap_or_default();
        Ok(Settings::read(&String::from_utf8_lossy(&found)))
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

async fn located(path: &Path, at: &impl Fn(&[&str]) -> GitCall) -> Result<Vec<String>, GitError> {
    if !path.is_dir() {
        return Err(GitError::NotARepository { path: path.to_owned(), said: "no such folder".into() });
    }
    let asked =
        ["rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir", "--is-bare-repository"];
    match at(&asked).line().await {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        // Also "dubious ownership", whose words tell the person what to do.
        // A git that was killed has said nothing about the folder.
        Err(GitError::Failed { said, how, .. }) if how.starts_with("exit") => {
            Err(GitError::NotARepository { path: path.to_owned(), said })
        }
        Err(other) => Err(other),
    }
}

async fn version() -> Result<Version, GitError> {
    let text = GitCall::new(base_env(), None, Path::new("/")).arg("version").line().await?;
    let found = parse_version(&text)
        .ok_or_else(|| GitError::Unreadable { command: "version".into(), what: text.clone() })?;
    if found < OLDEST {
        return Err(GitError::TooOld { found: format!("{}.{}.{}", found.0, found.1, found.2) });
    }
    Ok(found)
}

/// Reads `git version 2.39.3 (Apple Git-146)`, `git version 2.38.0.rc1.windows.1` and the like.
fn parse_version(text: &str) -> Option<Version> {
    let number = text.strip_prefix("git version ")?.split_whitespace().next()?;
    let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
    Some((parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{Settings, parse_version};

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
