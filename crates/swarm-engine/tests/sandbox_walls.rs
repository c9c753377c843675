//! Real git in a real linked worktree behind the walls: commits work, and nothing else of the repository,
//! of other worktrees, of the swarm's secrets and of the machine can be touched.

use crate::bench;

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use bench::{Bench, nets};
use serde_json::{Value, json};
use swarm_process::sandbox::doctor;

/// Enough that one of them meets a socket that goes.
const STARTS: usize = 20;

struct World {
    bench: Bench,
    root: PathBuf,
}

impl World {
    fn new() -> Self {
        let bench = Bench::new();
        let root = bench.path().canonicalize().expect("a path").join("repo");
        std::fs::create_dir(&root).expect("made");
        std::fs::create_dir(root.join("../tmp")).expect("made");
        let world = Self { bench, root };
        world.git(&world.root, &["init", "-q", "-b", "main"]);
        world.git(&world.root, &["config", "user.name", "Test"]);
        world.git(&world.root, &["config", "user.email", "test@swarm.invalid"]);
        std::fs::write(world.root.join("README"), "read me").expect("written");
        world.git(&world.root, &["add", "README"]);
        world.git(&world.root, &["commit", "-q", "-m", "start"]);
        for task in ["t1", "t2"] {
            let place = world.worktree(task);
            let place = place.to_str().expect("UTF-8");
            world.git(&world.root, &["worktree", "add", "-q", "-b", &format!("swarm/{task}"), place]);
        }
        world.give_a_repository();
        std::fs::create_dir_all(world.root.join(".swarm/run")).expect("made");
        std::fs::write(world.root.join(".swarm/run/secret.key"), "a secret").expect("written");
        world
    }

    fn worktree(&self, task: &str) -> PathBuf {
        self.root.join(".swarm/worktrees").join(task)
    }

    fn own(&self) -> PathBuf {
        self.root.join(".swarm/worktrees/.git-of/t1")
    }

    /// What the daemon does before each program.
    fn give_a_repository(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let git = swarm_git::Git::discover(&self.root).await.expect("a repository");
            let tip = git.resolve("swarm/t1").await.expect("asked").expect("a branch");
            let task = swarm_protocol::ids::TaskId::new("t1").expect("a task");
            let own = swarm_git::OwnRepository::of(&self.worktree("t1"), &task);
            let aside = |path: &Path| panic!("{} is in the way", path.display());
            own.open(&git, &self.root.join(".git/worktrees/t1"), &tip, aside).await.expect("made");
            own.point_here().expect("pointed");
        });
    }

    fn git(&self, dir: &Path, args: &[&str]) -> String {
        let out = Command::new("git").args(args).current_dir(dir).output().expect("git runs");
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    fn walls(&self, more: Value) -> Value {
        let mut walls = json!({
            "worktree": self.worktree("t1"),
            "git": { "common_dir": self.root.join(".git"), "own": self.own() },
            "tmp": self.root.join("../tmp"),
            "writable": [], "hidden": [self.root.join(".swarm/run")], "visible": [self.root], "network": true, "best_effort": false,
        });
        walls.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        walls
    }

    /// Runs the text in the worktree behind the walls.
    fn run(&self, net: &str, text: &str, more: Value) -> Value {
        let text = text.replace("ROOT", self.root.to_str().expect("UTF-8"));
        let wish = json!({ "cwd": self.worktree("t1"), "sandbox": self.walls(more) });
        self.bench.sh(net, &text, wish)
    }
}

/// The nets that work, if there are walls at all.
fn nets_with_walls() -> Vec<&'static str> {
    match doctor() {
        Ok(status) if status.abi > 0 => nets(),
        other => {
            eprintln!("skipped: no walls on this machine: {other:?}");
            Vec::new()
        }
    }
}

#[test]
fn work_and_commits_are_possible() {
    for net in nets_with_walls() {
        let world = World::new();
        let text = "set -e; mkdir -p a/b; echo new > a/b/file; mv a/b/file a/moved; ln -s moved a/link; \
             echo t > ROOT/../tmp/t; cat /etc/passwd > /dev/null; cat ROOT/README > /dev/null; \
             echo x > /dev/shm/MARK; rm /dev/shm/MARK; \
             git add -A; git commit -q -m work; git commit -q --amend -m better; git log --oneline; git status --short; \
             echo y > a/y; git stash -q -u; git stash pop -q; git tag v1; git branch b; git config user.email me@x.y";
        let told = world.run(net, text, json!({}));
        assert_eq!(told["ran"]["status"], "exit status: 0", "{net}: {told}");
        assert_eq!(told["ran"]["walls"]["missing"], json!([]), "{net}: {told}");
        let said = told["heard"].to_string();
        assert!(!said.contains("denied") && !said.contains("error"), "{net}: {said}");
        assert_eq!(world.git(&world.own(), &["log", "-1", "--format=%s", "swarm/t1"]), "better", "{net}");
        assert_eq!(world.git(&world.own(), &["show", "swarm/t1:a/moved"]), "new", "{net}");
        assert_eq!(world.git(&world.root, &["log", "-1", "--format=%s", "swarm/t1"]), "start", "{net}");
    }
}

#[test]
fn nothing_else_can_be_touched() {
    let attacks = [
        "git -C ROOT update-ref refs/heads/main HEAD~0 && git -C ROOT commit --allow-empty -m x",
        "git push ROOT HEAD:evil",
        "git -C ROOT branch -f evil HEAD",
        "git -C ROOT config user.name evil",
        "git --git-dir=ROOT/.git symbolic-ref refs/heads/swarm/t1 refs/heads/main",
        "echo 'ref: refs/heads/main' > ROOT/.git/refs/heads/swarm/t2",
        "rm -rf ROOT/.git/objects/*",
        "f=$(find ROOT/.git/objects -type f | head -1); echo evil > $f",
        "mkfifo ROOT/.git/objects/info/alternates",
        "echo /evil > ROOT/.git/worktrees/t1/commondir",
        "echo evil > ROOT/.git/worktrees/t1/index",
        "echo evil > ROOT/.swarm/worktrees/.git-of/.main",
        "mkdir -p ROOT/.swarm/worktrees/.git-of/t2",
        "echo evil >> ROOT/.git/config",
        "echo evil > ROOT/.git/hooks/post-commit",
        "rm -rf ROOT/.git/hooks",
        "mv ROOT/.git/hooks ROOT/.git/objects/hooks",
        "echo evil > ROOT/.swarm/worktrees/t2/file",
        "echo evil > ROOT/.git/worktrees/t2/HEAD",
        "echo evil > ROOT/README",
        ": > ROOT/README",
        "truncate -s 0 ROOT/README",
        "rm ROOT/README",
        "ln ROOT/README stolen && echo evil > stolen",
        "echo evil > ROOT/.swarm/plan-ledger.jsonl",
        "cat ROOT/.swarm/run/secret.key",
        "cp ROOT/.swarm/run/secret.key .",
        "ln -s ROOT/.swarm/run/secret.key key && cat key",
        "mount -t tmpfs none .",
        "mknod disk b 8 0",
        "kill -0 TESTPID",
    ];
    for net in nets_with_walls() {
        let world = World::new();
        let before = world.git(&world.root, &["rev-parse", "main"]);
        let config = std::fs::read_to_string(world.root.join(".git/config")).expect("read");
        for attack in attacks {
            let text = attack.replace("TESTPID", &std::process::id().to_string());
            let told = world.run(net, &text, json!({}));
            assert_ne!(told["ran"]["status"], "exit status: 0", "{net}: {attack}: {told}");
        }
        // What it makes in the folder for temporary files is its own, or it makes nothing.
        world.run(net, "echo evil > ROOT/../evil; echo evil > /tmp/evil-MARK", json!({}));
        let mark = format!("/tmp/evil-{}", world.bench.mark);
        assert!(!world.root.join("../evil").exists() && !Path::new(&mark).exists(), "{net}");
        assert_eq!(world.git(&world.root, &["rev-parse", "main"]), before, "{net}");
        assert_eq!(std::fs::read_to_string(world.root.join(".git/config")).expect("read"), config, "{net}");
        assert_eq!(std::fs::read_to_string(world.root.join("README")).expect("read"), "read me", "{net}");
        assert_eq!(world.git(&world.worktree("t2"), &["status", "--short"]), "", "{net}");
        assert!(world.root.join(".git/hooks").is_dir(), "{net}");
    }
}

#[test]
fn what_the_profile_adds_is_writable_and_a_closed_network_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("it listens");
    let port = listener.local_addr().expect("an address").port();
    let connect = format!("exec bash -c 'echo > /dev/tcp/127.0.0.1/{port}'");
    for net in nets_with_walls() {
        let world = World::new();
        let extra = world.root.join("../extra");
        std::fs::create_dir(&extra).expect("made");
        let told =
            world.run(net, "echo x > ROOT/../extra/file", json!({ "writable": [extra, "/not/there"] }));
        assert_eq!(told["ran"]["status"], "exit status: 0", "{net}: {told}");
        let open = world.run(net, &connect, json!({}));
        assert_eq!(open["ran"]["status"], "exit status: 0", "{net}: {open}");
        let closed = world.run(net, &connect, json!({ "network": false }));
        assert_ne!(closed["ran"]["status"], "exit status: 0", "{net}: {closed}");
    }
}

#[test]
fn what_is_bound_is_seen_elsewhere_and_only_there() {
    for net in nets_with_walls() {
        let world = World::new();
        let private = world.root.join("../private");
        std::fs::create_dir(&private).expect("made");
        std::fs::write(private.join("config"), "private").expect("written");
        let hooks = world.root.join(".git/hooks");
        let bind = json!([{ "source": private, "target": hooks, "read_only": false }]);
        let text = "cat ROOT/.git/hooks/config && echo new > ROOT/.git/hooks/made";
        let told = world.run(net, text, json!({ "binds": bind }));
        let bound = told["ran"]["walls"]["own_view"] == json!(true);
        assert_eq!(told["heard"]["kept"][0] == json!("private"), bound, "{net}: {told}");
        assert_eq!(private.join("made").exists(), bound, "{net}: {told}");
        assert!(!hooks.join("made").exists(), "{net}");
    }
}

/// Each run has sockets, and they end when they like: whoever starts meanwhile is not kept from it.
#[test]
fn sockets_that_come_and_go_while_a_program_starts_keep_it_from_nothing() {
    for net in nets_with_walls() {
        let world = World::new();
        let over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let place = world.root.join("socket");
                while !over.load(Ordering::Relaxed) {
                    let open = UnixListener::bind(&place).expect("bound");
                    std::fs::remove_file(&place).expect("it was there");
                    drop(open);
                }
            });
            let told: Vec<Value> = (0..STARTS).map(|_| world.run(net, "true", json!({}))).collect();
            over.store(true, Ordering::Relaxed);
            for told in told {
                assert_eq!(told["ran"]["status"], "exit status: 0", "{net}: {told}");
            }
        });
    }
}

/// What an agent sees as `.git` is its own; what lies there is untouched and cannot be replaced from inside.
#[test]
fn the_git_file_is_covered_inside_and_stays_the_persons_outside() {
    for net in nets_with_walls() {
        let world = World::new();
        let file = world.worktree("t1").join(".git");
        let outside = format!("gitdir: {}\n", world.root.join(".git/worktrees/t1").display());
        std::fs::write(&file, &outside).expect("written");
        let pointer = world.root.join(".swarm/worktrees/.git-of/.t1.pointer");
        let bind = json!([{ "source": pointer, "target": file, "read_only": true }]);
        let text = "git rev-parse --absolute-git-dir && git commit -q --allow-empty -m inside; \
                    rm -f .git; mv .git other; echo evil > .git; rm -rf ../t1; cat .git";
        let told = world.run(net, text, json!({ "binds": bind }));
        // Without a view of its own it is put back after the program has ended, by whoever lent it.
        if told["ran"]["walls"]["own_view"] == json!(true) {
            assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), Some(&*outside), "{net}: {told}");
            assert_eq!(world.git(&world.root, &["log", "-1", "--format=%s", "swarm/t1"]), "start", "{net}");
            assert_eq!(told["heard"]["kept"][0], json!(world.own()), "{net}: {told}");
            assert_eq!(world.git(&world.own(), &["log", "-1", "--format=%s"]), "inside", "{net}: {told}");
        }
    }
}

#[test]
fn without_rights_in_git_there_are_no_commits() {
    for net in nets_with_walls() {
        let world = World::new();
        let told = world.run(net, "echo x > f; git status && git add f", json!({ "git": null }));
        assert_ne!(told["ran"]["status"], "exit status: 0", "{net}: {told}");
        let told = world.run(net, "git status --short", json!({ "git": null }));
        assert_eq!(told["heard"]["kept"], json!(["?? f"]), "{net}: {told}");
    }
}

#[test]
fn only_listed_variables_reach_a_program() {
    for net in nets() {
        let bench = Bench::new();
        let told = bench.sh(net, "tr '\\0' '\\n' < /proc/self/environ", json!({ "env": ["CARGO_PKG_NAME"] }));
        let names: Vec<String> = told["heard"]["kept"]
            .as_array()
            .expect("lines")
            .iter()
            .filter_map(|line| Some(line.as_str()?.split_once('=')?.0.to_owned()))
            .collect();
        for name in names.iter().filter(|name| !["PWD", "OLDPWD", "_", "SHLVL"].contains(&name.as_str())) {
            let ours = ["SWARM_NONCE", "CARGO_PKG_NAME"].contains(&name.as_str());
            assert!(ours || swarm_process::environment::is_allowed(name.as_ref()), "{net}: {name}");
        }
        assert!(names.contains(&"PATH".to_owned()), "{net}: {names:?}");
    }
}
