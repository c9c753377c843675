//! Every byte of a ledger damaged in every way that matters: nothing goes unseen, nothing is lost in
//! silence, and with the second copy intact nothing is lost at all.

use std::path::Path;
use std::sync::Arc;

use swarm_ledger::{
    Access, Batch, Finding, Fragment, Head, LedgerPaths, LedgerWriter, OnDamage, OpenError, Recovered,
    Recovery, Vfs, Witness, create, recover,
};
use swarm_sim::disk::ledger::stranger;
use swarm_sim::disk::machine::Machine;
use swarm_sim::disk::seeds::run_all;

/// Records of each batch: 12 batches, 37 records.
const BATCHES: [u64; 12] = [1, 3, 5, 1, 2, 4, 3, 5, 1, 4, 5, 3];
const MAIN: &str = "/repo/.swarm/plan-ledger.jsonl";
const COPY: &str = "/repo/.git/swarm/plan-ledger.jsonl";

/// A ledger at rest, and what a snapshot remembers of it.
struct Sample {
    bytes: Vec<u8>,
    head: Head,
    /// Where each batch ends.
    ends: Vec<usize>,
}

fn paths() -> LedgerPaths {
    LedgerPaths::standard(Path::new("/repo/.swarm"), Some(Path::new("/repo/.git")))
}

fn machine() -> Machine {
    Machine::new(1, &["/repo/.swarm", "/repo/.git/swarm"])
}

fn sample(id: &str, batches: &[u64]) -> Sample {
    let machine = machine();
    let vfs: Arc<dyn Vfs> = Arc::new(machine.process());
    let paths = paths();
    let mut number = 0;
    let mut make = |count: u64| {
        let bodies = (0..count).map(|_| {
            number += 1;
            format!("\"type\":\"note\",\"n\":{number},\"by\":\"test\"")
        });
        let mut fragments: Vec<Fragment> = bodies.map(Fragment::new).collect();
        if number == count {
            fragments[0] = Fragment::first(id, &fragments[0].body);
        }
        Batch::new(fragments, "2026-01-13T10:00:00Z", 1)
    };
    let first = create(&vfs, &paths, &make(batches[0])).expect("a new ledger is made");
    let mut ends = vec![usize::try_from(first.head.end).expect("small")];
    let recovered = open(&machine, &[], OnDamage::Quarantine).expect("it opens").0;
    let (mut writer, _) = LedgerWriter::open(&recovered).expect("it can be written");
    for count in &batches[1..] {
        let committed = writer.append(make(*count)).expect("the batch is written");
        ends.push(usize::try_from(committed.head.end).expect("small"));
    }
    let bytes = machine.bytes(Path::new(MAIN)).expect("the ledger is there");
    Sample { bytes, head: *writer.head(), ends }
}

fn open(
    machine: &Machine,
    witnesses: &[Witness],
    on_damage: OnDamage,
) -> Result<(Recovered, u64), OpenError> {
    let vfs: Arc<dyn Vfs> = Arc::new(machine.process());
    let paths = paths();
    let request =
        Recovery { vfs: &vfs, paths: &paths, witnesses, bases: &[], on_damage, access: Access::Write };
    let mut shown = 0;
    let recovered = recover(&request, &mut |_| shown += 1)?;
    Ok((recovered, shown))
}

fn snapshot(head: &Head) -> Witness {
    Witness { seq: head.seq, hash: Some(head.hash), ledger_id: None, source: "state/snapshot.json".into() }
}

/// Opens a damaged ledger without a copy: it says so, keeps what was before, and deletes nothing.
fn told(sample: &Sample, damaged: &[u8], case: &str) -> Result<(), String> {
    let machine = machine();
    machine.plant(Path::new(MAIN), damaged.to_vec());
    let (recovered, shown) = match open(&machine, &[snapshot(&sample.head)], OnDamage::Quarantine) {
        Ok(opened) => opened,
        // The first record was hit: nothing can be proven, which is refused with the file untouched.
        Err(OpenError::NothingValid(_) | OpenError::Empty(_) | OpenError::NewerFormat { .. }) => {
            let untouched = machine.bytes(Path::new(MAIN)).as_deref() == Some(damaged);
            return if untouched { Ok(()) } else { Err(format!("{case}: refused and changed")) };
        }
        Err(error) => return Err(format!("{case}: {error}")),
    };
    if damaged.starts_with(&sample.bytes) && shown == sample.head.seq && !recovered.findings.is_empty() {
        return Ok(());
    }
    let Some(Finding::Loss(loss)) =
        recovered.findings.iter().find(|finding| matches!(finding, Finding::Loss(_)))
    else {
        return Err(format!("{case}: not noticed; {:?}", recovered.findings));
    };
    let good =
        sample.ends.iter().take_while(|end| damaged.get(..**end) == Some(&sample.bytes[..**end])).count();
    let end = sample.ends[good - 1];
    let left = machine.bytes(Path::new(MAIN)).unwrap_or_default();
    if left != sample.bytes[..end]
        || stranger::read(&left).map_err(|why| format!("{case}: {why}"))?.len() as u64 != shown
    {
        return Err(format!("{case}: {good} batches were whole, {} bytes are left", left.len()));
    }
    let cut = &damaged[end..];
    let kept = loss.quarantine.first().and_then(|path| machine.bytes(path));
    if !cut.is_empty() && kept.as_deref() != Some(cut) {
        return Err(format!("{case}: the cut bytes are not in quarantine"));
    }
    Ok(())
}

/// Opens a damaged ledger whose copy is intact: everything is there again.
fn repaired(sample: &Sample, damaged: &[u8], case: &str) -> Result<(), String> {
    let machine = machine();
    machine.plant(Path::new(MAIN), damaged.to_vec());
    machine.plant(Path::new(COPY), sample.bytes.clone());
    let (recovered, shown) = open(&machine, &[], OnDamage::Quarantine)
        .map_err(|error| format!("{case}, with the copy: {error}"))?;
    let whole =
        machine.bytes(Path::new(MAIN)).as_deref() == Some(&sample.bytes[..]) && shown == sample.head.seq;
    if !whole || recovered.findings.is_empty() {
        return Err(format!("{case}, with the copy: not brought back; {:?}", recovered.findings));
    }
    Ok(())
}

/// Damages the sample once for every number below `count`.
fn check(count: usize, damage: impl Fn(&[u8], u64) -> Option<(Vec<u8>, String)> + Sync) {
    let sample = sample("the-ledger", &BATCHES);
    check_sample(&sample, count, damage);
}

fn check_sample(
    sample: &Sample,
    count: usize,
    damage: impl Fn(&[u8], u64) -> Option<(Vec<u8>, String)> + Sync,
) {
    let run = |number| {
        let Some((damaged, case)) = damage(&sample.bytes, number) else { return Ok(0) };
        if damaged == sample.bytes {
            return Ok(0);
        }
        told(sample, &damaged, &case)?;
        repaired(sample, &damaged, &case)?;
        Ok::<u64, String>(1)
    };
    let cases = run_all(0, count as u64, 2, run, 0, |all, one| *all += one);
    let cases = cases.unwrap_or_else(|(_, why)| panic!("{why}"));
    println!("{cases} cases, each without and with the second copy");
    assert!(cases > 0);
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("small")
}

#[test]
fn every_byte_with_eleven_values() {
    let len = sample("the-ledger", &BATCHES).bytes.len();
    assert!(BATCHES.iter().sum::<u64>() >= 37);
    check(len * 11, |bytes, number| {
        let (at, value) = (index(number / 11), number % 11);
        let mut damaged = bytes.to_vec();
        damaged[at] = match value {
            8 => 0,
            9 => 0xff,
            10 => b'\n',
            bit => bytes[at] ^ (1 << bit),
        };
        Some((damaged, format!("byte {at} value {value}")))
    });
}

#[test]
fn every_truncation_with_and_without_nul_bytes() {
    let len = sample("the-ledger", &BATCHES).bytes.len();
    check(len * 2, |bytes, number| {
        let (keep, fill) = (index(number / 2), number % 2 == 1);
        let mut damaged = bytes[..keep].to_vec();
        if fill {
            damaged.resize(bytes.len(), 0);
        }
        Some((damaged, format!("cut to {keep} bytes, filled {fill}")))
    });
}

#[test]
fn every_zeroed_block_of_512_and_4096_bytes() {
    let len = sample("the-ledger", &BATCHES).bytes.len();
    check(len / 512 + len / 4096 + 2, |bytes, number| {
        let small = bytes.len() / 512 + 1;
        let (size, at) =
            if index(number) < small { (512, index(number)) } else { (4096, index(number) - small) };
        let (start, end) = (at * size, ((at + 1) * size).min(bytes.len()));
        let mut damaged = bytes.to_vec();
        damaged.get_mut(start..end)?.fill(0);
        Some((damaged, format!("block of {size} at {start}")))
    });
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[test]
fn records_dropped_doubled_swapped_or_moved() {
    check(37 * 4, |bytes, number| {
        let mut lines = lines(bytes);
        let (at, how) = (index(number / 4), number % 4);
        match how {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 if at + 1 < lines.len() => lines.swap(at, at + 1),
            3 if at + 5 < lines.len() => {
                let line = lines.remove(at);
                lines.insert(at + 4, line);
            }
            _ => return None,
        }
        Some((lines.concat(), format!("record {at} in way {how}")))
    });
}

#[test]
fn records_of_another_ledger_or_of_the_past_are_not_taken() {
    let other = sample("another-ledger", &BATCHES);
    let theirs = lines(&other.bytes);
    check(36 * 2, |bytes, number| {
        let mut lines = lines(bytes);
        let (at, past) = (index(number / 2) + 1, number % 2 == 1);
        lines[at] = if past { lines[at - 1].clone() } else { theirs[at].clone() };
        Some((lines.concat(), format!("record {at} replaced, by one of the past: {past}")))
    });
}

#[test]
fn a_whole_other_ledger_is_refused() {
    let other = sample("another-ledger", &BATCHES);
    let ours = sample("the-ledger", &BATCHES);
    let machine = machine();
    machine.plant(Path::new(MAIN), other.bytes.clone());
    machine.plant(Path::new(COPY), ours.bytes.clone());
    let refused = open(&machine, &[], OnDamage::Quarantine).map(drop);
    assert!(matches!(refused, Err(OpenError::AnotherLedger { .. })), "{refused:?}");
    assert_eq!(machine.bytes(Path::new(MAIN)), Some(other.bytes));
}

#[test]
fn a_ledger_replaced_by_an_older_copy_of_itself_is_noticed() {
    let sample = sample("the-ledger", &BATCHES);
    for end in &sample.ends[..sample.ends.len() - 1] {
        let older = &sample.bytes[..*end];
        told(&sample, older, &format!("older copy of {end} bytes")).expect("it is told");
        repaired(&sample, older, &format!("older copy of {end} bytes")).expect("it is repaired");
    }
}
