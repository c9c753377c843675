//! A program at work: its output, its input, its clocks and the wishes of others, until all of it is gone.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::signal::unix::Signal;
use tokio::time::{Instant, sleep_until};

use super::super::dialogue::Dialogue;
use super::super::pipe::Pipe;
use super::super::room::Room;
use super::super::silence::{Quiet, Silence, Work};
use super::super::tools::next_of;
use super::super::tree;
use super::{Bounds, How, LEFTOVER_GRACE_MAX, Listener, StopWish};
use swarm_agents::journal::Stream;
use swarm_process::Boxed;
use swarm_process::sandbox::{GitRights, SandboxSpec};

/// How long the pipes are read on once nobody should hold them any more.
const PIPE_GRACE: Duration = Duration::from_secs(2);

/// A program that has nothing more to do leaves by itself within this time, or is ended.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// How often it is looked what the program takes of the machine.
const MEASURE_EVERY: Duration = Duration::from_secs(2);

type Ending = Pin<Box<dyn Future<Output = Vec<u32>> + Send>>;

/// A program at work.
pub(super) struct Watched<'a> {
    pub(super) boxed: Boxed,
    bounds: &'a Bounds,
    listener: &'a mut dyn Listener,
    ended_children: Signal,
    out: Pipe<ChildStdout>,
    err: Pipe<ChildStderr>,
    dialogue: Dialogue,
    /// It was to have a dialogue.
    speaks: bool,
    silence: Silence,
    pub(super) how: How,
    pub(super) why: Option<String>,
    /// Until then it may leave by itself.
    leave_by: Option<Instant>,
    ending: Option<Ending>,
    asked_to_end: bool,
    next_measure: Instant,
    room: Room,
    pub(super) limit: Option<String>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(
        mut boxed: Boxed,
        bounds: &'a Bounds,
        listener: &'a mut dyn Listener,
        ended_children: Signal,
    ) -> Self {
        let stdin = boxed.running.child.stdin.take();
        Self {
            out: Pipe::new(Stream::Out, boxed.running.child.stdout.take()),
            err: Pipe::new(Stream::Err, boxed.running.child.stderr.take()),
            speaks: stdin.is_some(),
            dialogue: Dialogue::new(stdin),
            silence: Silence::new(Instant::now()),
            boxed,
            bounds,
            listener,
            ended_children,
            how: How::ByItself,
            why: None,
            leave_by: None,
            ending: None,
            asked_to_end: false,
            next_measure: Instant::now() + MEASURE_EVERY,
            room: Room::default(),
            limit: None,
        }
    }

    /// One place where its output, its input, its clocks and the wishes of others meet.
    pub(super) async fn until_the_end(&mut self, stop: &mut StopWish) -> std::io::Result<ExitStatus> {
        self.ask_listener();
        loop {
            let free = !self.asked_to_end;
            let limited = self.bounds.sandbox.is_some();
            let next_look = self.silence.next_look(self.listener.patience());
            tokio::select! {
                status = self.boxed.running.wait() => return status,
                bytes = self.out.read(), if self.out.is_open() => {
                    self.out.cut(bytes, self.listener);
                    self.heard(bytes);
                }
                bytes = self.err.read(), if self.err.is_open() => {
                    self.err.cut(bytes, self.listener);
                    self.heard(bytes);
                }
                called = next_of(self.listener.calls()) => {
                    self.listener.called(called);
                    self.heard(1);
                }
                () = self.dialogue.write(), if self.dialogue.wants_to_write() => self.mind_the_close(),
                _ = self.ended_children.recv() => tree::reap_orphans(),
                _ = of(&mut self.ending), if self.ending.is_some() => self.ending = None,
                grace = wished(stop), if free => self.end(How::Stopped, None, grace),
                () = at(self.bounds.deadline), if free => self.end(How::TimedOut, None, self.bounds.grace),
                () = at(self.leave_by), if free => self.end(self.how, None, self.bounds.grace),
                () = sleep_until(self.next_measure), if free && limited => self.measure(),
                () = sleep_until(next_look), if free && self.how == How::ByItself => self.look(),
            }
        }
    }

    fn heard(&mut self, bytes: usize) {
        if bytes > 0 {
            self.silence.heard(Instant::now());
            self.ask_listener();
        }
    }

    fn ask_listener(&mut self) {
        let listening = self.dialogue.ask(self.listener);
        if self.how != How::ByItself {
            return;
        }
        if listening.is_err() {
            self.enough("it does not read what it is told".into());
        } else if let Some(why) = self.listener.enough() {
            self.dialogue.close();
            if self.listener.at_once() {
                self.end(How::Enough, Some(why), self.bounds.grace);
            } else {
                self.enough(why);
            }
        } else {
            self.mind_the_close();
        }
    }

    fn enough(&mut self, why: String) {
        (self.how, self.why) = (How::Enough, Some(why));
        self.leave_by = Some(Instant::now() + LEAVE_WITHIN);
    }

    /// Once nothing more will be said to it, it is expected to leave; how it does is its own affair.
    fn mind_the_close(&mut self) {
        if self.speaks && self.dialogue.is_over() && self.leave_by.is_none() {
            self.leave_by = Some(Instant::now() + self.bounds.grace.max(LEAVE_WITHIN));
        }
    }

    fn look(&mut self) {
        let patience = self.listener.patience();
        let (held, nonce) = (&self.boxed.held, &self.bounds.nonce);
        let work = || Work { used: held.cpu_used(nonce), starved: held.starved() };
        match self.silence.look(Instant::now(), patience, work) {
            Quiet::No => {}
            Quiet::Half => self.listener.is_quiet(patience.unwrap_or_default() / 2),
            Quiet::TooLong => {
                let secs = patience.unwrap_or_default().as_secs();
                let why = format!("it neither printed a line nor worked for {secs} s");
                self.end(How::Silent, Some(why), self.bounds.grace);
            }
        }
    }

    /// Ends it when it takes more of the machine than it may.
    fn measure(&mut self) {
        self.next_measure = Instant::now() + MEASURE_EVERY;
        let Some(spec) = &self.bounds.sandbox else { return };
        let passed = self.boxed.held.passed(&spec.limits);
        let passed = passed.or_else(|| self.room.passed(&places_of(spec), spec.limits.worktree_bytes));
        if let Some(why) = passed {
            self.limit = Some(why.clone());
            self.end(How::Enough, Some(why), Duration::ZERO);
        }
    }

    fn end(&mut self, how: How, why: Option<String>, grace: Duration) {
        self.asked_to_end = true;
        // Left alone to leave and did not: that is the end of the dialogue, not an end by itself.
        self.how = if how == How::ByItself { How::Enough } else { how };
        self.why = why.or(self.why.take());
        self.ending = Some(self.all_ended(grace));
    }

    fn all_ended(&self, grace: Duration) -> Ending {
        Box::pin(self.boxed.held.clone().end(self.bounds.nonce.clone(), grace))
    }

    /// The program has ended: now everything it started, and the rest of what they said.
    pub(super) async fn clear_up(&mut self) -> Vec<u32> {
        let grace = self.bounds.grace.min(LEFTOVER_GRACE_MAX);
        // The grace was the program's. What outlives it has been asked with it, and gets a moment more.
        let asked = match self.ending.take() {
            Some(asked) => tokio::time::timeout(grace, self.reading_on(asked)).await.ok(),
            None => Some(self.reading_on(self.all_ended(grace)).await),
        };
        let mut left = match asked {
            Some(left) => left,
            None => self.reading_on(self.all_ended(Duration::ZERO)).await,
        };
        left.extend(tree::end_adopted().await);
        let rest = async {
            while self.out.is_open() || self.err.is_open() {
                self.read_more().await;
            }
        };
        let _ = tokio::time::timeout(PIPE_GRACE, rest).await;
        self.out.finish(self.listener);
        self.err.finish(self.listener);
        // Said before the end, and not heard yet.
        while let Some(called) = self.listener.calls().and_then(|calls| calls.try_recv().ok()) {
            self.listener.called(called);
        }
        left
    }

    /// Those who are being ended may still have a word to say, and wait until it is taken.
    async fn reading_on(&mut self, mut ending: Ending) -> Vec<u32> {
        loop {
            let open = self.out.is_open() || self.err.is_open();
            tokio::select! {
                left = &mut ending => return left,
                () = self.read_more(), if open => {}
            }
        }
    }

    async fn read_more(&mut self) {
        tokio::select! {
            bytes = self.out.read(), if self.out.is_open() => self.out.cut(bytes, self.listener),
            bytes = self.err.read(), if self.err.is_open() => self.err.cut(bytes, self.listener),
            else => {}
        }
    }
}

/// Where a program may leave files that go with its task.
fn places_of(spec: &SandboxSpec) -> Vec<PathBuf> {
    let own = spec.git.iter().flat_map(GitRights::folders);
    [spec.worktree.clone(), spec.tmp.clone()].into_iter().chain(own).collect()
}

async fn of(ending: &mut Option<Ending>) -> Vec<u32> {
    match ending {
        Some(ending) => ending.await,
        None => std::future::pending().await,
    }
}

async fn wished(stop: &mut StopWish) -> Duration {
    let grace = stop.wait_for(Option::is_some).await.map(|grace| *grace);
    match grace {
        Ok(grace) => grace.unwrap_or_default(),
        Err(_) => std::future::pending().await,
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
