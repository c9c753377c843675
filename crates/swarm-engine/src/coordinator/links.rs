//! The daemons that are connected now, and the order each was last given.

use std::collections::BTreeMap;

use swarm_protocol::attempt::CallAnswer;
use swarm_protocol::channel::{Downward, Greeting, LedgerMark, Order};
use swarm_protocol::ids::RunId;

use crate::channel::{DaemonLink, LinkId};

#[derive(Debug, Default)]
pub struct Links {
    by_run: BTreeMap<RunId, Link>,
}

#[derive(Debug)]
struct Link {
    wire: DaemonLink,
    ordered: Option<Order>,
    /// Frames of this daemon that are in the ledger.
    received: u64,
}

impl Links {
    /// Takes a daemon in whose secret was checked. An older connection of the same run is dropped.
    pub fn welcome(&mut self, wire: DaemonLink, epoch: u64, received: u64) {
        let greeting = Downward::Greeting(Greeting::Welcome { epoch, received });
        if wire.send(greeting) {
            self.by_run.insert(wire.run.clone(), Link { wire, ordered: None, received });
        }
    }

    pub fn is_connected(&self, run: &RunId) -> bool {
        self.by_run.contains_key(run)
    }

    /// Whether a frame came over the connection that is current for its run.
    pub fn is_current(&self, run: &RunId, link: LinkId) -> bool {
        self.by_run.get(run).is_some_and(|l| l.wire.id == link)
    }

    pub fn received(&self, run: &RunId) -> u64 {
        self.by_run.get(run).map_or(0, |l| l.received)
    }

    /// The connection is over; true unless a newer one of the same run is there, which is not touched.
    pub fn lost(&mut self, run: &RunId, link: LinkId) -> bool {
        if self.is_current(run, link) {
            self.by_run.remove(run);
        }
        !self.is_connected(run)
    }

    /// Says that frames up to `n` are durable, and how far the ledger reaches.
    pub fn acknowledge(&mut self, run: &RunId, n: u64, ledger: Option<LedgerMark>) {
        let Some(link) = self.by_run.get_mut(run) else { return };
        link.received = link.received.max(n);
        if !link.wire.send(Downward::Ack { received: link.received, ledger }) {
            self.by_run.remove(run); // it does not read: it will come back and be told anew
        }
    }

    /// One that does not read comes back, and its agent asks again.
    pub fn answer(&mut self, run: &RunId, ask: u64, answer: CallAnswer) {
        let Some(link) = self.by_run.get(run) else { return };
        if !link.wire.send(Downward::Answered { ask, answer }) {
            self.by_run.remove(run);
        }
    }

    /// Whether the daemon was told on this connection to run this iteration, as its last order. It is not told
    /// again in other words: what has been said since is for the next iteration.
    pub fn is_told_to_go(&self, run: &RunId, now: u32) -> bool {
        let ordered = self.by_run.get(run).and_then(|link| link.ordered.as_ref());
        matches!(ordered, Some(Order::Go { iteration, .. }) if *iteration == now)
    }

    /// Says how the daemon should be now, unless it was told on this connection already.
    pub fn order(&mut self, run: &RunId, epoch: u64, order: Order, traceparent: Option<String>) {
        let Some(link) = self.by_run.get_mut(run) else { return };
        if link.ordered.as_ref() == Some(&order) {
            return;
        }
        if link.wire.send(Downward::Order { epoch, order: order.clone(), traceparent }) {
            link.ordered = Some(order);
        } else {
            self.by_run.remove(run);
        }
    }

    /// Lets go of connections whose run is over.
    pub fn keep_only(&mut self, wanted: impl Fn(&RunId) -> bool) {
        self.by_run.retain(|run, _| wanted(run));
    }
}
