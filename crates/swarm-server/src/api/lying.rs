//! What lies beside the ledger: worktrees, saved work, learnings, prompts, hooks. As it is now.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use swarm_engine::by_hand::{ByHandError, Hands, listed, saved_view};
use swarm_engine::paths::Paths;
use swarm_protocol::deed::{HookProgram, LearningsView, PromptView, SavedView, WorktreeView};
use swarm_protocol::time::Timestamp;

use super::views::{Asked, asked};
use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::peer::Caller;

/// Worktrees of the swarm, with who works in them and how much is not committed
#[utoipa::path(
    get, path = "/v1/worktrees", tag = "by hand",
    responses(
        (status = 200, description = "As `swarm worktree list --json` has it", body = ref("#/components/schemas/Worktrees")),
        (status = 403, description = "Not for an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "The configuration cannot be used", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "Git failed, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn worktrees(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Vec<WorktreeView>>, Fault> {
    not_from_inside(&caller)?;
    let looked = api.by_hand(|paths| async move { Hands::open(&paths).await?.worktree_views().await });
    Ok(Json(told(looked.await?)?))
}

/// Which of them.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct WhichSaved {
    /// Every saved copy, also those without work of their own
    #[serde(default)]
    pub all: bool,
}

/// Saved work that can be brought back, newest first
#[utoipa::path(
    get, path = "/v1/saved", tag = "by hand", params(WhichSaved),
    responses(
        (status = 200, description = "As `swarm restore --json` has it", body = ref("#/components/schemas/Saved")),
        (status = 400, description = "Not true or false", body = ref("#/components/schemas/ErrorBody")),
        (status = 403, description = "Not for an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "The configuration cannot be used", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "Git failed, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn saved(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    which: Asked<WhichSaved>,
) -> Result<Json<Vec<SavedView>>, Fault> {
    not_from_inside(&caller)?;
    let every = asked(which)?.all;
    Ok(Json(told(api.by_hand(move |paths| all_saved(paths, every)).await?)?))
}

async fn all_saved(paths: Paths, every: bool) -> Result<Vec<SavedView>, ByHandError> {
    let all = Hands::open(&paths).await?.saved_work().await?;
    let now = now();
    Ok(listed(&all, every).into_iter().map(|one| saved_view(one, now)).collect())
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// What agents found worth remembering
#[utoipa::path(
    get, path = "/v1/learnings", tag = "by hand",
    responses(
        (status = 200, description = "What all agents are told, and those of one name", body = ref("#/components/schemas/LearningsView")),
        (status = 403, description = "Not for an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "The configuration cannot be used", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "Git failed, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn learnings(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<LearningsView>, Fault> {
    not_from_inside(&caller)?;
    let looked = api.by_hand(|paths| async move { Ok(Hands::open(&paths).await?.learnings()) });
    Ok(Json(told(looked.await?)?))
}

/// Templates of what agents are told
#[utoipa::path(
    get, path = "/v1/prompts", tag = "by hand",
    responses(
        (status = 200, description = "The team's own, else those that are built in", body = ref("#/components/schemas/Prompts")),
        (status = 403, description = "Not for an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "The configuration cannot be used", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "A template cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn prompts(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Vec<PromptView>>, Fault> {
    not_from_inside(&caller)?;
    let looked = api.by_hand(|paths| async move { Hands::open(&paths).await?.prompts() });
    Ok(Json(told(looked.await?)?))
}

/// Hooks that there are, with the last end of each
#[utoipa::path(
    get, path = "/v1/hooks/programs", tag = "by hand",
    responses(
        (status = 200, description = "As `swarm hooks list --json` has it", body = ref("#/components/schemas/HookPrograms")),
        (status = 403, description = "Not for an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "The configuration cannot be used", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The ledger cannot be read, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn programs(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Vec<HookProgram>>, Fault> {
    not_from_inside(&caller)?;
    let looked = api.by_hand(|paths| async move { Hands::open(&paths).await?.hook_programs() });
    Ok(Json(told(looked.await?)?))
}

/// Each of these costs calls of git and reads files that an agent is kept from; it is told what it needs in its prompt.
fn not_from_inside(caller: &Caller) -> Result<(), Fault> {
    match caller.inside() {
        None => Ok(()),
        Some(_) => Err(Fault::not_for_agents("Agents may not read the files beside the ledger")),
    }
}

fn told<T>(looked: Result<T, ByHandError>) -> Result<T, Fault> {
    Ok(looked.map_err(swarm_protocol::api::ApiError::from)?)
}
