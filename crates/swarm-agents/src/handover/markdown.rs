//! `context.md`: what the last iteration did, in a page.

use std::fmt::Write;

use super::Handover;

impl Handover {
    /// The page for whoever goes on, bounded by what is kept.
    pub fn markdown(&self) -> String {
        let mut page = format!("# Context of {}\n\n", self.task);
        let mut line = |name: &str, value: &str| {
            if !value.is_empty() {
                let _ = writeln!(page, "- {name}: {value}");
            }
        };
        line("Task", &self.heading);
        line("Attempt", &format!("{} by {} ({})", self.attempt, self.agent, self.run));
        let state = if self.under_way { "under way when this was written" } else { "ended" };
        line("Iteration", &format!("{}, {state}, {}", self.iteration, self.written));
        line("It ended because", self.ended.as_deref().unwrap_or_default());
        line("Last commit", self.last_commit.as_deref().unwrap_or_default());
        line("Uncommitted changes", if self.worktree_has_changes { "yes" } else { "no" });
        line("They are kept at", self.kept_at.as_deref().unwrap_or_default());
        line("Files modified", &self.files_modified.join(", "));
        if let Some(tests) = self.test_status {
            line("Tests", &tests.describe());
        }
        section(&mut page, "Last tool calls", &self.tools, "- ");
        section(&mut page, "Last output", &self.output, "    ");
        page
    }
}

impl super::TestStatus {
    /// `4/6 passing`.
    pub fn describe(self) -> String {
        format!("{}/{} passing", self.passed, self.passed.saturating_add(self.failed))
    }
}

fn section(page: &mut String, title: &str, lines: &[String], before: &str) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(page, "\n## {title}\n\n");
    for line in lines {
        let _ = writeln!(page, "{before}{line}");
    }
}
