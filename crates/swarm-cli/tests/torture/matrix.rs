//! kill -9 spread over the named steps of a scripted life: init → plan → claim → work → check → merge → publish → close.
//!
//! Whatever dies (the command, the coordinator at any of its system calls, a git it has started, a daemon, an agent),
//! the same commands again bring the life to its end: the work is on trunk once, proven, and nothing is left.
//! `SWARM_KILL_POINTS=all` takes every point instead of a spread of them.

mod life;
mod blow;
mod traced;
mod shim;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use blow::Blow;
use life::{Life, RUN};
use traced::Call;

/// Lives that are lived at the same time: most of the time they wait for each other's disks and clocks.
const AT_ONCE: usize = 4;

/// About `some` of them, evenly; all when asked for.
fn spread<T: Clone>(all: &[T], some: usize) -> Vec<T> {
    if std::env::var("SWARM_KILL_POINTS").is_ok_and(|value| value == "all") || all.len() <= some {
        return all.to_vec();
    }
    (0..some).map(|n| all[n * all.len() / some].clone()).collect()
}

/// Lives one life for each list of blows, and tells after which record each fell; gives how many places these are.
fn check(kind: &str, cases: &[Vec<Blow>]) -> usize {
    let (next, fallen, wrong) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()), Mutex::new(vec![]));
    let one = |blows: &[Blow]| {
        let lived = std::panic::catch_unwind(|| Life::new().live(blows));
        match lived {
            Ok(places) => places.into_iter().flatten().for_each(|place| {
                *fallen.lock().expect("no panic").entry(place).or_insert(0_usize) += 1;
            }),
            Err(panic) => wrong.lock().expect("no panic").push(format!("{blows:?}: {}", words_of(&*panic))),
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..AT_ONCE {
            threads.spawn(|| {
                while let Some(blows) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(blows);
                }
            });
        }
    });
    let (fallen, wrong) = (fallen.into_inner().expect("no panic"), wrong.into_inner().expect("no panic"));
    let (blows, struck) = (cases.iter().map(Vec::len).sum::<usize>(), fallen.values().sum::<usize>());
    println!("{kind}: {} lives, {struck} of {blows} blows fell, by the last record before:", cases.len());
    fallen.iter().for_each(|(record, times)| println!("{times:5}  {record}"));
    assert!(wrong.is_empty(), "{} of {} lives\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
    assert!(struck * 10 >= blows * 8, "only {struck} of {blows} blows fell");
    fallen.len()
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn alone(blows: Vec<Blow>) -> Vec<Vec<Blow>> {
    blows.into_iter().map(|blow| vec![blow]).collect()
}

/// The coordinator's own system calls, those on the ledger among them by number: each record written and not synced.
fn of_the_coordinator(some: usize) -> Vec<Blow> {
    let calls = Life::new().traced(RUN);
    let (ledger, others): (Vec<Call>, Vec<Call>) = calls.into_iter().partition(|call| call.path.is_some());
    assert!(ledger.len() > 20, "a life has records: {ledger:?}");
    let half = some / 2;
    let chosen = [spread(&ledger, half), spread(&others, some - half)].concat();
    chosen.into_iter().map(|call| Blow::Syscall { command: RUN, call }).collect()
}

#[test]
fn a_coordinator_killed_at_its_system_calls_is_followed_by_one_that_ends_the_plan() {
    let places = check("coordinator", &alone(of_the_coordinator(54)));
    assert!(places >= 7, "claim, work, check, merge, verification, publish and end are all met: {places}");
}

#[test]
fn init_plan_and_close_killed_at_their_system_calls_are_done_again() {
    let mut blows = vec![];
    for command in (0..life::COMMANDS).filter(|command| *command != RUN) {
        let calls = Life::new().traced(command);
        blows.extend(spread(&calls, 6).into_iter().map(|call| Blow::Syscall { command, call }));
    }
    check("commands", &alone(blows));
}

#[test]
fn a_git_killed_before_in_or_after_its_work_alone_or_with_its_parent_is_run_again() {
    let calls = Life::new().gits();
    println!("{calls} calls of git in a life");
    let all: Vec<Blow> = (1..=calls)
        .flat_map(|nth| {
            [false, true].into_iter().flat_map(move |with_parent| {
                shim::MOMENTS.iter().map(move |moment| Blow::Git { nth, moment, with_parent })
            })
        })
        .collect();
    check("git", &alone(spread(&all, 36)));
}

#[test]
fn a_daemon_or_an_agent_killed_after_each_record_is_replaced_and_its_work_goes_on() {
    let all: Vec<Blow> = ["agent_spawned", "iteration", "work_submitted", "verification_started"]
        .into_iter()
        .flat_map(|after| [Blow::Daemon { after, later_ms: 0 }, Blow::Daemon { after, later_ms: 30 }])
        .chain([0, 40, 80, 120].map(|later_ms| Blow::Agent { after: "agent_spawned", later_ms }))
        .collect();
    check("daemons and agents", &alone(all));
}

#[test]
fn a_second_kill_while_the_first_is_being_recovered_from_changes_nothing() {
    let first = of_the_coordinator(20);
    let again = Life::new().traced(RUN);
    // The recovery of a late death is short: the second blow falls early, at another call each time.
    let early: Vec<Call> = again.into_iter().filter(|call| call.nth <= 3).collect();
    let step = early.len() / first.len() + 1;
    let cases: Vec<Vec<Blow>> = first
        .into_iter()
        .enumerate()
        .map(|(at, blow)| {
            let call = early[at * step % early.len()].clone();
            vec![blow, Blow::Syscall { command: RUN, call }]
        })
        .collect();
    check("pairs", &cases);
}
