//! Work for other crawlers.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use freshet_notify::rfc3339;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::input::Input;
use crate::problem::Problem;

/// Sources of a claim at most, and seconds of a lease.
const MOST: u32 = 1000;
const LONGEST: u32 = 3600;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(claim))
}

/// How much somebody can fetch.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct ClaimInput {
    /// Sources at most.
    #[schema(minimum = 1, maximum = 1000, default = 100)]
    max: u32,
    /// Seconds until what is not reported goes back.
    #[schema(minimum = 1, maximum = 3600, default = 300)]
    lease_seconds: u32,
}

impl Default for ClaimInput {
    fn default() -> Self {
        Self { max: 100, lease_seconds: 300 }
    }
}

/// What somebody is to fetch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Claim)]
struct ClaimView {
    /// To be shown with the reports.
    lease: String,
    /// When it ends (RFC 3339, UTC): what is not reported by then goes back.
    until: String,
    /// What is to be fetched now, at once: politeness is already kept.
    items: Vec<ClaimedView>,
    /// When there may be more, if that is known (RFC 3339, UTC).
    next: Option<String>,
}

/// A source that somebody is to fetch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Claimed)]
struct ClaimedView {
    /// Its number.
    source: u32,
    /// What is to be fetched.
    url: String,
    /// For `If-None-Match`, as it was last reported.
    etag: Option<String>,
    /// For `If-Modified-Since`, as it was last reported.
    last_modified: Option<String>,
    /// Why: `new`, `worth`, `pending`, `overdue`, `retry` or `spare`.
    reason: &'static str,
}

/// Claim sources to fetch
///
/// What is worth fetching now, within the budget and what hosts can take. It is paid for when it is
/// handed out. What is not reported before the lease ends goes back.
#[utoipa::path(post, path = "/v1/claims", tag = "crawlers", request_body = ClaimInput,
    responses((status = 200, description = "What to fetch; it can be nothing", body = ClaimView)))]
async fn claim(
    State(app): State<Arc<App>>,
    Input(input): Input<ClaimInput>,
) -> Result<Json<ClaimView>, Problem> {
    let ClaimInput { max, lease_seconds } = input;
    if !(1..=MOST).contains(&max) {
        return Err(Problem::field("max", format!("{max} is not from 1 to {MOST}")));
    }
    if !(1..=LONGEST).contains(&lease_seconds) {
        let detail = format!("{lease_seconds} is not from 1 to {LONGEST}");
        return Err(Problem::field("lease_seconds", detail));
    }
    let claim = app.handle.claim(max, Duration::from_secs(lease_seconds.into())).await?;
    let items = claim.items.into_iter().map(|it| ClaimedView {
        source: it.source,
        url: it.url,
        etag: it.validators.etag,
        last_modified: it.validators.last_modified,
        reason: it.reason,
    });
    Ok(Json(ClaimView {
        lease: claim.lease.to_string(),
        until: rfc3339(claim.until),
        items: items.collect(),
        next: claim.next.map(rfc3339),
    }))
}
