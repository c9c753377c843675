//! Publish × state of the checkout × kill -9 at each step, of us and of the git we run.
//!
//! A publisher (this test program, started again) is killed at its n-th changing system call, or one of its
//! git processes is, with or without the publisher. Then the call is repeated and everything must be as if
//! nobody had died. `SWARM_KILL_POINTS=all` takes every point; by default they are spread.

use crate::git_kill_points;
use crate::publish_situations;

use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use git_kill_points::{Point, someone_was_killed, spread, write_shim};
use publish_situations::Situation::{self, *};
use publish_situations::Story;
use swarm_git::Git;
use swarm_protocol::ids::Oid;
use swarm_work::publish::{Intent, Publication, publish};

/// System calls after which something is different. No writes: the publisher's own are
/// followed by a sync or a rename, while its runtime writes to wake itself, a varying number of times.
const CHANGING: &str = "link,linkat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,symlink,symlinkat,\
    copy_file_range,sendfile,ftruncate,utimensat,fsync,flock,clone,clone3,vfork";
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The publisher; a git it runs at that moment goes on alone.
    Publisher,
    /// A git process, by its command, and the publisher with it.
    GitAndPublisher(&'static str),
    /// Only the git process: the publisher lives and must cope.
    Git(&'static str),
}

/// Started by the tests below under another environment; on its own it does nothing.
#[test]
fn publisher() {
    let Some(repo) = std::env::var_os("PUBLISH_REPO") else { return };
    let oid = |name| Oid::new(std::env::var(name).expect("set with PUBLISH_REPO")).expect("an object name");
    let intent = Intent { trunk: "main".into(), old: oid("PUBLISH_OLD"), new: oid("PUBLISH_NEW") };
    // The test runs on a thread of its own: tell which one, and wait until strace watches it.
    if std::env::var_os("PUBLISH_WAITS").is_some() {
        println!("\nthread {}", rustix::thread::gettid().as_raw_nonzero());
        std::io::stdin().read_line(&mut String::new()).expect("a line comes");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let outcome = runtime.block_on(async {
        let git = Git::discover(Path::new(&repo)).await?;
        publish(&git, &intent).await
    });
    println!("outcome: {outcome:?}");
}

/// Runs it to its end or death. Answers with what it said, and strace's log.
fn run_publisher(story: &Story, victim: Victim, at: Option<&Point>) -> (String, PathBuf) {
    let log = story.scratch.dir.path().join("strace.log");
    let mut command = Command::new(std::env::current_exe().expect("a test program has a path"));
    command.args(["--exact", "publish_matrix::publisher", "--test-threads=1", "--nocapture"]);
    command.env("PUBLISH_REPO", &story.scratch.repo);
    command.env("PUBLISH_OLD", story.intent.old.as_str()).env("PUBLISH_NEW", story.intent.new.as_str());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    if let Victim::GitAndPublisher(name) | Victim::Git(name) = victim {
        let shims = story.scratch.dir.path().join("shims");
        write_shim(&shims, name, &log, at, matches!(victim, Victim::GitAndPublisher(_)));
        let path = std::env::var("PATH").expect("tests have a PATH");
        command.env("PATH", format!("{}:{path}", shims.display()));
    } else {
        command.env("PUBLISH_WAITS", "1");
    }
    let mut publisher = command.spawn().expect("the test program starts again");
    let mut output = std::io::BufReader::new(publisher.stdout.take().expect("a pipe"));
    let strace = (victim == Victim::Publisher).then(|| {
        let strace = watch_thread(&mut output, &log, at);
        publisher.stdin.take().expect("a pipe").write_all(b"go\n").expect("it waits for this");
        strace
    });
    let mut said = String::new();
    output.read_to_string(&mut said).expect("text");
    publisher.wait().expect("it is our child");
    if let Some(mut strace) = strace {
        strace.wait().expect("it is our child");
    }
    (said, log)
}

/// Attaches strace to the one thread that publishes; the git processes it starts are not followed.
fn watch_thread(output: &mut impl BufRead, log: &Path, at: Option<&Point>) -> Child {
    let thread = loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).expect("text"), 0, "the publisher ended without a word");
        if let Some(thread) = line.trim().strip_prefix("thread ") {
            break thread.to_owned();
        }
    };
    let mut command = Command::new("strace");
    command.args(["-qq", "-e", &format!("trace={CHANGING}"), "-p", &thread, "-o"]).arg(log);
    if let Some(Point { call, nth }) = at {
        command.args(["-e", &format!("inject={call}:signal=SIGKILL:when={nth}")]);
    }
    let strace = command.spawn();
    let mut strace = strace.unwrap_or_else(|error| {
        panic!("strace cannot be started ({error}): install it with `apt-get install strace`")
    });
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let status = std::fs::read_to_string(format!("/proc/{thread}/status")).expect("the thread waits");
        if !status.contains("TracerPid:\t0\n") {
            return strace;
        }
        let ended = strace.try_wait().expect("it is our child");
        assert!(
            ended.is_none() && Instant::now() < until,
            "strace may not trace on this machine: allow ptrace"
        );
        std::thread::yield_now();
    }
}

/// The points there are, from a run in which nobody is killed.
fn points(situation: Situation, victim: Victim) -> Vec<Point> {
    let story = Story::begin(situation);
    let (said, log) = run_publisher(&story, victim, None);
    assert!(said.contains("outcome: Ok"), "{situation:?}: {said}");
    let traced = std::fs::read_to_string(&log).unwrap_or_default();
    assert!(
        traced.contains('('),
        "{situation:?}: strace saw nothing: this machine does not let it trace; allow ptrace"
    );
    Point::all_in(&traced)
}

/// False when the point was not reached this time: the number of some calls varies a little.
async fn kill_at(situation: Situation, victim: Victim, point: &Point) -> bool {
    let told = format!("{situation:?}, {victim:?} killed at {point:?}");
    let story = Story::begin(situation);
    let (_, log) = run_publisher(&story, victim, Some(point));
    let traced = std::fs::read_to_string(&log).unwrap_or_default();
    let killed = someone_was_killed(&traced);
    story.publish_and_check(&told).await;
    killed
}

async fn check(situation: Situation, victims: &[Victim], points_each: usize) {
    let (mut killed, mut tried) = (0, 0);
    for victim in victims {
        let points = points(situation, *victim);
        for point in spread(&points, points_each, tried) {
            killed += usize::from(kill_at(situation, *victim, point).await);
            tried += 1;
        }
    }
    println!("{situation:?}: {killed} deaths survived");
    assert!(
        tried >= victims.len() && killed * 10 >= tried * 8,
        "{situation:?}: of {tried} only {killed} were killed"
    );
}

const IN_CHECKOUT: [Victim; 5] = [
    Victim::Publisher,
    Victim::GitAndPublisher("read-tree"),
    Victim::Git("read-tree"),
    Victim::GitAndPublisher("update-ref"),
    Victim::Git("update-ref"),
];

macro_rules! matrix {
    ($($name:ident: $situation:expr, $victims:expr, $points:expr;)*) => {
        $(#[tokio::test] async fn $name() { check($situation, $victims, $points).await; })*
    };
}

matrix! {
    killed_with_the_trunk_checked_out_nowhere: Nowhere, &[Victim::Publisher, Victim::GitAndPublisher("update-ref"), Victim::Git("update-ref")], 3;
    killed_with_a_clean_checkout: Clean, &IN_CHECKOUT, 6;
    killed_with_changes_elsewhere: DirtyElsewhere, &IN_CHECKOUT, 3;
    killed_in_a_second_worktree: SecondWorktree, &IN_CHECKOUT, 3;
    killed_with_two_checkouts: TwoCheckouts, &IN_CHECKOUT, 3;
    killed_with_changes_in_the_same_file: DirtySame, &[Victim::Publisher], 4;
    killed_with_a_deletion_of_the_same_file: DeletedSame, &[Victim::Publisher], 3;
    killed_with_a_staged_change: Staged, &[Victim::Publisher], 3;
    killed_with_an_untracked_clash: UntrackedClash, &[Victim::Publisher], 3;
    killed_with_an_ignored_clash: IgnoredClash, &[Victim::Publisher], 3;
    killed_in_the_middle_of_a_merge: MidMerge, &[Victim::Publisher], 3;
    killed_in_the_middle_of_a_rebase: MidRebase, &[Victim::Publisher], 3;
    killed_in_the_middle_of_a_cherry_pick: MidCherryPick, &[Victim::Publisher], 2;
    killed_in_the_middle_of_a_bisect: Bisect, &[Victim::Publisher], 3;
    killed_with_a_live_index_lock: LiveIndexLock, &[Victim::Publisher], 2;
    killed_with_changes_in_one_of_two_checkouts: SecondOneDirty, &[Victim::Publisher], 4;
}

/// Kills git in the middle of writing files, lets a person do something, and hands over to `check`.
async fn after_a_half_written_checkout(then: impl AsyncFn(&Story, &str)) {
    let victim = Victim::GitAndPublisher("read-tree");
    let points = points(Clean, victim);
    for point in spread(&points, 6, 0) {
        let story = Story::begin(Clean);
        let (_, log) = run_publisher(&story, victim, Some(point));
        assert!(someone_was_killed(&std::fs::read_to_string(log).unwrap_or_default()), "{point:?}");
        then(&story, &format!("{point:?}")).await;
    }
}

#[tokio::test]
async fn what_a_person_writes_after_the_death_is_theirs() {
    after_a_half_written_checkout(async |story, told| {
        let git = story.git().await;
        story.scratch.write("a.txt", "written after the death\n");
        let outcome = publish(&git, &story.intent).await.unwrap();
        assert!(matches!(outcome, Publication::Waits(_)), "{told}: {outcome:?}");
        assert_eq!(story.scratch.read("a.txt"), "written after the death\n", "{told}");
        assert_eq!(
            story.scratch.git(["status", "--porcelain"]),
            " M a.txt",
            "{told}: the rest is as it was before"
        );
        story.scratch.git(["checkout", "--quiet", "a.txt"]);
        story.publish_and_check(told).await;
    })
    .await;
}

#[tokio::test]
async fn a_person_who_removes_our_lock_and_commits_finds_no_rubbish_of_ours() {
    after_a_half_written_checkout(async |story, told| {
        std::fs::remove_file(story.scratch.at(".git/index.lock")).unwrap();
        story.scratch.write("other.txt", "the person's\n");
        let now = {
            story.scratch.git(["commit", "--quiet", "-a", "-m", "the person's"]);
            story.scratch.oid("HEAD")
        };
        let outcome = publish(&story.git().await, &story.intent).await.unwrap();
        assert_eq!(outcome, Publication::TrunkMoved { now: Some(now) }, "{told}");
        assert_eq!(story.scratch.git(["status", "--porcelain"]), "", "{told}");
        story.check_nothing_left(told);
    })
    .await;
}

/// A checkout left half written by a death in the middle of git's writing.
fn half_written(point: &Point) -> Story {
    let story = Story::begin(DirtyElsewhere);
    run_publisher(&story, Victim::GitAndPublisher("read-tree"), Some(point));
    story
}

#[tokio::test]
async fn killed_again_while_settling_what_the_first_death_left() {
    let all = points(DirtyElsewhere, Victim::GitAndPublisher("read-tree"));
    let first = &all[all.len() * 2 / 3];
    for victim in
        [Victim::Publisher, Victim::GitAndPublisher("checkout-index"), Victim::Git("checkout-index")]
    {
        let story = half_written(first);
        let (_, log) = run_publisher(&story, victim, None);
        let traced = std::fs::read_to_string(log).unwrap_or_default();
        let second = Point::all_in(&traced);
        assert!(!second.is_empty(), "{victim:?}: nothing was settled after {first:?}");
        for point in spread(&second, 4, 1) {
            let story = half_written(first);
            run_publisher(&story, victim, Some(point));
            story.publish_and_check(&format!("{first:?}, then {victim:?} at {point:?}")).await;
        }
    }
}
