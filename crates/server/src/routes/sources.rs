//! Sources: listing, finding, changing, removing.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use freshet_daemon::{Edit, Which, host_filter, host_of};
use freshet_store::SourceQuery as Asked;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::search;
use super::source::{SourceSettingsView, SourceView, WireSourceState};
use crate::app::App;
use crate::etag;
use crate::input::{Input, Place, Query};
use crate::page::{Page, limit};
use crate::problem::Problem;

/// Numbers and URLs that one request may name.
const NAMED: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(find))
        .routes(routes!(get, patch, remove))
        .routes(routes!(remove_some))
}

/// Which sources.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Of the host with this name: at this port if one is given, at any otherwise.
    host: Option<String>,
    /// With this tag.
    tag: Option<String>,
    /// In this state.
    #[param(inline)]
    state: Option<WireSourceState>,
    /// Left alone for the time being, or not.
    paused: Option<bool>,
    /// With this in the URL.
    text: Option<String>,
    /// Where the page before ended: its `next`.
    after: Option<u32>,
    /// Items of the page at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// List sources
///
/// In order of their numbers. Where what is asked for is rare, a page can be short or empty before the
/// last one: go on as long as there is a `next`.
#[utoipa::path(get, path = "/v1/sources", tag = "sources", params(ListQuery),
    responses((status = 200, description = "A page of sources", body = Page<SourceView>)))]
async fn list(
    State(app): State<Arc<App>>,
    Query(asked): Query<ListQuery>,
) -> Result<Json<Page<SourceView>>, Problem> {
    let limit = limit(asked.limit)?;
    let filter = asked.host.as_deref().map(host_filter).transpose();
    let filter = filter.map_err(|why| Problem::field("host", why.to_string()))?;
    let page = app.read(move |reader| {
        let mut hosts = Vec::new();
        if let Some(filter) = &filter {
            hosts.extend(reader.find_hosts(filter)?.iter().map(|host| host.id));
            if hosts.is_empty() {
                return Ok(Page { items: Vec::new(), next: None });
            }
        }
        let query = Asked {
            hosts,
            scheme: filter.and_then(|filter| filter.scheme),
            tag: asked.tag,
            state: asked.state.map(Into::into),
            paused: asked.paused,
            text: asked.text,
            after: asked.after,
            up_to: None,
            limit,
        };
        let page = search::page(reader, &query)?;
        let next = page.next.map(i64::from);
        Ok(Page { items: SourceView::all(reader, page.sources)?, next })
    });
    Ok(Json(page.await?))
}

/// Which source.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FindQuery {
    /// Its URL.
    url: String,
}

/// Find a source by its URL
#[utoipa::path(get, path = "/v1/sources/find", tag = "sources", params(FindQuery),
    responses((status = 200, description = "The source", body = SourceView),
        (status = 404, description = "There is no such source")))]
async fn find(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(FindQuery { url }): Query<FindQuery>,
) -> Result<Response, Problem> {
    let found = app.read(move |reader| {
        let canonical = host_of(&url).map_or_else(|_| url.clone(), |(url, _)| url);
        Ok(match reader.find_source(&canonical)? {
            Some(id) => SourceView::find(reader, id)?,
            None => None,
        })
    });
    match found.await? {
        Some(source) => etag::json(&headers, &source),
        None => Err(Problem::absent("there is no source with this URL")
            .hint("add it with `PUT /v1/sources`")),
    }
}

/// Get a source
#[utoipa::path(get, path = "/v1/sources/{id}", tag = "sources",
    params(("id" = u32, Path, description = "The number of the source")),
    responses((status = 200, description = "The source", body = SourceView)))]
async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Place(id): Place<u32>,
) -> Result<Response, Problem> {
    let found = app.read(move |reader| SourceView::find(reader, id)).await?;
    etag::json(&headers, &found.ok_or_else(|| Problem::no_source(id))?)
}

/// Say something else of a source
///
/// What is left out stays as it is.
#[utoipa::path(patch, path = "/v1/sources/{id}", tag = "sources", request_body = SourceSettingsView,
    params(("id" = u32, Path, description = "The number of the source")),
    responses((status = 200, description = "The source as it is now", body = SourceView)))]
async fn patch(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Input(said): Input<SourceSettingsView>,
) -> Result<Json<SourceView>, Problem> {
    let given = said.given()?;
    let which = Which { ids: vec![id], ..Which::default() };
    let applied = app.handle.edit(Edit::Change(which, Box::new(given))).await?;
    let found = app.read(move |reader| SourceView::find(reader, id)).await?;
    found.filter(|_| applied.known > 0).map(Json).ok_or_else(|| Problem::no_source(id))
}

/// Remove a source, with its history and versions
///
/// Its changes stay in the log.
#[utoipa::path(delete, path = "/v1/sources/{id}", tag = "sources",
    params(("id" = u32, Path, description = "The number of the source")),
    responses((status = 204, description = "It is removed")))]
async fn remove(State(app): State<Arc<App>>, Place(id): Place<u32>) -> Result<StatusCode, Problem> {
    let which = Which { ids: vec![id], ..Which::default() };
    match app.handle.edit(Edit::Remove(which)).await?.removed {
        0 => Err(Problem::no_source(id)),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}

/// Which sources are to be removed: all that one of these names. Those of a host and a tag are of both.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct RemoveInput {
    /// Those with these numbers.
    #[schema(max_items = 10000)]
    ids: Vec<u32>,
    /// Those with these URLs.
    #[schema(max_items = 10000)]
    urls: Vec<String>,
    /// Those with this tag.
    tag: Option<String>,
    /// Those of this host: at this port if one is given, at any otherwise.
    host: Option<String>,
}

/// What was removed.
#[derive(Debug, Serialize, ToSchema)]
struct Removed {
    /// How many.
    removed: u64,
    /// URLs of which there was no source.
    unknown: Vec<String>,
}

/// Remove sources, with their history and versions
///
/// What is not there is passed over: the same request again does no harm.
#[utoipa::path(post, path = "/v1/sources/remove", tag = "sources", request_body = RemoveInput,
    responses((status = 200, description = "What was removed", body = Removed)))]
async fn remove_some(
    State(app): State<Arc<App>>,
    Input(input): Input<RemoveInput, 16>,
) -> Result<Json<Removed>, Problem> {
    let RemoveInput { ids, urls, tag, host } = input;
    for (field, count) in [("ids", ids.len()), ("urls", urls.len())] {
        if count > NAMED {
            return Err(Problem::field(field, format!("{count}, not {NAMED} or less")));
        }
    }
    if ids.is_empty() && urls.is_empty() && tag.is_none() && host.is_none() {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "no source is named")
            .hint("give `ids`, `urls`, `tag` or `host`"));
    }
    let applied = app.handle.edit(Edit::Remove(Which { urls, tag, host, ids })).await?;
    Ok(Json(Removed { removed: applied.removed, unknown: applied.unknown }))
}
