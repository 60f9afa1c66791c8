//! Versions of a source that are kept.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use freshet_notify::rfc3339;
use freshet_store::VersionMeta;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::history::PageQuery;
use crate::app::App;
use crate::etag;
use crate::input::{Place, Query};
use crate::page::{Page, after, limit};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get))
}

/// A version that is kept.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Version)]
struct VersionView {
    /// Its number, from 1 for each source.
    n: u32,
    /// When it was first seen (RFC 3339, UTC).
    at: String,
    /// The digest of what counts of it, in hexadecimal digits.
    digest: String,
    /// What kind of content it is.
    kind: String,
    /// Bytes of content.
    size: u64,
}

impl VersionView {
    fn of(it: VersionMeta) -> Self {
        Self {
            n: it.number,
            at: rfc3339(it.first_seen_at),
            digest: format!("{:032x}", u128::from_be_bytes(it.digest)),
            kind: it.content_kind,
            size: it.size,
        }
    }
}

/// List the versions of a source that are kept
///
/// The newest first.
#[utoipa::path(get, path = "/v1/sources/{id}/versions", tag = "versions",
    params(("id" = u32, Path, description = "The number of the source"), PageQuery),
    responses((status = 200, description = "A page of versions", body = Page<VersionView>)))]
async fn list(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Query(asked): Query<PageQuery>,
) -> Result<Json<Page<VersionView>>, Problem> {
    let (limit, before) = (limit(asked.limit)?, after(asked.after)?);
    let found = app.read(move |reader| {
        let is_there = reader.source(id)?.is_some();
        is_there.then(|| reader.versions(id)).transpose()
    });
    let found = found.await?.ok_or_else(|| Problem::no_source(id))?;
    let before = before.unwrap_or(i64::MAX);
    let found = found.into_iter().filter(|it| i64::from(it.number) < before);
    let mut items: Vec<_> = found.take(limit + 1).collect();
    let is_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| is_more).map(|it| i64::from(it.number));
    Ok(Json(Page { items: items.into_iter().map(VersionView::of).collect(), next }))
}

/// Get the content of a version
///
/// As plain text, whatever it is: nothing in it runs in a browser.
#[utoipa::path(get, path = "/v1/sources/{id}/versions/{n}", tag = "versions",
    params(("id" = u32, Path, description = "The number of the source"),
        ("n" = u32, Path, description = "The number of the version")),
    responses((status = 200, description = "The bytes as they came", body = String,
        content_type = "text/plain")))]
async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Place((id, n)): Place<(u32, u32)>,
) -> Result<Response, Problem> {
    let version = app.read(move |reader| reader.version(id, n)).await?;
    let version = version
        .ok_or_else(|| Problem::absent(format!("version {n} of source {id} is not kept")))?;
    Ok(etag::answer(&headers, "text/plain; charset=utf-8", version.content.into()))
}
