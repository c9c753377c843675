//! Several scenes played at the same time: most of the time they wait for each other's disks and clocks.

use std::fmt::Debug;
use std::panic::RefUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Plays them all, and fails with what each of those that failed has said.
pub fn all_play<T: Debug + Sync + RefUnwindSafe>(
    cases: &[T],
    at_once: usize,
    play: impl Fn(&T) + Sync + RefUnwindSafe,
) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let one = |case: &T| {
        if let Err(panic) = std::panic::catch_unwind(|| play(case)) {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            wrong.lock().expect("no panic").push(format!("{case:?}: {}", text.unwrap_or_default()));
        }
    };
    std::thread::scope(|threads| {
        for _ in 0..at_once {
            threads.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(case);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}
