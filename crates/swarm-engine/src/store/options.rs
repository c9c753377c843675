//! What somebody who opens the store may choose.

use std::sync::Arc;
use std::time::Duration;

use swarm_ledger::{OnDamage, RealFs, Vfs, Witness};
use swarm_protocol::config;

/// How a store is opened.
#[derive(Clone)]
pub struct OpenOptions {
    /// For the lock file: `task add`, `coordinator`.
    pub role: String,
    /// How long to wait for a door that another command holds for its moment.
    pub wait: Duration,
    pub on_damage: OnDamage,
    /// Who else remembers how far the ledger reached: `refs/swarm/ledger`, as git tells.
    pub anchors: Vec<Witness>,
    /// Every record is walked, whatever a snapshot covers, and the second copy is compared to its end: damage that nobody
    /// reads any more is found and repaired.
    pub thorough: bool,
    pub vfs: Arc<dyn Vfs>,
}

impl OpenOptions {
    pub fn new(role: impl Into<String>) -> Self {
        Self {
            role: role.into(),
            // Sixteen commands that queue at the door are done in a second; a minute means one hangs.
            wait: Duration::from_secs(60),
            on_damage: OnDamage::Quarantine,
            anchors: Vec::new(),
            thorough: false,
            vfs: Arc::new(RealFs),
        }
    }

    pub fn on_damage(mut self, setting: config::OnDamage) -> Self {
        self.on_damage = match setting {
            config::OnDamage::Quarantine => OnDamage::Quarantine,
            config::OnDamage::Ask => OnDamage::Ask,
        };
        self
    }

    pub fn thorough(self) -> Self {
        Self { thorough: true, ..self }
    }

    pub fn anchors(mut self, anchors: Vec<Witness>) -> Self {
        self.anchors = anchors;
        self
    }
}
