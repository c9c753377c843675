//! What every bench is given.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use swarm_sim::bench::place::Place;

/// Rounds of every figure.
pub const ROUNDS: usize = 5;

/// Longer than this and a socket below it has no name that the kernel shows whole.
const DIR_BYTES_MAX: usize = 60;

pub struct Setting {
    pub place: Place,
    /// The release binary.
    pub swarm: PathBuf,
    /// Also what takes minutes: 75,000 files.
    pub large: bool,
}

impl Setting {
    pub fn new(dir: &Path, swarm: &Path, large: bool) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let dir = std::fs::canonicalize(dir)?;
        ensure!(
            dir.as_os_str().len() <= DIR_BYTES_MAX,
            "{} is too long a path: give a shorter one with --dir",
            dir.display()
        );
        let swarm = std::fs::canonicalize(swarm).with_context(|| {
            format!("There is no {}: run `cargo build --release --package swarm-cli`", swarm.display())
        })?;
        Ok(Self { place: Place::new(&dir)?, swarm, large })
    }
}
