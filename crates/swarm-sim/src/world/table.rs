//! Stage × fault × seam: how often the coordinator was killed at a seam after a fault had hit while
//! some task stood in a stage. An empty cell is a combination that nobody tried.

use std::fmt;

use swarm_core::stage::Stage;

use super::fault::{Fault, Seam};

const STAGES: usize = Stage::NAMES.len();
const FAULTS: usize = Fault::ALL.len();
const SEAMS: usize = Seam::ALL.len();

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    cells: Vec<u64>,
    /// (stage, fault) pairs since the last crash; they are counted when the next one comes.
    open: Vec<bool>,
}

impl Default for Table {
    fn default() -> Self {
        Self { cells: vec![0; STAGES * FAULTS * SEAMS], open: vec![false; STAGES * FAULTS] }
    }
}

impl Table {
    /// A fault hit while tasks stood in these stages.
    pub fn hit<'a>(&mut self, fault: Fault, stages: impl Iterator<Item = &'a str>) {
        for name in stages {
            if let Some(stage) = Stage::NAMES.iter().position(|known| *known == name) {
                self.open[stage * FAULTS + fault as usize] = true;
            }
        }
    }

    /// The coordinator was killed.
    pub fn killed(&mut self, seam: Seam) {
        for (at, open) in self.open.iter_mut().enumerate() {
            if std::mem::take(open) {
                self.cells[at * SEAMS + seam as usize] += 1;
            }
        }
    }

    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            *mine += theirs;
        }
    }

    pub fn count(&self, stage: usize, fault: Fault, seam: Seam) -> u64 {
        self.cells[(stage * FAULTS + fault as usize) * SEAMS + seam as usize]
    }

    /// Combinations that never happened, in words.
    pub fn empty_cells(&self) -> Vec<String> {
        let mut empty = Vec::new();
        for (stage, name) in Stage::NAMES.iter().enumerate() {
            for fault in Fault::ALL {
                for seam in Seam::ALL {
                    if self.count(stage, fault, seam) == 0 {
                        empty.push(format!("{name} × {} × {}", fault.describe(), seam.describe()));
                    }
                }
            }
        }
        empty
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for seam in Seam::ALL {
            writeln!(f, "{}", seam.describe())?;
            write!(f, "  {:<24}", "fault \\ some task in")?;
            for name in Stage::NAMES {
                write!(f, "{name:>10}")?;
            }
            writeln!(f)?;
            for fault in Fault::ALL {
                write!(f, "  {:<24}", fault.describe())?;
                for stage in 0..STAGES {
                    write!(f, "{:>10}", self.count(stage, fault, seam))?;
                }
                writeln!(f)?;
            }
        }
        let empty = self.empty_cells();
        writeln!(f, "cells: {}, empty: {}, excluded: 0", STAGES * FAULTS * SEAMS, empty.len())
    }
}
