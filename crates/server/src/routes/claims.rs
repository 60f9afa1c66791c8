//! Claims of other crawlers.

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
use crate::extractors::JsonBody;
use crate::problem::Problem;

/// Maximum number of sources of a claim, and maximum duration of a lease in seconds.
const MAX_SOURCES: u32 = 1000;
const MAX_LEASE_SECONDS: u32 = 3600;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(claim))
}

/// Size of a claim.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct ClaimInput {
    /// Maximum number of sources.
    #[schema(minimum = 1, maximum = 1000, default = 100)]
    max: u32,
    /// Seconds until the lease ends and unreported sources are released.
    #[schema(minimum = 1, maximum = 3600, default = 300)]
    lease_seconds: u32,
}

impl Default for ClaimInput {
    fn default() -> Self {
        Self { max: 100, lease_seconds: 300 }
    }
}

/// A claim: sources to fetch, on a lease.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Claim)]
struct ClaimView {
    /// Lease token: pass it with the reports.
    lease: String,
    /// End of the lease (RFC 3339, UTC): sources not reported by then are released.
    until: String,
    /// Sources to fetch now. All may be fetched at once: politeness is already accounted for.
    items: Vec<ClaimedSourceView>,
    /// Time at which more sources may be due, if known (RFC 3339, UTC).
    next: Option<String>,
}

/// A claimed source.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Claimed)]
struct ClaimedSourceView {
    /// Id of the source.
    source: u32,
    /// URL to fetch.
    url: String,
    /// Last reported `ETag`, for `If-None-Match`.
    etag: Option<String>,
    /// Last reported `Last-Modified`, for `If-Modified-Since`.
    last_modified: Option<String>,
    /// Reason of the fetch: `new`, `worth`, `pending`, `overdue`, `retry` or `spare`.
    reason: &'static str,
}

/// Claim sources to fetch
///
/// Hands out the sources that are worth fetching now, within the budget and the limits of their
/// hosts. They are charged to the budget when they are handed out. Sources that are not reported
/// before the lease ends are released.
#[utoipa::path(post, path = "/v1/claims", tag = "crawlers", request_body = ClaimInput,
    responses((status = 200, description = "Sources to fetch; the list may be empty", body = ClaimView)))]
async fn claim(
    State(app): State<Arc<App>>,
    JsonBody(input): JsonBody<ClaimInput>,
) -> Result<Json<ClaimView>, Problem> {
    let ClaimInput { max, lease_seconds } = input;
    if !(1..=MAX_SOURCES).contains(&max) {
        return Err(Problem::invalid(
            "max",
            format!("max out of range: {max} is not between 1 and {MAX_SOURCES}"),
        ));
    }
    if !(1..=MAX_LEASE_SECONDS).contains(&lease_seconds) {
        let detail = format!(
            "lease out of range: {lease_seconds} is not between 1 and {MAX_LEASE_SECONDS} seconds"
        );
        return Err(Problem::invalid("lease_seconds", detail));
    }
    let claim = app.handle.claim(max, Duration::from_secs(lease_seconds.into())).await?;
    let items = claim.items.into_iter().map(|it| ClaimedSourceView {
        source: it.source,
        url: it.url,
        etag: it.validators.etag,
        last_modified: it.validators.last_modified,
        reason: it.reason,
    });
    Ok(Json(ClaimView {
        lease: claim.lease.to_string(),
        until: rfc3339(claim.expires_at),
        items: items.collect(),
        next: claim.next_claim_at.map(rfc3339),
    }))
}
