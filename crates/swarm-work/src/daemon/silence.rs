//! The clock that notices a program which neither says anything nor works.

use std::time::Duration;

use tokio::time::Instant;

/// Looks within one span of patience.
const LOOKS: u32 = 8;
const LOOK_EVERY_MIN: Duration = Duration::from_millis(50);
/// When silence is fine, how often it is asked whether it still is.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// A program that uses less than this share of one processor is not working: timers and spinners of
/// one that waits for a dead connection use one or two hundredths.
const WORKING_SHARE: f64 = 0.05;

/// One that would work for so much of the time, and mostly waits for a processor, is not silent but on a machine that has
/// too much to do. Half: the timers of one that waits for a connection are kept waiting there too.
const STARVED_SHARE: f64 = 0.5;

/// What its processes have had of the machine so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Work {
    /// Processor time.
    pub used: Duration,
    /// Time in which they could have worked and had no processor.
    pub starved: Duration,
}

impl Work {
    /// Less used than before: a process that worked has ended, which is a sign of life too. How long those that are
    /// there have waited falls with each that ends, be it one that only slept: that is no sign of anything.
    fn goes_on_from(self, before: Self, between: Duration) -> bool {
        let Some(used) = self.used.checked_sub(before.used) else { return true };
        let starved = self.starved.saturating_sub(before.starved);
        let share = |time: Duration| time.as_secs_f64() / between.as_secs_f64().max(f64::EPSILON);
        share(used) >= WORKING_SHARE || share(used + starved) >= STARVED_SHARE
    }
}

pub struct Silence {
    /// The last sign of life.
    since: Instant,
    looked: Instant,
    work: Work,
    half_said: bool,
}

/// What a look has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    No,
    /// Half of the patience is gone; said once, until there is a sign of life.
    Half,
    TooLong,
}

impl Silence {
    pub fn new(now: Instant) -> Self {
        Self { since: now, looked: now, work: Work::default(), half_said: false }
    }

    /// It said something.
    pub fn heard(&mut self, now: Instant) {
        self.since = now;
        self.half_said = false;
    }

    /// When to look next.
    pub fn next_look(&self, patience: Option<Duration>) -> Instant {
        let every = match patience {
            Some(patience) => (patience / LOOKS).max(LOOK_EVERY_MIN),
            None => ASK_EVERY,
        };
        self.looked + every
    }

    /// Looks at what its processes have done so far.
    pub fn look(&mut self, now: Instant, patience: Option<Duration>, work: impl FnOnce() -> Work) -> Quiet {
        let between = now - self.looked;
        self.looked = now;
        let Some(patience) = patience else {
            self.heard(now);
            return Quiet::No;
        };
        let work = work();
        if work.goes_on_from(self.work, between) {
            self.heard(now);
        }
        self.work = work;
        let quiet_for = now - self.since;
        if quiet_for >= patience {
            Quiet::TooLong
        } else if quiet_for >= patience / 2 && !self.half_said {
            self.half_said = true;
            Quiet::Half
        } else {
            Quiet::No
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Option<Duration> = Some(Duration::from_secs(8));

    /// What happens each second: `.` nothing, `w` it works, `l` it prints, `t` a tool runs, `s` it would work and gets next to
    /// no processor, `z` its timers are kept waiting for one, `e` one that had waited for one ends.
    fn silent_after(seconds: &str) -> (Vec<usize>, Option<usize>) {
        let mut halves = Vec::new();
        let mut now = Instant::now();
        let mut silence = Silence::new(now);
        let mut work = Work::default();
        for (second, what) in seconds.chars().enumerate() {
            now += Duration::from_secs(1);
            // Waiting costs a little too.
            work.used += Duration::from_millis(10);
            match what {
                'w' => work.used += Duration::from_millis(300),
                's' => work.starved += Duration::from_millis(900),
                'z' => work.starved += Duration::from_millis(200),
                'e' => work.starved = Duration::ZERO,
                'l' => silence.heard(now),
                _ => {}
            }
            let patience = if what == 't' { None } else { PATIENCE };
            match silence.look(now, patience, || work) {
                Quiet::No => {}
                Quiet::Half => halves.push(second + 1),
                Quiet::TooLong => return (halves, Some(second + 1)),
            }
        }
        (halves, None)
    }

    #[test]
    fn only_neither_words_nor_work_outside_a_tool_is_silence() {
        let check = |seconds: &str, halves: &[usize], end: Option<usize>| {
            assert_eq!(silent_after(seconds), (halves.to_vec(), end), "{seconds}");
        };
        check("............", &[4], Some(8));
        check("...l...........", &[8], Some(12));
        check("......w...........", &[4, 11], Some(15));
        check("..tttttttttttttttt......", &[23], None);
        check("...w...w...l...w...w...", &[], None);
    }

    #[test]
    fn a_program_that_a_busy_machine_keeps_from_working_is_not_silent() {
        assert_eq!(silent_after("ssssssssssssssssssss"), (vec![], None));
        assert_eq!(silent_after("zzzzzzzzzzzz"), (vec![4], Some(8)));
        assert_eq!(silent_after("zzezzezzezze"), (vec![4], Some(8)), "a loop of short sleeps beside it");
    }
}
