//! The daemon's connection to whoever is the coordinator: dialled, greeted, lost, dialled again.

use std::time::Duration;

use swarm_protocol::attempt::CallAnswer;
use swarm_protocol::channel::{Downward, Greeting, Hello, LedgerMark, Order, Upward};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::channel::{Channel, Connection, Dialing};

/// A coordinator that has taken the connection greets within this time, or it hangs.
const GREETING_WITHIN: Duration = Duration::from_secs(10);

/// What the coordinator said. Nothing of a lower epoch than the highest seen ever gets here.
#[derive(Debug)]
pub enum Heard {
    /// Frames up to `received` are in the ledger; the rest is to be sent again.
    Welcome {
        received: u64,
    },
    /// The run is no longer wanted.
    Unwanted,
    Acknowledged {
        received: u64,
        ledger: Option<LedgerMark>,
    },
    /// With the span that what is started for it belongs to.
    Order(Order, Option<String>),
    /// What became of what the agent asked for.
    Answered {
        ask: u64,
        answer: CallAnswer,
    },
    /// The connection is over. Another will be tried; until it stands the daemon is alone.
    Silence,
    /// So often in a row nobody was reached that whoever watches over daemons should know. Said once.
    InVain {
        tries: u32,
    },
}

pub struct Line {
    channel: Box<dyn Channel>,
    hello: Hello,
    state: State,
    next_wait: Duration,
    wait_max: Duration,
    /// Somebody knocked: the next loss is followed by a try at once. Stays through a welcome, which
    /// may be the last word of the one who died before the knock.
    knocked: bool,
    alone_since: Option<Instant>,
    welcomed: Instant,
    /// Tries in a row that reached nobody.
    failures: u32,
}

/// Tries in a row after which the supervisor is told.
const TELL_AFTER: u32 = 5;

enum State {
    Down { until: Instant },
    Dialing(Dialing),
    Greeting { connection: Connection, until: Instant },
    Up(Connection),
}

/// A knock right after a welcome is of the one who gave it.
const WELCOMED_LATELY: Duration = Duration::from_secs(2);

const FIRST_WAIT: Duration = Duration::from_secs(1);

fn longer(wait: Duration, most: Duration) -> Duration {
    (wait * 2).min(most.max(FIRST_WAIT))
}

impl Line {
    pub fn new(channel: Box<dyn Channel>, hello: Hello, wait_max: Duration) -> Self {
        let now = Instant::now();
        let state = State::Down { until: now };
        Self {
            channel,
            hello,
            state,
            next_wait: FIRST_WAIT,
            wait_max,
            knocked: false,
            alone_since: Some(now),
            welcomed: now,
            failures: 0,
        }
    }

    /// The next word of the coordinator. May be dropped and called again at any point.
    pub async fn next(&mut self, sent: u64) -> Heard {
        loop {
            match &mut self.state {
                State::Down { until } => {
                    sleep_until(*until).await;
                    self.state = State::Dialing(self.channel.dial());
                }
                State::Dialing(dialing) => match dialing.await {
                    Ok(connection) => self.say_hello(connection, sent),
                    Err(_) => {
                        if let Some(heard) = self.reached_nobody() {
                            return heard;
                        }
                    }
                },
                State::Greeting { connection, until } => {
                    let greeting = timeout_at(*until, connection.incoming.recv()).await;
                    if let Some(heard) = self.greeted(greeting.ok().flatten()) {
                        return heard;
                    }
                }
                State::Up(connection) => {
                    let frame = connection.incoming.recv().await;
                    return self.told(frame);
                }
            }
        }
    }

    fn say_hello(&mut self, connection: Connection, sent: u64) {
        self.hello.sent = sent;
        match connection.outgoing.try_send(Upward::Hello(self.hello.clone())) {
            Ok(()) => self.state = State::Greeting { connection, until: Instant::now() + GREETING_WITHIN },
            Err(_) => self.lost(),
        }
    }

    fn greeted(&mut self, frame: Option<Downward>) -> Option<Heard> {
        match frame {
            Some(Downward::Greeting(Greeting::Welcome { epoch, received })) if self.obey(epoch) => {
                let before = std::mem::replace(&mut self.state, State::Down { until: Instant::now() });
                let State::Greeting { connection, .. } = before else {
                    unreachable!("only a greeting is greeted")
                };
                self.state = State::Up(connection);
                (self.next_wait, self.alone_since, self.failures) = (FIRST_WAIT, None, 0);
                self.welcomed = Instant::now();
                Some(Heard::Welcome { received })
            }
            Some(Downward::Greeting(Greeting::Stop { epoch, .. })) if self.obey(epoch) => {
                self.lost();
                Some(Heard::Unwanted)
            }
            _ => self.reached_nobody(),
        }
    }

    fn reached_nobody(&mut self) -> Option<Heard> {
        self.lost();
        self.failures = self.failures.saturating_add(1);
        (self.failures == TELL_AFTER).then_some(Heard::InVain { tries: self.failures })
    }

    fn told(&mut self, frame: Option<Downward>) -> Heard {
        match frame {
            Some(Downward::Ack { received, ledger }) => Heard::Acknowledged { received, ledger },
            Some(Downward::Answered { ask, answer }) => Heard::Answered { ask, answer },
            Some(Downward::Order { epoch, order, traceparent }) if self.obey(epoch) => {
                Heard::Order(order, traceparent)
            }
            Some(Downward::Greeting(Greeting::Stop { epoch, .. })) if self.obey(epoch) => Heard::Unwanted,
            // The end of the connection, or a coordinator that has been replaced: not another word with it.
            _ => {
                self.lost();
                Heard::Silence
            }
        }
    }

    /// True unless a newer coordinator has been heard before.
    fn obey(&mut self, epoch: u64) -> bool {
        let current = epoch >= self.hello.epoch;
        self.hello.epoch = self.hello.epoch.max(epoch);
        current
    }

    fn lost(&mut self) {
        let wait = if std::mem::take(&mut self.knocked) { Duration::ZERO } else { self.next_wait };
        self.next_wait = longer(self.next_wait, self.wait_max);
        let now = Instant::now();
        self.state = State::Down { until: now + wait };
        self.alone_since.get_or_insert(now);
    }

    /// Somebody knocked: a coordinator is there now. The one that we are connected to may be an older one that
    /// is stopped: only a new call tells who is there. Nothing is lost by it, all that matters is sent again.
    pub fn hurry(&mut self) {
        match &mut self.state {
            State::Down { until } => *until = Instant::now(),
            State::Up(_) if self.welcomed.elapsed() > WELCOMED_LATELY => {
                self.knocked = true;
                self.lost();
            }
            // The end of the old connection may not have been noticed yet.
            _ => self.knocked = true,
        }
    }

    /// Sends when connected. What matters has a number and is sent again after a loss.
    pub fn send(&mut self, frame: Upward) {
        if let State::Up(connection) = &self.state
            && connection.outgoing.try_send(frame).is_err()
        {
            self.lost();
        }
    }

    pub fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    /// Since when no coordinator has been there; none while one is.
    pub fn alone_since(&self) -> Option<Instant> {
        self.alone_since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_between_two_tries_grow_from_one_second_to_half_a_minute() {
        let waits =
            std::iter::successors(Some(FIRST_WAIT), |wait| Some(longer(*wait, Duration::from_secs(30))));
        let secs: Vec<u64> = waits.take(8).map(|wait| wait.as_secs()).collect();
        assert_eq!(secs, [1, 2, 4, 8, 16, 30, 30, 30]);
    }
}
