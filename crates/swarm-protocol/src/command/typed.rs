//! A command as a person types it, for those that take something back.

use super::Command;
use crate::ids::CommandId;
use crate::operation::Force;

impl Command {
    /// None: it takes nothing back.
    pub fn typed(&self) -> Option<String> {
        let named = |name: &Option<CommandId>| name.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
        Some(match self {
            Self::Rollback { to: Some(name), force, .. } => format!("swarm rollback {name}{}", words(*force)),
            Self::Rollback { to: None, force, .. } => format!("swarm rollback --session{}", words(*force)),
            Self::RollbackTask { task, cascade, force, .. } => {
                let cascade = if *cascade { " --cascade" } else { "" };
                format!("swarm task rollback {task}{cascade}{}", words(*force))
            }
            Self::Abort { force, .. } => format!("swarm abort{}", words(*force)),
            Self::Undo { operation, partial, force, .. } => {
                let partial = if *partial { " --partial" } else { "" };
                format!("swarm undo{}{partial}{}", named(operation), words(*force))
            }
            Self::Redo { operation, force, .. } => format!("swarm redo{}{}", named(operation), words(*force)),
            Self::ResetPlan => "swarm plan reset".into(),
            _ => return None,
        })
    }
}

fn words(force: Force) -> String {
    let words = [
        (force.drop_foreign, " --drop-foreign"),
        (force.save_local, " --save-local"),
        (force.set_aside, " --set-aside"),
    ];
    words.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect()
}
