//! Ledgers of a given length, made of the product's own events.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use swarm_ledger::{
    Access, Base, Batch, Fragment, Ledger, LedgerPaths, Line, OnDamage, Recovered, Recovery, Vfs, create,
    recover,
};

/// Tasks of the plan: the state stays this large however long the ledger is.
const TASKS: u64 = 200;
pub const TS: &str = "2026-01-13T10:00:00.000Z";

/// The `number`th event: the plan, its tasks, then changes of status for ever.
pub fn body(number: u64) -> String {
    if number == 0 {
        return concat!(
            "\"type\":\"plan_created\",\"phase\":1,\"data\":{\"ledgerId\":\"bench\",\"format\":1,",
            "\"goal\":\"measure\",\"phases\":[{\"id\":1,\"name\":\"one\"}],\"extra\":{}},\"by\":\"person:cli\""
        )
        .into();
    }
    if number <= TASKS {
        return format!(
            "\"type\":\"task_added\",\"taskId\":\"1.{number}\",\"phase\":1,\"data\":{{\"id\":\"1.{number}\",\
             \"title\":\"task number {number}\"}},\"by\":\"person:cli\""
        );
    }
    let status = ["deferred", "pending"][usize::try_from(number % 2).expect("small")];
    format!(
        "\"type\":\"task_status_changed\",\"taskId\":\"1.{}\",\"status\":\"{status}\",\
         \"data\":{{\"why\":\"measured\"}},\"by\":\"person:cli\"",
        number % TASKS + 1
    )
}

pub fn batch(number: u64) -> Batch {
    Batch::new(vec![Fragment::new(body(number))], TS, 1)
}

pub fn paths(dir: &Path) -> LedgerPaths {
    LedgerPaths::standard(dir, Some(dir))
}

/// Makes a ledger of `events` records.
pub fn make(vfs: &Arc<dyn Vfs>, dir: &Path, events: u64) -> Result<LedgerPaths> {
    let paths = paths(dir);
    create(vfs, &paths, &batch(0)).context("Cannot make a ledger to measure")?;
    let (ledger, _) = Ledger::open(&open(vfs, &paths, Access::Write, &[], &mut |_| {})?)?;
    for number in 1..events - 1 {
        ledger.submit(batch(number), Box::new(|_| {}))?;
    }
    ledger.append(batch(events - 1))?;
    ledger.close();
    Ok(paths)
}

pub fn open(
    vfs: &Arc<dyn Vfs>,
    paths: &LedgerPaths,
    access: Access,
    bases: &[Base],
    visit: &mut dyn FnMut(&Line<'_>),
) -> Result<Recovered> {
    let request = Recovery { vfs, paths, witnesses: &[], bases, on_damage: OnDamage::Quarantine, access };
    recover(&request, visit).context("Cannot open the ledger to measure")
}
