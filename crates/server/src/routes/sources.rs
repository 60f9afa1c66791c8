//! Sources: list, find, get, change and remove.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use freshet_daemon::{SourceEdit, SourceSelector, parse_host_filter, parse_source_url};
use freshet_store::SourceQuery;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::source_search;
use super::source_view::{SourceSettingsInput, SourceStateView, SourceView};
use crate::app::App;
use crate::etag;
use crate::extractors::{JsonBody, PathParams, QueryParams};
use crate::pagination::{Page, check_limit};
use crate::problem::Problem;

/// Maximum number of ids, and of URLs, in a request.
const MAX_SOURCES: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(find))
        .routes(routes!(get, patch, remove))
        .routes(routes!(remove_many))
}

/// Filter and page of the list of sources.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Only this host: the given port, or any port if none is given.
    host: Option<String>,
    /// Only sources with this tag.
    tag: Option<String>,
    /// Only sources in this state.
    #[param(inline)]
    state: Option<SourceStateView>,
    /// Only paused sources, or only those that are not.
    paused: Option<bool>,
    /// Only sources whose URL contains this.
    text: Option<String>,
    /// Cursor: `next` of the previous page.
    after: Option<u32>,
    /// Maximum number of items in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// List sources
///
/// Ordered by id. If matching sources are rare, a page can be short or empty before the last one:
/// continue as long as there is a `next`.
#[utoipa::path(get, path = "/v1/sources", tag = "sources", params(ListQuery),
    responses((status = 200, description = "A page of sources", body = Page<SourceView>)))]
async fn list(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<Page<SourceView>>, Problem> {
    let limit = check_limit(query.limit)?;
    let filter = query.host.as_deref().map(parse_host_filter).transpose();
    let filter = filter.map_err(|error| Problem::invalid("host", error.to_string()))?;
    let page = app.read(move |reader| {
        let mut hosts = Vec::new();
        if let Some(filter) = &filter {
            hosts.extend(reader.find_hosts(filter)?.iter().map(|host| host.id));
            if hosts.is_empty() {
                return Ok(Page { items: Vec::new(), next: None });
            }
        }
        let source_query = SourceQuery {
            hosts,
            url_prefix: filter.and_then(|filter| filter.url_prefix),
            tag: query.tag,
            state: query.state.map(Into::into),
            paused: query.paused,
            url_contains: query.text,
            after: query.after,
            max_id: None,
            limit,
        };
        let page = source_search::find_page(reader, &source_query)?;
        let next = page.next_after.map(i64::from);
        Ok(Page { items: SourceView::from_sources(reader, page.sources)?, next })
    });
    Ok(Json(page.await?))
}

/// URL of a source.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FindQuery {
    /// URL of the source.
    url: String,
}

/// Find a source by its URL
#[utoipa::path(get, path = "/v1/sources/find", tag = "sources", params(FindQuery),
    responses((status = 200, description = "The source", body = SourceView),
        (status = 404, description = "No source has this URL")))]
async fn find(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    QueryParams(FindQuery { url }): QueryParams<FindQuery>,
) -> Result<Response, Problem> {
    let found = app.read(move |reader| {
        let canonical = parse_source_url(&url).map_or_else(|_| url.clone(), |(url, _)| url);
        Ok(match reader.find_source(&canonical)? {
            Some(id) => SourceView::find(reader, id)?,
            None => None,
        })
    });
    match found.await? {
        Some(source) => etag::json(&headers, &source),
        None => {
            Err(Problem::not_found("no source has this URL")
                .with_hint("add it with `PUT /v1/sources`"))
        }
    }
}

/// Get a source
#[utoipa::path(get, path = "/v1/sources/{id}", tag = "sources",
    params(("id" = u32, Path, description = "Id of the source")),
    responses((status = 200, description = "The source", body = SourceView)))]
async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    PathParams(id): PathParams<u32>,
) -> Result<Response, Problem> {
    let found = app.read(move |reader| SourceView::find(reader, id)).await?;
    etag::json(&headers, &found.ok_or_else(|| Problem::source_not_found(id))?)
}

/// Change a source
///
/// Omitted fields stay unchanged.
#[utoipa::path(patch, path = "/v1/sources/{id}", tag = "sources", request_body = SourceSettingsInput,
    params(("id" = u32, Path, description = "Id of the source")),
    responses((status = 200, description = "The changed source", body = SourceView)))]
async fn patch(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    JsonBody(settings): JsonBody<SourceSettingsInput>,
) -> Result<Json<SourceView>, Problem> {
    let settings = settings.into_settings()?;
    let selector = SourceSelector { ids: vec![id], ..SourceSelector::default() };
    let applied = app.handle.edit(SourceEdit::Update(selector, Box::new(settings))).await?;
    let found = app.read(move |reader| SourceView::find(reader, id)).await?;
    found.filter(|_| applied.updated > 0).map(Json).ok_or_else(|| Problem::source_not_found(id))
}

/// Remove a source, its history and its versions
///
/// Its changes stay in the log.
#[utoipa::path(delete, path = "/v1/sources/{id}", tag = "sources",
    params(("id" = u32, Path, description = "Id of the source")),
    responses((status = 204, description = "The source is removed")))]
async fn remove(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
) -> Result<StatusCode, Problem> {
    let selector = SourceSelector { ids: vec![id], ..SourceSelector::default() };
    match app.handle.edit(SourceEdit::Remove(selector)).await?.removed {
        0 => Err(Problem::source_not_found(id)),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

/// Sources to remove: every source that one of the fields matches. If both `host` and `tag` are
/// given, a source must match both.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct RemoveInput {
    /// Ids of sources.
    #[schema(max_items = 10000)]
    ids: Vec<u32>,
    /// URLs of sources.
    #[schema(max_items = 10000)]
    urls: Vec<String>,
    /// Tag of sources.
    tag: Option<String>,
    /// Host of sources: the given port, or any port if none is given.
    host: Option<String>,
}

/// Result of the removal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Removed)]
struct RemoveResult {
    /// Number of removed sources.
    removed: u64,
    /// URLs that were not sources.
    unknown: Vec<String>,
}

/// Remove sources, their history and their versions
///
/// Sources that do not exist are ignored, so the request can be repeated.
#[utoipa::path(post, path = "/v1/sources/remove", tag = "sources", request_body = RemoveInput,
    responses((status = 200, description = "The result of the removal", body = RemoveResult)))]
async fn remove_many(
    State(app): State<Arc<App>>,
    JsonBody(input): JsonBody<RemoveInput, 16>,
) -> Result<Json<RemoveResult>, Problem> {
    let RemoveInput { ids, urls, tag, host } = input;
    for (field, count) in [("ids", ids.len()), ("urls", urls.len())] {
        if count > MAX_SOURCES {
            return Err(Problem::invalid(
                field,
                format!("too many sources: {count}, at most {MAX_SOURCES} are allowed"),
            ));
        }
    }
    if ids.is_empty() && urls.is_empty() && tag.is_none() && host.is_none() {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "no source is given")
            .with_hint("pass `ids`, `urls`, `tag` or `host`"));
    }
    let applied =
        app.handle.edit(SourceEdit::Remove(SourceSelector { urls, tag, host, ids })).await?;
    Ok(Json(RemoveResult { removed: applied.removed, unknown: applied.unknown_urls }))
}
