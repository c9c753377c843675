//! H1–H4: hooks that hang, fork, flood, fail, cannot start, have odd names, are configured and present.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use swarm_protocol::operation::HookOutcome;
use swarm_work::hooks::{Configured, Ended, Found, Occasion, TIMEOUT, configured, find, list, run};

use crate::git_scratch::write;

struct Place {
    dir: tempfile::TempDir,
    configured: BTreeMap<String, Configured>,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), configured: BTreeMap::new() }
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    fn script(self, path: &str, mode: u32, text: &str) -> Self {
        write(self.root(), path, text.as_bytes());
        std::fs::set_permissions(self.root().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    fn hook(self, name: &str, body: &str) -> Self {
        self.script(&format!(".swarm/hooks/{name}.sh"), 0o755, &format!("#!/bin/sh\n{body}\n"))
    }

    fn configure(mut self, name: &str, command: &str, timeout: Duration, blocking: bool) -> Self {
        self.configured.insert(name.into(), Configured { command: command.into(), timeout, blocking });
        self
    }

    async fn run(&self, name: &str, variables: &[(&str, &str)]) -> Ended {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let found = find(self.root(), name, &self.configured);
        let nonce = format!("hook-{}", ulid::Ulid::generate());
        run(self.root(), &found, &Occasion::new(name, &variables), &nonce).await
    }
}

/// Waits until nobody of this command line lives any more.
fn gone(marker: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    let alive = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| {
                let words: Vec<&[u8]> = line.split(|b| *b == 0).collect();
                words.contains(&marker.as_bytes())
            })
        })
    };
    while alive() {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[tokio::test]
async fn a_hook_is_told_everything_in_variables_and_on_its_input_in_the_root() {
    let place = Place::new().hook("on-conflict", "pwd; echo \"$SWARM_TASK_ID/$SWARM_IDEA_ID/$SWARM_LEVEL\"; echo \"$SWARM_FILES\"; cat; echo \"token:$MY_TOKEN\" >&2");
    let ended = place.run("on-conflict", &[("TASK_ID", "1.2"), ("FILES", "a b\nc"), ("LEVEL", "2")]).await;
    assert_eq!(ended.outcome, HookOutcome::Ok);
    let root = std::fs::canonicalize(place.root()).unwrap();
    // Two pipes: which of them is read first is not said.
    let (errors, lines): (Vec<&str>, Vec<&str>) =
        ended.output.lines().partition(|line| line.starts_with("token:"));
    assert_eq!(errors, ["token:"], "nothing secret is handed on");
    assert_eq!(lines[..4], [root.to_str().unwrap(), "1.2/1.2/2", "a b", "c"]);
    let told: serde_json::Value = serde_json::from_str(lines[4]).unwrap();
    assert_eq!(told["hook"], "on-conflict");
    assert_eq!(told["files"], serde_json::json!(["a b", "c"]));
    assert_eq!(told["taskId"], "1.2");
}

#[tokio::test]
async fn a_hook_that_hangs_is_asked_then_forced_with_all_that_it_started() {
    // Deaf itself; one child in its group, one that left the group.
    let body =
        "trap '' TERM\nsleep 987650 &\nsetsid sleep 987651 &\necho begun\nwhile :; do sleep 987652; done";
    let place = Place::new().script("slow.sh", 0o755, &format!("#!/bin/sh\n{body}\n"));
    let place = place.configure("pre-merge", "slow.sh", Duration::from_millis(300), true);
    let started = Instant::now();
    let ended = place.run("pre-merge", &[]).await;
    assert_eq!(ended.outcome, HookOutcome::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    for marker in ["987650", "987651", "987652"] {
        assert!(gone(marker), "{marker} lives");
    }
}

#[tokio::test]
async fn a_hook_that_asks_to_be_ended_nicely_is() {
    let body = "trap 'echo cleaned up; exit 0' TERM\necho begun\nsleep 987660 &\nwait";
    let place = Place::new().script("slow.sh", 0o755, &format!("#!/bin/sh\n{body}\n"));
    let place = place.configure("pre-merge", "slow.sh", Duration::from_secs(4), true);
    let ended = place.run("pre-merge", &[]).await;
    assert_eq!((ended.outcome, ended.output.as_str()), (HookOutcome::TimedOut, "begun\ncleaned up\n"));
    assert!(gone("987660"));
}

#[tokio::test]
async fn a_hook_that_forks_and_ends_is_over_and_its_group_goes_with_it() {
    let place = Place::new().hook("post-merge", "sleep 987670 &\necho done");
    let started = Instant::now();
    let ended = place.run("post-merge", &[]).await;
    assert_eq!((ended.outcome, ended.output.as_str()), (HookOutcome::Ok, "done\n"));
    assert!(started.elapsed() < Duration::from_secs(15), "it does not wait for the child");
    assert!(gone("987670"));
}

#[tokio::test]
async fn a_hook_that_prints_a_gigabyte_is_kept_short() {
    let body = "yes 'a line of a flood' | head -c 1073741824; echo; echo the end";
    let place = Place::new().script("flood.sh", 0o755, &format!("#!/bin/sh\n{body}\n"));
    let place = place.configure("on-pause", "flood.sh", Duration::from_secs(600), false);
    let ended = place.run("on-pause", &[]).await;
    assert_eq!(ended.outcome, HookOutcome::Ok);
    assert!(
        ended.output.len() < 17 * 1024 && ended.output.ends_with("\nthe end\n"),
        "{}",
        ended.output.len()
    );
    assert!(ended.output.starts_with("[10737"), "{}", &ended.output[..60]);
}

#[tokio::test]
async fn failing_hooks_say_how() {
    let place = Place::new()
        .hook("on-error", "echo oops >&2; exit 7")
        .hook("post-merge", "kill -9 $$")
        .script(".swarm/hooks/on-pause.sh", 0o755, "echo without a first line\n")
        .script(".swarm/hooks/pre-start.sh", 0o755, "#!/no/such/interpreter\n");
    let ended = place.run("on-error", &[]).await;
    assert_eq!((ended.outcome, ended.output.as_str()), (HookOutcome::Failed { code: Some(7) }, "oops\n"));
    assert_eq!(place.run("post-merge", &[]).await.outcome, HookOutcome::Failed { code: None });
    let ended = place.run("on-pause", &[]).await;
    assert_eq!((ended.outcome, ended.output.as_str()), (HookOutcome::Ok, "without a first line\n"));
    let HookOutcome::NotStarted { why } = place.run("pre-start", &[]).await.outcome else {
        panic!("it started")
    };
    assert!(why.contains("interpreter"), "{why}");
}

#[tokio::test]
async fn one_that_is_not_executable_is_said_with_the_command_that_helps() {
    let place = Place::new().script(".swarm/hooks/pre-start.sh", 0o644, "#!/bin/sh\n");
    let place = place.script("my hooks/it's.sh", 0o644, "#!/bin/sh\n");
    let place = place.configure("on-pause", "my hooks/it's.sh", TIMEOUT, false);
    for (name, command) in [
        ("pre-start", "`chmod +x .swarm/hooks/pre-start.sh`"),
        ("on-pause", "`chmod +x 'my hooks/it'\\''s.sh'`"),
    ] {
        let ended = place.run(name, &[]).await;
        let HookOutcome::NotStarted { why } = &ended.outcome else { panic!("{ended:?}") };
        assert!(why.contains(command), "{why}");
    }
}

#[tokio::test]
async fn a_configured_one_replaces_the_file_and_may_have_a_space_in_its_name() {
    let place = Place::new()
        .hook("pre-merge", "echo the file")
        .script("my hooks/run all.sh", 0o755, "#!/bin/sh\necho the configured one\n")
        .configure("pre-merge", "my hooks/run all.sh", TIMEOUT, true)
        .configure("post-merge", "echo $SWARM_COMMIT_HASH and more", TIMEOUT, true)
        .configure("on-error", "no-such-file.sh", TIMEOUT, false);
    assert_eq!(place.run("pre-merge", &[]).await.output, "the configured one\n");
    let ended = place.run("post-merge", &[("COMMIT_HASH", "abc")]).await;
    assert_eq!(ended.output, "abc and more\n", "a line for the shell");
    let ended = place.run("on-error", &[]).await;
    let HookOutcome::NotStarted { why } = &ended.outcome else { panic!("{ended:?}") };
    assert!(why.contains("no-such-file.sh") && why.contains("hooks.on-error"), "{why}");
    let Found::Hook(hook) = find(place.root(), "post-merge", &place.configured) else { panic!() };
    assert!(!hook.blocking, "only what stands before something can refuse it");
    let Found::Hook(hook) = find(place.root(), "pre-merge", &place.configured) else { panic!() };
    assert!(hook.blocking && hook.configured && hook.timeout == TIMEOUT);
}

#[test]
fn the_configuration_gives_a_path_or_more_about_it() {
    let text =
        r#"{"pre-merge": "a b.sh", "pre-start": {"command": "c.sh", "timeout": "2m", "blocking": true}}"#;
    let hooks = configured(&serde_json::from_str(text).unwrap());
    let plain = Configured { command: "a b.sh".into(), timeout: TIMEOUT, blocking: false };
    let more = Configured { command: "c.sh".into(), timeout: Duration::from_secs(120), blocking: true };
    assert_eq!(hooks, [("pre-merge".to_owned(), plain), ("pre-start".to_owned(), more)].into());
}

#[tokio::test]
async fn other_names_are_understood_in_files_and_configuration() {
    let place = Place::new()
        .hook("pre-task-start", "echo alias")
        .hook("post-task-complete", "echo alias")
        .hook("post-complete", "echo real");
    assert_eq!(place.run("pre-start", &[]).await.output, "alias\n");
    assert_eq!(place.run("post-complete", &[]).await.output, "real\n", "the real name wins");
    let place = place.configure("post-task-complete", "echo from configuration", TIMEOUT, false);
    assert_eq!(place.run("post-complete", &[]).await.output, "from configuration\n");
    let names: Vec<&str> = list(place.root(), &place.configured).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["pre-start", "post-complete"]);
    assert_eq!(find(place.root(), "no-such-hook", &place.configured), Found::Nothing);
}
