//! What people do to the repository without asking the swarm.

use crate::story::Story;

/// A commit of a file of one's own.
pub fn commit(story: &mut Story) {
    let mark = story.mark();
    let file = format!("people/{}", mark.trim_end_matches(';').replace(':', "-"));
    story.append(&file, &mark);
    if story.git(&["add", &file]) {
        story.git(&["commit", "-q", "-m", &format!("person: {file}"), "--", &file]);
    }
}

/// A file of trunk that a task has made.
fn one_file(story: &mut Story) -> Option<String> {
    let all = story.arena.git(&["ls-files", "out", "README.md"]);
    let all: Vec<String> = all.lines().map(str::to_owned).collect();
    story.one_of(&all)
}

/// Changes a file that is in git, and leaves it so.
pub fn edit(story: &mut Story) {
    let Some(file) = one_file(story) else { return };
    let mark = story.mark();
    story.append(&file, &mark);
}

/// Changes what a task has made, and commits that.
pub fn commit_an_edit(story: &mut Story) {
    let Some(file) = one_file(story) else { return };
    let mark = story.mark();
    story.append(&file, &mark);
    story.git(&["commit", "-q", "-m", &format!("person: changes {file}"), "--", &file]);
}

pub fn amend_words(story: &mut Story) {
    if has_commits(story, 1) {
        story.git(&["commit", "-q", "--amend", "--only", "-m", "person: says it better"]);
    }
}

pub fn amend_content(story: &mut Story) {
    if !has_commits(story, 1) {
        return;
    }
    let mark = story.mark();
    let file = format!("people/{}", mark.trim_end_matches(';').replace(':', "-"));
    story.append(&file, &mark);
    if story.git(&["add", &file]) {
        story.git(&["commit", "-q", "--amend", "--no-edit"]);
    }
}

/// So many commits upon the first.
fn has_commits(story: &Story, many: usize) -> bool {
    let all = story.arena.git(&["rev-list", "--count", "--first-parent", "HEAD"]);
    all.trim().parse::<usize>().unwrap_or_default() > many
}

/// Reverts a commit of a task.
pub fn revert(story: &mut Story) {
    let log = story.arena.git(&["log", "-n", "8", "--format=%h %s", "HEAD"]);
    let all: Vec<String> = log
        .lines()
        .filter(|line| line.contains(" feat: "))
        .filter_map(|line| line.split(' ').next().map(str::to_owned))
        .collect();
    let Some(commit) = story.one_of(&all) else { return };
    if !story.git(&["revert", "--no-edit", &commit]) {
        story.git(&["revert", "--abort"]);
    }
}

/// Sets the branch back by hand.
pub fn reset(story: &mut Story) {
    let n = story.chance.between(1, 2);
    if !has_commits(story, n as usize) {
        return;
    }
    story.by_hand(&["reset", "-q", "--hard", &format!("HEAD~{n}")]);
}

/// Goes to a branch of one's own, or back.
pub fn checkout(story: &mut Story) {
    if story.branch != "main" {
        if story.git(&["checkout", "-q", "main"]) {
            story.branch = "main".into();
        }
        return;
    }
    // A run that was killed before its first record has worked for no trunk: the next one would begin on this branch.
    if !has_run(story) {
        return;
    }
    let name = format!("other-{}", story.chance.below(3));
    let there = story.arena.git(&["branch", "--list", &name]);
    let made = match there.trim().is_empty() {
        true => story.git(&["checkout", "-q", "-b", &name]),
        false => story.git(&["checkout", "-q", &name]),
    };
    if made {
        story.branch = name;
    }
}

/// A coordinator that starts tasks has recorded which branch is trunk.
fn has_run(story: &Story) -> bool {
    let ledger = std::fs::read_to_string(story.arena.root.join(".swarm/plan-ledger.jsonl"));
    let dispatches = |line: &str| line.contains("coordinator_started") && line.contains(r#""dispatch":true"#);
    ledger.unwrap_or_default().lines().any(dispatches)
}

pub fn stash(story: &mut Story) {
    let pop = story.often(40);
    story.git(if pop { &["stash", "pop", "-q"] } else { &["stash", "-q"] });
}

pub fn delete_branch(story: &mut Story) {
    let id = story.one_id();
    story.by_hand(&["branch", "-q", "-D", &format!("swarm/{id}")]);
}

pub fn gc(story: &mut Story) {
    story.by_hand(&["gc", "-q", "--prune=now"]);
}

/// Nothing of a person is in the way any more: what lies about is committed.
pub fn tidy_up(story: &mut Story) {
    let changed = story.arena.git(&["status", "--porcelain", "--untracked-files=no"]);
    if !changed.trim().is_empty() {
        story.git(&["commit", "-q", "-a", "-m", "person: what lay about"]);
    }
    if story.branch != "main" && story.often(60) {
        checkout(story);
    }
}
