//! The rules that a story is played by: every seed has others.

use swarm_protocol::council::CouncilRules;
use swarm_protocol::outcome::Mode;
use swarm_protocol::policy::{Allowance, Policy, ProfileRule};
use swarm_protocol::review::Reviewer;

use crate::rng::Rng;

pub fn rules_of_a_story(rng: &mut Rng) -> Policy {
    let profiles = profiles(rng);
    // One of another group than those that work, or of the same.
    let review_profile = rng.chance(35).then(|| (*rng.pick(&["judge", "main"])).to_owned());
    let council = if rng.chance(25) { council(rng) } else { CouncilRules::default() };
    let by_agent = review_profile.as_ref().map(|_| Reviewer::Agent);
    Policy {
        reviewer: if council.is_none() { by_agent } else { Some(Reviewer::Council) },
        review_profile,
        council,
        max_retries: rng.between(0, 3) as u32,
        max_iterations: rng.between(2, 5) as u32,
        max_task_secs: 300,
        backoff_max_secs: 60,
        merge_rounds: rng.between(1, 3) as u32,
        races_max: rng.between(1, 3) as u32,
        resolve_max: rng.below(3) as u32,
        checks: rng.chance(85),
        verifies: rng.chance(85),
        transient_max: rng.between(0, 4) as u32,
        review_rounds: rng.between(1, 3) as u32,
        reviews: rng.chance(50),
        resumes_sessions: rng.chance(50),
        mode: *rng.pick(&Mode::ALL),
        snapshot_every: rng.between(10, 50),
        quota_stops_all: rng.chance(20),
        probe_secs: rng.between(10, 120),
        crashes_max: rng.between(1, 4) as u32,
        crash_window_secs: 900,
        stable_secs: rng.between(30, 120),
        task_budget: allowance(rng, 1_500),
        budget: allowance(rng, 8_000),
        claims_max: rng.between(3, 12) as u32,
        same_failures_max: rng.between(0, 4) as u32,
        check_bases: rng.chance(50),
        profile: profiles.first().map(|rule| rule.name.clone()).unwrap_or_default(),
        profiles,
        ..Policy::default()
    }
}

fn council(rng: &mut Rng) -> CouncilRules {
    let names = ["a", "b", "c"].into_iter().take(rng.between(1, 3) as usize);
    let members: Vec<&str> = names.collect();
    let profile = |rng: &mut Rng| (*rng.pick(&["judge", "main"])).to_owned();
    CouncilRules {
        quorum: rng.below(members.len() as u64 + 1) as u32,
        veto: rng.chance(50),
        members: members.into_iter().map(|name| (name.to_owned(), profile(rng))).collect(),
    }
}

/// None, one, or two groups; the first profile is the swarm's.
fn profiles(rng: &mut Rng) -> Vec<ProfileRule> {
    let rule = |name: &str, group: &str| ProfileRule {
        name: name.into(),
        quota_group: group.into(),
        ..ProfileRule::default()
    };
    let (fallback, broader) = (vec!["spare".into()], Some("wide".into()));
    let main = ProfileRule { fallback, broader, ..rule("main", "one") };
    match rng.below(4) {
        0 => vec![],
        1 => vec![ProfileRule { broader: None, fallback: vec![], ..main }],
        _ => vec![main, rule("spare", "two"), rule("wide", "one")],
    }
}

fn allowance(rng: &mut Rng, tokens: u64) -> Allowance {
    let secs = if rng.chance(30) { rng.between(60, 600) } else { 0 };
    if rng.chance(30) { Allowance { tokens, secs, ..Allowance::default() } } else { Allowance::default() }
}
