//! Destinations of change notifications.

mod dead_letters;
mod input;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use freshet_daemon::{DestinationEdit, DestinationError};
use freshet_notify::{
    DestinationView, InvalidSetting, RawChannel, RawTarget, Receipt, SigningKey, Target, check_name,
};
use freshet_store::Destination;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::input::{DestinationInput, TargetInput};
use crate::app::App;
use crate::extractors::{JsonBody, PathParams, QueryParams};
use crate::pagination::{Page, check_after, check_limit};
use crate::problem::Problem;

/// Maximum time that an old secret stays valid, in seconds: 31 days.
const MAX_GRACE_SECONDS: u64 = 31 * 86_400;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(get, replace, remove))
        .routes(routes!(pause))
        .routes(routes!(test))
        .routes(routes!(rotate))
        .merge(dead_letters::routes())
}

impl From<DestinationError> for Problem {
    fn from(error: DestinationError) -> Self {
        let detail = error.to_string();
        match error {
            DestinationError::NameTaken(_) => {
                let mut problem = Self::new(StatusCode::CONFLICT, detail);
                problem.field = Some("name".to_owned());
                problem
            }
            DestinationError::Conflict(_) => Self::new(StatusCode::CONFLICT, detail),
            DestinationError::NotFound(_) => Self::not_found(detail),
            DestinationError::Store(error) => error.into(),
            DestinationError::Stopped => freshet_daemon::DaemonError::Stopped.into(),
        }
    }
}

fn invalid_setting(error: InvalidSetting) -> Problem {
    // In a request body, the channels are below `to`.
    let is_channel =
        ["webhook.", "email.", "command."].iter().any(|way| error.field.starts_with(way));
    let field = if is_channel { format!("to.{}", error.field) } else { error.field };
    Problem::invalid(field, error.reason)
}

/// Loads a destination.
async fn load(app: &App, id: u32) -> Result<Destination, Problem> {
    let row = app.read(move |reader| reader.destination(id)).await?;
    row.ok_or_else(|| Problem::not_found(format!("no destination {id}")))
}

pub(crate) async fn load_view(app: &App, id: u32) -> Result<DestinationView, Problem> {
    let found =
        app.read(move |reader| Ok((reader.destination(id)?, reader.count_dead_letters(id)?)));
    let (row, dead) = found.await?;
    let row = row.ok_or_else(|| Problem::not_found(format!("no destination {id}")))?;
    Ok(DestinationView::new(&row, dead))
}

/// A destination with a new secret.
#[derive(Debug, Serialize, ToSchema)]
struct NewDestination {
    /// Secret that verifies the signatures of a webhook. It is not shown again.
    secret: Option<String>,
    /// The destination.
    #[serde(flatten)]
    about: DestinationView,
}

/// Page of the list of destinations.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Cursor: `next` of the previous page.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Maximum number of items in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// List destinations
#[utoipa::path(get, path = "/v1/destinations", tag = "destinations", params(ListQuery),
    responses((status = 200, description = "A page of destinations", body = Page<DestinationView>)))]
async fn list(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<Page<DestinationView>>, Problem> {
    let (limit, after) = (check_limit(query.limit)?, check_after(query.after)?);
    let items: Vec<DestinationView> = app
        .read(move |reader| {
            let rows = reader.destinations()?.into_iter();
            let rows = rows.filter(|row| after.is_none_or(|after| i64::from(row.id) > after));
            rows.take(limit)
                .map(|row| Ok(DestinationView::new(&row, reader.count_dead_letters(row.id)?)))
                .collect()
        })
        .await?;
    let next = items.last().filter(|_| items.len() == limit).map(|it| i64::from(it.id));
    Ok(Json(Page { items, next }))
}

/// Add a destination
///
/// It is notified of changes from now on, or after a cursor. A webhook receives `{"entries":
/// […]}`, signed by the Standard Webhooks convention with a secret that is shown in this response
/// and never again. Mail is sent through the server configured in freshet.toml, and commands must
/// be configured there.
#[utoipa::path(post, path = "/v1/destinations", tag = "destinations",
    request_body = DestinationInput,
    responses((status = 201, description = "The new destination", body = NewDestination),
        (status = 409, description = "The name is in use")))]
async fn add(
    State(app): State<Arc<App>>,
    JsonBody(input): JsonBody<DestinationInput>,
) -> Result<Response, Problem> {
    let (name, after) = (input.name.clone(), input.after);
    let (secret, about) = create(&app, name, after, input.target().raw(Vec::new())).await?;
    Ok((StatusCode::CREATED, Json(NewDestination { secret, about })).into_response())
}

/// Creates a destination. Returns the signing secret, if it is a webhook, and the destination.
pub(crate) async fn create(
    app: &App,
    name: String,
    after: Option<i64>,
    mut raw: RawTarget,
) -> Result<(Option<String>, DestinationView), Problem> {
    check_name(&name).map_err(invalid_setting)?;
    if after.is_some_and(|after| after < 0) {
        return Err(Problem::invalid("after", "invalid cursor: cursors are 0 or more"));
    }
    let mut secret = None;
    if let RawChannel::Webhook(hook) = &mut raw.to {
        let key = new_signing_key(app.handle.now())?;
        secret = Some(key.reveal_secret().to_owned());
        hook.keys = vec![key];
    }
    let target = Target::try_from(raw).map_err(invalid_setting)?;
    let edit = DestinationEdit::Create { name, settings: target.to_json(), after };
    let id = app.handle.edit_destination(edit).await?;
    Ok((secret, load_view(app, u32::try_from(id).unwrap_or(u32::MAX)).await?))
}

fn new_signing_key(now: i64) -> Result<SigningKey, Problem> {
    SigningKey::generate(now)
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

/// Show a destination
#[utoipa::path(get, path = "/v1/destinations/{id}", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination")),
    responses((status = 200, description = "The destination, without secrets", body = DestinationView)))]
async fn get(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<DestinationView>, Problem> {
    Ok(Json(load_view(&app, id).await?))
}

/// Replace the settings of a destination
///
/// A webhook keeps its secrets. A failed delivery is tried again.
#[utoipa::path(put, path = "/v1/destinations/{id}", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination")), request_body = TargetInput,
    responses((status = 200, description = "The changed destination", body = DestinationView),
        (status = 409, description = "The destination is of another kind, or was changed concurrently")))]
async fn replace(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    JsonBody(input): JsonBody<TargetInput>,
) -> Result<Json<DestinationView>, Problem> {
    let row = load(&app, id).await?;
    let before = Target::parse(&row.settings).map_err(invalid_setting)?;
    let Some(keys) = input.kept_keys(before.raw()) else {
        let detail =
            format!("cannot change the kind of destination {id}: it is a {}", before.kind());
        return Err(Problem::new(StatusCode::CONFLICT, detail).with_hint("add another destination"));
    };
    let target = Target::try_from(input.raw(keys)).map_err(invalid_setting)?;
    save(&app, row, &target).await?;
    Ok(Json(load_view(&app, id).await?))
}

async fn save(app: &App, row: Destination, target: &Target) -> Result<(), Problem> {
    let (id, settings, before) = (row.id, target.to_json(), row.settings);
    let edit = DestinationEdit::Update { id, settings, expected_settings: before };
    app.handle.edit_destination(edit).await?;
    Ok(())
}

/// Remove a destination and its dead letters
#[utoipa::path(delete, path = "/v1/destinations/{id}", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination")),
    responses((status = 204, description = "The destination is removed")))]
async fn remove(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
) -> Result<StatusCode, Problem> {
    app.handle.edit_destination(DestinationEdit::Remove { id }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Pause state of a destination.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PauseInput {
    /// True to stop deliveries for now. Entries logged meanwhile are delivered afterwards.
    paused: bool,
}

/// Pause or resume a destination
#[utoipa::path(post, path = "/v1/destinations/{id}/pause", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination")), request_body = PauseInput,
    responses((status = 200, description = "The changed destination", body = DestinationView)))]
async fn pause(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    JsonBody(input): JsonBody<PauseInput>,
) -> Result<Json<DestinationView>, Problem> {
    let edit = DestinationEdit::SetPaused { id, paused: input.paused };
    app.handle.edit_destination(edit).await?;
    Ok(Json(load_view(&app, id).await?))
}

/// Result of a test delivery.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestResult {
    /// True if the delivery succeeded.
    pub(crate) arrived: bool,
    /// Receipt of the delivery, if it succeeded.
    pub(crate) receipt: Option<Receipt>,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
    /// Response to the failed delivery, if there was one.
    pub(crate) answer: Option<String>,
}

/// Send a test delivery
///
/// It is marked as a test, and reports no change.
#[utoipa::path(post, path = "/v1/destinations/{id}/test", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination")),
    responses((status = 200, description = "The result of the delivery", body = TestResult)))]
async fn test(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<TestResult>, Problem> {
    Ok(Json(send_test(&app, id).await?))
}

/// Sends a test delivery.
pub(crate) async fn send_test(app: &App, id: u32) -> Result<TestResult, Problem> {
    let row = load(app, id).await?;
    let target = Target::parse(&row.settings).map_err(invalid_setting)?;
    let notifier = app.notifier.as_ref().ok_or_else(no_notifier)?;
    Ok(match notifier.send_test(&row.name, &target).await {
        Ok(receipt) => {
            TestResult { arrived: true, receipt: Some(receipt), error: None, answer: None }
        }
        Err(error) => TestResult {
            arrived: false,
            receipt: None,
            error: Some(error.message),
            answer: error.response,
        },
    })
}

/// Returns the problem for a server without a notifier.
fn no_notifier() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "notifications are not available in this process")
}

/// Rotation of a webhook's secret.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct RotateInput {
    /// Seconds that the old secret stays valid; default: one day.
    #[schema(minimum = 0, maximum = 2_678_400)]
    grace_seconds: Option<u64>,
}

/// Rotate the secret of a webhook
///
/// Deliveries are signed with both secrets until the old one expires. The new secret is shown in
/// this response and never again.
#[utoipa::path(post, path = "/v1/destinations/{id}/rotate", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination")), request_body = RotateInput,
    responses((status = 200, description = "The destination and its new secret", body = NewDestination),
        (status = 409, description = "The destination is not a webhook, or was changed concurrently")))]
async fn rotate(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    JsonBody(input): JsonBody<RotateInput>,
) -> Result<Json<NewDestination>, Problem> {
    let (secret, about) = rotate_key(&app, id, input.grace_seconds.unwrap_or(86_400)).await?;
    Ok(Json(NewDestination { secret: Some(secret), about }))
}

/// Creates a new secret for a webhook; the old one stays valid for `grace` seconds.
pub(crate) async fn rotate_key(
    app: &App,
    id: u32,
    grace: u64,
) -> Result<(String, DestinationView), Problem> {
    if grace > MAX_GRACE_SECONDS {
        return Err(Problem::invalid(
            "grace_seconds",
            format!(
                "grace period out of range: {grace} is not between 0 and {MAX_GRACE_SECONDS} seconds"
            ),
        ));
    }
    let row = load(app, id).await?;
    let mut target = Target::parse(&row.settings).map_err(invalid_setting)?;
    let rotated = target.rotate_key(app.handle.now(), std::time::Duration::from_secs(grace));
    let key = rotated
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?
        .ok_or_else(|| {
            Problem::new(
                StatusCode::CONFLICT,
                "the destination is not a webhook: only webhooks have a secret",
            )
        })?;
    let (settings, before) = (target.to_json(), row.settings);
    app.handle
        .edit_destination(DestinationEdit::RotateKey { id, settings, expected_settings: before })
        .await?;
    Ok((key.reveal_secret().to_owned(), load_view(app, id).await?))
}
