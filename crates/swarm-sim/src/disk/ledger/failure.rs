//! A seed that failed, told so that it can be pasted into a test.

use std::fmt;

use crate::disk::machine::Machine;

/// Records shown with a failure.
const SHOWN: usize = 20;
/// Bytes of a record that are shown.
const WIDTH: usize = 110;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub seed: u64,
    pub why: String,
    records: String,
    operations: String,
}

impl Failure {
    pub fn new(seed: u64, why: String, machine: &Machine, ledger: &std::path::Path) -> Self {
        let bytes = machine.bytes(ledger).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let records = lines[lines.len().saturating_sub(SHOWN)..].iter().map(|line| shorten(line)).collect();
        Self { seed, why, records, operations: machine.last_operations() }
    }
}

fn shorten(line: &str) -> String {
    let shown: String = line.chars().take(WIDTH).map(|c| if c == '\0' { '␀' } else { c }).collect();
    format!("  {shown}{}\n", if line.chars().count() > WIDTH { "…" } else { "" })
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, why, records, operations } = self;
        writeln!(f, "ledger seed {seed}: {why}")?;
        writeln!(
            f,
            "the last records in the file:\n{records}the last operations on the disk:\n{operations}"
        )?;
        writeln!(f, "to keep it as a test, add to tests/ledger_regressions.rs:")?;
        writeln!(f, "#[test]\nfn ledger_seed_{seed}() {{\n    check({seed});\n}}")
    }
}
