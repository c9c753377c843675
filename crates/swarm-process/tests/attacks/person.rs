//! The person and the machine around the walls: files, sockets, a terminal, shared memory, another process, servers. After each
//! attack everything is compared with what it was.

mod later;
mod things;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Mutex;

use crate::attacker::{Field, started_at_times};
pub use later::hidden;
use things::{address_in, handle_of, leave_open, lingering, odd_sockets, terminal, victim};

pub struct Person {
    dir: tempfile::TempDir,
    /// As a person's tmux has it: in the folder for everybody.
    in_tmp: tempfile::TempDir,
    listeners: Vec<UnixListener>,
    datagrams: UnixDatagram,
    tcp: TcpListener,
    udp: UdpSocket,
    terminal: OwnedFd,
    terminal_name: String,
    victim: Mutex<Child>,
    memory: i32,
    shm: PathBuf,
    program: PathBuf,
}

const FILES: [(&str, &str); 13] = [
    ("home/.bashrc", "# mine"),
    ("home/.ssh/id", "a key"),
    ("home/.netrc", "a password"),
    ("home/.cache/tool/start", "cached"),
    ("home/.cargo/registry/src/a/build.rs", "fn main() {}"),
    ("home/.config/autostart/a", "nothing"),
    ("repo/README", "read me"),
    ("repo/.git/config", "[core]"),
    ("repo/.git/hooks/post-commit", "#!/bin/sh"),
    ("repo/.git/swarm/worktrees.lock", "held while a worktree is made"),
    ("repo/.swarm/ledger.jsonl", "{}"),
    ("repo/.swarm/run/secret.key", "a secret"),
    ("repo/.swarm/worktrees/t2/file", "of another"),
];

/// Files that attacks would leave where everybody has something.
fn strays() -> [PathBuf; 4] {
    let cron = started_at_times().join("swarm-attack");
    ["/etc/swarm-attack".into(), "/usr/local/bin/swarm-attack".into(), "/var/tmp/swarm-attack".into(), cron]
}

impl Person {
    pub fn new() -> Self {
        // Not below /tmp: the person's files lie elsewhere on a real machine.
        let base = std::env::var_os("SWARM_ATTACK_BASE").map_or_else(|| "/var/lib".into(), PathBuf::from);
        let dir = tempfile::tempdir_in(&base).or_else(|_| tempfile::tempdir()).expect("a folder");
        let in_tmp = tempfile::Builder::new().prefix("tmux-").tempdir_in("/tmp").expect("a folder");
        for (name, text) in FILES {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("made");
            fs::write(&file, text).expect("written");
        }
        fs::create_dir_all(dir.path().join("repo/.swarm/worktrees/t1")).expect("made");
        fs::create_dir_all(dir.path().join("bin")).expect("made");
        let program = dir.path().join("bin/attacker");
        fs::copy("/proc/self/exe", &program).expect("copied");
        let name = format!("swarm-attack-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let mut listeners = odd_sockets(&dir.path().join("home"));
        listeners.extend([
            UnixListener::bind(in_tmp.path().join("default")).expect("it listens"),
            UnixListener::bind(dir.path().join("home/agent.sock")).expect("it listens"),
            UnixListener::bind_addr(&address).expect("it listens"),
        ]);
        for listener in &listeners {
            listener.set_nonblocking(true).expect("not blocking");
        }
        let datagrams = UnixDatagram::bind(in_tmp.path().join("log")).expect("it listens");
        datagrams.set_nonblocking(true).expect("not blocking");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("it listens");
        tcp.set_nonblocking(true).expect("not blocking");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("it listens");
        udp.set_nonblocking(true).expect("not blocking");
        let (terminal, terminal_name) = terminal();
        // SAFETY: plain numbers.
        let memory = unsafe { libc::shmget(libc::IPC_PRIVATE, 4096, libc::IPC_CREAT | 0o600) };
        let shm = PathBuf::from(format!("/dev/shm/{name}"));
        fs::write(&shm, "mine").expect("written");
        let victim = Mutex::new(victim());
        later::wait(dir.path().join("later"), dir.path().join("repo/.swarm/worktrees/t1"));
        Self {
            dir,
            in_tmp,
            listeners,
            datagrams,
            tcp,
            udp,
            terminal,
            terminal_name,
            victim,
            memory,
            shm,
            program,
        }
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Another home, in which things are made and replaced while an attacker runs.
    pub fn later(&self) -> PathBuf {
        self.dir.path().join("later")
    }

    pub fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    pub fn worktree(&self) -> PathBuf {
        self.repo().join(".swarm/worktrees/t1")
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn program_folder(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    /// A program of root's that makes whoever runs it root; only `cargo xtask attack` can make one.
    pub fn rooted() -> PathBuf {
        std::env::var_os("SWARM_ATTACK_ROOTED").map_or_else(|| "/nowhere".into(), PathBuf::from)
    }

    /// What the attacker knows about its surroundings.
    pub fn field(&self) -> String {
        let port = |address: std::io::Result<std::net::SocketAddr>| address.expect("an address").port();
        let victim = self.victim.lock().expect("whole").id();
        leave_open(&self.home());
        later::begin(&self.later());
        let field = Field {
            home: self.home(),
            later: self.later(),
            repo: self.repo(),
            worktree: self.worktree(),
            in_tmp: self.in_tmp.path().to_owned(),
            terminal: self.terminal_name.clone().into(),
            abstract_name: format!("swarm-attack-{}", std::process::id()),
            tcp: port(self.tcp.local_addr()),
            udp: port(self.udp.local_addr()),
            victim: victim.cast_signed(),
            daemon: std::process::id().cast_signed(),
            memory: self.memory,
            shm: self.shm.clone(),
            address: address_in(victim),
            handle: handle_of(&self.home().join(".ssh/id")),
            rooted: Self::rooted(),
        };
        serde_json::to_string(&field).expect("plain data")
    }

    /// Everything that must stay as it is.
    pub fn look(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        let skip = [self.worktree(), self.program_folder(), self.later()];
        look_below(self.dir.path(), &skip, &mut seen);
        look_below(self.in_tmp.path(), &[], &mut seen);
        seen.insert(self.shm.clone(), fs::read_to_string(&self.shm).unwrap_or_default());
        for stray in strays() {
            seen.insert(stray.clone(), fs::read_to_string(&stray).unwrap_or_default());
        }
        seen.insert(
            "core pattern".into(),
            fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default(),
        );
        seen
    }

    /// What is different now, or who was reached.
    pub fn harm(&self, before: &BTreeMap<PathBuf, String>) -> Option<String> {
        let after = self.look();
        let all = before.keys().chain(after.keys());
        if let Some(changed) = all.into_iter().find(|name| before.get(*name) != after.get(*name)) {
            return Some(format!("{} was changed", changed.display()));
        }
        if self.listeners.iter().any(|listener| listener.accept().is_ok()) || self.tcp.accept().is_ok() {
            return Some("it was connected".into());
        }
        let mut bytes = [0; 16];
        if self.datagrams.recv(&mut bytes).is_ok() || self.udp.recv(&mut bytes).is_ok() {
            return Some("it was heard outside".into());
        }
        if !matches!(self.victim.lock().expect("whole").try_wait(), Ok(None)) {
            return Some("the other process is dead".into());
        }
        let setuid = fs::read_dir(self.worktree()).into_iter().flatten().flatten();
        let is_setuid = |entry: &fs::DirEntry| entry.metadata().is_ok_and(|meta| meta.mode() & 0o6000 != 0);
        if setuid.into_iter().any(|entry| is_setuid(&entry)) {
            return Some("a program with the rights of its owner".into());
        }
        (!lingering().is_empty()).then(|| "a process outlived its run".to_owned())
    }

    /// Ready for the next attack.
    pub fn mend(&self) {
        // Another one each time: this one may be dying of a signal that has not arrived yet.
        let mut victim_now = self.victim.lock().expect("whole");
        let _ = victim_now.kill().and_then(|()| victim_now.wait());
        *victim_now = victim();
        for left in lingering() {
            let _ = rustix::process::kill_process(left, rustix::process::Signal::KILL);
        }
        let made = ["home/.cache/evil", "home/.config/autostart/evil"].map(|name| self.dir.path().join(name));
        for stray in strays().into_iter().chain(made).chain([self.in_tmp.path().join("evil")]) {
            let _ = fs::remove_file(stray);
        }
        for entry in fs::read_dir(self.worktree()).into_iter().flatten().flatten() {
            let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
        }
        for (name, text) in FILES {
            let file = self.dir.path().join(name);
            let parent = file.parent().expect("a parent");
            let _ = fs::create_dir_all(parent);
            let _ = fs::set_permissions(parent, PermissionsExt::from_mode(0o755));
            if fs::read_to_string(&file).is_ok_and(|now| now == text) {
                continue;
            }
            let _ = fs::remove_file(&file);
            let _ = fs::write(&file, text);
        }
        let mut fd = std::io::BufReader::new(fs::File::from(self.terminal.try_clone().expect("a copy")));
        let _ = fd.read(&mut [0; 1024]);
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let mut victim = self.victim.lock().expect("whole");
        let _ = victim.kill();
        let _ = victim.wait();
        let _ = fs::remove_file(&self.shm);
        // SAFETY: plain numbers and no buffer.
        unsafe { libc::shmctl(self.memory, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

fn look_below(dir: &Path, skip: &[PathBuf], seen: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if skip.contains(&path) {
            continue;
        }
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let text = if meta.is_file() { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        let attributes = fs::File::open(&path).map_or(0, |file| file.metadata().map_or(0, |m| m.nlink()));
        let said = format!("{:o} {} {} {text} {attributes}", meta.mode(), meta.uid(), meta.mtime());
        seen.insert(path.clone(), said);
        if meta.is_dir() {
            look_below(&path, skip, seen);
        }
    }
}
