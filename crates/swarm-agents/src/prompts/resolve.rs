//! What an agent is told that resolves a revert.

use serde::Serialize;

use super::review::fence_around;
use super::{PROMPT_MAX, Prompts, RESOLVE, TaskWords, WorkPrompt, cut};

/// What the template of a resolution can name.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ResolvePrompt {
    /// Whose work is taken back.
    pub task: TaskWords,
    pub goal: String,
    pub trunk: String,
    /// The patch of the work that is to go, cut where it would be too long.
    pub goes: String,
    pub goes_cut: bool,
    pub files: Vec<ResolveFile>,
    /// The commands that the result has to pass.
    pub checks: Vec<String>,
    /// What its last answer lacked.
    pub refused: String,
    /// Longer than any fence in what is quoted.
    pub fence: String,
}

/// A file that conflicts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ResolveFile {
    pub path: String,
    /// With marks where it conflicts.
    pub text: String,
    pub gone_from_trunk: bool,
    pub new_with_them: bool,
}

impl ResolvePrompt {
    /// With what git says; of the patch no more than `goes_max` bytes.
    pub fn with_conflict(self, goes: &str, files: Vec<ResolveFile>, goes_max: usize) -> Self {
        let kept = cut(goes.to_owned(), goes_max);
        let quoted: Vec<&str> = files.iter().map(|file| file.text.as_str()).chain([kept.as_str()]).collect();
        let fence = fence_around(&quoted);
        Self { goes_cut: kept.len() < goes.len(), goes: kept, files, fence, ..self }
    }
}

impl Prompts {
    /// The question to whoever resolves what conflicts when it is taken back.
    pub fn resolve(&self, words: &ResolvePrompt) -> String {
        let text = self.render(RESOLVE, words).unwrap_or_else(|error| {
            format!("# Take back task {}\n\n{}\n\n({error})\n", words.task.id, words.goes)
        });
        cut(text, PROMPT_MAX)
    }
}

/// One with everything in it, by which a template is tried.
pub(super) fn sample() -> ResolvePrompt {
    let WorkPrompt { task, goal, trunk, checks, .. } = super::sample();
    let file = ResolveFile { path: "x".into(), text: "x".into(), gone_from_trunk: true, new_with_them: true };
    let words = ResolvePrompt { task, goal, trunk, checks, refused: "x".into(), ..ResolvePrompt::default() };
    words.with_conflict("xx", vec![file], 1)
}
