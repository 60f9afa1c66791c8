//! Stored versions of a source.

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
use crate::extractors::{PathParams, QueryParams};
use crate::pagination::{Page, check_after, check_limit};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get))
}

/// A stored version.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Version)]
struct VersionView {
    /// Number of the version, from 1 for each source.
    n: u32,
    /// Time at which it was first seen (RFC 3339, UTC).
    at: String,
    /// Digest of the relevant content, in hexadecimal.
    digest: String,
    /// Content type.
    kind: String,
    /// Size of the content, in bytes.
    size: u64,
}

impl VersionView {
    fn new(version: VersionMeta) -> Self {
        Self {
            n: version.number,
            at: rfc3339(version.first_seen_at),
            digest: format!("{:032x}", u128::from_be_bytes(version.digest)),
            kind: version.content_kind,
            size: version.size,
        }
    }
}

/// List the versions of a source
///
/// Newest first.
#[utoipa::path(get, path = "/v1/sources/{id}/versions", tag = "versions",
    params(("id" = u32, Path, description = "Id of the source"), PageQuery),
    responses((status = 200, description = "A page of versions", body = Page<VersionView>)))]
async fn list(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<VersionView>>, Problem> {
    let (limit, before) = (check_limit(query.limit)?, check_after(query.after)?);
    let found = app.read(move |reader| {
        let is_there = reader.source(id)?.is_some();
        is_there.then(|| reader.versions(id)).transpose()
    });
    let found = found.await?.ok_or_else(|| Problem::source_not_found(id))?;
    let before = before.unwrap_or(i64::MAX);
    let found = found.into_iter().filter(|it| i64::from(it.number) < before);
    let mut items: Vec<_> = found.take(limit + 1).collect();
    let is_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| is_more).map(|it| i64::from(it.number));
    Ok(Json(Page { items: items.into_iter().map(VersionView::new).collect(), next }))
}

/// Get the content of a version
///
/// Always as plain text, so that nothing in it runs in a browser.
#[utoipa::path(get, path = "/v1/sources/{id}/versions/{n}", tag = "versions",
    params(("id" = u32, Path, description = "Id of the source"),
        ("n" = u32, Path, description = "Number of the version")),
    responses((status = 200, description = "The content as received", body = String,
        content_type = "text/plain")))]
async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    PathParams((id, n)): PathParams<(u32, u32)>,
) -> Result<Response, Problem> {
    let version = app.read(move |reader| reader.version(id, n)).await?;
    let version = version
        .ok_or_else(|| Problem::not_found(format!("version {n} of source {id} is not stored")))?;
    Ok(etag::respond(&headers, "text/plain; charset=utf-8", version.content.into()))
}
