//! Children are bounded, ended as a group, and never mistaken for somebody else.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use swarm_process::{
    Call, Excess, Input, NONCE_VARIABLE, ProcessError, ProcessIdentity, Sweep, end_tree_by_nonce,
    open_verified, processes_with_nonce, start_time_of,
};

fn sh(script: &str) -> Call {
    let path = std::env::var_os("PATH").expect("tests have a PATH");
    Call::new("sh").args(["-c", script]).env("PATH", path)
}

#[tokio::test]
async fn output_is_bounded_or_its_tail_is_kept() {
    let mut call = sh("head -c 300000 /dev/zero | tr '\\0' x; echo end");
    (call.stdout_max, call.excess) = (1000, Excess::KeepTail);
    let ended = call.run().await.unwrap();
    assert!(ended.stdout_cut && ended.stdout.len() == 1000 && ended.stdout.ends_with(b"xend\n"));
    let mut call = sh("yes");
    call.stdout_max = 1000;
    assert!(matches!(call.run().await, Err(ProcessError::TooMuchOutput { limit: 1000, .. })));
}

#[tokio::test]
async fn a_child_sees_its_input_and_only_the_environment_it_was_given() {
    let mut call =
        sh("cat; env | grep -v '^PATH=\\|^PWD=\\|^SHLVL=\\|^_=\\|^OLDPWD='; echo oops >&2; exit 3")
            .env("A", "b");
    call.stdin = Input::Bytes(b"in\n".to_vec());
    let ended = call.run().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "in\nA=b\n");
    assert_eq!((ended.status.code(), &ended.stderr_tail[..]), (Some(3), &b"oops\n"[..]));
    assert!(matches!(Call::new("no-such-program").run().await, Err(ProcessError::NotFound { .. })));
}

/// It waits for the limit, which is set from outside once it has started.
#[tokio::test]
async fn a_child_has_no_more_memory_of_its_own_than_it_may() {
    for (data_max, code) in [(32_u64 << 20, 1), (512 << 20, 0)] {
        let mut call = sh(&format!(
            "until grep -q '^Max data size  *{data_max} ' /proc/$$/limits; do :; done; \
             exec dd if=/dev/zero of=/dev/null bs=128M count=1"
        ));
        (call.data_max, call.timeout) = (Some(data_max), Duration::from_secs(20));
        let ended = call.run().await.unwrap();
        let said = String::from_utf8_lossy(&ended.stderr_tail);
        assert_eq!(ended.status.code(), Some(code), "{data_max}: {said}");
    }
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group() {
    let nonce = format!("group-{}", std::process::id());
    let mut call = sh("sleep 1000 & sleep 1000").env("SWARM_NONCE", &nonce);
    call.timeout = Duration::from_millis(200);
    assert!(matches!(call.run().await, Err(ProcessError::TimedOut { .. })));
    wait_until_none(&nonce);
    // And so does dropping the future.
    let call = sh("sleep 1000 & sleep 1000").env("SWARM_NONCE", &nonce);
    let dropped = tokio::time::timeout(Duration::from_millis(200), call.run()).await;
    assert!(dropped.is_err());
    wait_until_none(&nonce);
}

fn wait_until_none(nonce: &str) {
    let until = Instant::now() + Duration::from_secs(5);
    while !processes_with_nonce(nonce).is_empty() {
        assert!(Instant::now() < until, "{:?} still live", processes_with_nonce(nonce));
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_tree_that_hides_is_found_by_its_nonce_and_ended() {
    let nonce = format!("tree-{}", std::process::id());
    // Ignores the request, leaves its session, and has a child without the nonce.
    let script = "trap '' TERM; setsid sh -c \"trap '' TERM; sleep 1000 & sleep 1000\" & env -i /bin/sleep 1000 & sleep 1000";
    let running = sh(script)
        .env("SWARM_NONCE", &nonce)
        .spawn(std::process::Stdio::null(), std::process::Stdio::null())
        .unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while processes_with_nonce(&nonce).len() < 6 {
        assert!(Instant::now() < until, "only {:?} started", processes_with_nonce(&nonce));
        tokio::task::yield_now().await;
    }
    let pid = running.leave().unwrap();
    let swept = end_tree_by_nonce(&nonce, Duration::from_millis(200)).await;
    assert!(matches!(swept, Sweep::Empty { ended } if ended >= 6), "{swept:?}");
    assert_eq!(processes_with_nonce(&nonce), Vec::<u32>::new());
    assert_eq!(end_tree_by_nonce(&nonce, Duration::ZERO).await, Sweep::Empty { ended: 0 }, "asked twice");
    let _ = pid;
}

#[tokio::test]
async fn a_process_is_only_opened_as_the_one_that_was_recorded() {
    let me = ProcessIdentity::of_myself("n").unwrap();
    assert!(open_verified(&me).is_some());
    assert!(
        open_verified(&ProcessIdentity { start_time: me.start_time + 1, ..me.clone() }).is_none(),
        "a reused pid"
    );
    assert!(
        open_verified(&ProcessIdentity { boot_id: "other".into(), ..me.clone() }).is_none(),
        "another boot"
    );
    let mut running =
        sh("sleep 1000").spawn(std::process::Stdio::null(), std::process::Stdio::null()).unwrap();
    let child = ProcessIdentity::of(running.child.id().unwrap(), "n").unwrap();
    let held = open_verified(&child).unwrap();
    running.end_group().await;
    assert!(held.wait_gone(Duration::from_secs(5)).await && !held.signal(rustix::process::Signal::KILL));
    assert!(open_verified(&child).is_none());
}

/// Set where a test runs again in a pid namespace of its own.
const INSIDE: &str = "SWARM_TEST_INSIDE_PIDS";

/// The number that the kernel gave last in this pid namespace: whoever writes it says which one comes next.
const LAST_PID: &str = "/proc/sys/kernel/ns_last_pid";

fn sleeper(nonce: &str) -> Child {
    Command::new("sleep").arg("1000").env(NONCE_VARIABLE, nonce).spawn().unwrap()
}

/// A process with the number of one that is gone, and that began in a later tick of the clock: numbers do not come again
/// within a hundredth of a second unless somebody sees to it, as we do here.
fn stranger_with(pid: u32, began: u64) -> Child {
    for _ in 0..10_000 {
        std::fs::write(LAST_PID, (pid - 1).to_string()).unwrap();
        let mut stranger = sleeper("another");
        if stranger.id() == pid && start_time_of(pid).is_some_and(|now| now != began) {
            return stranger;
        }
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
    panic!("{pid} does not come again");
}

#[tokio::test]
async fn a_stranger_that_got_the_number_of_a_process_of_ours_is_never_signalled() {
    let test = "git_process::a_stranger_that_got_the_number_of_a_process_of_ours_is_never_signalled";
    if std::env::var_os(INSIDE).is_none() {
        return again_in_pids_of_its_own(test);
    }
    for round in 0..20 {
        let nonce = format!("ours-{round}");
        let mut ours = sleeper(&nonce);
        let recorded = ProcessIdentity::of(ours.id(), &nonce).unwrap();
        let held = open_verified(&recorded).unwrap();
        ours.kill().unwrap();
        ours.wait().unwrap();
        let mut stranger = stranger_with(recorded.pid, recorded.start_time);
        assert!(open_verified(&recorded).is_none(), "taken for the one that was recorded");
        assert!(held.is_gone() && !held.signal(rustix::process::Signal::KILL));
        assert_eq!(end_tree_by_nonce(&nonce, Duration::ZERO).await, Sweep::Empty { ended: 0 });
        assert!(stranger.try_wait().unwrap().is_none(), "it lives");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}

/// Runs a test again where it may say which number the next process gets. A failure in there is a failure here.
fn again_in_pids_of_its_own(test: &str) {
    let alone = || {
        let mut unshare = Command::new("unshare");
        unshare.args(["--kill-child", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]);
        unshare
    };
    let tried = alone().args(["sh", "-c", &format!("echo 300 > {LAST_PID}")]).output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        return eprintln!("NOT PROVEN ON THIS MACHINE, where pids cannot be chosen: {test}");
    }
    let here = std::env::current_exe().unwrap();
    let again =
        alone().arg(here).args(["--exact", test, "--test-threads=1"]).env(INSIDE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn a_child_that_waits_for_nothing_is_ended_and_one_that_works_is_not() {
    let dir = tempfile::tempdir().unwrap();
    // It waits for a writer that never comes; a signal has stopped it.
    for script in ["mkfifo pipe && exec cat pipe", "kill -STOP $$"] {
        let mut call = sh(script).cwd(dir.path());
        call.stuck_after = Some(Duration::from_secs(2));
        assert!(matches!(call.run().await, Err(ProcessError::Stuck { .. })), "{script}");
    }
    // It works; it waits for a child of its own that does nothing.
    for script in ["end=$(($(date +%s) + 4)); while [ $(date +%s) -lt $end ]; do :; done", "sleep 4; true"] {
        let mut call = sh(script);
        call.stuck_after = Some(Duration::from_secs(2));
        assert!(call.run().await.unwrap().status.success(), "{script}");
    }
}
