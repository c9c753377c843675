//! The attacks by name. What each does is in `attacker`.

/// Where an attack must be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// In every net.
    Everywhere,
    /// Only where the program has a view of its own: the other layers cannot say it.
    WithOwnView,
}

/// Who gets through without walls. An attack that nobody can carry out would be held by nothing and prove nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    Anybody,
    /// Root with all its rights.
    Root,
    /// Anybody but root, where `cargo xtask attack` has prepared it; root in another way.
    Prepared,
    /// Depends on how the kernel was built or set up.
    ThisKernel(&'static str),
    /// Cannot be tried.
    Nobody(&'static str),
}

pub struct Attack {
    pub name: &'static str,
    pub expected: Expected,
    pub control: Control,
    /// Part of the ordinary tests.
    pub quick: bool,
    /// It may succeed for itself: what counts is that nobody outside sees it.
    pub harmless_inside: bool,
    /// With a closed network.
    pub closed: bool,
}

const fn held(name: &'static str) -> Attack {
    Attack {
        name,
        expected: Expected::Everywhere,
        control: Control::Anybody,
        quick: false,
        harmless_inside: false,
        closed: false,
    }
}

const fn view(name: &'static str) -> Attack {
    Attack { expected: Expected::WithOwnView, ..held(name) }
}

const fn quick(attack: Attack) -> Attack {
    Attack { quick: true, ..attack }
}

const fn inside(attack: Attack) -> Attack {
    Attack { harmless_inside: true, ..attack }
}

const fn closed(name: &'static str) -> Attack {
    Attack { closed: true, ..held(name) }
}

const fn root(attack: Attack) -> Attack {
    Attack { control: Control::Root, ..attack }
}

const fn kernel(attack: Attack, why: &'static str) -> Attack {
    Attack { control: Control::ThisKernel(why), ..attack }
}

const PTRACE: &str = "kernel.yama.ptrace_scope may forbid it";
const LIMITS: &str = "a hard limit below it forbids it";

pub const ATTACKS: &[Attack] = &[
    // files
    held("write-home"),
    quick(view("chmod-home")),
    view("chmod-ledger"),
    view("utimes-home"),
    kernel(view("setxattr-home"), "the file system may have no attributes"),
    kernel(view("set-flags-home"), "the file system may have no such marks"),
    view("fchmod-readonly-fd"),
    held("truncate-home"),
    held("reopen-through-proc-fd"),
    held("hardlink-home"),
    held("rename-home"),
    held("unlink-home"),
    held("write-checkout"),
    held("write-git-hook"),
    held("write-git-config"),
    held("write-other-worktree"),
    held("write-ledger"),
    root(held("write-etc")),
    root(held("write-usr-local")),
    held("write-autostart"),
    root(held("write-cron")),
    inside(held("write-var-tmp")),
    inside(held("write-tmp-of-the-person")),
    held("read-run-folder"),
    quick(view("hold-a-lock")),
    held("lease-home"),
    quick(held("read-ssh-key")),
    held("read-ssh-key-by-link"),
    held("read-ssh-key-by-proc-root"),
    held("read-netrc"),
    quick(held("read-netrc-written-anew")),
    quick(held("read-log-in-made-later")),
    held("read-log-in-made-later-below"),
    held("read-log-in-made-in-a-cache"),
    quick(inside(held("poison-cargo-source"))),
    inside(held("poison-cache")),
    inside(held("new-file-in-cache")),
    inside(held("delete-cache")),
    Attack {
        control: Control::Nobody("what it would replace is there only behind walls"),
        ..held("replace-what-the-next-sees")
    },
    held("setuid-by-chmod"),
    held("setuid-by-open"),
    held("setuid-by-fchmodat2"),
    kernel(held("setuid-by-nameless-file"), "the file system may have no files without a name"),
    Attack { control: Control::Nobody("only a run has a folder that goes with it"), ..held("nest-folders") },
    root(held("device-node")),
    root(held("raw-disk")),
    root(held("kernel-log-device")),
    // sockets
    quick(view("socket-in-tmp")),
    view("socket-in-home"),
    Attack { closed: true, ..view("socket-in-home-without-network") },
    view("socket-by-descriptor"),
    quick(view("socket-renamed")),
    view("socket-linked"),
    view("socket-with-an-odd-name"),
    view("datagram-in-tmp"),
    held("socket-abstract"),
    root(held("socket-packet")),
    kernel(held("socket-vsock"), "no virtual machine, no such socket"),
    kernel(held("socket-alg"), "kernels without it"),
    held("socket-netlink-uevent"),
    // what the person's shell had open
    quick(held("inherited-file")),
    quick(held("inherited-folder")),
    // the closed network
    quick(closed("net-tcp")),
    quick(closed("net-udp")),
    closed("net-fast-open"),
    kernel(closed("net-mptcp"), "kernels without it"),
    kernel(closed("net-icmp"), "net.ipv4.ping_group_range may forbid it"),
    kernel(closed("net-udp-far"), "there may be no way out"),
    // terminals
    quick(view("open-terminal")),
    root(held("type-into-terminal")),
    root(held("open-console")),
    // other processes
    quick(held("kill-other")),
    held("kill-by-pidfd"),
    kernel(quick(held("prlimit-other")), LIMITS),
    kernel(held("prlimit-daemon"), LIMITS),
    kernel(held("ptrace-other"), PTRACE),
    kernel(held("read-memory-of-other"), PTRACE),
    Attack {
        control: Control::Nobody("who would be written to is there only with walls"),
        quick: true,
        ..held("write-the-letter")
    },
    Attack {
        control: Control::Nobody("the first process of the machine is nobody's"),
        ..held("trace-the-first")
    },
    held("environ-of-other"),
    held("root-of-other"),
    kernel(held("take-descriptor"), PTRACE),
    view("slow-down-other"),
    Attack {
        control: Control::Nobody("it would slow the whole machine down"),
        ..held("priority-of-everybody")
    },
    root(quick(held("clone-into-cgroup"))),
    root(held("leave-cgroup")),
    held("oom-score-of-other"),
    quick(held("linger")),
    // the kernel
    root(held("mount")),
    Attack {
        control: Control::Nobody("what it would take away is there only behind walls"),
        ..held("umount-view")
    },
    kernel(held("unshare-user"), "user namespaces may be forbidden"),
    kernel(held("clone-user"), "user namespaces may be forbidden"),
    root(held("setns")),
    root(held("chroot")),
    root(held("open-tree")),
    kernel(quick(held("io-uring")), "kernel.io_uring_disabled may forbid it"),
    root(held("bpf")),
    kernel(held("perf"), "kernel.perf_event_paranoid may forbid it"),
    kernel(held("keyring"), "kernels without it, or no room for keys"),
    kernel(held("userfault"), "kernels without it"),
    root(held("open-by-handle")),
    kernel(held("fanotify"), "kernels without it"),
    kernel(held("syslog"), "kernel.dmesg_restrict may forbid it"),
    kernel(held("second-table"), "kernels without it"),
    root(held("core-pattern")),
    kernel(held("sysrq"), "kernels without it"),
    root(held("sysfs")),
    root(held("hostname")),
    root(held("clock")),
    // rights and memory
    kernel(quick(held("capabilities")), "who runs the trial may have none either"),
    Attack { control: Control::Prepared, ..held("setuid-root-again") },
    held("memfd-program"),
    view("shared-memory-sysv"),
    view("shared-memory-file"),
    held("environment"),
    kernel(held("dump-core"), LIMITS),
];
