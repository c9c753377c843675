//! A reason that goes into the ledger. One spelling on every command: `--reason`.

/// As an argument, which some commands always took, or with `--reason`.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Reason {
    /// Reason, recorded in the ledger
    #[arg(value_name = "REASON")]
    words: Option<String>,
    /// Reason, recorded in the ledger
    #[arg(long, value_name = "REASON")]
    reason: Option<String>,
}

impl Reason {
    pub fn text(self) -> String {
        self.reason.or(self.words).unwrap_or_default()
    }
}
