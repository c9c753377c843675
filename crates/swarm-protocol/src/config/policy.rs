//! The part of the configuration that the core decides by.

use super::recovery::profile_rules;
use super::{Config, QuotaScope, SessionKind, hook_rules};
use crate::policy::Policy;
use crate::reservation::Isolation;
use crate::review::Reviewer;

impl Config {
    /// The numbers the core decides by.
    pub fn policy(&self) -> Policy {
        let checks = !self.check.commands.is_empty() || !self.scan.commands.is_empty();
        Policy {
            dispatch: true,
            max_retries: self.recovery.max_retries,
            orphans_wait: !self.recovery.auto_reset_orphaned,
            max_iterations: self.max_iterations,
            max_task_secs: self.max_task_duration.secs,
            backoff_max_secs: self.recovery.backoff_max.secs,
            merge_rounds: self.merge.rounds,
            races_max: self.merge.races,
            resolve_max: self.merge.resolve,
            transient_max: self.recovery.max_transient,
            review_rounds: self.review.rounds,
            // No command has ever found anything: a person looks instead.
            reviews: self.reviewer() == Reviewer::Command && !self.review.commands.is_empty(),
            reviewer: Some(self.reviewer()),
            reviewer_chosen: false,
            review_profile: self.review.profile.clone(),
            council: self.council_rules(),
            review_tags: self.review.tags.clone(),
            review_commands: !self.review.commands.is_empty(),
            resumes_sessions: self.session == SessionKind::Resume,
            mode: self.mode,
            profile: self.agent.clone(),
            profile_chosen: false,
            profiles: profile_rules(&self.profiles, &self.agent),
            quota_stops_all: self.quota.scope == QuotaScope::All,
            probe_secs: self.quota.probe_every.secs,
            crashes_max: self.recovery.max_crashes,
            crash_window_secs: self.recovery.crash_window.secs,
            stable_secs: self.recovery.stable.secs,
            claims_max: self.recovery.max_claims,
            same_failures_max: self.recovery.max_same_failures,
            check_bases: checks,
            task_budget: self.budget.task.allowance(),
            budget: self.budget.session.allowance(),
            hooks: hook_rules(&self.hooks),
            checkpoints: self.checkpoints.rules(),
            snapshot_every: self.ledger.snapshot_every,
            overlap: self.reservations.overlap,
            reservation_secs: self.reservations.ttl.secs,
            reserve_files: self.reservations.files,
            shared_tree: self.isolation == Isolation::Reservation,
            checks,
            verifies: !self.verify_commands().commands.is_empty(),
            place: None,
        }
    }
}
