//! The change log as Atom feeds.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use freshet_notify::atom::{self, FeedMetadata, MEDIA_TYPE};
use freshet_store::ChangeFilter;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::change_broadcast::all_kinds;
use crate::etag;
use crate::extractors::PathParams;
use crate::problem::Problem;

/// Number of entries of a feed.
const MAX_ENTRIES: usize = 100;
/// Suffix of feed paths.
const SUFFIX: &str = ".atom";

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(all)).routes(routes!(tag)).routes(routes!(source))
}

/// Get all changes as an Atom feed
#[utoipa::path(get, path = "/v1/feeds/all.atom", tag = "changes",
    responses((status = 200, description = "The newest 100 changes", body = String,
        content_type = "application/atom+xml")))]
async fn all(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Problem> {
    feed(&app, &headers, &uri, "freshet".to_owned(), all_kinds()).await
}

/// Get the changes of sources with a tag as an Atom feed
#[utoipa::path(get, path = "/v1/feeds/tag/{tag}", tag = "changes",
    params(("tag" = String, Path, description = "Tag, followed by `.atom`: `news.atom`")),
    responses((status = 200, description = "The newest 100 changes", body = String,
        content_type = "application/atom+xml")))]
async fn tag(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
    PathParams(tag): PathParams<String>,
) -> Result<Response, Problem> {
    let tag = tag.strip_suffix(SUFFIX).unwrap_or(&tag).to_owned();
    let title = format!("freshet: {tag}");
    let filter = ChangeFilter { tag: Some(tag), ..all_kinds() };
    feed(&app, &headers, &uri, title, filter).await
}

/// Get the changes of a source as an Atom feed
#[utoipa::path(get, path = "/v1/feeds/source/{id}", tag = "changes",
    params(("id" = String, Path, pattern = "^[0-9]{1,9}[.]atom$", description = "Id of the source, followed by `.atom`: `7.atom`")),
    responses((status = 200, description = "The newest 100 changes", body = String,
        content_type = "application/atom+xml")))]
async fn source(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
    PathParams(name): PathParams<String>,
) -> Result<Response, Problem> {
    let id = name.strip_suffix(SUFFIX).unwrap_or(&name).parse::<u32>();
    let id = id.map_err(|_| {
        Problem::invalid("id", format!("`{name}` is not a source id followed by `{SUFFIX}`"))
    })?;
    let source = app.read(move |reader| reader.source(id)).await?;
    let source = source.ok_or_else(|| Problem::source_not_found(id))?;
    let filter = ChangeFilter { source: Some(id), ..all_kinds() };
    feed(&app, &headers, &uri, format!("freshet: {}", source.url), filter).await
}

async fn feed(
    app: &App,
    headers: &HeaderMap,
    uri: &Uri,
    title: String,
    filter: ChangeFilter,
) -> Result<Response, Problem> {
    let base = app.url.clone().unwrap_or_else(|| {
        let host = headers.get(HOST).and_then(|it| it.to_str().ok()).unwrap_or("localhost");
        format!("http://{host}")
    });
    let url = format!("{base}{}", uri.path());
    let text = app.read(move |reader| {
        let changes = reader.latest_changes(None, MAX_ENTRIES, &filter)?;
        let identity = reader.identity()?;
        let created_at = reader.meta("made")?.and_then(|it| it.parse().ok()).unwrap_or(0);
        let metadata =
            FeedMetadata { identity: &identity, title: &title, url: &url, base: &base, created_at };
        Ok(atom::format_feed(&metadata, &changes))
    });
    Ok(etag::respond(headers, MEDIA_TYPE, text.await?.into()))
}
