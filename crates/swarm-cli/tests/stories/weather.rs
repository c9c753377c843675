//! What happens to processes and files that nobody asked for.

use rustix::process::Signal;

use crate::arena::files_below;
use crate::story::Story;
use crate::victims::{Party, signal};

/// The coordinator; who watches it starts another.
pub fn kill_coordinator(story: &mut Story) {
    kill(story, Party::Coordinator, "swarm run --coordinate");
}

pub fn kill_daemon(story: &mut Story) {
    kill(story, Party::Daemon, "swarm daemon");
}

pub fn kill_agent(story: &mut Story) {
    kill(story, Party::Agent, "swarm script-agent");
}

fn kill(story: &mut Story, party: Party, name: &str) {
    let all = story.arena.living(party);
    if let Some(pid) = story.one_of(&all) {
        signal(pid, Signal::KILL);
        story.note(format!("kill -9 $(pgrep -f '{name}' | head -n 1)"));
    }
}

/// The terminal goes, and everything in it.
pub fn kill_everything(story: &mut Story) {
    if let Some(run) = &mut story.run {
        run.kill_9();
        story.note("kill -9 %% $(pgrep -f 'swarm run --coordinate')    # the watcher and the coordinator");
        story.run_has_ended();
    }
}

/// A file of the swarm is damaged.
pub fn damage(story: &mut Story) {
    let swarm = story.arena.root.join(".swarm");
    let command = match story.chance.below(5) {
        0 => "rm -rf .swarm/state".to_owned(),
        1 => "truncate -s 10 .swarm/plan.json".to_owned(),
        2 => "rm -f .swarm/plan.md .swarm/SWARM_PLAN.md".to_owned(),
        3 => {
            let all = files_below(&swarm.join("checkpoints"), ".json");
            let Some(file) = story.one_of(&all) else { return };
            format!("rm -f .swarm/checkpoints/{}", file.file_name().unwrap_or_default().display())
        }
        _ => {
            let markers = story.arena.root.join(".git/swarm/worktrees");
            let all = files_below(&markers, ".json");
            let Some(file) = story.one_of(&all) else { return };
            format!("rm -f .git/swarm/worktrees/{}", file.strip_prefix(&markers).unwrap_or(&file).display())
        }
    };
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &command]).current_dir(&story.arena.root).output().expect("sh runs");
    story.note(command);
}
