//! The end of a run: its processes, its work, and what whoever goes on has to know of it.

use swarm_agents::handover::ContextFiles;
use swarm_core::input::Report;
use swarm_protocol::ids::{RunId, TaskId};
use swarm_work::left_behind::{Place, left_behind};
use swarm_work::supervisor::{Rescue, stop_run};

use super::describe;
use crate::coordinator::world::World;

pub(super) async fn stop(
    world: &World,
    run: RunId,
    task: TaskId,
    nonce: &str,
    work: bool,
) -> Result<Report, String> {
    let worktree = world.worktree_of(&task);
    let max_file_bytes = world.config.worktree.max_file << 20;
    let rescue = (work && worktree.is_dir()).then_some(Rescue { task, worktree, max_file_bytes });
    let grace = std::time::Duration::from_secs(world.config.stop.grace.secs);
    let stopped =
        stop_run(&world.git, &world.files_of(&run), nonce, rescue.as_ref(), grace).await.map_err(describe)?;
    // Rubbish of a probe; what stays is an empty folder.
    let _ = std::fs::remove_dir_all(world.probe_folder(&run));
    let mut session = None;
    if let Some(Rescue { task, worktree, .. }) = &rescue {
        let context = ContextFiles::new(&world.paths.swarm, task);
        let of = Place { task, run: &run, worktree };
        session =
            left_behind(&world.git, &context, of, stopped.wip.as_ref()).await.and_then(|left| left.session);
    }
    Ok(Report::Stopped { run, wip: stopped.wip, session })
}
