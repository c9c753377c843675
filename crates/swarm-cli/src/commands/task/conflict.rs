//! `swarm task diff TASK --conflict`: of work that is to be merged, and of merged work that is to be taken back.

use std::fmt::Write;

use swarm_engine::work_conflict::{FileConflict, FileSide, SideText, WorkConflict};
use swarm_protocol::ids::TaskId;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{counted, harmless, harmless_code};
use crate::swarm::Swarm;

/// What was there, what trunk made of it, and what the task made of it.
pub fn show(id: &TaskId, cx: &Context) -> Result<(), CliError> {
    let (conflict, trunk) = Swarm::open(cx)?.conflict_of(id)?;
    cx.out.document(&conflict, |conflict| text(conflict, &trunk))
}

fn text(conflict: &WorkConflict, trunk: &str) -> String {
    let WorkConflict { task, base, trunk: on_trunk, tip, files, more_files, taken_back } = conflict;
    let (mut text, trunk) = (String::new(), harmless(trunk));
    let count = counted(files.len() + more_files, "file", "files");
    let names = match taken_back {
        None => ["base".to_owned(), trunk.to_string(), task.branch()],
        Some(_) => [format!("as {task} left it"), trunk.to_string(), format!("before {task}")],
    };
    let _ = match taken_back {
        None => writeln!(text, "The work of task {task} conflicts with {trunk} in {count}"),
        Some(_) => writeln!(text, "Taking task {task} back conflicts with {trunk} in {count}"),
    };
    let [first, second, third] = &names;
    let _ =
        writeln!(text, "{first} {}, {second} {}, {third} {}", base.short(), on_trunk.short(), tip.short());
    let sides = Sides { names: [first, second, third] };
    files.iter().for_each(|file| sides.file(&mut text, file));
    if *more_files > 0 {
        let more = counted(*more_files, "more file is", "more files are");
        let _ = writeln!(text, "\n{more} not shown: merge, and `git diff` shows the rest");
    }
    let _ = match taken_back {
        None => writeln!(
            text,
            "\nTo decide it: `git merge {trunk}` in .swarm/worktrees/{task}, commit, and `swarm worktree merge {task}`"
        ),
        Some(command) => writeln!(
            text,
            "\nTo decide it: `{command}`; once its work is not on {trunk} any more, `swarm attention` says how to go on"
        ),
    };
    text
}

/// What the sides are called.
struct Sides<'a> {
    names: [&'a str; 3],
}

impl Sides<'_> {
    fn file(&self, text: &mut String, file: &FileConflict) {
        let _ = writeln!(text, "\n{}", harmless(&file.path));
        let names = self.names;
        if file.places.is_empty() {
            for (name, side) in names.iter().zip([&file.base, &file.trunk, &file.task]) {
                whole(text, name, side);
            }
        }
        for place in &file.places {
            let _ = writeln!(text, "  line {}", place.line);
            for (name, side) in names.iter().zip([&place.base, &place.trunk, &place.task]) {
                let _ = writeln!(text, "  {}:{}", harmless(name), nothing(side));
                lines(text, side);
            }
        }
        if file.more_places > 0 {
            let more =
                counted(file.more_places, "more place of this file is", "more places of this file are");
            let _ = writeln!(text, "  {more} not shown");
        }
    }
}

fn whole(text: &mut String, name: &str, side: &FileSide) {
    let object = side.object.as_ref().map_or(String::new(), |oid| format!(" {}", oid.short()));
    let _ = writeln!(text, "  {}: {}{object}", harmless(name), side.is);
    side.text.iter().for_each(|side| lines(text, side));
}

fn nothing(side: &SideText) -> &'static str {
    if side.text.is_empty() { " nothing" } else { "" }
}

/// An agent wrote them.
fn lines(text: &mut String, side: &SideText) {
    for line in side.text.lines() {
        let _ = writeln!(text, "  | {}", harmless_code(line));
    }
    if side.cut {
        let _ = writeln!(text, "  (there is more of it)");
    }
}
