//! Who is told of changes, and how.

mod input;
mod letters;

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
use crate::input::{Input, Place, Query};
use crate::page::{Page, after, limit};
use crate::problem::Problem;

/// The longest that an old secret can be good for, in seconds: a month.
const GRACE: u64 = 31 * 86_400;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(get, replace, remove))
        .routes(routes!(pause))
        .routes(routes!(test))
        .routes(routes!(rotate))
        .merge(letters::routes())
}

impl From<DestinationError> for Problem {
    fn from(error: DestinationError) -> Self {
        let detail = error.to_string();
        match error {
            DestinationError::Taken(_) => {
                let mut problem = Self::new(StatusCode::CONFLICT, detail);
                problem.field = Some("name".to_owned());
                problem
            }
            DestinationError::Changed(_) => Self::new(StatusCode::CONFLICT, detail),
            DestinationError::Missing(_) => Self::absent(detail),
            DestinationError::Store(error) => error.into(),
            DestinationError::Stopped => freshet_daemon::DaemonError::Stopped.into(),
        }
    }
}

fn unfit(why: InvalidSetting) -> Problem {
    // In a body, the ways to be told stand under `to`.
    let is_way = ["webhook.", "email.", "command."].iter().any(|way| why.field.starts_with(way));
    let field = if is_way { format!("to.{}", why.field) } else { why.field };
    Problem::field(field, why.reason)
}

/// A destination by its number.
async fn row(app: &App, id: u32) -> Result<Destination, Problem> {
    let row = app.read(move |reader| reader.destination(id)).await?;
    row.ok_or_else(|| Problem::absent(format!("there is no destination {id}")))
}

pub(crate) async fn view(app: &App, id: u32) -> Result<DestinationView, Problem> {
    let found =
        app.read(move |reader| Ok((reader.destination(id)?, reader.count_dead_letters(id)?)));
    let (row, dead) = found.await?;
    let row = row.ok_or_else(|| Problem::absent(format!("there is no destination {id}")))?;
    Ok(DestinationView::new(&row, dead))
}

/// A destination that was made, or has a new secret.
#[derive(Debug, Serialize, ToSchema)]
struct NewDestination {
    /// What signatures are checked with, of a webhook. It is not shown again.
    secret: Option<String>,
    /// What is known of it.
    #[serde(flatten)]
    about: DestinationView,
}

/// Which destinations.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Those with a larger number than this: the `next` of the page before.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Items of the page at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// List destinations
#[utoipa::path(get, path = "/v1/destinations", tag = "destinations", params(ListQuery),
    responses((status = 200, description = "A page of those who are told", body = Page<DestinationView>)))]
async fn list(
    State(app): State<Arc<App>>,
    Query(asked): Query<ListQuery>,
) -> Result<Json<Page<DestinationView>>, Problem> {
    let (limit, after) = (limit(asked.limit)?, after(asked.after)?);
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

/// Tell somebody of changes
///
/// Of all that comes from now on, or after a cursor. A webhook gets `{"entries": […]}`, signed by the
/// convention of Standard Webhooks with a secret that is shown in this answer and never again. Mail goes
/// through the server that freshet.toml names, and commands must be named there.
#[utoipa::path(post, path = "/v1/destinations", tag = "destinations",
    request_body = DestinationInput,
    responses((status = 201, description = "It is told from now on", body = NewDestination),
        (status = 409, description = "There is one of this name")))]
async fn add(
    State(app): State<Arc<App>>,
    Input(input): Input<DestinationInput>,
) -> Result<Response, Problem> {
    let (name, after) = (input.name.clone(), input.after);
    let (secret, about) = make(&app, name, after, input.target().raw(Vec::new())).await?;
    Ok((StatusCode::CREATED, Json(NewDestination { secret, about })).into_response())
}

/// Makes a destination. Gives the secret that a webhook is signed with, and what is known of it.
pub(crate) async fn make(
    app: &App,
    name: String,
    after: Option<i64>,
    mut raw: RawTarget,
) -> Result<(Option<String>, DestinationView), Problem> {
    check_name(&name).map_err(unfit)?;
    if after.is_some_and(|after| after < 0) {
        return Err(Problem::field("after", "a cursor is 0 or more"));
    }
    let mut secret = None;
    if let RawChannel::Webhook(hook) = &mut raw.to {
        let key = random(app.handle.now())?;
        secret = Some(key.reveal_secret().to_owned());
        hook.keys = vec![key];
    }
    let target = Target::try_from(raw).map_err(unfit)?;
    let edit = DestinationEdit::Make { name, settings: target.to_json(), after };
    let id = app.handle.edit_destination(edit).await?;
    Ok((secret, view(app, u32::try_from(id).unwrap_or(u32::MAX)).await?))
}

fn random(now: i64) -> Result<SigningKey, Problem> {
    SigningKey::generate(now)
        .map_err(|why| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string()))
}

/// Show a destination
#[utoipa::path(get, path = "/v1/destinations/{id}", tag = "destinations",
    params(("id" = u32, Path, description = "Its number")),
    responses((status = 200, description = "What is known of it, without secrets", body = DestinationView)))]
async fn get(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
) -> Result<Json<DestinationView>, Problem> {
    Ok(Json(view(&app, id).await?))
}

/// Say all of a destination anew
///
/// A webhook keeps its secrets. What failed is tried anew.
#[utoipa::path(put, path = "/v1/destinations/{id}", tag = "destinations",
    params(("id" = u32, Path, description = "Its number")), request_body = TargetInput,
    responses((status = 200, description = "What it is now", body = DestinationView),
        (status = 409, description = "It is of another kind, or somebody else changes it")))]
async fn replace(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Input(input): Input<TargetInput>,
) -> Result<Json<DestinationView>, Problem> {
    let row = row(&app, id).await?;
    let before = Target::parse(&row.settings).map_err(unfit)?;
    let Some(keys) = input.keys_of(before.raw()) else {
        let detail = format!("destination {id} is a {}, and stays one", before.kind());
        return Err(Problem::new(StatusCode::CONFLICT, detail).hint("make another one"));
    };
    let target = Target::try_from(input.raw(keys)).map_err(unfit)?;
    change(&app, row, &target).await?;
    Ok(Json(view(&app, id).await?))
}

async fn change(app: &App, row: Destination, target: &Target) -> Result<(), Problem> {
    let (id, settings, before) = (row.id, target.to_json(), row.settings);
    let edit = DestinationEdit::Change { id, settings, before };
    app.handle.edit_destination(edit).await?;
    Ok(())
}

/// Forget a destination, and what could not be delivered to it
#[utoipa::path(delete, path = "/v1/destinations/{id}", tag = "destinations",
    params(("id" = u32, Path, description = "Its number")),
    responses((status = 204, description = "It is told no more")))]
async fn remove(State(app): State<Arc<App>>, Place(id): Place<u32>) -> Result<StatusCode, Problem> {
    app.handle.edit_destination(DestinationEdit::Remove { id }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whether somebody is left alone.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PauseInput {
    /// Whether nothing is told for the time being. What comes meanwhile is told afterwards.
    paused: bool,
}

/// Leave a destination alone for the time being, or not
#[utoipa::path(post, path = "/v1/destinations/{id}/pause", tag = "destinations",
    params(("id" = u32, Path, description = "Its number")), request_body = PauseInput,
    responses((status = 200, description = "What it is now", body = DestinationView)))]
async fn pause(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Input(input): Input<PauseInput>,
) -> Result<Json<DestinationView>, Problem> {
    let edit = DestinationEdit::Pause { id, paused: input.paused };
    app.handle.edit_destination(edit).await?;
    Ok(Json(view(&app, id).await?))
}

/// What came of a test.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestResult {
    /// Whether it arrived.
    pub(crate) arrived: bool,
    /// What was sent and answered, if it arrived.
    pub(crate) receipt: Option<Receipt>,
    /// Why it did not arrive, if it did not.
    pub(crate) error: Option<String>,
    /// What was answered then, if something was.
    pub(crate) answer: Option<String>,
}

/// Send something that shows that it arrives
///
/// It is marked as a test, and says that nothing has changed.
#[utoipa::path(post, path = "/v1/destinations/{id}/test", tag = "destinations",
    params(("id" = u32, Path, description = "Its number")),
    responses((status = 200, description = "What came of it", body = TestResult)))]
async fn test(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
) -> Result<Json<TestResult>, Problem> {
    Ok(Json(try_out(&app, id).await?))
}

/// Sends something that shows that it arrives.
pub(crate) async fn try_out(app: &App, id: u32) -> Result<TestResult, Problem> {
    let row = row(app, id).await?;
    let target = Target::parse(&row.settings).map_err(unfit)?;
    let notifier = app.notifier.as_ref().ok_or_else(nobody)?;
    Ok(match notifier.send_test(&row.name, &target).await {
        Ok(receipt) => {
            TestResult { arrived: true, receipt: Some(receipt), error: None, answer: None }
        }
        Err(trouble) => TestResult {
            arrived: false,
            receipt: None,
            error: Some(trouble.message),
            answer: trouble.response,
        },
    })
}

/// There is nobody who tells.
fn nobody() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "nobody tells destinations here")
}

/// How the secret of a webhook changes.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct RotateInput {
    /// Seconds that the old secret is good for; a day unless given.
    #[schema(minimum = 0, maximum = 2_678_400)]
    grace_seconds: Option<u64>,
}

/// Make a new secret for a webhook
///
/// Both sign until the old one ends. The new one is shown in this answer and never again.
#[utoipa::path(post, path = "/v1/destinations/{id}/rotate", tag = "destinations",
    params(("id" = u32, Path, description = "Its number")), request_body = RotateInput,
    responses((status = 200, description = "It has a new secret", body = NewDestination),
        (status = 409, description = "It is no webhook, or somebody else changes it")))]
async fn rotate(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Input(input): Input<RotateInput>,
) -> Result<Json<NewDestination>, Problem> {
    let (secret, about) = change_key(&app, id, input.grace_seconds.unwrap_or(86_400)).await?;
    Ok(Json(NewDestination { secret: Some(secret), about }))
}

/// Makes a new secret for a webhook; the old one is good for so many seconds more.
pub(crate) async fn change_key(
    app: &App,
    id: u32,
    grace: u64,
) -> Result<(String, DestinationView), Problem> {
    if grace > GRACE {
        return Err(Problem::field("grace_seconds", format!("{grace} is not from 0 to {GRACE}")));
    }
    let row = row(app, id).await?;
    let mut target = Target::parse(&row.settings).map_err(unfit)?;
    let made = target.rotate_key(app.handle.now(), std::time::Duration::from_secs(grace));
    let key = made
        .map_err(|why| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why.to_string()))?
        .ok_or_else(|| Problem::new(StatusCode::CONFLICT, "only webhooks have a secret"))?;
    let (settings, before) = (target.to_json(), row.settings);
    app.handle.edit_destination(DestinationEdit::Rekey { id, settings, before }).await?;
    Ok((key.reveal_secret().to_owned(), view(app, id).await?))
}
