//! One hook from its start to the end of everything it left in its process group.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use swarm_protocol::operation::HookOutcome;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{Found, Hook, Occasion, document};
use swarm_agents::secrets;
use swarm_process::{Call, Input, NONCE_VARIABLE, ProcessError, Running, end_tree_by_nonce, environment};

/// Between the request to end and force.
const GRACE: Duration = Duration::from_secs(2);

/// Of what a hook prints the end is kept: it goes into the ledger.
const OUTPUT_MAX_BYTES: usize = 16 * 1024;

/// How long the pipes of a hook that has ended are read on: somebody outside its group may hold them.
const PIPE_GRACE: Duration = Duration::from_millis(300);

/// "Exec format error": a script without a first line that names its interpreter.
const ENOEXEC: i32 = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub outcome: HookOutcome,
    /// The last of what it printed, both streams as they came.
    pub output: String,
    pub took: Duration,
}

/// Runs the hook in `root`. `nonce` marks all that it starts, so that a later coordinator can find it.
/// Dropping the future ends its group at once.
pub async fn run(root: &Path, found: &Found, occasion: &Occasion, nonce: &str) -> Ended {
    let started = std::time::Instant::now();
    let (outcome, output) = match found {
        Found::Nothing => (not_started("there is no such hook"), String::new()),
        Found::Unfit { why, .. } => (not_started(why), String::new()),
        Found::Hook(hook) => run_hook(root, hook, occasion, nonce).await,
    };
    Ended { outcome, output, took: started.elapsed() }
}

fn not_started(why: &str) -> HookOutcome {
    HookOutcome::NotStarted { why: why.to_owned() }
}

async fn run_hook(root: &Path, hook: &Hook, occasion: &Occasion, nonce: &str) -> (HookOutcome, String) {
    let env = environment_of(occasion, nonce);
    let mut running = match start(root, hook, occasion, &env) {
        Ok(running) => running,
        Err(error) => return (not_started(&describe(&error)), String::new()),
    };
    let heard = Arc::new(Mutex::new(Tail::default()));
    let (out, err) = (running.child.stdout.take(), running.child.stderr.take());
    let listening = Listening(tokio::spawn(listen(out, err, heard.clone())));
    let in_time = running.ended_within(hook.timeout).await;
    running.end_whole_group(GRACE).await;
    if !in_time {
        // Whoever left the group but carries our mark had no business to outlive the limit.
        end_tree_by_nonce(nonce, Duration::ZERO).await;
    }
    let status = running.wait().await;
    let mut listening = listening;
    let _ = tokio::time::timeout(PIPE_GRACE, &mut listening.0).await;
    drop(listening);
    let outcome = match status {
        _ if !in_time => HookOutcome::TimedOut,
        Ok(status) if status.success() => HookOutcome::Ok,
        Ok(status) => HookOutcome::Failed { code: status.code() },
        Err(error) => not_started(&error.to_string()),
    };
    let text = heard.lock().unwrap_or_else(PoisonError::into_inner).text();
    (outcome, secrets::known_at(root).redact(&text).into_owned())
}

fn environment_of(occasion: &Occasion, nonce: &str) -> BTreeMap<OsString, OsString> {
    let mut env = environment::for_program(&[]);
    env.extend(occasion.environment());
    env.insert(NONCE_VARIABLE.into(), nonce.into());
    env
}

fn start(
    root: &Path,
    hook: &Hook,
    occasion: &Occasion,
    env: &BTreeMap<OsString, OsString>,
) -> Result<Running, ProcessError> {
    let mut told = document(occasion).to_string().into_bytes();
    told.push(b'\n');
    let spawn = |argv: &[OsString]| {
        let (program, args) = argv.split_first().expect("a hook has a program");
        let mut call = Call::new(program).args(args).cwd(root).ends_with_us();
        call.env = env.clone();
        call.stdin = Input::Bytes(told.clone());
        call.spawn(Stdio::piped(), Stdio::piped())
    };
    match spawn(&hook.argv) {
        // As every shell does with such a file.
        Err(ProcessError::Spawn { why, .. }) if why.raw_os_error() == Some(ENOEXEC) => {
            let mut argv = vec![OsString::from("/bin/sh")];
            argv.extend(hook.argv.iter().cloned());
            spawn(&argv)
        }
        other => other,
    }
}

fn describe(error: &ProcessError) -> String {
    match error {
        // The file is there: it is the program of its first line that is not.
        ProcessError::NotFound { program } => {
            format!("the interpreter that the first line of {program} names is not there")
        }
        other => other.to_string(),
    }
}

struct Listening(tokio::task::JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn listen(
    out: Option<impl AsyncRead + Unpin>,
    err: Option<impl AsyncRead + Unpin>,
    heard: Arc<Mutex<Tail>>,
) {
    tokio::join!(listen_to(out, &heard), listen_to(err, &heard));
}

async fn listen_to(from: Option<impl AsyncRead + Unpin>, heard: &Mutex<Tail>) {
    let Some(mut from) = from else { return };
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(bytes @ 1..) = from.read(&mut chunk).await {
        heard.lock().unwrap_or_else(PoisonError::into_inner).take(&chunk[..bytes]);
    }
}

/// The last of what was printed.
#[derive(Default)]
struct Tail {
    kept: VecDeque<u8>,
    dropped: u64,
}

impl Tail {
    fn take(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(OUTPUT_MAX_BYTES)..];
        self.dropped += (bytes.len() - kept.len()) as u64;
        self.kept.extend(kept);
        let excess = self.kept.len().saturating_sub(OUTPUT_MAX_BYTES);
        self.kept.drain(..excess);
        self.dropped += excess as u64;
    }

    fn text(&mut self) -> String {
        let text = String::from_utf8_lossy(self.kept.make_contiguous()).replace('\0', "");
        if self.dropped == 0 {
            text
        } else {
            format!("[{} bytes before this are left out]\n{text}", self.dropped)
        }
    }
}
