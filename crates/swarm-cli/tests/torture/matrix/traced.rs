//! System calls of a command, counted as strace counts: each kind for itself in each thread.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Calls after which the world is different, or which let somebody know.
const TOUCHING: &str = "?open,openat,write,pwrite64,fsync,fdatasync,syncfs,?rename,?renameat,renameat2,?link,linkat,?unlink,\
     unlinkat,?mkdir,mkdirat,ftruncate,fallocate,flock,sendto,?vfork,clone,clone3";

/// The n-th call of its kind in its thread.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    pub name: String,
    pub nth: u32,
    /// Below `.swarm`: only calls on this file are counted.
    pub path: Option<&'static str>,
}

/// One thread writes the ledger, so that its calls have the same number each time.
const LEDGER: &str = "plan-ledger.jsonl";

/// Threads are followed, programs that are started are not.
fn strace(command: &Command, log: &Path, filter: &[String]) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "--seccomp-bpf", "-b", "execve", "-qq", "-y", "-s", "0", "-o"]).arg(log).args(filter);
    strace.arg(command.get_program()).args(command.get_args()).stdin(std::process::Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    strace
}

pub fn counting(command: &Command, log: &Path) -> Command {
    strace(command, log, &["-e".into(), format!("trace={TOUCHING}")])
}

/// The command is killed when it enters this call.
pub fn killing(command: &Command, log: &Path, call: &Call, root: &Path) -> Command {
    let Call { name, nth, path } = call;
    let mut filter = vec!["-e".into(), format!("trace={name}")];
    filter.extend(["-e".into(), format!("inject={name}:signal=KILL:when={nth}")]);
    if let Some(path) = path {
        filter.extend(["-P".into(), root.join(".swarm").join(path).display().to_string()]);
    }
    strace(command, log, &filter)
}

/// Whether strace saw somebody killed.
pub fn has_struck(log: &Path) -> bool {
    std::fs::read_to_string(log).is_ok_and(|text| text.contains("killed by SIGKILL"))
}

/// Each call once: of the threads that make the n-th call of a kind the quickest is met.
pub fn calls_in(log: &str, root: &Path) -> Vec<Call> {
    let ledger = format!("<{}>", root.join(".swarm").join(LEDGER).display());
    let mut counts: BTreeMap<(&str, &str, bool), u32> = BTreeMap::new();
    let (mut seen, mut calls) = (BTreeSet::new(), Vec::new());
    for line in log.lines() {
        let Some((thread, rest)) = line.split_once(char::is_whitespace) else { continue };
        let Some((name, arguments)) = rest.trim_start().split_once('(') else { continue };
        // Its end, or a word from one thread to another that the world does not see.
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_name || arguments.contains("anon_inode:") || arguments.contains("<pipe:") {
            continue;
        }
        let on_ledger = arguments.contains(&ledger);
        let nth = counts.entry((thread, name, on_ledger)).or_default();
        *nth += 1;
        let path = on_ledger.then_some(LEDGER);
        let call = Call { name: name.to_owned(), nth: *nth, path };
        if seen.insert(call.clone()) {
            calls.push(call);
        }
    }
    calls
}
