//! Attacks on sockets, networks and other processes.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::time::Duration;

use super::{Field, call, checked};

pub fn attack(name: &str, field: &Field) -> Option<io::Result<()>> {
    let tcp = std::net::SocketAddr::from(([127, 0, 0, 1], field.tcp));
    let udp = std::net::SocketAddr::from(([127, 0, 0, 1], field.udp));
    let soon = Duration::from_secs(2);
    Some(match name {
        "socket-in-tmp" => UnixStream::connect(field.in_tmp.join("default")).map(drop),
        "socket-in-home" | "socket-in-home-without-network" => reach(field, b"agent.sock"),
        "socket-by-descriptor" => reach(field, b"by-descriptor.sock"),
        "socket-renamed" => reach(field, b"renamed.sock"),
        "socket-linked" => reach(field, b"linked.sock"),
        "socket-with-an-odd-name" => reach(field, b"a b\n\xff.sock"),
        "datagram-in-tmp" => UnixDatagram::unbound()
            .and_then(|socket| socket.send_to(b"x", field.in_tmp.join("log")))
            .map(drop),
        "socket-abstract" => SocketAddr::from_abstract_name(&field.abstract_name)
            .and_then(|address| UnixStream::connect_addr(&address))
            .map(drop),
        "socket-packet" => socket(libc::AF_PACKET, libc::SOCK_RAW, 3).map(drop),
        "socket-vsock" => socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0).map(drop),
        "socket-alg" => socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0).map(drop),
        "socket-netlink-uevent" => socket(libc::AF_NETLINK, libc::SOCK_RAW, 15).map(drop),
        "net-tcp" => TcpStream::connect_timeout(&tcp, soon).map(drop),
        // Sending to nobody is no error: whether it arrives is seen outside.
        "net-udp" => UdpSocket::bind("127.0.0.1:0")
            .and_then(|socket| socket.send_to(b"x", udp))
            .and(Err(io::Error::other("nobody heard it"))),
        "net-udp-far" => {
            UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.send_to(b"x", "192.0.2.1:9")).map(drop)
        }
        "net-fast-open" => socket(libc::AF_INET, libc::SOCK_STREAM, 0)
            .and_then(|socket| send(&socket, field.tcp, [127, 0, 0, 1], libc::MSG_FASTOPEN)),
        "net-mptcp" => {
            socket(libc::AF_INET, libc::SOCK_STREAM, 262).and_then(|socket| connect(&socket, field.tcp))
        }
        "net-icmp" => socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)
            .or_else(|_| socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP))
            .and_then(|socket| send(&socket, 0, [127, 0, 0, 1], 0)),
        "kill-other" => call!(libc::SYS_kill, field.victim, libc::SIGTERM),
        "kill-by-pidfd" => pidfd(field.victim)
            .and_then(|fd| call!(libc::SYS_pidfd_send_signal, fd.as_raw_fd(), libc::SIGKILL, 0, 0)),
        "take-descriptor" => {
            pidfd(field.daemon).and_then(|fd| call!(libc::SYS_pidfd_getfd, fd.as_raw_fd(), 0, 0))
        }
        "prlimit-other" => prlimit(field.victim),
        "prlimit-daemon" => prlimit(field.daemon),
        "ptrace-other" => call!(libc::SYS_ptrace, libc::PTRACE_SEIZE, field.victim, 0, 0),
        "read-memory-of-other" => read_memory(field),
        "write-the-letter" => write_to_the_launcher(field),
        "trace-the-first" => call!(libc::SYS_ptrace, libc::PTRACE_SEIZE, 1, 0, 0),
        "slow-down-other" => call!(libc::SYS_setpriority, libc::PRIO_PROCESS, field.victim, 19),
        "priority-of-everybody" => call!(libc::SYS_setpriority, libc::PRIO_USER, 0, 19),
        "linger" => linger(field),
        "type-into-terminal" => type_into_own_terminal(),
        _ => return None,
    })
}

/// A socket in the home folder.
fn reach(field: &Field, name: &[u8]) -> io::Result<()> {
    UnixStream::connect(field.home.join(OsStr::from_bytes(name))).map(drop)
}

fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: numbers; the descriptor is new and ours.
    unsafe {
        let fd = libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol);
        checked(fd.into())?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

fn address(port: u16, host: [u8; 4]) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(host) },
        sin_zero: [0; 8],
    }
}

fn send(socket: &OwnedFd, port: u16, host: [u8; 4], flags: i32) -> io::Result<()> {
    let (to, bytes) = (address(port, host), *b"\x08\0\0\0\0\0\0\0");
    let long = size_of::<libc::sockaddr_in>();
    call!(libc::SYS_sendto, socket.as_raw_fd(), bytes.as_ptr(), bytes.len(), flags, &raw const to, long)
}

fn connect(socket: &OwnedFd, port: u16) -> io::Result<()> {
    let to = address(port, [127, 0, 0, 1]);
    call!(libc::SYS_connect, socket.as_raw_fd(), &raw const to, size_of::<libc::sockaddr_in>())
}

fn pidfd(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: numbers; the descriptor is new and ours.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        checked(fd)?;
        Ok(OwnedFd::from_raw_fd(fd as i32))
    }
}

/// To whoever stands between us and the daemon, and to the daemon: what they tell each other, and how we have ended.
fn write_to_the_launcher(field: &Field) -> io::Result<()> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    let above = std::os::unix::process::parent_id().to_string();
    for process in ["1", &above, &field.daemon.to_string()] {
        for entry in std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
            match std::fs::OpenOptions::new().write(true).open(entry.path()) {
                Ok(_) if is_ours_to_tell(&entry.path()) => return Ok(()),
                Ok(_) => {}
                Err(error) => last = error,
            }
        }
    }
    Err(last)
}

fn is_ours_to_tell(descriptor: &std::path::Path) -> bool {
    let to = std::fs::read_link(descriptor).unwrap_or_default();
    to.starts_with("/memfd:swarm-box") || to.to_string_lossy().starts_with("pipe:")
}

/// No file may be opened any more: most programs end at the next one.
fn prlimit(pid: i32) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
    call!(libc::SYS_prlimit64, pid, libc::RLIMIT_CORE, &raw const limit, 0)
}

fn read_memory(field: &Field) -> io::Result<()> {
    let mut bytes = [0_u8; 8];
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: field.address as *mut _, iov_len: bytes.len() };
    let (one, none) = (1_usize, 0_usize);
    call!(libc::SYS_process_vm_readv, field.victim, &raw const local, one, &raw const remote, one, none)
}

/// A process in a session of its own, without parents and environment. Whether it stays is seen from outside.
fn linger(field: &Field) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    let null = std::process::Stdio::null;
    let mut command = std::process::Command::new("/proc/self/exe");
    command.args(["attack", "linger-on", &field.daemon.to_string()]).env_clear();
    command.stdin(null()).stdout(null()).stderr(null());
    // SAFETY: between fork and exec only a call that makes a session.
    unsafe { command.pre_exec(|| checked(libc::setsid().into())) };
    let _ = command.spawn()?;
    Err(io::Error::other("it ends with the run"))
}

pub fn linger_on() -> ! {
    loop {
        std::thread::park_timeout(Duration::from_secs(86_400));
    }
}

fn type_into_own_terminal() -> io::Result<()> {
    // SAFETY: a new descriptor.
    let fd = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY) };
    checked(fd.into())?;
    io::stdout().flush()?;
    call!(libc::SYS_ioctl, fd, libc::TIOCSTI, c"x".as_ptr())
}
