//! Finding the repository and refusing what the swarm cannot work on, with words.

use std::path::{Path, PathBuf};

use super::call::{Git, GitCall, GitError, Version, base_env};
use super::commits::Identity;

/// `git merge-tree --write-tree` came with it.
const OLDEST: Version = (2, 38, 0);

impl Git {
    /// Finds the repository that `path` lies in, from anywhere inside the main checkout or a worktree.
    pub async fn discover(path: &Path) -> Result<Self, GitError> {
        let version = version().await?;
        let at = |args: &[&str]| GitCall::new(base_env(), None, path).args(args);
        let lines = located(path, &at).await?;
        let [common_dir, git_dir, bare] = &lines[..] else {
            return Err(GitError::Unreadable { command: "rev-parse".into(), what: lines.join(" ") });
        };
        let (common_dir, git_dir) = (PathBuf::from(common_dir), PathBuf::from(git_dir));
        if bare == "true" {
            return Err(GitError::Bare { path: common_dir });
        }
        let main_checkout = if common_dir == git_dir {
            PathBuf::from(at(&["rev-parse", "--path-format=absolute", "--show-toplevel"]).line().await?)
        } else if common_dir.file_name().is_some_and(|name| name == ".git") {
            common_dir.parent().expect("a path that ends in .git has a parent").to_owned()
        } else {
            return Err(GitError::NoMainCheckout { common_dir });
        };
        let mut git = Self {
            common_dir,
            main_checkout,
            version,
            identity: Identity::of_the_swarm(),
            env: base_env(),
            shared: Default::default(),
        };
        git.refuse_unfit().await?;
        if let Some(identity) = git.configured_identity().await? {
            git.identity = identity;
        }
        Ok(git)
    }

    async fn refuse_unfit(&self) -> Result<(), GitError> {
        let format =
            self.call(["config", "--get", "extensions.refstorage"]).if_yes().await?.unwrap_or_default();
        if format.trim_ascii() == b"reftable" {
            return Err(GitError::Reftable { path: self.common_dir.clone() });
        }
        let main_is_bare =
            self.call(["config", "--type=bool", "--get", "core.bare"]).if_yes().await?.unwrap_or_default();
        if main_is_bare.trim_ascii() == b"true" {
            return Err(GitError::Bare { path: self.common_dir.clone() });
        }
        let head = self.call(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).if_yes().await?;
        // A branch just made with `git switch --orphan` is no reason to refuse a repository with history.
        let any = self.call(["for-each-ref", "--count=1", "refs/heads"]).ok().await?;
        if head.is_none() && any.is_empty() {
            return Err(GitError::NoCommits { path: self.main_checkout.clone() });
        }
        Ok(())
    }

    async fn configured_identity(&self) -> Result<Option<Identity>, GitError> {
        let name = self.call(["config", "--get", "user.name"]).if_yes().await?;
        let email = self.call(["config", "--get", "user.email"]).if_yes().await?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
        Ok(name
            .zip(email)
            .map(|(name, email)| Identity { name: text(name), email: text(email) })
            .filter(Identity::is_usable))
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
        Err(GitError::Failed { said, .. }) => Err(GitError::NotARepository { path: path.to_owned(), said }),
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
    use super::parse_version;

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
}
