//! W5: work that conflicts with trunk, built by rule or left to a person; trunk never has half of anything.

use crate::git_scratch;

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use git_scratch::{Scratch, task};
use swarm_git::Git;
use swarm_protocol::config::Strategy;
use swarm_protocol::conflict::Way;
use swarm_protocol::ids::Oid;
use swarm_work::build::{BuildOutcome, Squashed, Work, build_as, merged_ref};

const REGULAR: &str = "100644";
const PROGRAM: &str = "100755";
const SUBMODULE: &str = "160000";

/// A file as a side has it; without text it is gone.
#[derive(Clone)]
struct File {
    path: String,
    mode: &'static str,
    text: Option<String>,
}

fn file(path: &str, text: impl Into<String>) -> File {
    File { path: path.into(), mode: REGULAR, text: Some(text.into()) }
}

fn gone(path: &str) -> File {
    File { path: path.into(), mode: REGULAR, text: None }
}

/// What must come of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    Merged,
    ByRule(Way),
    Person,
}

struct Case {
    name: String,
    base: Vec<File>,
    trunk: Vec<File>,
    /// One commit each.
    tip: Vec<Vec<File>>,
    wanted: Wanted,
    /// What each side meant, wherever it is merged.
    intents: Vec<(String, String)>,
}

/// Commits of all cases, written in one go: three branches each.
fn import(scratch: &Scratch, cases: &[Case]) {
    let mut script = String::new();
    for (n, case) in cases.iter().enumerate() {
        let mut commit = |branch: &str, from: Option<&str>, files: &[File]| {
            let who = "committer Pat <pat@example.org> 1700000000 +0000";
            let _ = writeln!(script, "commit refs/heads/case/{n}/{branch}\n{who}\ndata 4\nwork");
            if let Some(from) = from {
                let _ = writeln!(script, "from refs/heads/case/{n}/{from}");
            }
            for File { path, mode, text } in files {
                let _ = match text {
                    None => writeln!(script, "D {path}"),
                    Some(oid) if *mode == SUBMODULE => writeln!(script, "M {mode} {oid} {path}"),
                    Some(text) => writeln!(script, "M {mode} inline {path}\ndata {}\n{text}", text.len()),
                };
            }
            script.push('\n');
        };
        commit("base", None, &case.base);
        commit("trunk", Some("base"), &case.trunk);
        for (at, files) in case.tip.iter().enumerate() {
            commit("tip", (at == 0).then_some("base"), files);
        }
    }
    let mut child = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(&scratch.repo)
        .stdin(Stdio::piped())
        .spawn()
        .expect("git is installed");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), script.as_bytes()).expect("it reads");
    assert!(child.wait().expect("it ends").success());
}

fn work(scratch: &Scratch, n: usize) -> Work {
    let oid = |branch: &str| scratch.oid(&format!("refs/heads/case/{n}/{branch}"));
    Work {
        task: task(&format!("c{n}")),
        agent: None,
        base: oid("base"),
        tip: oid("tip"),
        trunk: oid("trunk"),
        at_secs: 1_700_000_000,
        reviewed: false,
        regenerate: vec![],
    }
}

fn shown(scratch: &Scratch, commit: &Oid, path: &str) -> String {
    scratch.git(["show", &format!("{commit}:{path}")])
}

/// Builds the case and compares what came of it.
async fn check(scratch: &Scratch, git: &Git, n: usize, case: &Case) {
    let (name, work) = (&case.name, work(scratch, n));
    match build_as(git, &work, Strategy::Commits).await.expect("git works") {
        BuildOutcome::Built(built) => {
            match case.wanted {
                Wanted::Merged => assert_eq!(built.resolved, [], "{name}"),
                Wanted::ByRule(way) => {
                    assert!(built.resolved.iter().any(|one| one.way == way), "{name}: {:?}", built.resolved);
                }
                Wanted::Person => panic!("{name}: built as {:?}", built.resolved),
            }
            for (path, text) in &case.intents {
                let now = shown(scratch, &built.result, path);
                assert!(now.contains(text.as_str()), "{name}: {text:?} is not in {path}:\n{now}");
                assert!(!now.contains("<<<<<<<"), "{name}: half merged\n{now}");
            }
        }
        BuildOutcome::Conflict { paths } => {
            assert_eq!(case.wanted, Wanted::Person, "{name}: {paths:?}");
            assert!(!paths.is_empty(), "{name}");
            let kept = git.ref_value(&merged_ref(&work.task)).await.expect("git works");
            assert_eq!(kept, None, "{name}: nothing was built");
        }
        other => panic!("{name}: {other:?}"),
    }
}

/// A number for each place of a case, like no other's.
struct Seed(u64);

impl Seed {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn body(lines: u64) -> String {
    (0..lines).fold(String::new(), |text, n| text + &format!("let line_{n} = {n};\n"))
}

/// The text with its `n`-th line in other words.
fn changed(text: &str, n: u64, words: &str) -> String {
    let line = |(at, line): (usize, &str)| if at as u64 == n { words.to_owned() } else { line.to_owned() };
    text.lines().enumerate().map(line).fold(String::new(), |text, line| text + &line + "\n")
}

const KINDS: [&str; 12] = [
    "same line",
    "adjacent",
    "far apart",
    "rename/delete",
    "mode",
    "lock file",
    "binary",
    "submodule",
    "case only",
    "imports",
    "white space",
    "same lines",
];

fn case(kind: &str, seed: &mut Seed) -> Case {
    let text = body(10 + seed.next(20));
    let at = 2 + seed.next(4);
    let (ours, theirs) = (format!("let ours_{at} = 1;"), format!("let theirs_{at} = 2;"));
    let (base, path) = (vec![file("src/a.rs", &*text)], "src/a.rs");
    let intents = |path: &str, texts: &[&str]| texts.iter().map(|t| (path.into(), (*t).into())).collect();
    let new = |trunk, tip, wanted, intents| Case {
        name: format!("{kind} {at}"),
        base: base.clone(),
        trunk,
        tip: vec![tip],
        wanted,
        intents,
    };
    let one = |text: String| vec![file(path, text)];
    match kind {
        "same line" => {
            new(one(changed(&text, at, &ours)), one(changed(&text, at, &theirs)), Wanted::Person, vec![])
        }
        "adjacent" => {
            new(one(changed(&text, at, &ours)), one(changed(&text, at + 1, &theirs)), Wanted::Person, vec![])
        }
        "far apart" => new(
            one(changed(&text, 0, &ours)),
            one(changed(&text, at + 3, &theirs)),
            Wanted::Merged,
            intents(path, &[&ours, &theirs]),
        ),
        "rename/delete" => {
            let moved = vec![gone(path), file("src/b.rs", changed(&text, at, &theirs))];
            new(vec![gone(path)], moved, Wanted::Person, vec![])
        }
        // Rules would do for the lines, but not for who may run it.
        "mode" => {
            let trunk = one(format!("use a::A{at};\n{text}"));
            let tip = format!("use b::B{at};\n{text}");
            let tip = vec![File { path: path.into(), mode: PROGRAM, text: Some(tip) }];
            new(trunk, tip, Wanted::Person, vec![])
        }
        "lock file" => {
            let lock = |what: &str| vec![file("package-lock.json", format!("{{\n  \"{what}\": \"1\"\n}}\n"))];
            new(lock("ours"), lock("theirs"), Wanted::Person, vec![])
        }
        "binary" => {
            let bytes = |what: &str| vec![file("a.bin", format!("\0{what}\0{at}\n"))];
            new(bytes("ours"), bytes("theirs"), Wanted::Person, vec![])
        }
        "submodule" => {
            let link = |digit: &str| {
                vec![File { path: "lib".into(), mode: SUBMODULE, text: Some(digit.repeat(40)) }]
            };
            new(link("1"), link("2"), Wanted::Person, vec![])
        }
        "case only" => new(
            vec![gone(path), file("src/A.rs", &*text)],
            one(changed(&text, at, &theirs)),
            Wanted::Merged,
            intents("src/A.rs", &[&theirs]),
        ),
        "imports" => new(
            one(format!("use a::Ours{at};\n{text}")),
            one(format!("use b::Theirs{at};\n{text}")),
            Wanted::ByRule(Way::Imports),
            intents(path, &[&format!("use a::Ours{at};\nuse b::Theirs{at};\n")]),
        ),
        "white space" => new(
            one(changed(&text, at, &format!("        let line_{at} = {at};  "))),
            one(changed(&text, at, &theirs)),
            Wanted::ByRule(Way::Whitespace),
            intents(path, &[&theirs]),
        ),
        "same lines" => new(
            one(format!("{text}fn both() {{}}\n")),
            one(format!("{text}fn both() {{}}\nfn theirs_{at}() {{}}\n")),
            Wanted::ByRule(Way::SameLines),
            intents(path, &["fn both() {}", &format!("fn theirs_{at}() {{}}")]),
        ),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn two_hundred_conflicts_end_merged_with_both_intents_or_with_a_person() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let mut seed = Seed(4711);
    let cases: Vec<Case> = (0..204).map(|n| case(KINDS[n % KINDS.len()], &mut seed)).collect();
    import(&scratch, &cases);
    for (n, case) in cases.iter().enumerate() {
        check(&scratch, &git, n, case).await;
    }
}

#[tokio::test]
async fn w6_of_two_hundred_conflicts_none_is_missed_and_no_alarm_is_false() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let mut seed = Seed(815);
    let cases: Vec<Case> = (0..204).map(|n| case(KINDS[n % KINDS.len()], &mut seed)).collect();
    import(&scratch, &cases);
    let (mut missed, mut needless) = (vec![], vec![]);
    for (n, case) in cases.iter().enumerate() {
        let work = work(&scratch, n);
        let foreseen = !git.conflicts_between(&work.tip, &work.trunk).await.expect("git works").is_empty();
        // What rules or a person had to decide was a conflict, whatever became of it.
        match (foreseen, case.wanted == Wanted::Merged) {
            (false, false) => missed.push(&case.name),
            (true, true) => needless.push(&case.name),
            _ => {}
        }
    }
    assert!(missed.is_empty(), "missed: {missed:?}");
    assert!(needless.is_empty(), "false alarms: {needless:?}");
}

fn two_commits(first: Vec<File>, second: Vec<File>, base: &str, trunk: &str) -> Case {
    Case {
        name: "two commits".into(),
        base: vec![file("a.txt", base)],
        trunk: vec![file("a.txt", trunk)],
        tip: vec![first, second],
        wanted: Wanted::Merged,
        intents: vec![],
    }
}

/// As a whole it conflicts with trunk; one after the other the commits do not, and the other way round.
#[tokio::test]
async fn the_other_way_to_put_the_commits_together_is_tried_and_named() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    // The first commit is on trunk already, and what the second one does follows from it.
    let whole = two_commits(
        vec![file("a.txt", "one\ntwo\nTHREE\n")],
        vec![file("a.txt", "one\ntwo\nFOUR\n")],
        "one\ntwo\nthree\n",
        "one\ntwo\nTHREE\n",
    );
    // The second commit takes back what the first one did.
    let picks = two_commits(
        vec![file("a.txt", "ours\n"), file("b.txt", "b\n")],
        vec![file("a.txt", "one\n")],
        "one\n",
        "trunk\n",
    );
    import(&scratch, &[whole, picks]);
    for strategy in [Strategy::Squash, Strategy::Merge] {
        let outcome = build_as(&git, &work(&scratch, 0), strategy).await.expect("git works");
        let BuildOutcome::Built(built) = outcome else { panic!("{strategy:?}: {outcome:?}") };
        assert_eq!(built.resolved[0].way, Way::CommitByCommit, "{strategy:?}");
        assert_eq!((built.resolved[0].path.as_str(), built.commits.len()), ("a.txt", 1));
        assert_eq!(shown(&scratch, &built.result, "a.txt"), "one\ntwo\nFOUR");
    }
    let outcome = build_as(&git, &work(&scratch, 1), Strategy::Commits).await.expect("git works");
    let BuildOutcome::Built(built) = outcome else { panic!("{outcome:?}") };
    assert_eq!((built.resolved[0].way, built.squashed), (Way::AsAWhole, Some(Squashed::PicksConflict)));
    assert_eq!(
        (shown(&scratch, &built.result, "a.txt"), shown(&scratch, &built.result, "b.txt")),
        ("trunk".into(), "b".into())
    );
}

#[tokio::test]
async fn reviewed_work_gets_what_rules_decide_on_its_own_branch() {
    let scratch = Scratch::new();
    let git = scratch.open().await;
    let mut seed = Seed(1);
    import(&scratch, &[case("imports", &mut seed)]);
    let work = Work { reviewed: true, ..work(&scratch, 0) };
    for strategy in [Strategy::Commits, Strategy::Squash, Strategy::Merge] {
        let outcome = build_as(&git, &work, strategy).await.expect("git works");
        let BuildOutcome::Joined(joined) = outcome else { panic!("{outcome:?}") };
        let parents = scratch.git(["log", "-1", "--format=%P", joined.tip.as_str()]);
        assert_eq!(parents, format!("{} {}", work.tip, work.trunk));
        // From there on it merges by itself, and is what was looked at.
        let again = Work { tip: joined.tip.clone(), ..work.clone() };
        let outcome = build_as(&git, &again, strategy).await.expect("git works");
        let BuildOutcome::Built(built) = outcome else { panic!("{outcome:?}") };
        assert_eq!(built.resolved, []);
        assert_eq!(git.tree_of(&built.result).await.expect("a tree"), joined.tree);
    }
}
