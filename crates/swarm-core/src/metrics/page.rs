//! The text format: heads, samples, and histograms of few buckets.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::METRICS;

/// Seconds of what a machine does.
pub const QUICK: &[f64] = &[0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0];
/// Seconds of what agents and commands do.
pub const SLOW: &[f64] = &[1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0];

/// How often something took how long.
#[derive(Debug, Clone)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One more than bounds: what took longer than all of them.
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    pub fn note(&mut self, seconds: f64) {
        let at = self.bounds.iter().position(|bound| seconds <= *bound).unwrap_or(self.bounds.len());
        self.counts[at] += 1;
        self.sum += seconds;
    }
}

#[derive(Default)]
pub(super) struct Page {
    pub text: String,
    /// The name whose head was written last.
    last: &'static str,
}

impl Page {
    pub fn one(&mut self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        self.head(name);
        self.sample(name, labels, value);
    }

    fn head(&mut self, name: &'static str) {
        if self.last != name {
            if let Some((_, kind, help)) = METRICS.iter().find(|(known, ..)| *known == name) {
                let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            }
            self.last = name;
        }
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(name);
        for (at, (label, word)) in labels.iter().enumerate() {
            let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.text, "{}{label}=\"{word}\"", if at == 0 { '{' } else { ',' });
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{end} {value}");
    }

    /// Every value of a closed list, also those that nothing was counted for: a rate needs the zero.
    pub fn counted(
        &mut self,
        name: &'static str,
        label: &str,
        words: &[&str],
        counts: &BTreeMap<&'static str, u64>,
    ) {
        for word in words {
            self.one(name, &[(label, word)], super::float(counts.get(word).copied().unwrap_or(0)));
        }
    }

    pub fn histogram(&mut self, name: &'static str, labels: &[(&str, &str)], of: &Histogram) {
        self.head(name);
        let mut below = 0;
        for (at, count) in of.counts.iter().enumerate() {
            below += count;
            let bound = of.bounds.get(at).map_or_else(|| "+Inf".to_owned(), ToString::to_string);
            let labels = [labels, &[("le", bound.as_str())]].concat();
            self.sample(&format!("{name}_bucket"), &labels, super::float(below));
        }
        self.sample(&format!("{name}_sum"), labels, of.sum);
        self.sample(&format!("{name}_count"), labels, super::float(below));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_from_the_configuration_cannot_break_the_page() {
        let mut page = Page::default();
        page.one("swarm_quota_closed", &[("group", "a\"b\nc\\d")], 1.0);
        assert!(page.text.ends_with("swarm_quota_closed{group=\"a\\\"b\\nc\\\\d\"} 1\n"), "{}", page.text);
    }

    #[test]
    fn a_bucket_holds_all_that_took_no_longer() {
        let mut of = Histogram::new(&[1.0, 5.0]);
        [0.5, 1.0, 4.0, 60.0].into_iter().for_each(|seconds| of.note(seconds));
        let mut page = Page::default();
        page.histogram("swarm_merge_seconds", &[], &of);
        let samples: Vec<&str> = page.text.lines().filter(|line| !line.starts_with('#')).collect();
        let wanted = [
            "swarm_merge_seconds_bucket{le=\"1\"} 2",
            "swarm_merge_seconds_bucket{le=\"5\"} 3",
            "swarm_merge_seconds_bucket{le=\"+Inf\"} 4",
            "swarm_merge_seconds_sum 65.5",
            "swarm_merge_seconds_count 4",
        ];
        assert_eq!(samples, wanted);
    }
}
