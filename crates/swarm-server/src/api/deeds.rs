//! What is done by hand: no commands of the ledger, but what has to be recorded of it goes the way of commands.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::de::DeserializeOwned;
use swarm_engine::by_hand::{ByHandError, Hands};
use swarm_engine::doctor::examine;
use swarm_engine::look::{Look, Looked};
use swarm_engine::paths::Paths;
use swarm_engine::settings::environment;
use swarm_protocol::any_view::AnyView;
use swarm_protocol::api::{ApiError, Delivery};
use swarm_protocol::channel::Response;
use swarm_protocol::command::{Actor, Answer, Command, Envelope};
use swarm_protocol::deed::{CleanedUp, Deed, DeedDone, DeedRequest, Done};
use swarm_protocol::ids::CommandId;
use swarm_protocol::oplog::PreviewView;

use super::body::{must_be_json, read_up_to};
use super::commands::front_end;
use crate::api_state::ApiState;
use crate::fault::{Fault, NO_ANSWER};
use crate::limits::{AGENT_BODY_MAX, BODY_MAX};
use crate::peer::{Caller, Role};

/// Do something by hand
///
/// Worktrees, saved work, hooks, repairs. It is carried out to its end, also where the client hangs up; asked again with
/// the same id, it is done once, for as long as this coordinator runs. Without an id, and when `lost` is the answer, look
/// before you ask again. Work that is submitted and a worktree that is removed are recorded like commands.
#[utoipa::path(
    post, path = "/v1/deeds", tag = "by hand",
    request_body(content = ref("#/components/schemas/DeedRequest"), content_type = "application/json"),
    responses(
        (status = 200, description = "It is done; of a worktree that stays and a hook that failed the answer says so", body = ref("#/components/schemas/DeedDone")),
        (status = 400, description = "Not a deed", body = ref("#/components/schemas/ErrorBody")),
        (status = 403, description = "Not for an agent or a viewer", body = ref("#/components/schemas/ErrorBody")),
        (status = 408, description = "The body did not come in time", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "Refused, nothing was changed", body = ref("#/components/schemas/ErrorBody")),
        (status = 413, description = "Too large", body = ref("#/components/schemas/ErrorBody")),
        (status = 415, description = "Not JSON", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The world failed, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn send(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<DeedDone>, Fault> {
    let headers = request.headers().clone();
    let asked: Result<DeedRequest, Fault> = match caller.role(&headers) {
        Role::Viewer => Err(Fault::not_for_viewers(Role::Viewer)),
        Role::Operator => read(&api, request, BODY_MAX).await,
        Role::Agent => read(&api, request, AGENT_BODY_MAX).await,
    };
    api.only_operators(&caller, &headers, &wished(asked.as_ref().ok())).await?;
    let DeedRequest { id, by, deed } = asked?;
    let (by, wish) = (front_end(by), deed.clone());
    let done = api.to_the_end(move |api| async move { once(&api, id, by, wish).await }).await;
    let done = done.map_err(|fault| match fault.is_lost() {
        true => Fault::lost_deed(NO_ANSWER, &deed),
        false => fault,
    });
    Ok(Json(done?))
}

/// Does it; one that was done under this id is only answered again.
async fn once(api: &Arc<ApiState>, id: Option<CommandId>, by: Actor, deed: Deed) -> Result<DeedDone, Fault> {
    let Some(id) = id else { return done(api, by, new_id()?, deed).await };
    let Some(cell) = api.deeds.of(&id, &deed) else { return Err(id_taken(&id)) };
    let is_recorded = matches!(deed, Deed::MergeWorktree { .. } | Deed::CleanUpWorktree { .. });
    if is_recorded && let Delivery::Landed { answer } = api.delivery(id.clone()).await? {
        if !came_of(api, &id, &deed).await? {
            return Err(id_taken(&id));
        }
        if let Deed::MergeWorktree { .. } = &deed {
            let (text, done) = (answer.text.clone(), Done::MergeWorktree(answer));
            return Ok(DeedDone { text, done });
        }
    }
    cell.get_or_try_init(|| done(api, by, id, deed)).await.cloned()
}

/// Whether this deed left what was recorded under the id. What is remembered no longer is taken for it, as the rules
/// take it.
async fn came_of(api: &ApiState, id: &CommandId, deed: &Deed) -> Result<bool, Fault> {
    match api.look(Look::Operation(id.clone())).await {
        Err(fault) if fault.is_lost() => Err(fault),
        Ok(Looked { view: Ok(AnyView::Operation(was)), .. }) => {
            Ok(was.kind == deed.kind() && was.subject == deed.subject())
        }
        _ => Ok(true),
    }
}

fn id_taken(id: &CommandId) -> Fault {
    let message = format!("The id {id} was already used for another request");
    Fault::new(StatusCode::CONFLICT, "id_taken", message, "Give each request its own id")
}

fn new_id() -> Result<CommandId, Fault> {
    CommandId::new(ulid::Ulid::generate().to_string()).map_err(|error| Fault::world(error.to_string()))
}

/// As people are told what an agent wanted.
fn wished(asked: Option<&DeedRequest>) -> String {
    let deed = asked.map(|asked| (asked.deed.kind(), asked.deed.subject()));
    match deed {
        Some((kind, Some(subject))) => format!("swarm {kind} {subject}"),
        Some((kind, None)) => format!("swarm {kind}"),
        None => "something by hand that cannot be read".into(),
    }
}

/// What a deed would do now
#[utoipa::path(
    post, path = "/v1/deeds/preview", tag = "by hand",
    request_body(content = ref("#/components/schemas/DeedRequest"), content_type = "application/json"),
    responses(
        (status = 200, description = "What would happen; nothing is changed", body = ref("#/components/schemas/PreviewView")),
        (status = 400, description = "Not a deed", body = ref("#/components/schemas/ErrorBody")),
        (status = 403, description = "Not for an agent", body = ref("#/components/schemas/ErrorBody")),
        (status = 408, description = "The body did not come in time", body = ref("#/components/schemas/ErrorBody")),
        (status = 409, description = "It would be refused", body = ref("#/components/schemas/ErrorBody")),
        (status = 413, description = "Too large", body = ref("#/components/schemas/ErrorBody")),
        (status = 415, description = "Not JSON", body = ref("#/components/schemas/ErrorBody")),
        (status = 503, description = "The world failed, or the coordinator has just ended", body = ref("#/components/schemas/ErrorBody")),
    )
)]
pub async fn preview(
    State(api): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<PreviewView>, Fault> {
    if caller.inside().is_some() {
        return Err(Fault::not_for_agents("An agent may not ask what would be done by hand"));
    }
    let DeedRequest { deed, .. } = read(&api, request, BODY_MAX).await?;
    if let Deed::MergeWorktree { task } = deed {
        let command = told(api.by_hand(async move |paths| hands(&paths).await?.submits(&task).await).await?)?;
        return Ok(Json(api.preview(command).await?));
    }
    let kind = deed.kind();
    let lines = told(api.by_hand(move |paths| would(paths, deed)).await?)?;
    Ok(Json(PreviewView::of_lines(kind, &lines)))
}

async fn read<T: DeserializeOwned>(api: &ApiState, request: Request, bytes_max: usize) -> Result<T, Fault> {
    must_be_json(request.headers())?;
    let (mut body, mut bytes) = (request.into_body(), Vec::new());
    if !read_up_to(&mut body, &mut bytes, bytes_max, api.limits.body_within).await? {
        return Err(Fault::too_large("The body", bytes_max));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Fault::bad_request(format!("This cannot be done by hand: {error}")))
}

fn told<T>(looked: Result<T, ByHandError>) -> Result<T, Fault> {
    Ok(looked.map_err(ApiError::from)?)
}

async fn hands(paths: &Paths) -> Result<Hands, ByHandError> {
    Hands::open(paths).await
}

async fn would(paths: Paths, deed: Deed) -> Result<Vec<String>, ByHandError> {
    match deed {
        Deed::CreateWorktree { task, from } => {
            hands(&paths).await?.would_make_worktree(&task, from.as_deref()).await
        }
        // Its preview is that of a command.
        Deed::MergeWorktree { .. } => Ok(vec![]),
        Deed::CleanUpWorktree { task, force } => {
            let (line, _) = hands(&paths).await?.cleaned_up(&task, force, true).await?;
            Ok(vec![of_cleanup(&line)])
        }
        Deed::Restore { name } => {
            let hands = hands(&paths).await?;
            let all = hands.saved_work().await?;
            let back = hands.would_restore(hands.chosen(&all, &name).await?).await?;
            Ok(vec![came_back("comes back", &back.name, &back.path, back.branch.as_deref())])
        }
        Deed::RunHook { hook, variables } => hands(&paths).await?.would_run(&hook, &variables),
        Deed::Fix => {
            let report = examine(&paths.root, &environment(), false).await;
            let curable =
                report.findings.iter().filter(|one| one.fix.as_deref() == Some("swarm doctor --fix"));
            Ok(curable.map(|one| format!("{}: {}", one.title, one.what)).collect())
        }
    }
}

async fn done(api: &ApiState, by: Actor, id: CommandId, deed: Deed) -> Result<DeedDone, Fault> {
    Ok(match deed {
        Deed::CreateWorktree { task, from } => {
            let made = api
                .by_hand(async move |paths| hands(&paths).await?.make_worktree(&task, from.as_deref()).await);
            let made = told(made.await?)?;
            let word = if made.created { "Made" } else { "Found" };
            let text = format!("{word} {} on {}", made.path, made.branch);
            DeedDone { text, done: Done::CreateWorktree(made) }
        }
        Deed::MergeWorktree { task } => {
            let command = api.by_hand(async move |paths| hands(&paths).await?.submits(&task).await);
            let answer = recorded(api, by, id, told(command.await?)?).await?;
            DeedDone { text: answer.text.clone(), done: Done::MergeWorktree(answer) }
        }
        Deed::CleanUpWorktree { task, force } => {
            let cleaned =
                api.by_hand(async move |paths| hands(&paths).await?.cleaned_up(&task, force, false).await);
            let (line, record) = told(cleaned.await?)?;
            if let Some(command) = record {
                match recorded(api, by, id, command).await {
                    // A coordinator was quicker to find out.
                    Err(fault) if fault.error.refusal.is_some() => {}
                    recorded => drop(recorded?),
                }
            }
            DeedDone { text: of_cleanup(&line), done: Done::CleanUpWorktree(line) }
        }
        Deed::Restore { name } => {
            let back = api.by_hand(async move |paths| {
                let hands = hands(&paths).await?;
                let all = hands.saved_work().await?;
                hands.restore_work(hands.chosen(&all, &name).await?).await
            });
            let back = told(back.await?)?;
            let text = came_back("is back", &back.name, &back.path, back.branch.as_deref());
            DeedDone { text, done: Done::Restore(back) }
        }
        Deed::RunHook { hook, variables } => {
            let ran = api.by_hand(async move |paths| hands(&paths).await?.run_hook(&hook, &variables).await);
            let ran = told(ran.await?)?;
            let text = format!("The hook {}: {}", ran.hook, ran.outcome.describe());
            DeedDone { text, done: Done::RunHook(ran) }
        }
        Deed::Fix => {
            let report =
                api.by_hand(async |paths: Paths| examine(&paths.root, &environment(), true).await).await?;
            let text = format!("{} fixed, {} left", report.fixed, report.problems);
            DeedDone { text, done: Done::Fix(report) }
        }
    })
}

fn came_back(word: &str, name: &str, path: &str, branch: Option<&str>) -> String {
    let on = branch.map(|branch| format!(" on {branch}")).unwrap_or_default();
    format!("{name} {word} in {path}{on}")
}

fn of_cleanup(line: &CleanedUp) -> String {
    let task = &line.task;
    match (&line.why, line.dry_run) {
        (Some(why), _) => format!("The worktree of {task} stays: {why}"),
        (None, true) => format!("The worktree of {task} is removed"),
        (None, false) => format!("The worktree of {task} was removed"),
    }
}

async fn recorded(api: &ApiState, by: Actor, id: CommandId, command: Command) -> Result<Answer, Fault> {
    match api.command(Envelope { id, by, command }).await? {
        Response::Answer(answer) => Ok(answer),
        Response::Refused { refusal } => Err(refusal.into()),
        Response::Failed { text } => Err(Fault::world(text)),
    }
}
