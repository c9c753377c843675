//! A `git` in front of the real one that counts, and dies at the number it was told.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::arena::Arena;

/// When in its life a git dies.
#[derive(Debug, PartialEq, Eq)]
pub enum Moment {
    Before,
    /// At the first name it gives or takes away: the step that counts. One that only looks dies at its end.
    In,
    /// When everything is done and nobody has heard of it.
    After,
}

pub const MOMENTS: &[Moment] = &[Moment::Before, Moment::In, Moment::After];

const NAMING: &str = "?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat";

/// The run finds this git first.
pub fn put_before(command: &mut Command, arena: &Arena, strike: Option<(u32, &Moment, bool)>) {
    let dir = arena.path("shim");
    std::fs::create_dir_all(&dir).expect("a folder");
    let real = Command::new("sh").args(["-c", "command -v git"]).output().expect("there is a shell");
    let real = String::from_utf8(real.stdout).expect("text").trim().to_owned();
    let (nth, moment, with_parent) = strike.map_or((0, &Moment::Before, false), |(n, m, p)| (n, m, p));
    let (count, struck) = (dir.join("count"), dir.join("struck"));
    let (count, struck) = (count.display(), struck.display());
    let ledger = arena.ledger();
    let ledger = ledger.display();
    let then = if with_parent { "kill -9 $PPID" } else { ":" };
    let die = format!("tail -n 1 {ledger} >{struck}; {then}; kill -9 $$");
    let deed = match moment {
        Moment::Before => die,
        Moment::In => format!(
            "strace -f -qq -o /dev/null -e trace={NAMING} -e inject={NAMING}:signal=KILL:when=1 {real} \"$@\"\n\
             {die}"
        ),
        Moment::After => format!("{real} \"$@\"; {die}"),
    };
    let script = format!(
        "#!/bin/sh\nprintf . >>{count}\nread -r all <{count} || :\n\
         [ ${{#all}} -eq {nth} ] || exec {real} \"$@\"\n{deed}\n"
    );
    std::fs::write(dir.join("git"), script).expect("a file");
    std::fs::set_permissions(dir.join("git"), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", dir.display()));
}

pub fn counted(arena: &Arena) -> u32 {
    let counted = std::fs::metadata(arena.path("shim").join("count")).map_or(0, |meta| meta.len());
    u32::try_from(counted).expect("few")
}

/// The type of the last record when the git died; none when it was not the turn of any.
pub fn struck(arena: &Arena) -> Option<String> {
    let record = std::fs::read_to_string(arena.path("shim").join("struck")).ok()?;
    let record: serde_json::Value = serde_json::from_str(record.trim()).unwrap_or_default();
    Some(format!("{} (git)", record["type"].as_str().unwrap_or("nothing")))
}
