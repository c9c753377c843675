//! C9: trunk moved back, with a person's commits before, between and after, with local changes, pushed or not,
//! checked out or not. The person's files and commits must be there afterwards, byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use swarm_git::Git;
use swarm_protocol::ids::{CommandId, Oid};
use swarm_protocol::operation::{Moved, Plan, Says, Survey, SurveyAsk, TrunkHow, TrunkMove};
use swarm_protocol::time::Timestamp;
use swarm_work::operation::moving::{MoveOutcome, Places, carry_out};
use swarm_work::operation::survey::survey;

use crate::git_scratch::{Scratch, commit_all, git_in, write};
use crate::seen;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    None,
    Between,
    After,
}

#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub checked_out: bool,
    /// A remote has the swarm's first commit.
    pub pushed: bool,
    pub foreign: Foreign,
}

/// A trunk on which the swarm has made two commits since `then`, and a person perhaps some too; and a checkout
/// in which a person has staged, changed, untracked and ignored files of her own.
pub struct World {
    pub scratch: Scratch,
    pub then: Oid,
    pub now: Oid,
    /// The swarm's, newest first.
    pub ours: Vec<Oid>,
    /// The person's since then.
    pub theirs: Vec<Oid>,
    pub before: BTreeMap<PathBuf, (char, Vec<u8>)>,
    status: String,
}

/// What the swarm's commits change.
const OURS: [&str; 4] = ["a.txt", "b.txt", "swarm/new.txt", "swarm/more.txt"];

impl World {
    pub fn new(case: Case) -> Self {
        let scratch = Scratch::new();
        for (path, text) in [("person.txt", "1\n"), ("staged.txt", "1\n"), ("edited.txt", "1\n")] {
            scratch.write(path, text);
        }
        let then = scratch.commit_all("the person's, before");
        scratch.write("a.txt", "the swarm's\n");
        scratch.write("swarm/new.txt", "new\n");
        let first = scratch.commit_all("swarm one");
        if case.pushed {
            let remote = scratch.dir.path().join("remote.git");
            git_in(scratch.dir.path(), ["init", "--quiet", "--bare", "remote.git"]);
            scratch.git(["remote", "add", "origin", remote.to_str().unwrap()]);
            scratch.git(["push", "--quiet", "origin", "main"]);
        }
        let mut theirs = Vec::new();
        if case.foreign == Foreign::Between {
            scratch.write("person.txt", "between\n");
            theirs.push(scratch.commit_all("the person's, between"));
        }
        std::fs::remove_file(scratch.at("b.txt")).unwrap();
        scratch.write("swarm/more.txt", "more\n");
        let second = scratch.commit_all("swarm two");
        if case.foreign == Foreign::After {
            scratch.write("person.txt", "after\n");
            theirs.push(scratch.commit_all("the person's, after"));
        }
        if !case.checked_out {
            scratch.git(["switch", "--quiet", "-c", "elsewhere"]);
        }
        scratch.write("edited.txt", "edited, not staged\n");
        scratch.write("staged.txt", "staged\n");
        scratch.git(["add", "staged.txt"]);
        scratch.write("staged.txt", "staged, then edited\n");
        scratch.write("untracked.txt", "untracked\n");
        scratch.write("swarm/untracked beside.txt", "untracked\n");
        scratch.write("ignored/x", "ignored\n");
        let (before, status) = (seen::files(&scratch.repo), seen::status(&scratch.repo));
        let now = scratch.oid("main");
        Self { then, now, ours: vec![second, first], theirs, before, status, scratch }
    }

    pub async fn survey(&self, git: &Git) -> Survey {
        let ask =
            SurveyAsk { trunk: Some(self.then.clone()), revert: self.ours.clone(), ..SurveyAsk::default() };
        survey(git, "main", &self.scratch.worktrees(), &ask).await.expect("a survey")
    }

    /// As the rules decide: to the commit where all since is ours and nobody else has it; else reverts.
    pub fn how(&self, survey: &Survey) -> TrunkHow {
        let all_ours = survey.since.iter().all(|one| self.ours.contains(&one.oid) && !one.pushed);
        match all_ours {
            true => TrunkHow::Set { new: self.then.clone() },
            false => TrunkHow::Rebuild { revert: self.ours.clone(), pick: Vec::new() },
        }
    }

    pub fn plan(&self, how: TrunkHow) -> Plan {
        plan(Some(TrunkMove { branch: "main".into(), old: self.now.clone(), how }))
    }

    pub async fn carry_out(&self, git: &Git, plan: &Plan) -> MoveOutcome {
        carry_out_in(git, &self.scratch.worktrees(), plan).await
    }

    /// The person's own files and commits are all there; the swarm's work is not on trunk any more.
    fn check(&self, case: Case) {
        let scratch = &self.scratch;
        let persons = |files: &BTreeMap<PathBuf, (char, Vec<u8>)>| -> BTreeMap<PathBuf, (char, Vec<u8>)> {
            let ours = |path: &Path| OURS.iter().any(|ours| path == Path::new(ours));
            files.iter().filter(|(path, _)| !ours(path)).map(|(p, b)| (p.clone(), b.clone())).collect()
        };
        let after = seen::files(&scratch.repo);
        assert_eq!(persons(&after), persons(&self.before), "{case:?}");
        if case.checked_out {
            // Branch and status lines of what is the person's are as before: nothing else is changed or staged.
            let changed = |text: &str| text.split('\0').skip(1).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(changed(&seen::status(&scratch.repo)), changed(&self.status), "{case:?}");
        } else {
            assert_eq!(after, self.before, "{case:?}: a checkout that does not show trunk");
            assert_eq!(seen::status(&scratch.repo), self.status, "{case:?}");
        }
        for commit in &self.theirs {
            let kept = scratch.git(["merge-base", "main", commit.as_str()]);
            assert_eq!(kept, commit.as_str(), "{case:?}: the person's commit is on trunk");
        }
        let left = scratch.git(["diff", "--name-only", self.then.as_str(), "main"]);
        let expected = if self.theirs.is_empty() { "" } else { "person.txt" };
        assert_eq!(left, expected, "{case:?}: only the person's work is on trunk");
        let reachable = scratch.git(["rev-list", "--all"]);
        for commit in self.ours.iter().chain(&self.theirs) {
            assert!(reachable.contains(commit.as_str()), "{case:?}: {commit} would be cleaned away");
        }
    }
}

pub fn plan(trunk: Option<TrunkMove>) -> Plan {
    Plan {
        checkpoint: "before-rollback".into(),
        trunk,
        refs: Vec::new(),
        worktrees: Vec::new(),
        facts: Vec::new(),
        tasks: BTreeMap::new(),
        save_local: Vec::new(),
        local: None,
        says: Says::default(),
        at: Timestamp(1_700_000_000_000),
    }
}

pub async fn carry_out_in(git: &Git, worktrees: &Path, plan: &Plan) -> MoveOutcome {
    let places = Places { worktrees, disposable: &[], max_file_bytes: 1 << 20, regenerate: &[] };
    let op = CommandId::new("op:1.x").expect("an id");
    carry_out(git, &op, plan, &places).await.expect("no git command fails")
}

fn moved(outcome: MoveOutcome) -> Moved {
    match outcome {
        MoveOutcome::Moved(moved) => moved,
        other => panic!("{other:?}"),
    }
}

async fn check(case: Case) {
    let world = World::new(case);
    let git = world.scratch.open().await;
    let survey = world.survey(&git).await;
    assert_eq!(survey.now.as_ref(), Some(&world.now));
    assert_eq!(survey.checked_out, case.checked_out);
    assert_eq!(survey.since.len(), world.ours.len() + world.theirs.len(), "{case:?}");
    assert_eq!(survey.since.iter().filter(|one| one.pushed).count(), usize::from(case.pushed), "{case:?}");
    assert!(survey.local.is_empty() && survey.busy.is_none() && !survey.unrelated, "{survey:?}");
    let how = world.how(&survey);
    let set = matches!(how, TrunkHow::Set { .. });
    assert_eq!(set, !case.pushed && case.foreign == Foreign::None, "{case:?}");
    let plan = world.plan(how);
    let done = moved(world.carry_out(&git, &plan).await);
    assert_eq!(done.trunk, Some(world.scratch.oid("main")), "{case:?}");
    assert_eq!(done.made.len(), if set { 0 } else { 2 }, "{case:?}");
    world.check(case);
    let refs = seen::refs(&world.scratch.repo);
    assert_eq!(moved(world.carry_out(&git, &plan).await), done, "{case:?}: asked twice");
    assert_eq!(seen::refs(&world.scratch.repo), refs, "{case:?}: asked twice");
    world.check(case);
    world.scratch.git(["fsck", "--no-dangling", "--strict"]);
}

macro_rules! cases {
    ($($name:ident: $checked_out:expr, $pushed:expr, $foreign:ident;)*) => {
        $(#[tokio::test] async fn $name() {
            check(Case { checked_out: $checked_out, pushed: $pushed, foreign: Foreign::$foreign }).await;
        })*
    };
}

cases! {
    back_under_a_checkout: true, false, None;
    back_with_nobody_showing_it: false, false, None;
    reverted_under_a_checkout_because_a_remote_has_some: true, true, None;
    reverted_with_nobody_showing_it_because_a_remote_has_some: false, true, None;
    reverted_around_a_persons_commit_between: true, false, Between;
    reverted_around_a_persons_commit_between_and_pushed: true, true, Between;
    reverted_below_a_persons_commit_after: true, false, After;
    reverted_below_a_persons_commit_after_with_nobody_showing_it: false, true, After;
}

const PLAIN: Case = Case { checked_out: true, pushed: false, foreign: Foreign::None };

#[tokio::test]
async fn a_persons_commit_that_goes_too_when_she_says_so_stays_on_a_ref() {
    let world = World::new(Case { foreign: Foreign::After, ..PLAIN });
    let git = world.scratch.open().await;
    let plan = world.plan(TrunkHow::Set { new: world.then.clone() });
    moved(world.carry_out(&git, &plan).await);
    assert_eq!(world.scratch.oid("main"), world.then);
    world.scratch.git(["reflog", "expire", "--expire=now", "--all"]);
    world.scratch.git(["gc", "--quiet", "--prune=now"]);
    assert_eq!(world.scratch.git(["show", &format!("{}:person.txt", world.theirs[0])]), "after");
}

#[tokio::test]
async fn a_commit_made_after_the_plan_is_never_taken_away() {
    for how in ["set", "rebuild"] {
        let world = World::new(PLAIN);
        let git = world.scratch.open().await;
        let plan = world.plan(match how {
            "set" => TrunkHow::Set { new: world.then.clone() },
            _ => TrunkHow::Rebuild { revert: world.ours.clone(), pick: Vec::new() },
        });
        world.scratch.git(["commit", "--quiet", "-m", "made meanwhile"]);
        let late = world.scratch.oid("main");
        let files = seen::files(&world.scratch.repo);
        let outcome = world.carry_out(&git, &plan).await;
        let MoveOutcome::Refused { why, .. } = &outcome else { panic!("{outcome:?}") };
        assert!(why.contains("main is at"), "{why}");
        assert_eq!((world.scratch.oid("main"), seen::files(&world.scratch.repo)), (late, files), "{how}");
    }
}

#[tokio::test]
async fn a_commit_made_right_after_the_move_does_not_make_a_repeated_move_take_it_back() {
    let world = World::new(PLAIN);
    let git = world.scratch.open().await;
    let plan = world.plan(TrunkHow::Set { new: world.then.clone() });
    let done = moved(world.carry_out(&git, &plan).await);
    world.scratch.git(["commit", "--quiet", "-m", "made right after"]);
    let late = world.scratch.oid("main");
    assert_eq!(moved(world.carry_out(&git, &plan).await), done);
    assert_eq!(world.scratch.oid("main"), late);
}

#[tokio::test]
async fn a_local_change_in_the_way_is_named_and_nothing_moves() {
    let world = World::new(PLAIN);
    let git = world.scratch.open().await;
    world.scratch.write("a.txt", "mine\n");
    world.scratch.write("b.txt", "mine, where the swarm had deleted\n");
    let survey = world.survey(&git).await;
    assert_eq!(survey.local, ["a.txt", "b.txt"]);
    let before = (seen::files(&world.scratch.repo), seen::status(&world.scratch.repo));
    let outcome = world.carry_out(&git, &world.plan(world.how(&survey))).await;
    let MoveOutcome::Refused { why, hint } = &outcome else { panic!("{outcome:?}") };
    assert!(why.contains("a.txt is changed") && hint.contains("stash push"), "{why} / {hint}");
    assert_eq!((seen::files(&world.scratch.repo), seen::status(&world.scratch.repo)), before);
    assert_eq!(world.scratch.oid("main"), world.now);
}

#[tokio::test]
async fn a_checkout_of_trunk_whose_folder_is_gone_is_named_and_nothing_moves() {
    let world = World::new(Case { checked_out: false, ..PLAIN });
    let git = world.scratch.open().await;
    world.scratch.git(["worktree", "add", "--quiet", "../second", "main"]);
    let second = world.scratch.repo.with_file_name("second");
    std::fs::remove_dir_all(&second).unwrap();
    let survey = world.survey(&git).await;
    let said = format!("its folder {} is gone", second.display());
    assert_eq!(survey.busy, Some((said.clone(), "git worktree prune".into())));
    let outcome = world.carry_out(&git, &world.plan(world.how(&survey))).await;
    let MoveOutcome::Refused { why, hint } = &outcome else { panic!("{outcome:?}") };
    assert!(why.contains(&said) && hint == "git worktree prune", "{why} / {hint}");
    assert_eq!(world.scratch.oid("main"), world.now);
}

#[tokio::test]
async fn local_changes_are_put_aside_when_she_says_so_and_come_back_with_git_stash() {
    let world = World::new(PLAIN);
    let git = world.scratch.open().await;
    let scratch = &world.scratch;
    scratch.write("a.txt", "staged by me\n");
    scratch.git(["add", "a.txt"]);
    scratch.write("a.txt", "staged by me, then edited\n");
    std::fs::remove_file(scratch.at("swarm/new.txt")).unwrap();
    scratch.write("b.txt", "mine, not tracked\n");
    let mine = seen::files(&scratch.repo);
    let survey = world.survey(&git).await;
    // What she has removed and what goes anyway is no question.
    assert_eq!(survey.local, ["a.txt", "b.txt"]);
    let mut plan = world.plan(TrunkHow::Set { new: world.then.clone() });
    plan.save_local = survey.local.clone();
    let done = moved(world.carry_out(&git, &plan).await);
    let name = done.local.clone().expect("they are on a ref");
    assert_eq!(scratch.oid("main"), world.then);
    assert_eq!(scratch.read("a.txt"), "a one\na two\n");
    assert_eq!(scratch.read("edited.txt"), "edited, not staged\n", "what was not in the way is where it was");
    assert_eq!(moved(world.carry_out(&git, &plan).await), done, "asked twice");
    assert_eq!(scratch.git(["show", &format!("{name}:a.txt")]), "staged by me, then edited");
    assert_eq!(scratch.git(["show", &format!("{name}^2:a.txt")]), "staged by me");
    assert_eq!(scratch.git(["show", &format!("{name}:b.txt")]), "mine, not tracked");
    // All of it comes back onto the swarm's trunk, once that is there again.
    let forth = crate::trunk::plan(Some(TrunkMove {
        branch: "main".into(),
        old: world.then.clone(),
        how: TrunkHow::Set { new: world.now.clone() },
    }));
    moved(world.carry_out(&git, &forth).await);
    scratch.git(["stash", "push", "--quiet", "--", "edited.txt", "staged.txt"]);
    scratch.git(["stash", "apply", "--quiet", &name]);
    for path in ["a.txt", "b.txt"] {
        let now = seen::files(&scratch.repo);
        assert_eq!(now.get(Path::new(path)), mine.get(Path::new(path)), "{path}");
    }
}

#[tokio::test]
async fn a_local_change_that_the_preview_did_not_name_stops_it() {
    let world = World::new(PLAIN);
    let git = world.scratch.open().await;
    world.scratch.write("a.txt", "mine\n");
    let mut plan = world.plan(TrunkHow::Set { new: world.then.clone() });
    plan.save_local = world.survey(&git).await.local;
    world.scratch.write("swarm/new.txt", "changed after the preview\n");
    let files = seen::files(&world.scratch.repo);
    let outcome = world.carry_out(&git, &plan).await;
    let MoveOutcome::Refused { why, .. } = &outcome else { panic!("{outcome:?}") };
    assert!(why.contains("swarm/new.txt"), "{why}");
    assert_eq!(seen::files(&world.scratch.repo), files);
}

#[tokio::test]
async fn a_conflicting_revert_leaves_everything_untouched_and_names_the_paths() {
    let world = World::new(PLAIN);
    let git = world.scratch.open().await;
    write(&world.scratch.repo, "a.txt", b"the person's own wording\n");
    world.scratch.git(["commit", "--quiet", "-m", "mine", "a.txt"]);
    let now = world.scratch.oid("main");
    let before = (
        seen::files(&world.scratch.repo),
        seen::status(&world.scratch.repo),
        seen::refs(&world.scratch.repo),
    );
    let how = TrunkHow::Rebuild { revert: world.ours.clone(), pick: Vec::new() };
    let plan = plan(Some(TrunkMove { branch: "main".into(), old: now, how }));
    let outcome = world.carry_out(&git, &plan).await;
    let expected = MoveOutcome::Conflict { commit: world.ours[1].clone(), paths: vec!["a.txt".into()] };
    assert_eq!(outcome, expected);
    let after = (
        seen::files(&world.scratch.repo),
        seen::status(&world.scratch.repo),
        seen::refs(&world.scratch.repo),
    );
    assert_eq!(after, before);
}

#[tokio::test]
async fn what_was_taken_back_comes_again_on_top_of_a_persons_commit() {
    let world = World::new(PLAIN);
    let git = world.scratch.open().await;
    moved(world.carry_out(&git, &world.plan(TrunkHow::Set { new: world.then.clone() })).await);
    let aside = world.scratch.dir.path().join("second");
    git_in(&world.scratch.repo, ["worktree", "add", "--quiet", "--detach", aside.to_str().unwrap(), "main"]);
    write(&aside, "person.txt", b"since\n");
    let since = commit_all(&aside, "the person's, since");
    world.scratch.git(["merge", "--quiet", "--ff-only", since.as_str()]);
    let pick: Vec<Oid> = world.ours.iter().rev().cloned().collect();
    let how = TrunkHow::Rebuild { revert: Vec::new(), pick };
    let done =
        moved(world.carry_out(&git, &plan(Some(TrunkMove { branch: "main".into(), old: since, how }))).await);
    assert_eq!(done.made.len(), 2);
    let differs = world.scratch.git(["diff", "--name-only", world.now.as_str(), "main"]);
    assert_eq!(differs, "person.txt");
    assert_eq!(world.scratch.read("swarm/more.txt"), "more\n", "the checkout came along");
}
