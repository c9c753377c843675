//! Many seeds on a few threads. Which one fails does not depend on the threads: it is the lowest.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs `count` seeds from `from` on; gives the results merged by `take`, or the failure of the
/// lowest failing seed.
pub fn run_all<T: Send, E: Send, A: Send>(
    from: u64,
    count: u64,
    threads: usize,
    run: impl Fn(u64) -> Result<T, E> + Sync,
    all: A,
    take: impl Fn(&mut A, T) + Sync,
) -> Result<A, (u64, E)> {
    let next = AtomicU64::new(from);
    let lowest = AtomicU64::new(u64::MAX);
    let state = Mutex::new((all, None::<(u64, E)>));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    // Seeds below a failing one are still run, so that the lowest is found.
                    if seed >= from + count || seed > lowest.load(Ordering::Relaxed) {
                        return;
                    }
                    let result = run(seed);
                    let (all, failed) = &mut *state.lock().expect("a panicking seed ends the run");
                    match result {
                        Ok(outcome) => take(all, outcome),
                        Err(error) if failed.as_ref().is_none_or(|(other, _)| seed < *other) => {
                            lowest.store(seed, Ordering::Relaxed);
                            *failed = Some((seed, error));
                        }
                        Err(_) => {}
                    }
                }
            });
        }
    });
    match state.into_inner().expect("a panicking seed ends the run") {
        (all, None) => Ok(all),
        (_, Some(failed)) => Err(failed),
    }
}
