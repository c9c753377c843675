//! The daemon's loop: one place where orders, the end of work, clocks and knocks meet.

mod orders;

use std::sync::Arc;
use std::time::Duration;

use swarm_protocol::channel::{
    DaemonRecord, FromDaemon, IterationOutcome, LedgerMark, Order, RunKind, Upward,
};
use swarm_protocol::ids::Oid;
use swarm_protocol::outcome::Ended;
use tokio::net::unix::pipe;
use tokio::signal::unix::Signal;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::files::write_whole;
use super::line::{Heard, Line};
use super::outbox::Outbox;
use super::run_context::{Hears, RunContext, Yield};
use super::tools::{Asking, Wanted};
use super::traced;
use swarm_process::complain;

const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);
/// How often a daemon that hears nobody looks whether its files are still there.
const LOOK_WHEN_ALONE_EVERY: Duration = Duration::from_secs(5);

/// How long the last reports may take to be acknowledged before they are left in the last word.
const FAREWELL: Duration = Duration::from_secs(2);

pub struct RunLoop {
    pub context: Arc<RunContext>,
    /// What the work at hand has to tell on its way.
    told: mpsc::Receiver<FromDaemon>,
    /// What its agent asks for.
    wishes: mpsc::Receiver<Wanted>,
    asking: Asking,
    pub line: Line,
    pub outbox: Outbox,
    work: Option<Work>,
    /// The newest order that has not been begun: it waits for the work at hand.
    wanted: Option<Order>,
    /// The span that what is wanted belongs to.
    traceparent: Option<String>,
    /// Begun last; none is ever begun twice.
    iteration: u32,
    checked: Option<u32>,
    verified: bool,
    ending: Option<Ending>,
}

struct Work {
    handle: JoinHandle<Yield>,
    stop: watch::Sender<Option<Duration>>,
}

/// The way out, from which nothing leads back.
struct Ending {
    how: Ended,
    /// Until then the work at hand may come to its end by itself.
    until: Option<Instant>,
}

/// What is left to write down.
pub struct LastWord {
    pub how: Ended,
    pub wip: Option<Oid>,
    /// All processes are gone and all work is saved.
    pub settled: bool,
}

impl RunLoop {
    pub fn new(context: RunContext, hears: Hears, line: Line, outbox: Outbox) -> Self {
        let Hears { told, wanted: wishes } = hears;
        Self {
            context: Arc::new(context),
            told,
            wishes,
            asking: Asking::default(),
            line,
            outbox,
            work: None,
            wanted: None,
            traceparent: None,
            iteration: 0,
            checked: None,
            verified: false,
            ending: None,
        }
    }

    /// Serves until the end, then saves what is not committed and says goodbye.
    pub async fn serve(&mut self, knock: &pipe::Receiver, term: &mut Signal) -> LastWord {
        if self.context.spec.kind == RunKind::Work {
            self.report_ready().await;
        }
        let mut progress = self.context.progress.subscribe();
        let mut heartbeat = interval(HEARTBEAT_EVERY);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut alone = interval(LOOK_WHEN_ALONE_EVERY);
        alone.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.is_over() {
            let alone_at = self
                .line
                .alone_since()
                .map(|since| since + Duration::from_secs(self.context.spec.alone_secs));
            let patience_until = self.ending.as_ref().and_then(|ending| ending.until);
            tokio::select! {
                heard = self.line.next(self.outbox.sent()) => self.heard(heard),
                Some(told) = self.told.recv() => self.report(told),
                Some(wanted) = self.wishes.recv() => {
                    if let Some(frame) = self.asking.asks(wanted, self.line.is_up()) {
                        self.line.send(frame);
                    }
                }
                done = ended(&mut self.work), if self.work.is_some() => self.work_ended(done),
                () = at(alone_at), if self.ending.is_none() => {
                    self.context.note("no coordinator for too long");
                    self.stop(self.context.spec.stop_grace());
                }
                () = at(patience_until) => self.stop(self.context.spec.stop_grace()),
                _ = term.recv() => self.stop(self.context.spec.stop_grace()),
                _ = knock.readable() => {
                    hear_out(knock);
                    self.line.hurry();
                }
                Ok(()) = progress.changed() => {
                    let percent = *progress.borrow_and_update();
                    self.line.send(Upward::Progress { percent });
                }
                _ = heartbeat.tick(), if self.line.is_up() => self.beat(),
                _ = alone.tick(), if !self.line.is_up() && self.ending.is_none() => {
                    // The repository was deleted: nobody will ever ask for what is done here.
                    let files = self.context.spec.files();
                    if !files.lock().exists() && !files.spec().exists() {
                        self.context.note("the files of this run are gone");
                        self.stop(self.context.spec.stop_grace());
                    }
                }
            }
        }
        self.farewell().await
    }

    fn is_over(&self) -> bool {
        self.ending.is_some() && self.work.is_none()
    }

    async fn report_ready(&mut self) {
        let (tip, note) = match self.context.tip().await {
            Ok(tip) => (tip, None),
            Err(error) => (None, Some(error.to_string())),
        };
        self.report(FromDaemon::Boundary {
            iteration: 0,
            outcome: IterationOutcome::NoSignal,
            tip,
            note,
            usage: Default::default(),
            session: None,
            known: 0,
        });
    }

    /// The only way up: nothing leaves here with a secret or a place of this machine in it.
    fn report(&mut self, report: FromDaemon) {
        let report = report.with_texts(|text| self.context.sentence(&text));
        // Of the other two a power cut takes nothing: before the first iteration nothing was done, and the end is
        // told by the last word, which is durable.
        let durable = match &report {
            FromDaemon::Boundary { iteration, .. } => *iteration > 0,
            FromDaemon::Ended { .. } => false,
            _ => true,
        };
        traced::reports(self.outbox.sent() + 1, &report);
        complain("keep a report on disk", self.outbox.push(report, durable));
        self.send_waiting();
    }

    /// As much as may be under way; what comes after it goes with the next acknowledgement.
    fn send_waiting(&mut self) {
        while self.line.is_up()
            && let Some((n, report)) = self.outbox.next_to_say()
        {
            self.line.send(Upward::Report { n, report });
        }
    }

    fn beat(&mut self) {
        let journal_bytes = self.context.journal_bytes();
        self.line.send(Upward::Heartbeat { iteration: self.iteration, journal_bytes });
    }

    /// Writes down how far the ledger reached when we were told: a witness against one that is cut later.
    fn remember(&self, ledger: Option<LedgerMark>) {
        let files = self.context.spec.files();
        if let (Some(ledger), Some(record)) = (ledger, files.read_record()) {
            let record = DaemonRecord { ledger: Some(ledger), ..record };
            complain("write what the ledger said", write_whole(&files.record(), &record));
        }
    }

    fn work_ended(&mut self, done: Yield) {
        self.work = None;
        // Before what it led to.
        while let Ok(told) = self.told.try_recv() {
            self.report(told);
        }
        match done {
            Yield::Report(report) => {
                let last = matches!(
                    report,
                    FromDaemon::Verified { .. } | FromDaemon::Probed { .. } | FromDaemon::Answered(_)
                );
                self.report(report);
                if last {
                    self.end(Ended::Stopped);
                }
            }
            Yield::Reports(reports) => reports.into_iter().for_each(|report| self.report(report)),
            Yield::Stopped => self.end(Ended::Stopped),
            Yield::NoWorkspace { text } => self.end(Ended::NoWorkspace { text }),
        }
        self.begin_wanted();
    }

    fn end(&mut self, how: Ended) {
        self.ending.get_or_insert(Ending { how, until: None });
    }

    /// The work at hand is ended now, with this much grace.
    fn stop(&mut self, grace: Duration) {
        self.wanted = None;
        self.end(Ended::Stopped);
        if let Some(ending) = &mut self.ending {
            ending.until = None;
        }
        if let Some(work) = &self.work {
            work.stop.send_if_modified(|wish| wish.is_none() && wish.replace(grace).is_none());
        }
    }

    /// Saves the work, reports the end, and waits a moment for it to be acknowledged.
    async fn farewell(&mut self) -> LastWord {
        let how = self.ending.take().map_or(Ended::Stopped, |ending| ending.how);
        let how = how.with_texts(|text| self.context.sentence(&text));
        let (mut wip, mut settled) = (None, self.context.traces.all_gone());
        if self.context.spec.kind == RunKind::Work {
            // Stopped on the way: what was committed until then is handed in all the same. What keeps it from that is noted.
            let _ = self.context.hand_in().await;
            match self.context.save_wip().await {
                Ok(saved) => wip = saved,
                Err(text) => {
                    settled = false;
                    complain::<(), _>("save what is not committed", Err(text));
                }
            }
            self.context.hand_over_last(wip.as_ref()).await;
            for told in self.context.oversteps().await {
                self.report(told);
            }
        }
        self.context.settle_journal();
        self.report(FromDaemon::Ended { how: how.clone() });
        let until = Instant::now() + FAREWELL;
        while self.line.is_up() && !self.outbox.is_empty() {
            match tokio::time::timeout_at(until, self.line.next(self.outbox.sent())).await {
                Ok(Heard::Acknowledged { received, .. }) => {
                    self.outbox.acknowledge(received);
                    self.send_waiting();
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        LastWord { how, wip, settled }
    }
}

async fn ended(work: &mut Option<Work>) -> Yield {
    let Some(work) = work else { return std::future::pending().await };
    match (&mut work.handle).await {
        Ok(done) => done,
        Err(error) => Yield::NoWorkspace { text: format!("the daemon failed at its work: {error}") },
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Empties the pipe: many knocks are one.
fn hear_out(knock: &pipe::Receiver) {
    let mut bytes = [0; 64];
    while knock.try_read(&mut bytes).is_ok_and(|n| n > 0) {}
}
