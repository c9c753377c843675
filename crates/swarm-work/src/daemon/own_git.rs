//! The repository that the agent of this run has for itself: made ready before each program, left to it while the program
//! runs, handed in at the boundary.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use swarm_protocol::channel::RunKind;
use swarm_protocol::config::SandboxKind;

use super::run_context::RunContext;
use super::spec::DaemonSpec;
use crate::hand_in::{HandedIn, hand_in, hand_in_passing};
use crate::remove::move_to_trash;
use crate::rescue::why_left_out;
use crate::shared_tree::{Visitor, gather};
use swarm_git::{Git, GitError, OwnRepository};
use swarm_process::complain;
use swarm_process::sandbox::Bind;
use swarm_protocol::ids::Oid;

/// Before the work waits for a person.
const HAND_IN_TRIES: u32 = 4;
const HAND_IN_PAUSE: Duration = Duration::from_millis(500);

/// How soon a commit is seen outside while its agent works on.
const PASSING_EVERY: Duration = Duration::from_secs(3);
/// Handing in while the agent works takes no more than this part of the time.
const PASSING_SHARE: u32 = 20;

/// While this lives the agent's repository is the agent's. Where the agent has no view of its own, so is the worktree.
pub(super) struct Lent {
    own: OwnRepository,
    record: PathBuf,
    _held: File,
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Also where it was never pointed elsewhere: the agent may have done that itself.
        complain("give the worktree back to the repository", self.own.point_back(&self.record));
    }
}

impl RunContext {
    /// None where the agent works in the person's repository: nothing keeps it from that without walls of ours.
    pub(super) fn own(&self) -> Option<OwnRepository> {
        let walled = matches!(self.spec.guard.sandbox, SandboxKind::Landlock | SandboxKind::Strict);
        // In a shared tree nobody commits: git's index of it would be everybody's.
        let alone = self.spec.shared.is_none();
        let works = self.spec.kind == RunKind::Work && self.spec.question.is_none() && alone;
        (walled && works).then(|| OwnRepository::of(&self.spec.worktree, &self.spec.task))
    }

    /// Made ready for the next program. None: it cannot be had, and the program commits nothing; what it leaves is
    /// committed for it.
    pub(super) async fn open_own(&self) -> Option<OwnRepository> {
        let own = self.own()?;
        match self.opened(&own).await {
            Ok(true) => Some(own),
            Ok(false) => None,
            Err(error) => {
                self.tell(format!("the agent has no git repository this time: {error}"));
                None
            }
        }
    }

    async fn opened(&self, own: &OwnRepository) -> Result<bool, GitError> {
        let Some(tip) = self.tip().await? else { return Ok(false) };
        let Some(record) = self.record().await else { return Ok(false) };
        let git = self.git().await?;
        let name = format!("{}-git", self.spec.task);
        own.open(git, &record, &tip, |found| move_to_trash(git, &name, found).map(drop)).await?;
        Ok(true)
    }

    /// What the agent sees in place of the worktree's `.git` file; none where it has no view of its own.
    pub(super) fn shown_as_git(&self) -> Option<Bind> {
        let own = self.own().filter(|_| self.has_own_view())?;
        let target = self.spec.worktree.join(".git");
        Some(Bind { source: own.pointer_file(), target, read_only: true })
    }

    /// Leaves the worktree to the agent's own repository until the answer is dropped.
    pub(super) async fn lend(&self) -> Option<Lent> {
        let own = self.own().filter(OwnRepository::is_there)?;
        let record = self.record().await?;
        let git = self.git().await.ok()?;
        let held = match own.hold(git) {
            Ok(held) => held?,
            Err(error) => {
                complain::<(), _>("hold the agent's repository", Err(error));
                return None;
            }
        };
        let lent = Lent { own, record, _held: held };
        if !self.has_own_view() {
            complain("point the worktree to the agent's repository", lent.own.point_here());
        }
        Some(lent)
    }

    async fn try_hand_in(&self) -> Result<HandedIn, GitError> {
        let git = self.git().await?;
        if self.spec.shared.is_some() {
            return self.fetch_from_shared(git).await;
        }
        hand_in(git, &self.spec.task, &self.spec.worktree, self.spec.file_max_bytes).await
    }

    /// What the agent has made of its files in the shared tree, into the task's own worktree.
    async fn fetch_from_shared(&self, git: &Git) -> Result<HandedIn, GitError> {
        let DaemonSpec { task, run, worktree, file_max_bytes, .. } = &self.spec;
        let visitor = Visitor { task, run, worktree, max_file_bytes: *file_max_bytes };
        let gathered = gather(git, &visitor).await?;
        let Some(path) = gathered.left_out.first() else { return Ok(HandedIn::Nothing) };
        let why = why_left_out(&self.place(), path);
        Ok(HandedIn::Refused { why: format!("{}: {why}", path.display()) })
    }

    /// Takes what the agent has committed. Nothing of the agent may run now.
    pub(super) async fn hand_in(&self) -> Result<HandedIn, GitError> {
        if self.own().is_none() && self.spec.shared.is_none() {
            return Ok(HandedIn::Nothing);
        }
        let mut handed = self.try_hand_in().await;
        for _ in 1..HAND_IN_TRIES {
            if handed.is_ok() {
                break;
            }
            // A git that was killed, or a disk that was full for a moment: asked again it goes on where it was.
            tokio::time::sleep(HAND_IN_PAUSE).await;
            handed = self.try_hand_in().await;
        }
        match &handed {
            Ok(HandedIn::Nothing) => {}
            Ok(HandedIn::Moved { tip }) => self.note(&format!("handed in: {}", tip.short())),
            Ok(HandedIn::Refused { why }) => self.note(&format!("not handed in: {why}")),
            Err(error) => self.note(&format!("not handed in: {error}")),
        }
        handed
    }

    /// Until `ended` is said: what the agent commits comes onto its branch while it works, so that a diff, a conflict that
    /// is foreseen and a checkpoint are about the work as it is.
    pub(super) async fn hand_in_while_it_works(&self, ended: &tokio::sync::Notify) {
        let Some(own) = self.own() else { return };
        let (mut pause, mut seen) = (PASSING_EVERY, None);
        loop {
            tokio::select! {
                () = ended.notified() => return,
                () = tokio::time::sleep(pause) => {}
            }
            let mut now: Option<Oid> = own.heads().and_then(|heads| heads.branch);
            if now.is_none() || now == seen {
                continue;
            }
            let began = Instant::now();
            let handed = match self.git().await {
                Ok(git) => {
                    let spec = &self.spec;
                    hand_in_passing(git, &spec.task, &spec.worktree, spec.file_max_bytes).await
                }
                Err(_) => continue,
            };
            // What is refused is told at the boundary; what failed, a git that was killed or a full disk, is tried again.
            match handed {
                Ok(HandedIn::Moved { tip }) => self.note(&format!("handed in: {}", tip.short())),
                Ok(_) => {}
                Err(error) => {
                    complain::<(), _>("hand in while the agent works", Err(error));
                    now = None;
                }
            }
            seen = now;
            pause = PASSING_EVERY.max(began.elapsed() * PASSING_SHARE);
        }
    }
}
