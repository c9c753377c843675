//! The members of a task that can be given on the command line, the same for `add` and `edit`.

use clap::ValueEnum;
use swarm_protocol::ids::TaskId;
use swarm_protocol::plan::{Size, TaskPatch, TaskSpec};

use crate::error::CliError;

/// Every one may be left out. A list is given by repeating the option or with commas; '' empties it.
#[derive(Debug, Default, clap::Args)]
pub struct Members {
    /// Description
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Tasks that must be done first; '' for none
    #[arg(long, value_name = "TASK,…")]
    pub depends: Option<Vec<String>>,
    /// Acceptance criterion; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub acceptance: Option<Vec<String>>,
    /// Globs of the files to change
    #[arg(long, value_name = "GLOB,…")]
    pub files: Option<Vec<String>>,
    /// Globs of files that nobody else may change during the task
    #[arg(long, value_name = "GLOB,…")]
    pub reserve: Option<Vec<String>>,
    /// Globs of files that other tasks may change too, but nobody may reserve
    #[arg(long, value_name = "GLOB,…")]
    pub share: Option<Vec<String>>,
    /// Tags
    #[arg(long, value_name = "TAG,…")]
    pub tags: Option<Vec<String>>,
    /// Size
    #[arg(long, value_enum)]
    pub size: Option<SizeArg>,
    /// Priority from 0 (most urgent) to 4 (default: 2)
    #[arg(long, value_name = "0-4", value_parser = clap::value_parser!(u8).range(0..=4))]
    pub priority: Option<u8>,
    /// Profile of its agent; '' for the configured one
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Who reviews it: none, command, agent, council or human; '' for the configured one
    #[arg(long, value_name = "REVIEWER")]
    pub review: Option<String>,
    /// Where its agent works: in its own worktree (worktree), or in one that tasks share (reservation); '' for the configured
    /// one
    #[arg(long, value_name = "ISOLATION")]
    pub isolation: Option<String>,
    /// Whether it may be done without a change
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub allow_empty: Option<bool>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SizeArg {
    Small,
    Medium,
    Large,
}

impl From<SizeArg> for Size {
    fn from(size: SizeArg) -> Self {
        match size {
            SizeArg::Small => Self::Small,
            SizeArg::Medium => Self::Medium,
            SizeArg::Large => Self::Large,
        }
    }
}

impl Members {
    /// The change these options ask for.
    pub fn patch(self, title: Option<String>) -> Result<TaskPatch, CliError> {
        Ok(TaskPatch {
            title,
            description: self.description,
            depends: self.depends.map(ids).transpose()?,
            acceptance: self
                .acceptance
                .map(|texts| texts.into_iter().filter(|text| !text.is_empty()).collect()),
            files: self.files.map(words),
            reserve: self.reserve.map(words),
            share: self.share.map(words),
            tags: self.tags.map(words),
            size: self.size.map(|size| Some(size.into())),
            priority: self.priority.map(Some),
            profile: self.profile.map(|word| Some(word).filter(|word| !word.is_empty())),
            isolation: self.isolation.map(|word| Some(word).filter(|word| !word.is_empty())),
            review: self.review.map(|word| Some(word).filter(|word| !word.is_empty())),
            allow_empty: self.allow_empty,
            extra: None,
        })
    }

    /// A new task with these members.
    pub fn spec(self, id: TaskId, title: String) -> Result<TaskSpec, CliError> {
        let patch = self.patch(None)?;
        Ok(TaskSpec {
            description: patch.description.unwrap_or_default(),
            depends: patch.depends.unwrap_or_default(),
            acceptance: patch.acceptance.unwrap_or_default(),
            files: patch.files.unwrap_or_default(),
            reserve: patch.reserve.unwrap_or_default(),
            share: patch.share.unwrap_or_default(),
            tags: patch.tags.unwrap_or_default(),
            size: patch.size.flatten(),
            priority: patch.priority.flatten(),
            profile: patch.profile.flatten(),
            review: patch.review.flatten(),
            isolation: patch.isolation.flatten(),
            allow_empty: patch.allow_empty.unwrap_or_default(),
            ..TaskSpec::new(id, title)
        })
    }
}

fn words(given: Vec<String>) -> Vec<String> {
    given
        .iter()
        .flat_map(|text| text.split(','))
        .map(str::trim)
        .filter(|w| !w.is_empty())
        .map(str::to_owned)
        .collect()
}

fn ids(given: Vec<String>) -> Result<Vec<TaskId>, CliError> {
    words(given)
        .into_iter()
        .map(|word| {
            TaskId::new(&word).map_err(|why| CliError::usage("--depends is not a list of tasks").because(why))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_and_an_empty_text_empties_them() {
        let members = Members {
            depends: Some(vec!["1.1, 1.2".into(), "a".into()]),
            tags: Some(vec![String::new()]),
            ..Members::default()
        };
        let patch = members.patch(None).expect("good ids");
        let names: Vec<&str> =
            patch.depends.as_deref().unwrap_or_default().iter().map(TaskId::as_str).collect();
        assert_eq!(names, ["1.1", "1.2", "a"]);
        assert_eq!(patch.tags, Some(vec![]));
        assert_eq!(patch.files, None);
    }

    #[test]
    fn a_dependency_with_a_path_in_it_is_refused() {
        let members = Members { depends: Some(vec!["../x".into()]), ..Members::default() };
        assert!(members.patch(None).is_err());
    }
}
