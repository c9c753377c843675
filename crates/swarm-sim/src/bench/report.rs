//! One line per goal: what was measured, what was wanted, and whether it holds.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub enum Target {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Default)]
pub struct Report {
    missed: usize,
}

impl Report {
    /// Prints the line of a goal whose rounds gave these ratios; the median is judged.
    pub fn judge(&mut self, goal: &str, what: &str, ratios: &[f64], target: Target) {
        let ratio = median(ratios);
        let (holds, wanted) = match target {
            Target::AtMost(most) => (ratio <= most, format!("<= {most}")),
            Target::AtLeast(least) => (ratio >= least, format!(">= {least}")),
        };
        self.missed += usize::from(!holds);
        let verdict = if holds { "holds" } else { "MISSED" };
        let (low, high) = range(ratios);
        println!("{goal:<4} {what:<66} {ratio:>9.2}  {wanted:<8} {verdict:<7} rounds {low:.2} to {high:.2}");
    }

    /// A line that carries no verdict.
    pub fn note(&self, goal: &str, what: &str) {
        println!("{goal:<4} {what}");
    }

    pub fn all_hold(&self) -> bool {
        self.missed == 0
    }
}

pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)))
}

pub fn median_secs(times: &[Duration]) -> f64 {
    median(&times.iter().map(Duration::as_secs_f64).collect::<Vec<_>>())
}

/// CPU time this thread has used.
pub fn cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}
