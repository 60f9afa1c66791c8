//! Who says that sources have changed, and how far that is true.

mod input;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use freshet_daemon::host_of;
use freshet_store::{SignalSourceKind, SignalSourceQuery};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::input::SignalSourceInput;
use self::input::WireSignalSourcePatch;
use crate::app::App;
use crate::etag;
use crate::input::{Input, Place, Query};
use crate::page::{Page, limit};
use crate::problem::Problem;
use crate::signal_source::SignalSourceView;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(get, patch, remove))
        .routes(routes!(read))
}

/// What a signal source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Sitemap,
    Feed,
    Websub,
    Indexnow,
    Api,
    Head,
}

impl From<Kind> for SignalSourceKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Sitemap => Self::Sitemap,
            Kind::Feed => Self::Feed,
            Kind::Websub => Self::WebSub,
            Kind::Indexnow => Self::IndexNow,
            Kind::Api => Self::Api,
            Kind::Head => Self::Head,
        }
    }
}

/// Which signal sources.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Of this kind.
    #[param(inline)]
    kind: Option<Kind>,
    /// At this host: as in its URL, with the port if one is said there. Who speaks by themselves are
    /// found by their name.
    host: Option<String>,
    /// Parts of the one with this number.
    parent: Option<u32>,
    /// Where the page before ended: its `next`.
    after: Option<u32>,
    /// Items of the page at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// A signal source by its number.
pub(crate) async fn view(app: &App, number: u32) -> Result<SignalSourceView, Problem> {
    let found = app.handle.herald(number).await?;
    let found = found.ok_or_else(|| unknown(number))?;
    Ok(SignalSourceView::of(found, app.handle.status().await?.budget))
}

fn unknown(number: u32) -> Problem {
    Problem::absent(format!("there is no signal source {number}"))
        .hint("`GET /v1/signal-sources` lists them")
}

/// List signal sources
///
/// In order of their numbers, with the parts of indexes. Where what is asked for is rare, a page can be
/// short or empty before the last one: go on as long as there is a `next`.
#[utoipa::path(get, path = "/v1/signal-sources", tag = "signals", params(ListQuery),
    responses((status = 200, description = "A page of signal sources", body = Page<SignalSourceView>)))]
async fn list(
    State(app): State<Arc<App>>,
    Query(asked): Query<ListQuery>,
) -> Result<Json<Page<SignalSourceView>>, Problem> {
    let limit = limit(asked.limit)?;
    let host = asked.host.map(|host| host.to_lowercase());
    let query = SignalSourceQuery {
        kind: asked.kind.map(Into::into),
        parent: asked.parent,
        text: host.clone(),
        after: asked.after,
        limit: limit + 1,
        ..SignalSourceQuery::default()
    };
    let mut found = app.handle.heralds(query).await?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| is_more).map(|it| i64::from(it.herald.id));
    if let Some(host) = host {
        found.retain(|it| {
            let name = &it.herald.name;
            *name == host || host_of(name).is_ok_and(|(_, own)| own == host)
        });
    }
    let budget = app.handle.status().await?.budget;
    let items = found.into_iter().map(|it| SignalSourceView::of(it, budget)).collect();
    Ok(Json(Page { items, next }))
}

/// Show a signal source
#[utoipa::path(get, path = "/v1/signal-sources/{number}", tag = "signals",
    params(("number" = u32, Path, description = "Its number")),
    responses((status = 200, description = "What is known of it", body = SignalSourceView)))]
async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Place(number): Place<u32>,
) -> Result<Response, Problem> {
    etag::json(&headers, &view(&app, number).await?)
}

/// Have a sitemap or feed read
///
/// It is read as often as its signals are worth to the sources that they are about. One that is known is
/// described anew.
#[utoipa::path(post, path = "/v1/signal-sources", tag = "signals", request_body = SignalSourceInput,
    responses((status = 201, description = "It is read from now on", body = SignalSourceView),
        (status = 200, description = "It was known, and is described anew", body = SignalSourceView)))]
async fn add(
    State(app): State<Arc<App>>,
    Input(input): Input<SignalSourceInput>,
) -> Result<Response, Problem> {
    let added = app.handle.add_herald(input.wanted()?).await?;
    let status = if added.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(view(&app, added.id).await?)).into_response())
}

/// Say something else of a signal source
///
/// What is left out stays as it is. What is done with pages that a part of an index names is said of the
/// index, and of one that freshet.toml names it is said there.
#[utoipa::path(patch, path = "/v1/signal-sources/{number}", tag = "signals",
    params(("number" = u32, Path, description = "Its number")), request_body = WireSignalSourcePatch,
    responses((status = 200, description = "What it is now", body = SignalSourceView),
        (status = 409, description = "It is a part of another one, or named in freshet.toml")))]
async fn patch(
    State(app): State<Arc<App>>,
    Place(number): Place<u32>,
    Input(input): Input<WireSignalSourcePatch>,
) -> Result<Json<SignalSourceView>, Problem> {
    let found = app.handle.herald(number).await?.ok_or_else(|| unknown(number))?;
    app.handle.change_herald(number, input.given(found.rule)?).await?;
    Ok(Json(view(&app, number).await?))
}

/// Forget a signal source, with its parts and what was learnt of it
///
/// Pages that were added because of it stay.
#[utoipa::path(delete, path = "/v1/signal-sources/{number}", tag = "signals",
    params(("number" = u32, Path, description = "Its number")),
    responses((status = 204, description = "It is listened to no more"),
        (status = 409, description = "It would come back: freshet.toml, a robots.txt or an index \
            names it")))]
async fn remove(
    State(app): State<Arc<App>>,
    Place(number): Place<u32>,
) -> Result<StatusCode, Problem> {
    app.handle.remove_herald(number).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How long the result is waited for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReadQuery {
    /// Seconds that the result is waited for; the read goes on without anybody waiting.
    #[param(minimum = 0, maximum = 60, default = 10)]
    wait: Option<u64>,
}

/// Read a sitemap or feed now
///
/// Whatever that is worth; it is paid for from the budget like any other read. Hosts that asked to be
/// left alone are: the answer is 429 then, with `Retry-After`.
#[utoipa::path(post, path = "/v1/signal-sources/{number}/read", tag = "signals",
    params(("number" = u32, Path, description = "Its number"), ReadQuery),
    responses((status = 200, description = "It was read: `last_read` says what came", body = SignalSourceView),
        (status = 202, description = "It is being read, and takes longer"),
        (status = 409, description = "It speaks by itself, and is not read"),
        (status = 429, description = "A host on the way wants to be left alone")))]
async fn read(
    State(app): State<Arc<App>>,
    Place(number): Place<u32>,
    Query(asked): Query<ReadQuery>,
) -> Result<Response, Problem> {
    let wait = asked.wait.unwrap_or(10);
    if wait > 60 {
        return Err(Problem::field("wait", format!("{wait} is not from 0 to 60 seconds")));
    }
    if !read_now(&app, number, Duration::from_secs(wait)).await? {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    Ok(Json(view(&app, number).await?).into_response())
}

/// Reads a signal source now. Gives whether that is over.
pub(crate) async fn read_now(app: &App, number: u32, wait: Duration) -> Result<bool, Problem> {
    let found = app.read(move |reader| reader.signal_source(number)).await?;
    let found = found.ok_or_else(|| unknown(number))?;
    if found.source.is_none() {
        let detail = format!("{} speaks by itself, and is not read", found.name);
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    let handle = app.handle.clone();
    // It goes on if nobody waits any more.
    let reading = tokio::spawn(async move { handle.read_herald(number).await });
    match timeout(wait, reading).await {
        Err(_) => Ok(false),
        Ok(Ok(read)) => Ok(read.map(|()| true)?),
        Ok(Err(_)) => Err(crate::app::too_long()),
    }
}
