//! Operations through the whole circle: command, ledger, coordinator, git. Each is killed at each of its steps and
//! finished at the next start; what a person has and has committed is there afterwards, byte for byte; the
//! preview is what happens; undo brings everything back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swarm_protocol::command::Command;
use swarm_protocol::ids::{CommandId, Oid};
use swarm_protocol::operation::{Force, TrunkHow};

use crate::checkpoints::{make_dirty, worktree};
use crate::fixture::{Fixture, coordinate_and_die};
use crate::git_scratch::{Scratch, commit_all, git_in, task, write};
use crate::seen;

/// What a person does besides.
#[derive(Debug, Clone, Copy)]
struct Person {
    shows_trunk: bool,
    /// A remote has everything up to the last merge.
    pushes: bool,
    /// Commits between the merges, and after them.
    commits: bool,
}

const ALONE: Person = Person { shows_trunk: true, pushes: false, commits: false };
const ELSEWHERE: Person = Person { shows_trunk: false, pushes: false, commits: false };
const COMMITS: Person = Person { shows_trunk: true, pushes: false, commits: true };
const PUSHES: Person = Person { shows_trunk: true, pushes: true, commits: true };
const FAR: Person = Person { shows_trunk: false, pushes: true, commits: true };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Checkpoint,
    Rollback,
    RollbackTask,
    Abort,
    /// Of a task rollback.
    Undo,
}

impl Deed {
    fn command(self) -> Command {
        let (force, expect) = (Force::default(), None);
        match self {
            Self::Checkpoint => Command::MakeCheckpoint { name: Some("another".into()) },
            Self::Rollback => Command::Rollback { to: Some("mine".into()), force, expect },
            Self::RollbackTask => Command::RollbackTask { task: task("1.2"), cascade: false, force, expect },
            Self::Abort => Command::Abort { force, expect },
            Self::Undo => Command::Undo { operation: None, partial: false, force, expect },
        }
    }
}

/// Records after which a coordinator dies, before the effect that they promise has begun: none at all yet, the look,
/// the checkpoint before it, the move.
const STEPS: [&str; 4] = ["operation_asked", "coordinator_started", "operation_planned", "checkpoint_made"];

struct Story {
    scratch: Scratch,
    fixture: Fixture,
    person: Person,
    /// Trunk before the deed.
    now: Oid,
    /// The person's commits on trunk.
    theirs: Vec<Oid>,
    files: BTreeMap<PathBuf, (char, Vec<u8>)>,
    status: Vec<String>,
    /// The worktree of 1.3 at the checkpoint `mine`.
    then: BTreeMap<PathBuf, (char, Vec<u8>)>,
    /// The same before the deed.
    later: BTreeMap<PathBuf, (char, Vec<u8>)>,
}

/// What git says of a checkout, without what the swarm itself keeps there.
fn own_status(repo: &Path) -> Vec<String> {
    let all = seen::status(repo);
    all.split('\0').filter(|line| !line.contains(" .swarm/")).map(str::to_owned).collect()
}

impl Story {
    async fn tell(person: Person) -> Self {
        let scratch = Scratch::new();
        let fixture = Fixture::with_plan(&scratch.repo).await;
        fixture.merge("1.1", &[("swarm/one.txt", "one\n"), ("a.txt", "a one\na two\na three\n")]).await;
        let mut theirs = Vec::new();
        if person.commits {
            scratch.write("person.txt", "between\n");
            theirs.push(scratch.commit_all("the person's, between"));
        }
        let git = scratch.open().await;
        let place = worktree(&git, &scratch, "1.3").await;
        make_dirty(&place.path);
        let then = seen::files(&place.path);
        fixture.operate(Command::MakeCheckpoint { name: Some("mine".into()) }).await.expect("a checkpoint");
        write(&place.path, "later.txt", b"later\n");
        commit_all(&place.path, "later");
        write(&place.path, "unsaved.txt", b"not committed, later\n");
        let later = seen::files(&place.path);
        fixture.merge("1.2", &[("swarm/two.txt", "two\n"), ("b.txt", "b one\nb two\n")]).await;
        if person.pushes {
            git_in(scratch.dir.path(), ["init", "--quiet", "--bare", "remote.git"]);
            let remote = scratch.dir.path().join("remote.git");
            scratch.git(["remote", "add", "origin", remote.to_str().unwrap()]);
            scratch.git(["push", "--quiet", "origin", "main"]);
        }
        if person.commits {
            scratch.write("person.txt", "after\n");
            theirs.push(scratch.commit_all("the person's, after"));
        }
        if !person.shows_trunk {
            scratch.git(["switch", "--quiet", "-c", "elsewhere"]);
        }
        scratch.write("dir/c.txt", "edited, not staged\n");
        scratch.write("staged.txt", "staged\n");
        scratch.git(["add", "staged.txt"]);
        scratch.write("staged.txt", "staged, then edited\n");
        scratch.write("swarm/beside.txt", "untracked\n");
        scratch.write("ignored/x", "ignored\n");
        let (files, status) = (seen::files(&scratch.repo), own_status(&scratch.repo));
        let now = scratch.oid("main");
        Self { fixture, person, now, theirs, files, status, then, later, scratch }
    }

    fn place(&self) -> PathBuf {
        self.scratch.worktrees().join("1.3")
    }

    /// Everything that is the person's is where it was.
    fn person_has_everything(&self, told: &str) {
        let merged = ["swarm/two.txt", "b.txt"].map(Path::new);
        let own = |files: &BTreeMap<PathBuf, (char, Vec<u8>)>| {
            let mut files = files.clone();
            files.retain(|path, _| !merged.contains(&path.as_path()));
            files
        };
        let files = seen::files(&self.scratch.repo);
        assert_eq!(own(&files), own(&self.files), "{told}");
        if !self.person.shows_trunk {
            assert_eq!(files, self.files, "{told}: nothing at all moves in a checkout of another branch");
        }
        assert_eq!(own_status(&self.scratch.repo), self.status, "{told}");
        assert!(!self.scratch.at(".git/index.lock").exists(), "{told}");
        for oid in &self.theirs {
            self.scratch.git(["merge-base", "--is-ancestor", oid.as_str(), "main"]);
        }
        // Everything that was on trunk is held by a ref.
        let held = self.scratch.git(["for-each-ref", "--contains", self.now.as_str()]);
        assert!(!held.is_empty(), "{told}: the old trunk");
    }

    fn shows(&self, file: &str) -> bool {
        !self.scratch.git(["ls-tree", "main", file]).is_empty()
    }

    fn is_taken_back(&self, deed: Deed, told: &str) {
        self.person_has_everything(told);
        assert!(self.shows("swarm/one.txt") && !self.shows("swarm/two.txt"), "{told}");
        assert_eq!(self.scratch.git(["show", "main:b.txt"]), "b one", "{told}");
        if self.person.shows_trunk {
            assert_eq!(self.scratch.read("b.txt"), "b one\n", "{told}");
        }
        let stage = if deed == Deed::Abort { "Approved" } else { "Pending" };
        assert_eq!((self.fixture.stage("1.1"), self.fixture.stage("1.2")), ("Done", stage), "{told}");
        if deed == Deed::Rollback {
            assert_eq!(seen::files(&self.place()), self.then, "{told}: the worktree of then");
        }
    }

    fn is_as_before(&self, told: &str) {
        self.person_has_everything(told);
        let differs = self.scratch.git(["diff", "--name-only", self.now.as_str(), "main"]);
        assert_eq!(differs, "", "{told}");
        if self.person.shows_trunk {
            assert_eq!(seen::files(&self.scratch.repo), self.files, "{told}");
        }
        assert_eq!((self.fixture.stage("1.1"), self.fixture.stage("1.2")), ("Done", "Done"), "{told}");
        assert_eq!(seen::files(&self.place()), self.later, "{told}: the worktree of before");
    }

    fn is_right(&self, deed: Deed, told: &str) {
        match deed {
            Deed::Checkpoint | Deed::Undo => self.is_as_before(told),
            _ => self.is_taken_back(deed, told),
        }
        assert!(self.fixture.state().ops.running.is_none(), "{told}");
    }
}

/// The deed killed after each step, each time finished, right, and undone.
async fn check(deed: Deed, person: Person, steps: &[&str]) {
    for step in steps {
        let told = format!("{deed:?} {person:?} killed after {step}");
        let story = Story::tell(person).await;
        if deed == Deed::Undo {
            story.fixture.operate(Deed::RollbackTask.command()).await.expect("it can be rolled back");
            story.is_taken_back(Deed::RollbackTask, &told);
        }
        let id = story.fixture.ask(deed.command()).expect("it is taken");
        if *step != "operation_asked" {
            assert!(coordinate_and_die(&story.scratch.repo, step, false), "{told}: it lived");
        }
        story.fixture.finish().await;
        no_failure(&story, &id, &told);
        story.is_right(deed, &told);
        if deed != Deed::Undo {
            let back = story.fixture.operate(Deed::Undo.command()).await;
            back.unwrap_or_else(|why| panic!("{told}: {why}"));
            story.is_as_before(&format!("{told}, undone"));
        }
    }
}

fn no_failure(story: &Story, id: &CommandId, told: &str) {
    let state = story.fixture.state();
    let record = state.ops.record(id).unwrap_or_else(|| panic!("{told}: it left no record"));
    assert_eq!(record.failed, None, "{told}");
}

#[tokio::test]
async fn a_checkpoint_is_made_whoever_dies() {
    check(Deed::Checkpoint, ALONE, &STEPS[..2]).await;
}

#[tokio::test]
async fn a_rollback_is_finished_whoever_dies_where_all_is_the_swarms() {
    check(Deed::Rollback, ALONE, &STEPS).await;
}

#[tokio::test]
async fn a_rollback_is_finished_whoever_dies_beside_a_person_who_commits() {
    check(Deed::Rollback, COMMITS, &STEPS[2..]).await;
    check(Deed::Rollback, FAR, &STEPS[3..]).await;
}

#[tokio::test]
async fn a_task_rollback_is_finished_whoever_dies() {
    check(Deed::RollbackTask, PUSHES, &STEPS).await;
    check(Deed::RollbackTask, ELSEWHERE, &STEPS[3..]).await;
}

#[tokio::test]
async fn an_abort_is_finished_whoever_dies() {
    check(Deed::Abort, ELSEWHERE, &STEPS).await;
    check(Deed::Abort, PUSHES, &STEPS[3..]).await;
}

#[tokio::test]
async fn an_undo_is_finished_whoever_dies() {
    check(Deed::Undo, COMMITS, &STEPS).await;
    check(Deed::Undo, FAR, &STEPS[3..]).await;
}

#[tokio::test]
async fn a_preview_says_what_happens_and_changes_nothing() {
    for (person, sets) in [(ALONE, true), (COMMITS, false)] {
        let story = Story::tell(person).await;
        let refs = seen::refs(&story.scratch.repo);
        let seen_first = story.fixture.preview(&Deed::Rollback.command()).await.expect("a preview");
        assert_eq!(seen::refs(&story.scratch.repo), refs, "a look changes no ref");
        story.is_as_before("after a look");
        let plan = seen_first.plan.expect("it moves git");
        let how = plan.trunk.expect("trunk moves").how;
        assert_eq!(matches!(how, TrunkHow::Set { .. }), sets, "{how:?}");
        assert!(seen_first.says.tasks.iter().any(|line| line.contains("1.2")), "{:?}", seen_first.says);
        let stays = seen_first.says.foreign.iter().filter(|line| line.starts_with("stays")).count();
        assert_eq!(stays, usize::from(!sets), "{:?}", seen_first.says);
        // What was seen is what is done; something else would be refused.
        let expect = seen_first.expect.clone();
        let to = Some("mine".to_owned());
        let command = |expect| Command::Rollback { to: to.clone(), force: Force::default(), expect };
        let wrong =
            story.fixture.operate(command(Some("0".repeat(64)))).await.expect_err("not what was seen");
        assert!(wrong.contains("changed since the preview"), "{wrong}");
        story.is_as_before("after a refusal");
        story.fixture.operate(command(expect)).await.expect("as it was seen");
        story.is_taken_back(Deed::Rollback, "as previewed");
    }
}

#[tokio::test]
async fn a_local_change_in_the_way_is_refused_with_the_way_out_which_then_works() {
    let story = Story::tell(ALONE).await;
    story.scratch.write("b.txt", "b, mine, not committed\n");
    let files = seen::files(&story.scratch.repo);
    let why = story.fixture.operate(Deed::Rollback.command()).await.expect_err("it is in the way");
    assert!(why.contains("b.txt") && why.contains("--save-local"), "{why}");
    assert_eq!((seen::files(&story.scratch.repo), story.scratch.oid("main")), (files, story.now.clone()));
    let force = Force { save_local: true, ..Force::default() };
    let command = Command::Rollback { to: Some("mine".into()), force, expect: None };
    story.fixture.operate(command).await.expect("put aside");
    assert_eq!(story.scratch.read("b.txt"), "b one\n");
    let kept = story.scratch.git(["for-each-ref", "--format=%(refname)", "refs/swarm/local"]);
    let mine = story.scratch.git(["show", &format!("{}:b.txt", kept.lines().next().expect("a ref"))]);
    assert_eq!(mine, "b, mine, not committed");
}

#[tokio::test]
async fn automatic_checkpoints_are_made_and_the_files_say_what_people_know() {
    let story = Story::tell(ALONE).await;
    let state = story.fixture.state();
    let names: Vec<&str> = state.ops.checkpoints.keys().map(String::as_str).collect();
    assert_eq!(names, ["before-merge-1.1", "before-merge-1.2", "mine", "session-start", "session-start-2"]);
    let file = story.fixture.paths.swarm.join("checkpoints/mine.json");
    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(file).expect("a file")).unwrap();
    assert_eq!((&value["type"], &value["trigger"]), (&"manual".into(), &"person".into()));
    assert_eq!(value["taskStates"]["1.1"], "done");
    assert!(value["dirty"]["1.3"].is_string() && value["stateSnapshot"].is_object(), "{value}");
    let before = &state.ops.checkpoints["before-merge-1.2"];
    assert!(!before.full && before.auto);
    let held = story.scratch.oid("refs/swarm/checkpoints/before-merge-1.2/trunk");
    assert_eq!(Some(held), before.trunk);
    assert_eq!(story.scratch.git(["tag"]), "swarm-checkpoint-mine");
    let command = Command::DeleteCheckpoint { name: "mine".into() };
    story.fixture.operate(command).await.expect("it can go");
    assert!(story.fixture.state().ops.checkpoints["mine"].deleted.is_some(), "kept for an undo");
    story.fixture.operate(Deed::Undo.command()).await.expect("it comes back");
    assert!(story.fixture.state().ops.checkpoints["mine"].deleted.is_none());
}
