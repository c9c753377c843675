//! Links to commits of other repositories. One is taken where `.gitmodules` says which repository that is, and where
//! the commit is not in the agent's copy of it alone: trunk would name what goes with the worktree.

use std::path::{Path, PathBuf};

use swarm_protocol::ids::Oid;

use super::OwnRepository;
use super::beneath::Beneath;
use super::content::{LINK, shown};
use super::heads::{PACKED_BYTES_MAX, REF_BYTES_MAX, oid};
use super::quarantine::copy;
use super::take::{Limits, Stranger};
use crate::call::GitError;
use crate::entry::path_of;

/// Remote branches of a submodule that are looked at, and how deep their names go.
const REMOTE_REFS_MAX: usize = 10_000;
const REF_DEPTH_MAX: usize = 6;

/// In quarantine: what the agent's copy of a submodule holds.
const COPY: &str = "link";

/// A submodule as `.gitmodules` has it.
struct Module {
    name: PathBuf,
    path: Vec<u8>,
}

impl Stranger<'_> {
    /// Why a link among `linked` is of no use to anybody.
    pub(super) async fn unusable_link(
        &self,
        own: &OwnRepository,
        tips: &[&Oid],
        linked: &[Vec<u8>],
        limits: Limits,
    ) -> Result<Option<String>, GitError> {
        if linked.is_empty() {
            return Ok(None);
        }
        for tip in tips {
            let modules = self.modules(tip).await?;
            let tree = self.checked(["ls-tree", "-r", "-z", tip.as_str()]).long_list().ok().await?;
            for entry in tree.split(|byte| *byte == 0).filter(|line| line.starts_with(LINK)) {
                let mut parts = entry.splitn(2, |byte| *byte == b'\t');
                let (head, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                if !linked.iter().any(|one| one == path) {
                    continue;
                }
                let Some(module) = modules.iter().find(|module| module.path == path) else {
                    return Ok(Some(of_nowhere(path)));
                };
                let commit =
                    head.rsplit(|byte| *byte == b' ').next().and_then(|it| std::str::from_utf8(it).ok());
                if let Some(commit) = commit.and_then(oid)
                    && let Some(copy) = self.only_copy(own, module, &commit, limits).await?
                {
                    let copy = self.seen_from(path, &copy);
                    return Ok(Some(of_one_copy(path, &commit, &copy, &own.branch())));
                }
            }
        }
        Ok(None)
    }

    /// As a command names it that runs in the person's checkout of a submodule.
    fn seen_from(&self, path: &[u8], copy: &Path) -> PathBuf {
        match copy.strip_prefix(&self.git.main_checkout) {
            Ok(below) => path_of(path).components().map(|_| "..").collect::<PathBuf>().join(below),
            Err(_) => copy.to_owned(),
        }
    }

    async fn modules(&self, tip: &Oid) -> Result<Vec<Module>, GitError> {
        let blob = format!("--blob={tip}:.gitmodules");
        let paths = ["config", "--null", &blob, "--get-regexp", r"^submodule\..*\.path$"];
        let listed = self.checked(paths).any().await?;
        let module = |entry: &[u8]| {
            let mut parts = entry.splitn(2, |byte| *byte == b'\n');
            let name = parts.next()?.strip_prefix(b"submodule.")?.strip_suffix(b".path")?;
            Some(Module { name: path_of(name).to_owned(), path: parts.next()?.to_vec() })
        };
        Ok(listed.stdout.split(|byte| *byte == 0).filter_map(module).collect())
    }

    /// The agent's copy of a submodule, if nobody else can have this commit of it: the person's copy does not, and no
    /// branch leads to it that came from elsewhere. A copy that cannot be read says nothing.
    async fn only_copy(
        &self,
        own: &OwnRepository,
        module: &Module,
        commit: &Oid,
        limits: Limits,
    ) -> Result<Option<PathBuf>, GitError> {
        let in_tree = path_of(&module.path).join(".git");
        let stored = Path::new("modules").join(&module.name);
        for objects in [self.git.common_dir.join(&stored), self.git.main_checkout.join(&in_tree)] {
            let objects = objects.join("objects");
            if objects.is_dir() {
                let asked = self.git.call(["cat-file", "-e", &format!("{commit}^{{commit}}")]);
                if asked.env("GIT_OBJECT_DIRECTORY", objects).any().await?.status.success() {
                    return Ok(None);
                }
            }
        }
        for (root, below) in [(&own.dir, stored), (&own.worktree, in_tree)] {
            let place = root.join(&below);
            let Some(theirs) = Beneath::open(root).ok().and_then(|root| root.below(&below)) else { continue };
            if self.made_there(theirs, commit, limits).await?.unwrap_or(false) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    async fn made_there(
        &self,
        theirs: Beneath,
        commit: &Oid,
        limits: Limits,
    ) -> Result<Option<bool>, GitError> {
        let into = self.place.join(COPY);
        let _ = std::fs::remove_dir_all(&into);
        let (nothing, to) = (into.join("none"), into.clone());
        let copied = tokio::task::spawn_blocking(move || {
            let copied = copy(&theirs, &nothing, &to, limits);
            copied.map(|copied| (copied.packs, tips_from_elsewhere(&theirs)))
        });
        let Ok(Ok((packs, elsewhere))) = copied.await else { return Ok(None) };
        let objects = format!("{COPY}/objects");
        for pack in packs {
            if !self.call(&objects, ["index-pack"]).arg(&pack).any().await?.status.success() {
                return Ok(None);
            }
        }
        let there = self.call(&objects, ["cat-file", "-e", &format!("{commit}^{{commit}}")]);
        if !there.any().await?.status.success() {
            return Ok(Some(false));
        }
        let known = elsewhere.iter().map(|oid| format!("^{oid}\n")).collect::<String>();
        let asked = self.call(&objects, ["rev-list", "--ignore-missing", "--max-count=1", "--stdin"]);
        let asked = asked.stdin(swarm_process::Input::Bytes(format!("{commit}\n{known}").into_bytes()));
        let answer = asked.any().await?;
        Ok(answer.status.success().then_some(!answer.stdout.is_empty()))
    }
}

/// Where the branches stood that the copy had from its remotes.
fn tips_from_elsewhere(copy: &Beneath) -> Vec<Oid> {
    let packed = copy.read(Path::new("packed-refs"), PACKED_BYTES_MAX).unwrap_or_default();
    let packed = String::from_utf8_lossy(&packed);
    let lines = packed.lines().filter_map(|line| line.split_once(' '));
    let remote = lines.filter(|(_, name)| name.starts_with("refs/remotes/"));
    let mut tips: Vec<Oid> = remote.filter_map(|(text, _)| oid(text)).take(REMOTE_REFS_MAX).collect();
    let mut folders = vec![(PathBuf::from("refs/remotes"), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for name in copy.names(&folder, REMOTE_REFS_MAX).unwrap_or_default() {
            let below = folder.join(name);
            match copy.read(&below, REF_BYTES_MAX) {
                Some(bytes) => tips.extend(oid(String::from_utf8_lossy(&bytes).trim())),
                None if depth < REF_DEPTH_MAX => folders.push((below, depth + 1)),
                None => {}
            }
            if tips.len() >= REMOTE_REFS_MAX {
                return tips;
            }
        }
    }
    tips
}

fn of_nowhere(path: &[u8]) -> String {
    format!(
        "{} is a repository of its own, and only a link to one of its commits was committed, which nobody else has: \
         `git rm --cached` it, and remove its .git folder or ignore it",
        shown(path)
    )
}

fn of_one_copy(path: &[u8], commit: &Oid, copy: &Path, branch: &str) -> String {
    let path = shown(path);
    format!(
        "the submodule {path} is set to {}, a commit that only this task's copy of it has: push it to the repository \
         of {path}, set {path} back to a commit that is there, or have a person take it over with `git -C {path} \
         fetch '{}' {commit}:{branch}`",
        commit.short(),
        copy.display()
    )
}
