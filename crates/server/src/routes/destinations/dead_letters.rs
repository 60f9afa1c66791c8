//! Dead letters: deliveries that were given up.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use freshet_daemon::DestinationEdit;
use freshet_notify::DeadLetterView;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{load, no_notifier};
use crate::app::App;
use crate::extractors::{PathParams, QueryParams};
use crate::pagination::{Page, check_limit};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(retry)).routes(routes!(discard))
}

/// Page of the list of dead letters.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeadLettersQuery {
    /// Cursor: `next` of the previous page.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Maximum number of items in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// List dead letters
#[utoipa::path(get, path = "/v1/destinations/{id}/dead", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination"), DeadLettersQuery),
    responses((status = 200, description = "A page of dead letters, oldest first", body = Page<DeadLetterView>)))]
async fn list(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    QueryParams(query): QueryParams<DeadLettersQuery>,
) -> Result<Json<Page<DeadLetterView>>, Problem> {
    let limit = check_limit(query.limit)?;
    let after = query.after.unwrap_or(0);
    if after < 0 {
        return Err(Problem::invalid(
            "after",
            format!("invalid cursor: {after}; cursors are 0 or more"),
        ));
    }
    load(&app, id).await?;
    let dead = app.read(move |reader| reader.dead_letters(id, after, limit)).await?;
    let next = dead.last().filter(|_| dead.len() == limit).map(|it| it.id);
    Ok(Json(Page { items: dead.iter().map(DeadLetterView::new).collect(), next }))
}

/// Result of retrying dead letters.
#[derive(Debug, Serialize, ToSchema)]
struct RetryResult {
    /// Number delivered.
    sent: u64,
    /// Number that remain.
    left: u64,
    /// Why the next one failed, if one did.
    error: Option<String>,
}

/// Retry dead letters
///
/// They are sent oldest first, until one fails, for at most half a minute.
#[utoipa::path(post, path = "/v1/destinations/{id}/retry", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination")),
    responses((status = 200, description = "The result of the retry", body = RetryResult)))]
async fn retry(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<RetryResult>, Problem> {
    load(&app, id).await?;
    let notifier = app.notifier.as_ref().ok_or_else(no_notifier)?;
    let retried = notifier.retry_dead_letters(id).await?;
    let gone = || Problem::not_found(format!("no destination {id}"));
    let retried = retried.ok_or_else(gone)?;
    let (sent, left) = (retried.sent as u64, retried.remaining);
    Ok(Json(RetryResult { sent, left, error: retried.error.map(|it| it.message) }))
}

/// Discard a dead letter
#[utoipa::path(delete, path = "/v1/destinations/{id}/dead/{letter}", tag = "destinations",
    params(("id" = u32, Path, description = "Id of the destination"),
        ("letter" = i64, Path, description = "Id of the dead letter")),
    responses((status = 204, description = "The dead letter is discarded")))]
async fn discard(
    State(app): State<Arc<App>>,
    PathParams((id, letter)): PathParams<(u32, i64)>,
) -> Result<StatusCode, Problem> {
    let after = letter.saturating_sub(1);
    let found = app.read(move |reader| reader.dead_letters(id, after, 1)).await?;
    if found.first().is_none_or(|it| it.id != letter) {
        return Err(Problem::not_found(format!("no dead letter {letter} for destination {id}")));
    }
    app.handle
        .edit_destination(DestinationEdit::RemoveDeadLetters { dead_letters: vec![letter] })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
