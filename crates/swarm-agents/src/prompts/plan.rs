//! What an agent is told that makes a plan.

use serde::Serialize;

/// What the template of a plan can name.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PlanPrompt {
    pub goal: String,
    /// The plan as it is, in JSON, where it is to be changed.
    pub plan: Option<String>,
    /// What is to be changed in it, or how the task is to be split.
    pub wish: String,
    /// The task of the plan that is to be split, where it is about one.
    pub split: String,
    /// Files of the repository, as many as fit.
    pub files: Vec<String>,
    pub files_cut: bool,
    /// Longer than any fence in the plan.
    pub fence: String,
}

impl PlanPrompt {
    pub fn new(goal: &str, files: Vec<String>, files_cut: bool) -> Self {
        Self { goal: goal.into(), files, files_cut, ..Self::default() }
    }

    /// To change this plan.
    pub fn changing(self, plan: &str, wish: &str) -> Self {
        let fence = super::review::fence_around(&[plan]);
        Self { plan: Some(plan.into()), wish: wish.into(), fence, ..self }
    }

    /// To split this task of the plan.
    pub fn splitting(self, plan: &str, task: &str, wish: &str) -> Self {
        Self { split: task.into(), ..self.changing(plan, wish) }
    }
}
