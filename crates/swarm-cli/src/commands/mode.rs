//! `swarm mode`: whether ready tasks start by themselves.

use clap::ValueEnum;
use serde::Serialize;
use swarm_protocol::command::Command;
use swarm_protocol::outcome::Mode;

use crate::commands::operate::{DryRun, intervene};
use crate::context::Context;
use crate::error::CliError;
use crate::swarm::Swarm;

/// Show or set whether ready tasks start automatically
///
/// In `semi-auto` a ready task waits for `swarm task start`; in `autopilot` it starts as soon as there is a slot. The choice is
/// recorded and holds for later runs.
///
/// Example: swarm mode autopilot
#[derive(Debug, clap::Args)]
pub struct Args {
    /// New mode (default: show the current one)
    #[arg(value_enum, value_name = "MODE")]
    pub mode: Option<ModeArg>,
    #[command(flatten)]
    pub dry: DryRun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// A ready task waits for `swarm task start`
    SemiAuto,
    /// Ready tasks start automatically
    Autopilot,
}

impl ModeArg {
    /// As it is typed.
    pub fn word(self) -> &'static str {
        Mode::from(self).word()
    }
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::SemiAuto => Self::SemiAuto,
            ModeArg::Autopilot => Self::Autopilot,
        }
    }
}

#[derive(Debug, Serialize)]
struct ModeView {
    mode: Mode,
}

pub fn run(args: Args, cx: &Context) -> Result<(), CliError> {
    let swarm = Swarm::open(cx)?;
    let Some(mode) = args.mode else {
        let view = ModeView { mode: swarm.mode()? };
        return cx.out.view(&view, |view| view.mode.word().to_owned());
    };
    intervene(cx, &swarm, Command::SetMode { mode: mode.into() }, args.dry)
}
