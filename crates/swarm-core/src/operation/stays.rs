//! What no undo takes back, by operation: the preview says it, and `docs/reference/undo.md` lists it.

/// The consequence that stays when an operation of this kind is undone.
pub fn stays(kind: &str) -> &'static str {
    match kind {
        "pause" | "resume" => "hooks that ran",
        "agent kill" => {
            "the process is gone: the task comes back queued with its session; what the killed iteration changed stays on \
             its ref (`swarm restore`)"
        }
        "agent stop" | "agent redirect" => {
            "the process is gone: the task comes back queued, with its saved work and its session"
        }
        "agent message" => "a message that was delivered",
        "task block" | "task defer" | "task cancel" | "plan reset" => {
            "an agent that was stopped: its task comes back queued, with its saved work and its session"
        }
        "checkpoint create" | "checkpoint delete" => {
            "nothing: refs are kept as long as an undo can need them"
        }
        "rollback" | "task rollback" | "abort" | "undo" | "redo" | "merge" => {
            "pushes, delivered messages, hooks that ran, money; the checkpoint made before it"
        }
        "budget extend" => "what was spent",
        "close" => "nothing, until the next plan begins; then `swarm plan reopen` after that one is closed",
        "worktree cleanup" => "the worktree is gone: `swarm restore` brings back its contents",
        _ => "nothing",
    }
}
