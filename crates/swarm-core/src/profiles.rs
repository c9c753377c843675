//! Under which profile a task is worked on: its own, or the first of those that stand in for it
//! while the allowance of its group is used up.

use swarm_protocol::policy::ProfileRule;

use crate::planted::{self, Bug};
use crate::stage::Stage;
use crate::state::{State, Task};

/// The group of runs that name no profile, in swarms that have none configured.
const NO_GROUP: &str = "default";

impl State {
    fn rule(&self, profile: &str) -> Option<&ProfileRule> {
        self.policy.profiles.iter().find(|rule| rule.name == profile)
    }

    /// The profile that the task is meant for.
    pub fn preferred_profile<'a>(&'a self, task: &'a Task) -> &'a str {
        task.assigned.as_deref().or(task.spec.profile.as_deref()).unwrap_or(&self.policy.profile)
    }

    /// The group that a profile shares its allowance with.
    pub fn quota_group(&self, profile: &str) -> String {
        let named = match self.rule(profile) {
            Some(rule) if !rule.quota_group.is_empty() => &rule.quota_group,
            _ => profile,
        };
        if named.is_empty() { NO_GROUP.into() } else { named.into() }
    }

    pub fn quota_is_open(&self, group: &str) -> bool {
        self.quotas.get(group).is_none_or(|gate| gate.closed.is_none())
    }

    /// The profile with more rights than this one, where there is one.
    pub(crate) fn broader_than(&self, profile: &str) -> Option<&str> {
        let broader = self.rule(profile)?.broader.as_deref()?;
        self.rule(broader).map(|rule| rule.name.as_str())
    }

    /// The profile under which the task can be worked on now; none while it waits for quota.
    pub(crate) fn profile_for<'a>(&'a self, task: &'a Task) -> Option<&'a str> {
        let preferred = self.preferred_profile(task);
        if planted::is(Bug::ClosedGatePassed) {
            return Some(preferred);
        }
        if self.quota_stops_everything() {
            return None;
        }
        let open = |profile: &&str| self.quota_is_open(&self.quota_group(profile));
        let others = self.rule(preferred).map(|rule| rule.fallback.as_slice()).unwrap_or_default();
        let known = others.iter().map(String::as_str).filter(|name| self.rule(name).is_some());
        std::iter::once(preferred).chain(known).find(open)
    }

    /// Whether another profile can work on the task while this group is closed.
    pub(crate) fn has_stand_in(&self, task: &Task, group: &str) -> bool {
        if self.policy.quota_stops_all {
            return false;
        }
        let others = self.rule(self.preferred_profile(task)).map(|rule| rule.fallback.as_slice());
        let groups = others
            .unwrap_or_default()
            .iter()
            .filter_map(|name| Some(self.quota_group(&self.rule(name)?.name)));
        groups.into_iter().any(|other| other != group && self.quota_is_open(&other))
    }

    /// One used-up allowance holds everything up: by choice, or because there is no other one.
    pub(crate) fn quota_stops_everything(&self) -> bool {
        let any_closed = self.quotas.values().any(|gate| gate.closed.is_some());
        if !any_closed {
            return false;
        }
        let mut groups = self.policy.profiles.iter().map(|rule| rule.quota_group.as_str());
        let first = groups.next();
        self.policy.quota_stops_all || groups.all(|group| Some(group) == first)
    }

    /// Whether the task would be worked on, or worked on as it should be, if this group had something left.
    pub(crate) fn waits_for_group(&self, task: &Task, group: &str) -> bool {
        let stands = matches!(task.stage, Stage::Pending { .. } | Stage::Restarting { .. });
        stands && (self.quota_stops_everything() || self.quota_group(self.preferred_profile(task)) == group)
    }
}
