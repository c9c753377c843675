//! How each connected daemon should be now, read off what is owed.

use std::time::Duration;

use swarm_core::effect::{Effect, WorkOrder};
use swarm_core::trace::traceparent;
use swarm_protocol::channel::{CommandLine, Order};
use swarm_protocol::config::Commands;
use swarm_protocol::ids::RunId;

use super::Coordinator;
use super::outfit::Outfit;
use super::prompt::{Setting, compose, context_of};
use swarm_agents::handover::ContextFiles;
use swarm_agents::tools::has_tools;
use swarm_work::shared_tree;

/// The smallest question that shows whether the service answers at all.
const PROBE: &str = "Answer with the single word ok. Use no tools.";
/// A service that says nothing for so long is not back.
const PROBE_WITHIN: Duration = Duration::from_secs(120);

/// The run whose daemon an effect is about.
pub fn run_of(effect: &Effect) -> Option<&RunId> {
    match effect {
        Effect::Work { run, .. }
        | Effect::Verify { run, .. }
        | Effect::Review { run, .. }
        | Effect::Probe { run, .. }
        | Effect::Stop { run, .. }
        | Effect::Prepare { run, .. } => Some(run),
        _ => None,
    }
}

impl Coordinator {
    /// Tells every connected daemon what is wanted of it; what it was told already is not said again.
    pub(super) fn give_orders(&mut self, owed: &[Effect]) {
        let epoch = self.store.state().epoch;
        if self.stops_without_room.is_some() {
            let order = Order::Drain { within_secs: self.world.config.stop.drain.secs };
            let runs: Vec<RunId> = self.store.state().runs.keys().cloned().collect();
            return runs.iter().for_each(|run| self.links.order(run, epoch, order.clone(), None));
        }
        for effect in owed {
            let Some(run) = run_of(effect).filter(|run| self.links.is_connected(run)) else { continue };
            if let Some(order) = self.order_for(effect) {
                let parent = traceparent(self.store.state(), effect);
                self.links.order(run, epoch, order, parent);
            }
        }
    }

    /// Whether the program of the profile is told of the tools that its daemon serves.
    fn has_tools(&self, profile: Option<&str>) -> bool {
        let outfit = Outfit::of(&self.world.config, profile.unwrap_or(&self.world.agent));
        outfit.is_ok_and(|outfit| has_tools(&outfit.setup))
    }

    fn order_for(&self, effect: &Effect) -> Option<Order> {
        let config = &self.world.config;
        match effect {
            Effect::Work { run, task, agent, attempt, start, order, profile, .. } => Some(match order {
                WorkOrder::Go { iteration, .. } if self.links.is_told_to_go(run, *iteration) => return None,
                WorkOrder::Go { iteration, session } => {
                    let shared = shared_tree::place_of(&self.world.git, task, run);
                    let worktree = shared.clone().unwrap_or_else(|| self.world.worktree_of(task));
                    let submitted = config.commands_at_submission(true, true);
                    let setting = Setting {
                        task,
                        agent,
                        attempt: *attempt,
                        start: *start,
                        iteration: *iteration,
                        worktree: &worktree,
                        shared: shared.is_some(),
                        tools: self.has_tools(profile.as_deref()),
                        checks: submitted.commands.iter().map(CommandLine::shown).collect(),
                        learnings: self.world.learnings.for_agent(agent),
                        audit: self.world.config.recovery.inject_audit_log,
                        context: ContextFiles::new(&self.world.paths.swarm, task),
                    };
                    let words = compose(self.store.state(), setting)?;
                    Order::Go {
                        iteration: *iteration,
                        prompt: self.world.prompts.work(&words),
                        session: session.clone(),
                        known: self.store.state().seq,
                        context: Some(Box::new(context_of(&words))),
                    }
                }
                WorkOrder::Check { iteration, waived, scan_waived } => {
                    let Commands { commands, timeout } = config.commands_at_submission(!waived, !scan_waived);
                    let scans = if *scan_waived { 0 } else { config.scan.commands.len() };
                    let (timeout_secs, scans) = (timeout.secs, u32::try_from(scans).unwrap_or(u32::MAX));
                    Order::Check { iteration: *iteration, commands, timeout_secs, scans }
                }
                WorkOrder::Hold => Order::Hold,
                WorkOrder::Drain => Order::Drain { within_secs: config.stop.drain.secs },
            }),
            Effect::Verify { checks, .. } => {
                let at_submission = checks.then(|| config.commands_at_submission(true, true));
                let verify = at_submission.unwrap_or_else(|| config.verify_commands().clone());
                Some(Order::Verify { commands: verify.commands, timeout_secs: verify.timeout.secs })
            }
            Effect::Review { by: Some(_), .. } => {
                Some(Order::Ask { timeout_secs: config.review.timeout.secs })
            }
            Effect::Review { .. } => Some(Order::Verify {
                commands: config.review.commands.clone(),
                timeout_secs: config.review.timeout.secs,
            }),
            Effect::Probe { .. } => {
                Some(Order::Probe { prompt: PROBE.into(), timeout_secs: PROBE_WITHIN.as_secs() })
            }
            Effect::Stop { .. } => Some(Order::Stop { grace_secs: config.stop.grace.secs }),
            _ => None,
        }
    }
}
