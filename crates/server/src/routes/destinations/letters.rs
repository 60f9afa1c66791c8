//! Deliveries that were given up.

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

use super::{nobody, row};
use crate::app::App;
use crate::input::{Place, Query};
use crate::page::{Page, limit};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(retry)).routes(routes!(forget))
}

/// Which of them.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeadQuery {
    /// Those with a larger number than this.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// How many at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// List deliveries that were given up
#[utoipa::path(get, path = "/v1/destinations/{id}/dead", tag = "destinations",
    params(("id" = u32, Path, description = "The number of the destination"), DeadQuery),
    responses((status = 200, description = "The oldest first", body = Page<DeadLetterView>)))]
async fn list(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Query(asked): Query<DeadQuery>,
) -> Result<Json<Page<DeadLetterView>>, Problem> {
    let most = limit(asked.limit)?;
    let after = asked.after.unwrap_or(0);
    if after < 0 {
        return Err(Problem::field("after", format!("{after} is not the number of a delivery")));
    }
    row(&app, id).await?;
    let dead = app.read(move |reader| reader.dead_letters(id, after, most)).await?;
    let next = dead.last().filter(|_| dead.len() == most).map(|it| it.id);
    Ok(Json(Page { items: dead.iter().map(DeadLetterView::new).collect(), next }))
}

/// What became of deliveries that were tried once more.
#[derive(Debug, Serialize, ToSchema)]
struct RetryResult {
    /// Those that arrived.
    sent: u64,
    /// Those that are left.
    left: u64,
    /// Why the next one did not arrive, if one did not.
    error: Option<String>,
}

/// Send again what was given up
///
/// The oldest first, until one does not arrive, or for half a minute.
#[utoipa::path(post, path = "/v1/destinations/{id}/retry", tag = "destinations",
    params(("id" = u32, Path, description = "The number of the destination")),
    responses((status = 200, description = "What came of it", body = RetryResult)))]
async fn retry(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
) -> Result<Json<RetryResult>, Problem> {
    row(&app, id).await?;
    let notifier = app.notifier.as_ref().ok_or_else(nobody)?;
    let retried = notifier.retry_dead_letters(id).await?;
    let gone = || Problem::absent(format!("there is no destination {id}"));
    let retried = retried.ok_or_else(gone)?;
    let (sent, left) = (retried.sent as u64, retried.remaining);
    Ok(Json(RetryResult { sent, left, error: retried.error.map(|it| it.message) }))
}

/// Forget a delivery that was given up
#[utoipa::path(delete, path = "/v1/destinations/{id}/dead/{letter}", tag = "destinations",
    params(("id" = u32, Path, description = "The number of the destination"),
        ("letter" = i64, Path, description = "The number of the delivery")),
    responses((status = 204, description = "It is forgotten")))]
async fn forget(
    State(app): State<Arc<App>>,
    Place((id, letter)): Place<(u32, i64)>,
) -> Result<StatusCode, Problem> {
    let after = letter.saturating_sub(1);
    let found = app.read(move |reader| reader.dead_letters(id, after, 1)).await?;
    if found.first().is_none_or(|it| it.id != letter) {
        return Err(Problem::absent(format!("there is no delivery {letter} to {id}")));
    }
    app.handle.edit_destination(DestinationEdit::Unbury { dead: vec![letter] }).await?;
    Ok(StatusCode::NO_CONTENT)
}
