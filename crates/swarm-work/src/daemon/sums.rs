//! What conversations of planners and reviewers have told that they cost so far: some programs tell only the sum over a
//! conversation, which goes on in other runs. `run/conversations/SESSION.json`, one file each.

use std::path::PathBuf;
use std::time::SystemTime;

use swarm_process::complain;
use swarm_protocol::failure::Usage;

use super::files::write_whole;

/// The oldest goes when there are more: its next answer then counts for too little rather than too much.
const KEPT_MAX: usize = 64;

const SESSION_MAX: usize = 128;

pub struct Sums {
    dir: PathBuf,
}

impl Sums {
    pub fn below(swarm_dir: &std::path::Path) -> Self {
        Self { dir: swarm_dir.join("run/conversations") }
    }

    /// None: never told, or by a name that cannot be one of a file.
    fn file(&self, session: &str) -> Option<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let fits = !session.is_empty() && session.len() <= SESSION_MAX && session.chars().all(plain);
        fits.then(|| self.dir.join(format!("{session}.json")))
    }

    pub fn of(&self, session: &str) -> Option<Usage> {
        let text = std::fs::read(self.file(session)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Nothing is lost but the exact price where the disk does not take it.
    pub fn keep(&self, session: &str, sum: Usage) {
        let Some(file) = self.file(session) else { return };
        complain("make the folder of conversations", std::fs::create_dir_all(&self.dir));
        complain("keep what a conversation cost", write_whole(&file, &sum));
        self.forget_the_oldest();
    }

    fn forget_the_oldest(&self) {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let aged = |entry: std::fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
        let mut all: Vec<(SystemTime, PathBuf)> = entries.filter_map(aged).collect();
        all.sort();
        for (_, path) in all.iter().take(all.len().saturating_sub(KEPT_MAX)) {
            complain("forget an old conversation", std::fs::remove_file(path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_known_by_its_own_name_and_only_so_many_are_kept() {
        let dir = std::env::temp_dir().join(format!("swarm-sums-{}", std::process::id()));
        let sums = Sums::below(&dir);
        let told = |cost_micros| Usage { cost_micros, ..Usage::default() };
        assert_eq!(sums.of("ses_1"), None);
        sums.keep("ses_1", told(5));
        sums.keep("ses_1", told(7));
        assert_eq!(sums.of("ses_1"), Some(told(7)));
        for odd in ["", "../x", "a/b", ".", &"x".repeat(SESSION_MAX + 1)] {
            sums.keep(odd, told(1));
            assert_eq!(sums.of(odd), None, "{odd}");
        }
        (0..KEPT_MAX + 9).for_each(|n| sums.keep(&format!("more-{n}"), told(1)));
        let left = std::fs::read_dir(dir.join("run/conversations")).expect("a folder").count();
        assert_eq!(left, KEPT_MAX);
        std::fs::remove_dir_all(&dir).expect("it is ours");
    }
}
