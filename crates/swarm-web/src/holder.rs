//! Whose process is at the other end of a loopback connection. TCP carries no credentials, but the kernel lists every
//! socket with its user and its inode, and every process with the sockets that it holds.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use swarm_server::peer::{Peer, Standing, Who};

/// Who sent what comes over a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    Person,
    /// One of its holders runs inside an attempt.
    Agent(Standing),
    OtherUser,
    /// Nobody is seen to hold it: nobody knows whose wish this is.
    Unseen,
}

/// Finds the holder of the socket that is bound to `theirs` and connected to `ours`. Reads a lot of `/proc`: not for the
/// loop's thread.
pub fn holder_of(theirs: SocketAddrV4, ours: SocketAddrV4, who: &Who) -> Holder {
    look(Path::new("/proc"), theirs, ours, rustix::process::geteuid().as_raw(), who)
}

fn look(proc: &Path, theirs: SocketAddrV4, ours: SocketAddrV4, uid: u32, who: &Who) -> Holder {
    let Some(socket) = socket_at(proc, theirs, ours) else { return Holder::Unseen };
    if socket.uid != uid {
        return Holder::OtherUser;
    }
    let Seen { holders, hidden } = holders_of(proc, &socket.link(), uid);
    // Programs that changed their user, as sshd has for a tunnel, do not show what they hold. The connection is one of
    // theirs then, and it is a person's if none of them runs inside an attempt.
    let candidates = if holders.is_empty() { hidden } else { holders };
    // A program that is just being started shares what its parent holds for a moment, and is another one or gone when it
    // is looked at.
    let holds_on =
        |pid: u32, standing: &Standing| *standing != Standing::Unseen || proc.join(pid.to_string()).exists();
    let looked = candidates.into_iter().map(|pid| (pid, who(Peer { pid, uid })));
    let mut standings =
        looked.filter(|(pid, standing)| holds_on(*pid, standing)).map(|(_, standing)| standing).peekable();
    if standings.peek().is_none() {
        return Holder::Unseen;
    }
    standings.find(|standing| *standing != Standing::Outside).map_or(
        Holder::Person,
        |standing| match standing {
            Standing::Unseen => Holder::Unseen,
            inside => Holder::Agent(inside),
        },
    )
}

struct Socket {
    uid: u32,
    inode: u64,
}

impl Socket {
    fn link(&self) -> String {
        format!("socket:[{}]", self.inode)
    }
}

/// The line of the kernel's table about their end. A program that speaks IPv6 has it in the other table.
fn socket_at(proc: &Path, theirs: SocketAddrV4, ours: SocketAddrV4) -> Option<Socket> {
    let found = |name: &str, prefix: &str| {
        let table = std::fs::read_to_string(proc.join("self/net").join(name)).ok()?;
        let (local, remote) = (shown(prefix, theirs), shown(prefix, ours));
        table.lines().skip(1).find_map(|line| {
            let mut words = line.split_whitespace();
            let is_it = words.nth(1) == Some(&local) && words.next() == Some(&remote);
            let uid = words.nth(4).filter(|_| is_it)?.parse().ok()?;
            let inode = words.nth(1)?.parse().ok().filter(|inode| *inode != 0)?;
            Some(Socket { uid, inode })
        })
    };
    found("tcp", "").or_else(|| found("tcp6", "0000000000000000FFFF0000"))
}

/// An address as the table has it: the four bytes as one number of this machine.
fn shown(prefix: &str, address: SocketAddrV4) -> String {
    let number = u32::from_ne_bytes(Ipv4Addr::octets(address.ip()));
    format!("{prefix}{number:08X}:{:04X}", address.port())
}

struct Seen {
    holders: Vec<u32>,
    /// Processes of ours that do not show what they hold.
    hidden: Vec<u32>,
}

fn holders_of(proc: &Path, link: &str, uid: u32) -> Seen {
    let mut seen = Seen { holders: Vec::new(), hidden: Vec::new() };
    for entry in std::fs::read_dir(proc).into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        match std::fs::read_dir(entry.path().join("fd")) {
            Ok(files) => {
                let holds = |file: std::fs::DirEntry| {
                    std::fs::read_link(file.path()).is_ok_and(|target| target.as_os_str() == link)
                };
                if files.flatten().any(holds) {
                    seen.holders.push(pid);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                if user_of(&entry.path()) == Some(uid) {
                    seen.hidden.push(pid);
                }
            }
            // It has ended meanwhile.
            Err(_) => {}
        }
    }
    seen
}

/// The user that a process runs as, which stands in its status though its files belong to root.
fn user_of(process: &Path) -> Option<u32> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use super::*;
    use swarm_server::peer::Inside;

    const UID: u32 = 1000;

    fn address(port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
    }

    /// A `/proc` in which each of these processes holds these sockets.
    fn proc(table: &str, processes: &[(u32, &[u64])]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("self/net")).expect("made");
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
        std::fs::write(dir.path().join("self/net/tcp"), format!("{head}{table}")).expect("written");
        for (pid, inodes) in processes {
            let fd = dir.path().join(pid.to_string()).join("fd");
            std::fs::create_dir_all(&fd).expect("made");
            for (nth, inode) in inodes.iter().enumerate() {
                symlink(format!("socket:[{inode}]"), fd.join(nth.to_string())).expect("made");
            }
        }
        dir
    }

    fn line(theirs: u16, ours: u16, uid: u32, inode: u64) -> String {
        let (local, remote) = (shown("", address(theirs)), shown("", address(ours)));
        format!(
            "   0: {local} {remote} 01 00000000:00000000 00:00000000 00000000  {uid}        0 {inode} 1\n"
        )
    }

    /// Process 7 runs inside an attempt.
    fn who() -> Who {
        Arc::new(|peer| match peer.pid {
            7 => Standing::Inside(Inside { run: None, nonce: None }),
            8 => Standing::Unseen,
            _ => Standing::Outside,
        })
    }

    #[test]
    fn a_program_that_has_gone_before_it_is_looked_at_holds_nothing() {
        let dir = proc(&line(5000, 7717, UID, 42), &[(5, &[42]), (8, &[42])]);
        let gone = dir.path().join("8");
        let who: Who = Arc::new(move |peer| match peer.pid {
            8 => {
                std::fs::remove_dir_all(&gone).expect("it was there");
                Standing::Unseen
            }
            _ => Standing::Outside,
        });
        assert_eq!(look(dir.path(), address(5000), address(7717), UID, &who), Holder::Person);
    }

    #[test]
    fn the_process_that_holds_the_socket_is_found_and_one_agent_among_the_holders_is_enough() {
        let table = line(5000, 7717, UID, 42) + &line(7717, 5000, UID, 43);
        type Processes<'a> = &'a [(u32, &'a [u64])];
        let cases: &[(Processes<'_>, Holder)] = &[
            (&[(5, &[1, 42]), (7, &[1])], Holder::Person),
            (
                &[(5, &[42]), (7, &[1, 42])],
                Holder::Agent(Standing::Inside(Inside { run: None, nonce: None })),
            ),
            (&[(8, &[42])], Holder::Unseen),
            (&[(5, &[43])], Holder::Unseen),
        ];
        for (processes, expected) in cases {
            let proc = proc(&table, processes);
            assert_eq!(
                look(proc.path(), address(5000), address(7717), UID, &who()),
                *expected,
                "{processes:?}"
            );
        }
    }

    #[test]
    fn another_user_and_a_connection_that_is_over_are_nobody_of_ours() {
        let proc = proc(&(line(5000, 7717, 1001, 42) + &line(5001, 7717, UID, 0)), &[(5, &[42, 0])]);
        assert_eq!(look(proc.path(), address(5000), address(7717), UID, &who()), Holder::OtherUser);
        assert_eq!(look(proc.path(), address(5001), address(7717), UID, &who()), Holder::Unseen);
        assert_eq!(look(proc.path(), address(5002), address(7717), UID, &who()), Holder::Unseen);
    }

    #[test]
    fn a_real_connection_of_our_own_is_ours() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let ours = listener.local_addr().expect("an address");
        let stream = std::net::TcpStream::connect(ours).expect("connected");
        let (std::net::SocketAddr::V4(ours), std::net::SocketAddr::V4(theirs)) =
            (ours, stream.local_addr().expect("an address"))
        else {
            panic!("loopback")
        };
        let me = std::process::id();
        let seen: Who =
            Arc::new(move |peer| if peer.pid == me { Standing::Outside } else { Standing::Unseen });
        assert_eq!(holder_of(theirs, ours, &seen), Holder::Person);
        drop(stream);
        assert_eq!(holder_of(theirs, ours, &seen), Holder::Unseen);
    }
}
