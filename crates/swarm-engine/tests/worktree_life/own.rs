//! An agent's git is a repository of its own: honest work arrives, nothing else does.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use super::Field;
use crate::git_scratch::{commit_all, git_in, task, try_git_in, write};
use swarm_git::{Limits, OwnRepository, Taken};
use swarm_work::hand_in::{HandedIn, hand_in};
use swarm_work::remove::{Removal, TrashRule, Trashed, tend_trash, trashed};
use swarm_work::worktree::Prepared;

pub(super) const FILE_MAX: u64 = 1 << 20;

/// A worktree that is lent to its agent.
pub(super) struct Lent {
    pub field: Field,
    pub made: Prepared,
    pub own: OwnRepository,
    before: String,
}

impl Lent {
    pub async fn new() -> Self {
        let field = Field::new().await;
        let made = field.prepare("t1").await;
        let own = OwnRepository::of(&made.path, &task("t1"));
        let lent = Self { before: String::new(), own, made, field };
        lent.open().await;
        lent
    }

    pub async fn open(&self) {
        let tip = self.field.scratch.oid("swarm/t1");
        let aside = |path: &Path| std::fs::remove_dir_all(path).map_err(|_| panic!("{}", path.display()));
        self.own.open(&self.field.git, &self.made.record, &tip, aside).await.expect("opened");
        self.own.point_here().expect("pointed");
    }

    /// As the agent.
    pub fn sh(&self, text: &str) {
        let out = std::process::Command::new("sh").args(["-ec", text]).current_dir(&self.made.path).output();
        let out = out.expect("sh runs");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{text}: {said}");
        assert!(!said.contains("denied") && !said.contains("error"), "{text}: {said}");
    }

    pub async fn hand_in(&self) -> HandedIn {
        let handed = hand_in(&self.field.git, &task("t1"), &self.made.path, FILE_MAX).await;
        let handed = handed.expect("git works");
        self.field.scratch.git(["fsck", "--strict"]);
        assert!(!self.own.is_pointed_at());
        assert!(!self.field.git.swarm_dir().join("taking/t1").exists());
        handed
    }

    async fn refused(&self, why: &str) {
        match self.hand_in().await {
            HandedIn::Refused { why: said } => assert!(said.contains(why), "{said}"),
            other => panic!("{other:?} instead of: {why}"),
        }
        let kept =
            ["for-each-ref", "--format=%(objectname) %(objecttype)\t%(refname)", "refs/heads", "refs/tags"];
        assert_eq!(self.field.scratch.git(kept), self.before);
    }

    pub fn dir(&self) -> String {
        self.own.dir.display().to_string()
    }
}

#[tokio::test]
async fn stash_branches_tags_configuration_and_commits_work_and_arrive() {
    let lent = Lent::new().await;
    lent.sh("echo one > a.txt; git stash; git stash pop; git tag v1; git branch side; git config user.email me@x.y");
    lent.sh(
        "git add -A; git commit -qm one; echo two > new.txt; git add -A; git commit -qm two; git log main -1",
    );
    lent.sh("git commit -q --amend -m better");
    let HandedIn::Moved { tip } = lent.hand_in().await else { panic!("nothing arrived") };
    assert_eq!(lent.field.scratch.oid("swarm/t1"), tip);
    assert_eq!(
        lent.field.scratch.git(["log", "--format=%s %ae", "-2", "swarm/t1"]),
        "better me@x.y\none me@x.y"
    );
    // For a person it is an ordinary worktree, and clean.
    assert_eq!(git_in(&lent.made.path, ["status", "--short"]), "");
    assert_eq!(
        git_in(&lent.made.path, ["rev-parse", "--git-common-dir"]),
        lent.field.git.common_dir.display().to_string()
    );
    assert!(!try_git_in(&lent.made.path, ["rev-parse", "--verify", "side"]).status.success());
    assert_eq!(lent.hand_in().await, HandedIn::Nothing);
    // What is half done there is there again the next time.
    lent.open().await;
    lent.sh("git rev-parse side v1; echo three > three.txt; git stash -u; test ! -e three.txt");
    assert_eq!(lent.hand_in().await, HandedIn::Nothing);
    lent.open().await;
    lent.sh("git stash pop; git switch -qc elsewhere; git add -A; git commit -qm three");
    let HandedIn::Moved { tip } = lent.hand_in().await else { panic!("work on another branch is work") };
    assert_eq!(lent.field.scratch.oid("swarm/t1"), tip);
    lent.open().await;
    lent.sh(
        "test $(git branch --show-current) = swarm/t1; test -z \"$(git status --short)\"; git rebase -q main",
    );
}

/// The key of a person who signs is hidden from agents.
#[tokio::test]
async fn whoever_signs_has_agents_that_commit_without() {
    let lent = Lent::new().await;
    lent.hand_in().await;
    lent.field.scratch.git(["config", "commit.gpgsign", "true"]);
    lent.field.scratch.git(["config", "tag.gpgsign", "true"]);
    std::fs::remove_dir_all(&lent.own.dir).expect("made anew with these settings");
    lent.open().await;
    lent.sh("echo one > a.txt; git commit -qam one; git tag -m v1 v1");
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
}

#[tokio::test]
async fn an_agents_repository_with_what_only_it_can_have_is_worth_keeping() {
    let lent = Lent::new().await;
    lent.sh("echo one > a.txt; git commit -qam one");
    lent.hand_in().await;
    assert!(!lent.own.holds_more(&lent.field.git), "all of it was handed in");
    for folder in ["modules", "lfs"] {
        std::fs::create_dir(lent.own.dir.join(folder)).expect("as git makes it");
        assert!(lent.own.holds_more(&lent.field.git), "{folder}");
        std::fs::remove_dir(lent.own.dir.join(folder)).expect("gone again");
    }
}

#[tokio::test]
async fn what_the_swarm_moves_is_where_the_agent_goes_on() {
    let lent = Lent::new().await;
    lent.hand_in().await;
    write(&lent.made.path, "rest.txt", b"rest\n");
    let ours = commit_all(&lent.made.path, "swarm: rest");
    lent.field.scratch.write("a.txt", "trunk goes on\n");
    let trunk = lent.field.scratch.commit_all("trunk goes on");
    lent.open().await;
    lent.sh(&format!("test $(git rev-parse HEAD) = {ours}; test -z \"$(git status --short)\""));
    lent.sh(&format!("test $(git rev-parse main) = {trunk}; git merge -q --no-edit main"));
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
}

#[tokio::test]
async fn killed_anywhere_the_next_one_ends_it() {
    let lent = Lent::new().await;
    let taking = lent.field.git.swarm_dir().join("taking/t1/objects/00");
    std::fs::create_dir_all(&taking).expect("a leftover");
    std::fs::write(taking.join("11112222333344445555666677778888999900"), "torn").expect("a leftover");
    lent.sh("echo one > a.txt; git commit -qam one");
    let HandedIn::Moved { tip } = lent.hand_in().await else { panic!("nothing arrived") };
    // After the ref, before the note: nothing is lost, nothing moves.
    lent.own.agree(&lent.field.git, &lent.made.base).expect("noted");
    lent.own.point_here().expect("pointed");
    assert_eq!(lent.hand_in().await, HandedIn::Nothing);
    assert_eq!(lent.own.agreed_tip(&lent.field.git), Some(tip.clone()));
    // Between two attempts the worktree is found with the agent's repository, and commits in it.
    lent.open().await;
    lent.sh("echo two > a.txt; git commit -qam two");
    let again = lent.field.prepare("t1").await;
    assert_eq!(again.flaws, []);
    assert_eq!(lent.field.scratch.git(["log", "--format=%s", "-2", "swarm/t1"]), "two\none");
    assert_eq!(git_in(&lent.made.path, ["status", "--short"]), "");
    assert!(!lent.own.is_pointed_at());
}

#[tokio::test]
async fn what_an_agent_makes_of_its_repository_stays_there() {
    for (text, why) in [
        ("git symbolic-ref refs/heads/swarm/t1 refs/heads/main", "no plain commit"),
        ("rm DIR/refs/heads/swarm/t1; ln -s MAIN/refs/heads/main DIR/refs/heads/swarm/t1", "no plain commit"),
        ("rm DIR/refs/heads/swarm/t1; mkfifo DIR/refs/heads/swarm/t1", "no plain commit"),
        ("head -c 99999 /dev/zero > DIR/refs/heads/swarm/t1", "no plain commit"),
        (
            "git checkout -q --orphan other; git commit -qm orphan; git branch -f swarm/t1",
            "do not stand on its base",
        ),
        (
            "echo x > f; mkdir sub; git -C sub init -q; git -C sub -c user.name=S -c user.email=s@example.org commit -q --allow-empty -m s; git add sub; git commit -qm sub",
            "repository of its own",
        ),
        ("truncate -s 3000000 huge; git add huge; git commit -qm huge", "huge has 2 MB"),
        // Git puts a very large file into a pack at once; here what is very large is small.
        (
            "truncate -s 3000000 huge; git -c core.bigFileThreshold=1m add huge; git commit -qm huge",
            "huge has 2 MB",
        ),
        ("touch \"$(printf 'a\\033[2Jb')\"; git add -A; git commit -qm name", "control characters"),
        (
            "t=$(printf '100644 .git\\0' | cat - DIR/z20 | git hash-object -t tree --literally -w --stdin); COMMIT",
            "git's own checks",
        ),
        (
            "b=$(git hash-object -w a.txt); t=$(printf '0100644 a\\0' | cat - DIR/z20 | git hash-object -t tree --literally -w --stdin); COMMIT",
            "git's own checks",
        ),
        (
            "t=$(git rev-parse HEAD^{tree}); c=$(printf \"tree $t\\nparent $(git rev-parse HEAD)\\nauthor a <a@b> 99999999999999999999 +0000\\ncommitter a <a@b> 1 +0000\\n\\nx\\n\" | git hash-object -t commit --literally -w --stdin); git update-ref refs/heads/swarm/t1 $c",
            "git's own checks",
        ),
        (
            "echo x > a.txt; git commit -qam x; o=$(git rev-parse HEAD:a.txt); f=DIR/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod 644 $f; cp DIR/forged $f",
            "not",
        ),
        ("echo x > a.txt; git commit -qam x; rm -rf DIR/objects/??", "cannot be read"),
    ] {
        let mut lent = Lent::new().await;
        lent.before = lent.field.scratch.git([
            "for-each-ref",
            "--format=%(objectname) %(objecttype)\t%(refname)",
            "refs/heads",
            "refs/tags",
        ]);
        let other = git_in(&lent.field.scratch.repo, ["hash-object", "-w", "b.txt"]);
        let name: Vec<u8> =
            (0..20).map(|n| u8::from_str_radix(&other[2 * n..2 * n + 2], 16).expect("hex")).collect();
        std::fs::write(lent.own.dir.join("z20"), name).expect("written");
        let loose = lent.field.git.common_dir.join("objects").join(&other[..2]).join(&other[2..]);
        if loose.is_file() {
            std::fs::copy(loose, lent.own.dir.join("forged")).expect("copied");
        }
        let commit = "c=$(git commit-tree -p HEAD -m x $t); git update-ref refs/heads/swarm/t1 $c";
        let text = text.replace("COMMIT", commit).replace("DIR", &lent.dir());
        let text = text.replace("MAIN", &lent.field.git.common_dir.display().to_string());
        lent.sh(&text);
        lent.refused(why).await;
        // It can work on, from where the branch is.
        lent.open().await;
        lent.sh("test $(git branch --show-current) = swarm/t1; git log -1");
    }
}

/// Ten names in each of three levels: small enough to be made here, with a bound to match.
#[tokio::test]
async fn a_commit_that_unfolds_to_more_files_than_can_be_listed_is_refused() {
    let lent = Lent::new().await;
    lent.sh("o=$(git hash-object -w a.txt); kind='100644 blob'; \
         for level in 1 2 3; do \
           o=$(for n in 0 1 2 3 4 5 6 7 8 9; do printf '%s %s\\t%s\\n' \"$kind\" $o $n; done | git mktree); \
           kind='040000 tree'; \
         done; git update-ref refs/heads/swarm/t1 $(git commit-tree -p HEAD -m x $o)");
    let tip = lent.own.heads().and_then(|heads| heads.branch).expect("a commit");
    let base = &lent.made.base;
    for (listed_bytes, refused) in [(100_000, true), (110_000, false)] {
        let limits = Limits { listed_bytes, ..Limits::of_files(FILE_MAX) };
        match lent.own.take(&lent.field.git, &[&tip], &[base], limits).await.expect("git works") {
            Taken::Refused { why } => assert!(refused && why.contains("1000 files"), "{why}"),
            Taken::Yes => assert!(!refused, "{listed_bytes}"),
        }
    }
}

#[tokio::test]
async fn links_pipes_and_lists_of_other_repositories_reach_nobody() {
    let lent = Lent::new().await;
    lent.sh("echo one > a.txt; git commit -qam one");
    let alternates = lent.own.dir.join("objects/info/alternates");
    std::fs::remove_file(&alternates).expect("removed");
    lent.sh(&format!("mkfifo {}; mkfifo {}/shallow", alternates.display(), lent.dir()));
    symlink("/etc/passwd", lent.own.dir.join("packed-refs.new")).expect("linked");
    std::fs::write(lent.own.dir.join("config"), "[core]\n\tfsmonitor = touch ran\n").expect("written");
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
    git_in(&lent.made.path, ["status"]);
    assert!(!lent.made.path.join("ran").exists());
    // A HEAD that is a link or a pipe says nothing; the branch does.
    std::fs::remove_file(lent.own.dir.join("HEAD")).expect("removed");
    lent.sh(&format!("mkfifo {}/HEAD", lent.dir()));
    assert_eq!(lent.hand_in().await, HandedIn::Nothing);
}

#[tokio::test]
async fn a_packed_repository_is_taken_too_and_goes_with_its_worktree() {
    let lent = Lent::new().await;
    lent.sh("for n in 1 2 3; do echo $n > f$n; git add -A; git commit -qm $n; done; git gc -q; git pack-refs --all");
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
    assert_eq!(lent.field.scratch.git(["log", "--format=%s", "-3", "swarm/t1"]), "3\n2\n1");
    lent.field.give_up("t1").await;
    assert!(!lent.own.dir.exists());
}

fn names(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// What an agent made for itself and never handed in is on refs of the person's repository once its worktree is gone.
#[tokio::test]
async fn branches_tags_and_stashes_that_were_never_handed_in_outlive_the_worktree() {
    let lent = Lent::new().await;
    lent.sh("echo one > a.txt; git commit -qam one; git branch at-one");
    lent.sh(
        "git switch -qc side; echo side > side.txt; git add -A; git commit -qm side; git switch -q swarm/t1",
    );
    lent.sh("git switch -qc other; echo t > t.txt; git add -A; git commit -qm tagged; git tag -am v1 v1");
    lent.sh("git switch -q swarm/t1; git branch -qD other");
    lent.sh("echo first > a.txt; git stash -qm first; echo second > new.txt; git stash -qum second");
    let HandedIn::Moved { tip } = lent.hand_in().await else { panic!("nothing arrived") };
    // A branch of the person's, gone since the agent saw it, is no work of the agent's.
    lent.field.scratch.git(["branch", "persons", "main"]);
    lent.open().await;
    lent.field.scratch.git(["branch", "-D", "persons"]);
    assert_eq!(lent.hand_in().await, HandedIn::Nothing);
    assert_eq!(lent.field.give_up("t1").await, Removal::Removed);
    let scratch = &lent.field.scratch;
    let rescued = scratch.git(["for-each-ref", "--format=%(contents:subject)", "refs/swarm/rescue/t1"]);
    let mut rescued = names(&rescued);
    rescued.sort();
    assert_eq!(rescued, ["On swarm/t1: first", "On swarm/t1: second", "side", "tagged"]);
    assert_eq!(scratch.git(["rev-parse", &format!("refs/swarm/kept/t1/{}", tip.short())]), tip.as_str());
    let of = |subject: &str| {
        let all =
            scratch.git(["for-each-ref", "--format=%(refname) %(contents:subject)", "refs/swarm/rescue"]);
        let line = all.lines().find(|line| line.ends_with(subject)).map(str::to_owned);
        line.and_then(|line| line.split(' ').next().map(str::to_owned)).expect(subject)
    };
    assert_eq!(scratch.git(["show", &format!("{}:side.txt", of("side"))]), "side");
    assert_eq!(scratch.git(["show", &format!("{}:a.txt", of("first"))]), "first");
    assert_eq!(scratch.git(["show", &format!("{}^3:new.txt", of("second"))]), "second");
    scratch.git(["fsck", "--strict"]);
    // Asked again there is nothing left to do.
    assert_eq!(lent.field.give_up("t1").await, Removal::Removed);
}

#[tokio::test]
async fn a_person_is_told_of_what_was_never_handed_in_only_where_it_has_files_of_its_own() {
    for (made, told) in [("git branch old", false), ("git switch -qc side; echo s > s.txt; git add -A", true)]
    {
        let lent = Lent::new().await;
        lent.sh("echo one > a.txt; git commit -qam one");
        lent.sh(&format!("{made}; git commit -q --amend -m better; git switch -q swarm/t1"));
        assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
        assert_eq!(lent.field.give_up("t1").await, Removal::Removed);
        let rescued = lent.field.scratch.git(["for-each-ref", "refs/swarm/rescue/t1"]);
        assert!(!rescued.is_empty(), "{made}: it is kept in any case");
        let mut notices = lent.field.git.take_notices().into_iter();
        assert_eq!(notices.any(|notice| notice.text.contains("never handed in")), told, "{made}");
    }
}

#[tokio::test]
async fn what_cannot_be_taken_stays_in_the_trash_for_good_and_costs_none_of_the_rest() {
    let lent = Lent::new().await;
    lent.sh("echo one > a.txt; git commit -qam one");
    lent.sh("git switch -qc huge; truncate -s 3000000 huge; git add huge; git commit -qm huge");
    lent.sh("git switch -q swarm/t1; git switch -qc side; echo s > s.txt; git add -A; git commit -qm side");
    lent.sh("git switch -q swarm/t1");
    assert!(matches!(lent.hand_in().await, HandedIn::Moved { .. }));
    assert_eq!(lent.field.give_up("t1").await, Removal::Removed);
    let scratch = &lent.field.scratch;
    let rescued = scratch.git(["for-each-ref", "--format=%(contents:subject)", "refs/swarm/rescue/t1"]);
    assert_eq!(names(&rescued), ["side"]);
    let everything = TrashRule { older_than: Duration::ZERO, entries_max: 0, bytes_max: 0 };
    tend_trash(&lent.field.git, &scratch.worktrees(), &everything).await;
    let left = trashed(&lent.field.git, &scratch.worktrees());
    let [repository] = &left[..] else { panic!("{left:?}") };
    assert!(repository.about.as_ref().is_some_and(|about| about.keep), "{repository:?}");
    let git = |args: &[&str]| {
        std::process::Command::new("git").arg("--git-dir").arg(&repository.path).args(args).output()
    };
    let said = git(&["log", "-1", "--format=%s", "huge"]).expect("git runs");
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), "huge");
}

#[tokio::test]
async fn a_repository_that_names_more_than_is_looked_at_stays_in_the_trash_for_good() {
    let lent = Lent::new().await;
    lent.sh("git branch side; mkdir -p \"$(git rev-parse --git-dir)/logs/refs\"");
    lent.sh("head -c 2000000 /dev/zero > \"$(git rev-parse --git-dir)/logs/refs/stash\"");
    assert_eq!(lent.hand_in().await, HandedIn::Nothing);
    assert_eq!(lent.field.give_up("t1").await, Removal::Removed);
    let left = trashed(&lent.field.git, &lent.field.scratch.worktrees());
    let kept = |one: &&Trashed| one.about.as_ref().is_some_and(|about| about.keep);
    assert_eq!(left.iter().filter(kept).count(), 1, "{left:?}");
}
