//! Is everything in order: machine, repository and swarm.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use swarm_engine::doctor::examine;
use swarm_engine::settings::environment;
use swarm_protocol::doctor::DoctorView;

use crate::api_state::ApiState;
use crate::fault::Fault;
use crate::peer::Caller;

/// Checks of machine, repository and swarm
///
/// Nothing is changed and no lock is taken. Agent programs are asked for their version, so it takes a moment.
#[utoipa::path(
    get, path = "/v1/doctor", tag = "about",
    responses(
        (status = 200, description = "As `swarm doctor --json` has it, checks that passed included", body = ref("#/components/schemas/DoctorView")),
        (status = 403, description = "Not for an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn doctor(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<DoctorView>, Fault> {
    if caller.inside().is_some() {
        return Err(Fault::not_for_agents("Agents may not examine the machine"));
    }
    let examined = api.by_hand(|paths| async move { examine(&paths.root, &environment(), false).await });
    Ok(Json(examined.await?))
}
