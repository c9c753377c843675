//! Runs seeds of the simulated worlds: `swarm-sim --seeds 1000000 --from 0 --world both`.
//!
//! Exit 0: every seed held. Exit 1: a seed failed and is printed so that it can be kept as a test.

use std::process::ExitCode;
use std::time::Instant;

use swarm_sim::disk::ledger::{run::run_seed, tally::Tally};
use swarm_sim::disk::seeds::run_all;
use swarm_sim::world::{self, Planted};

const USAGE: &str =
    "usage: swarm-sim [--seeds N] [--from S] [--world core|ledger|both] [--planted BUG] [--threads N]
BUG of the ledger: sync-left-out, answer-before-sync, half-a-batch-kept, epoch-not-checked
BUG of the core: trunk-released-on-stage-change, slot-granted-before-stopped, old-report-believed,
  granted-without-start, transient-counted, old-verdict-believed, red-trunk-blamed,
  probed-twice, late-quota-believed, quota-counted, closed-gate-passed, degraded-granted,
  restart-loses-slot, message-lands-unread, cancelled-never-reported, effect-returned-not-owed,
  epoch-not-checked, answered-before-sync, orphan-of-living-requeued, outbox-flushed-twice";

struct Request {
    seeds: u64,
    from: u64,
    world: String,
    planted: Option<String>,
    threads: usize,
}

fn main() -> ExitCode {
    let request = match read_arguments(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let (core, ledger) = (request.world != "ledger", request.world != "core");
    if ledger
        && let Some(bug) = &request.planted
        && let Err(why) = plant(bug)
        && (!core || Planted::named(bug).is_none())
    {
        eprintln!("{why}\n{USAGE}");
        return ExitCode::from(2);
    }
    let core_holds = !core || run_core(&request);
    let ledger_holds = !ledger || run_ledger(&request);
    if core_holds && ledger_holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_core(request: &Request) -> bool {
    let started = Instant::now();
    let planted = request.planted.as_deref().and_then(Planted::named);
    let sweep = world::sweep(request.from, request.seeds, planted);
    match &sweep.failure {
        None => {
            println!("core: {} seeds from {} held in {:.1?}", sweep.seeds, request.from, started.elapsed());
            println!("  inputs {}, crashes {}, tasks done {}", sweep.inputs, sweep.crashes, sweep.tasks_done);
            print!("{}", sweep.table);
            true
        }
        Some(failure) => {
            print!("{failure}");
            false
        }
    }
}

fn run_ledger(request: &Request) -> bool {
    let started = Instant::now();
    let result =
        run_all(request.from, request.seeds, request.threads, run_seed, Tally::default(), |all, outcome| {
            all.add(&outcome.tally);
        });
    match result {
        Ok(tally) => {
            println!(
                "ledger: {} seeds from {} held in {:.1?}",
                request.seeds,
                request.from,
                started.elapsed()
            );
            print!("{tally}");
            true
        }
        Err((_, failure)) => {
            print!("{failure}");
            false
        }
    }
}

#[cfg(debug_assertions)]
fn plant(bug: &str) -> Result<(), String> {
    use swarm_ledger::planted::{Bug, set};
    set(match bug {
        "sync-left-out" => Bug::SyncLeftOut,
        "answer-before-sync" => Bug::AnswerBeforeSync,
        "half-a-batch-kept" => Bug::HalfABatchKept,
        "epoch-not-checked" => Bug::EpochNotChecked,
        other => return Err(format!("there is no bug {other}")),
    });
    Ok(())
}

#[cfg(not(debug_assertions))]
fn plant(_: &str) -> Result<(), String> {
    Err("a release build has no planted bugs".into())
}

fn read_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut request = Request { seeds: 1_000, from: 0, world: "both".into(), planted: None, threads: 2 };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a number, not {value}"));
        match name.as_str() {
            "--seeds" => request.seeds = number()?,
            "--from" => request.from = number()?,
            "--threads" => request.threads = usize::try_from(number()?.clamp(1, 256)).expect("small"),
            "--world" if ["core", "ledger", "both"].contains(&value.as_str()) => request.world = value,
            "--world" => return Err(format!("there is no world {value}")),
            "--planted" => request.planted = Some(value),
            other => return Err(format!("{other} is not known")),
        }
    }
    Ok(request)
}
