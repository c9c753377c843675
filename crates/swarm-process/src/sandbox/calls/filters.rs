//! The rules, as programs for the kernel.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

use super::Refused;
use super::lists;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

pub fn all(refused: Refused) -> Result<Vec<BpfProgram>, BackendError> {
    let mut all = vec![
        program(not_permitted()?, libc::EPERM)?,
        program(sockets(refused)?, libc::EAFNOSUPPORT)?,
        program(lists::NOT_THERE.iter().map(|call| (*call, vec![])).collect(), libc::ENOSYS)?,
    ];
    if cfg!(target_arch = "x86_64") {
        all.push(no_second_table());
    }
    Ok(all)
}

fn program(rules: Rules, errno: i32) -> Result<BpfProgram, BackendError> {
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?;
    filter.try_into()
}

fn when(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions)
}

fn is(argument: u8, op: Op, value: i32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, Len::Dword, op, value.cast_unsigned().into())
}

/// All these bits are set.
fn has(argument: u8, bits: i32) -> Result<SeccompCondition, BackendError> {
    is(argument, Op::MaskedEq(bits.cast_unsigned().into()), bits)
}

fn not_permitted() -> Result<Rules, BackendError> {
    let mut rules: Rules = lists::NEVER.iter().map(|call| (*call, vec![])).collect();
    for kind in lists::NAMESPACES {
        rules.entry(libc::SYS_clone).or_default().push(when(vec![has(0, *kind)?])?);
        rules.entry(libc::SYS_unshare).or_default().push(when(vec![has(0, *kind)?])?);
    }
    rules.entry(libc::SYS_unshare).or_default().push(when(vec![has(0, lists::TIME_NAMESPACE)?])?);
    // Limits of another process: those of ours would end it.
    rules.insert(libc::SYS_prlimit64, vec![when(vec![is(0, Op::Ne, 0)?])?]);
    // How soon everybody of this user gets the processor.
    rules.insert(libc::SYS_setpriority, vec![when(vec![is(0, Op::Eq, libc::PRIO_USER.cast_signed())?])?]);
    // Typing for a person. Of the number only the lower half counts for the kernel.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX]
        .map(|code| when(vec![SeccompCondition::new(1, Len::Dword, Op::Eq, code)?]));
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>()?);
    // With a lease whoever can read a file of the person's makes him wait when he opens it to write.
    rules.insert(libc::SYS_fcntl, vec![when(vec![is(1, Op::Eq, libc::F_SETLEASE)?])?]);
    // A program that others run would run with the rights of its owner, who is the person.
    let set_user_id = libc::S_ISUID.cast_signed();
    for (call, mode) in lists::SETS_MODE {
        rules.insert(*call, vec![when(vec![has(*mode, set_user_id)?])?]);
    }
    for (call, flags, mode) in lists::MAKES {
        // A file without a name gets its mode at once, too, and a name later.
        let makes = [libc::O_CREAT, libc::O_TMPFILE];
        let refused = makes.map(|flag| when(vec![has(*flags, flag)?, has(*mode, set_user_id)?]));
        rules.insert(*call, refused.into_iter().collect::<Result<_, _>>()?);
    }
    Ok(rules)
}

fn sockets(refused: Refused) -> Result<Rules, BackendError> {
    let families = if refused.network { lists::FAMILIES_AT_HOME } else { lists::FAMILIES };
    let unknown = families.iter().map(|family| is(0, Op::Ne, *family)).collect::<Result<_, _>>()?;
    // Of those that speak with the kernel only the one for addresses and routes.
    let others = vec![is(0, Op::Eq, libc::AF_NETLINK)?, is(2, Op::Ne, libc::NETLINK_ROUTE)?];
    let rules = vec![when(unknown)?, when(others)?];
    let pair = vec![when(vec![is(0, Op::Ne, libc::AF_UNIX)?])?];
    Ok(Rules::from([(libc::SYS_socket, rules), (libc::SYS_socketpair, pair)]))
}

/// On x86-64 every call has a second number (x32), which the lists do not name.
fn no_second_table() -> BpfProgram {
    const SECOND_TABLE: u32 = 0x4000_0000;
    let load_number =
        sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: 0 };
    let is_second = sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16,
        jt: 0,
        jf: 1,
        k: SECOND_TABLE,
    };
    let answer = |k| sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k };
    let refused = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    vec![load_number, is_second, answer(refused), answer(libc::SECCOMP_RET_ALLOW)]
}
