//! G12: one event to a hundred readers, against a bare loop that writes the same bytes to a hundred sockets.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;
use swarm_sim::bench::report::{Report, Target, median};

use crate::arena::{Arena, Planned};
use crate::http::Events;
use crate::running::{LIMIT, Running, wait_for};
use crate::setting::{ROUNDS, Setting};
use crate::stamps::Stamps;
use crate::{bare::BareLog, http};

const READERS: usize = 100;
/// Events of one round.
const EVENTS: usize = 6;

pub fn measure(setting: &Setting, report: &mut Report) -> Result<()> {
    let arena = Arena::new(setting, "g12-fanout", 20, json!({}))?;
    let stamps = Stamps::watch(&arena.beside("stamps"))?;
    arena.save_plan(&[Planned::new("t1", format!("{}\nhang", stamps.line("t1")))])?;
    let _running = Running::start(&arena, 1)?;
    stamps.next(LIMIT)?;
    wait_for(LIMIT, || Ok(http::answers(&arena.root)))?;
    let mut bare = BareFan::new(&arena)?;
    let mut product = ProductFan::new(&arena)?;
    let (mut ratios, mut limits, mut products) = (vec![], vec![], vec![]);
    for round in 0..=ROUNDS {
        let (mut raw, mut ours) = (vec![], vec![]);
        for n in 0..EVENTS {
            raw.push(bare.event()?.as_secs_f64());
            ours.push(product.event(round * EVENTS + n)?.as_secs_f64());
        }
        if round > 0 {
            ratios.push(median(&ours) / median(&raw));
            limits.push(median(&raw));
            products.push(median(&ours));
        }
    }
    let what = format!("command → durable event at {READERS} readers / bare loop + 1 fdatasync");
    report.judge("G12", &what, &ratios, Target::AtMost(2.0));
    let (limit, product) = (median(&limits) * 1e3, median(&products) * 1e3);
    report.note(
        "G12",
        &format!("limit {limit:.2} ms, product {product:.2} ms, both with {READERS} reading threads"),
    );
    Ok(())
}

/// Readers of a hundred sockets, each a thread; says when all have read an event.
struct BareFan {
    request: UnixStream,
    seen: Receiver<Instant>,
}

impl BareFan {
    /// One loop takes a request, syncs a record and writes to all.
    fn new(arena: &Arena) -> Result<Self> {
        let (request, mut asked) = UnixStream::pair()?;
        let mut log = BareLog::new(&arena.beside("bare-log"))?;
        let (sender, seen) = channel();
        let mut ends = Vec::new();
        for _ in 0..READERS {
            let (ours, mut theirs) = UnixStream::pair()?;
            ends.push(ours);
            let sender: Sender<Instant> = sender.clone();
            std::thread::spawn(move || {
                let mut event = [0; 400];
                while theirs.read_exact(&mut event).is_ok() && sender.send(Instant::now()).is_ok() {}
            });
        }
        std::thread::spawn(move || {
            let mut byte = [0; 400];
            while asked.read_exact(&mut byte).is_ok() && log.append().is_ok() {
                if ends.iter_mut().any(|end| end.write_all(&byte).is_err()) {
                    return;
                }
            }
        });
        Ok(Self { request, seen })
    }

    fn event(&mut self) -> Result<Duration> {
        let started = Instant::now();
        self.request.write_all(&[b'x'; 400])?;
        last_of(&self.seen, started)
    }
}

/// The same with `GET /v1/events` and a command.
struct ProductFan<'a> {
    arena: &'a Arena,
    seen: Receiver<Instant>,
}

impl<'a> ProductFan<'a> {
    fn new(arena: &'a Arena) -> Result<Self> {
        let (sender, seen) = channel();
        for _ in 0..READERS {
            let mut events = Events::follow(&arena.root)?;
            let sender: Sender<Instant> = sender.clone();
            std::thread::spawn(move || {
                // Several records may name it; the first one counts.
                let mut numbers = 0_usize..;
                while let Some(number) = numbers.next()
                    && events.until(&title(number)).is_ok()
                    && sender.send(Instant::now()).is_ok()
                {}
            });
        }
        Ok(Self { arena, seen })
    }

    fn event(&mut self, number: usize) -> Result<Duration> {
        let mut stream = http::connect(&self.arena.root)?;
        let body = json!({
            "id": format!("bench-{number}"), "by": "person:cli",
            "command": { "do": "edit_task", "task": "t1", "patch": { "title": title(number) } },
        });
        let request = http::post("/v1/commands", &body.to_string());
        let started = Instant::now();
        stream.write_all(request.as_bytes())?;
        last_of(&self.seen, started)
    }
}

fn title(number: usize) -> String {
    format!("fanned out {number}.")
}

fn last_of(seen: &Receiver<Instant>, started: Instant) -> Result<Duration> {
    let mut last = started;
    for _ in 0..READERS {
        last = last.max(seen.recv_timeout(LIMIT).context("An event did not come to all readers")?);
    }
    Ok(last - started)
}
