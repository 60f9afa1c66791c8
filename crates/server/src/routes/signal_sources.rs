//! Signal sources.

mod input;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use freshet_daemon::parse_source_url;
use freshet_store::{SignalSourceKind, SignalSourceQuery};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::input::SignalSourceInput;
use self::input::SignalSourcePatchInput;
use crate::app::App;
use crate::etag;
use crate::extractors::{JsonBody, PathParams, QueryParams};
use crate::pagination::{Page, check_limit};
use crate::problem::Problem;
use crate::signal_source::SignalSourceView;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(get, patch, remove))
        .routes(routes!(read))
}

/// Kind of a signal source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SignalSourceKindParam {
    Sitemap,
    Feed,
    Websub,
    Indexnow,
    Api,
    Head,
}

impl From<SignalSourceKindParam> for SignalSourceKind {
    fn from(kind: SignalSourceKindParam) -> Self {
        match kind {
            SignalSourceKindParam::Sitemap => Self::Sitemap,
            SignalSourceKindParam::Feed => Self::Feed,
            SignalSourceKindParam::Websub => Self::WebSub,
            SignalSourceKindParam::Indexnow => Self::IndexNow,
            SignalSourceKindParam::Api => Self::Api,
            SignalSourceKindParam::Head => Self::Head,
        }
    }
}

/// Filter and page of the list of signal sources.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Only signal sources of this kind.
    #[param(inline)]
    kind: Option<SignalSourceKindParam>,
    /// Only signal sources at this host, written as in the URL, with the port if it has one.
    /// Signal sources that push are found by their name.
    host: Option<String>,
    /// Only parts of the sitemap index with this number.
    parent: Option<u32>,
    /// Cursor: `next` of the previous page.
    after: Option<u32>,
    /// Maximum number of items in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// Loads a signal source.
pub(crate) async fn load_view(app: &App, number: u32) -> Result<SignalSourceView, Problem> {
    let found = app.handle.signal_source(number).await?;
    let found = found.ok_or_else(|| signal_source_not_found(number))?;
    Ok(SignalSourceView::new(found, app.handle.status().await?.budget))
}

fn signal_source_not_found(number: u32) -> Problem {
    Problem::not_found(format!("no signal source {number}"))
        .with_hint("list them with `GET /v1/signal-sources`")
}

/// List signal sources
///
/// Ordered by number, including the parts of sitemap indexes. If matching signal sources are rare,
/// a page can be short or empty before the last one: continue as long as there is a `next`.
#[utoipa::path(get, path = "/v1/signal-sources", tag = "signals", params(ListQuery),
    responses((status = 200, description = "A page of signal sources", body = Page<SignalSourceView>)))]
async fn list(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<Page<SignalSourceView>>, Problem> {
    let limit = check_limit(query.limit)?;
    let host = query.host.map(|host| host.to_lowercase());
    let source_query = SignalSourceQuery {
        kind: query.kind.map(Into::into),
        parent: query.parent,
        name_contains: host.clone(),
        after: query.after,
        limit: limit + 1,
        ..SignalSourceQuery::default()
    };
    let mut found = app.handle.signal_sources(source_query).await?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| is_more).map(|it| i64::from(it.signal_source.id));
    if let Some(host) = host {
        found.retain(|it| {
            let name = &it.signal_source.name;
            *name == host || parse_source_url(name).is_ok_and(|(_, own)| own == host)
        });
    }
    let budget = app.handle.status().await?.budget;
    let items = found.into_iter().map(|it| SignalSourceView::new(it, budget)).collect();
    Ok(Json(Page { items, next }))
}

/// Get a signal source
#[utoipa::path(get, path = "/v1/signal-sources/{number}", tag = "signals",
    params(("number" = u32, Path, description = "Number of the signal source")),
    responses((status = 200, description = "The signal source", body = SignalSourceView)))]
async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    PathParams(number): PathParams<u32>,
) -> Result<Response, Problem> {
    etag::json(&headers, &load_view(&app, number).await?)
}

/// Add a sitemap or feed
///
/// The interval between its reads follows from the value of its signals to the sources that they
/// announce. If the signal source is already known, its settings are replaced.
#[utoipa::path(post, path = "/v1/signal-sources", tag = "signals", request_body = SignalSourceInput,
    responses((status = 201, description = "The new signal source", body = SignalSourceView),
        (status = 200, description = "The signal source was known; its settings are replaced", body = SignalSourceView)))]
async fn add(
    State(app): State<Arc<App>>,
    JsonBody(input): JsonBody<SignalSourceInput>,
) -> Result<Response, Problem> {
    let added = app.handle.add_signal_source(input.into_request()?).await?;
    let status = if added.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(load_view(&app, added.id).await?)).into_response())
}

/// Change a signal source
///
/// Omitted fields stay unchanged. The discovery rule of a part of a sitemap index is changed at
/// the index, and that of a signal source named in freshet.toml is changed there.
#[utoipa::path(patch, path = "/v1/signal-sources/{number}", tag = "signals",
    params(("number" = u32, Path, description = "Number of the signal source")), request_body = SignalSourcePatchInput,
    responses((status = 200, description = "The changed signal source", body = SignalSourceView),
        (status = 409, description = "The signal source is a part of a sitemap index, or is named in freshet.toml")))]
async fn patch(
    State(app): State<Arc<App>>,
    PathParams(number): PathParams<u32>,
    JsonBody(input): JsonBody<SignalSourcePatchInput>,
) -> Result<Json<SignalSourceView>, Problem> {
    let found =
        app.handle.signal_source(number).await?.ok_or_else(|| signal_source_not_found(number))?;
    app.handle.update_signal_source(number, input.into_patch(found.rule)?).await?;
    Ok(Json(load_view(&app, number).await?))
}

/// Remove a signal source, its parts and its statistics
///
/// Sources that were added from it stay.
#[utoipa::path(delete, path = "/v1/signal-sources/{number}", tag = "signals",
    params(("number" = u32, Path, description = "Number of the signal source")),
    responses((status = 204, description = "The signal source is removed"),
        (status = 409, description = "It would be added again: freshet.toml, a robots.txt or a sitemap index \
            names it")))]
async fn remove(
    State(app): State<Arc<App>>,
    PathParams(number): PathParams<u32>,
) -> Result<StatusCode, Problem> {
    app.handle.remove_signal_source(number).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Time to wait for the result.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReadQuery {
    /// Seconds to wait for the result; the read continues after that.
    #[param(minimum = 0, maximum = 60, default = 10)]
    wait: Option<u64>,
}

/// Read a sitemap or feed now
///
/// The read is made whatever its value, and is charged to the budget like any other. If a host is
/// in a cooldown, the response is 429 with `Retry-After`.
#[utoipa::path(post, path = "/v1/signal-sources/{number}/read", tag = "signals",
    params(("number" = u32, Path, description = "Number of the signal source"), ReadQuery),
    responses((status = 200, description = "The signal source was read: `last_read` has the result", body = SignalSourceView),
        (status = 202, description = "The read takes longer than `wait` and continues"),
        (status = 409, description = "The signal source pushes its signals, and cannot be read"),
        (status = 429, description = "A host on the way is in a cooldown")))]
async fn read(
    State(app): State<Arc<App>>,
    PathParams(number): PathParams<u32>,
    QueryParams(query): QueryParams<ReadQuery>,
) -> Result<Response, Problem> {
    let wait = query.wait.unwrap_or(10);
    if wait > 60 {
        return Err(Problem::invalid(
            "wait",
            format!("wait out of range: {wait} is not between 0 and 60 seconds"),
        ));
    }
    if !read_now(&app, number, Duration::from_secs(wait)).await? {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    Ok(Json(load_view(&app, number).await?).into_response())
}

/// Reads a signal source now. Returns false if that takes longer than `wait`.
pub(crate) async fn read_now(app: &App, number: u32, wait: Duration) -> Result<bool, Problem> {
    let found = app.read(move |reader| reader.signal_source(number)).await?;
    let found = found.ok_or_else(|| signal_source_not_found(number))?;
    if found.source.is_none() {
        let detail = format!("{} pushes its signals, and cannot be read", found.name);
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    let handle = app.handle.clone();
    // Spawned, so that the read continues after the timeout.
    let reading = tokio::spawn(async move { handle.read_signal_source(number).await });
    match timeout(wait, reading).await {
        Err(_) => Ok(false),
        Ok(Ok(read)) => Ok(read.map(|()| true)?),
        Ok(Err(_)) => Err(crate::app::timeout_problem()),
    }
}
