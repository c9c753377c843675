//! A task as a plan brings it: nothing has happened to it yet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use swarm_protocol::failure::Usage;
use swarm_protocol::plan::TaskSpec;
use swarm_protocol::time::Timestamp;

use super::{Spent, Task};
use crate::stage::Stage;

impl Task {
    pub(crate) fn new(spec: TaskSpec, phase: u32, at: Timestamp) -> Self {
        Self {
            spec,
            phase,
            rank: 0,
            stage: Stage::Pending { since: at, not_before: Timestamp::ZERO },
            attempts: 0,
            restarts: 0,
            goes_on: false,
            retries: 0,
            transient_retries: 0,
            once_more: 0,
            review_rounds: 0,
            sent_back: None,
            changes_wanted: None,
            council: BTreeMap::new(),
            council_lost: BTreeMap::new(),
            conflicts: 0,
            conflicts_in: vec![],
            merge_rounds: 0,
            started: false,
            withheld: None,
            claims: 0,
            submitted: None,
            same_failure: None,
            failed_scan: false,
            usage: Usage::default(),
            session: None,
            failure: None,
            put_off: None,
            oversteps: 0,
            oversteps_seen: 0,
            overstep: None,
            effect_failures: 0,
            waived: BTreeSet::new(),
            empties: 0,
            handed_in: None,
            left_out: None,
            void: None,
            void_by_rule: false,
            voids: 0,
            resolved: vec![],
            joined: false,
            protected: vec![],
            held_by: vec![],
            landed_before: vec![],
            found: vec![],
            base: None,
            worktree: false,
            left: None,
            leaving: false,
            cancelled: 0,
            wip: None,
            verified: None,
            last_failure: None,
            last_agent: None,
            last_end: None,
            kept: None,
            was: None,
            bare: false,
            crashes: 0,
            overflows: 0,
            nudge: None,
            assigned: None,
            denied_under: BTreeSet::new(),
            worked_under: None,
            waits_for_quota: None,
            first: false,
            spent: Spent::default(),
            spent_before: Spent::default(),
            messages: VecDeque::new(),
            parts: vec![],
            parent: None,
            audit: VecDeque::new(),
        }
    }
}
