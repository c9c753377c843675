//! The whole process `swarm daemon --spec FILE`: from its spec and secret to its exit code.

use std::io::Read;
use std::path::Path;

use swarm_process::hand_on_no_files;
use swarm_work::daemon::{DaemonSpec, EXIT_CANNOT_START, serve};

use crate::socket::coordinator_socket;
use crate::work_channel::SocketChannel;

/// Twice the length of a secret in hex: whatever is longer is none.
const SECRET_MAX: u64 = 128;

/// Serves the run that the spec describes. The secret is read from stdin, where the supervisor put
/// it: arguments and environment can be read by others. `begins`: is told what is served, before anything is done.
pub fn daemon_process(spec: &Path, begins: impl FnOnce(&DaemonSpec)) -> u8 {
    let spec = match DaemonSpec::read(spec) {
        Ok(spec) => spec,
        Err(error) => return cannot(&format!("read {}", spec.display()), &error),
    };
    begins(&spec);
    if let Err(error) = hand_on_no_files() {
        return cannot("keep open files to ourselves", &error);
    }
    let mut secret = String::new();
    if let Err(error) = std::io::stdin().take(SECRET_MAX).read_to_string(&mut secret) {
        return cannot("read the secret from stdin", &error);
    }
    // What was read must not be read again through our open files, by the program least of all.
    if let Err(error) = std::fs::File::open("/dev/null").and_then(|null| Ok(rustix::stdio::dup2_stdin(null)?))
    {
        return cannot("let go of the secret", &error);
    }
    // One thread: a daemon waits nearly always, and there may be many of them.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return cannot("start the runtime", &error),
    };
    let channel = Box::new(SocketChannel::new(coordinator_socket(&spec.swarm_dir())));
    runtime.block_on(serve(spec, secret.trim().to_owned(), channel))
}

fn cannot(what: &str, error: &std::io::Error) -> u8 {
    eprintln!("Cannot {what}: {error}");
    EXIT_CANNOT_START
}
