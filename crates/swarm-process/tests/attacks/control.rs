//! Every attack once more without any walls. What does not get through there either would prove nothing about them.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::attacker::SECRET_VARIABLES;
use crate::person::Person;
use crate::table::{Attack, Control};

/// How it went, for the table; or what is wrong with the attack.
pub fn run(attack: &Attack, person: &Person) -> Result<String, String> {
    if let Control::Nobody(why) = attack.control {
        return Ok(format!("not tried, {why}"));
    }
    let before = person.look();
    let (code, said) = attacker(attack, person)?;
    let harm = person.harm(&before);
    person.mend();
    let through = harm.is_some() || (code == Some(0) && !attack.harmless_inside);
    match attack.control {
        _ if through => Ok("gets through".into()),
        Control::ThisKernel(why) => Ok(format!("not here, {why} ({said})")),
        Control::Root if !is_all_powerful() => Ok("only root could".into()),
        Control::Prepared if !is_all_powerful() && !Person::rooted().exists() => {
            Ok("not prepared, `cargo xtask attack` as root does it".into())
        }
        _ => Err(said),
    }
}

fn attacker(attack: &Attack, person: &Person) -> Result<(Option<i32>, String), String> {
    let mut command = Command::new(person.program());
    command.arg("attack").arg(attack.name).arg(person.field()).current_dir(person.worktree());
    command.env("HOME", person.home()).stdin(Stdio::null()).stderr(Stdio::null());
    for name in SECRET_VARIABLES {
        command.env(name, crate::attacker::SECRET);
    }
    let apart = is_all_powerful();
    // SAFETY: between fork and exec only system calls; the child has one thread.
    unsafe { command.pre_exec(move || if apart { part_from_the_machine() } else { Ok(()) }) };
    let out = command.output().map_err(|error| format!("not started: {error}"))?;
    Ok((out.status.code(), String::from_utf8_lossy(&out.stdout).trim().to_owned()))
}

/// What gets through here must not stay: mounts and the name of the machine are its own.
fn part_from_the_machine() -> std::io::Result<()> {
    // SAFETY: the process has one thread and shares nothing.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::NEWUTS)? };
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// Root in a container has the name and not the rights.
fn is_all_powerful() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap_or_default();
    let set = u64::from_str_radix(set.trim(), 16).unwrap_or(0);
    let first = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    set.count_ones() >= 38 && first.split_whitespace().eq(["0", "0", "4294967295"])
}
