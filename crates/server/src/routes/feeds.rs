//! Changes for feed readers.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use freshet_notify::atom::{self, Feed, MEDIA_TYPE};
use freshet_store::ChangeFilter;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::etag;
use crate::hub::everything;
use crate::input::Place;
use crate::problem::Problem;

/// Entries of a feed.
const ENTRIES: usize = 100;
/// What feeds are called in addresses.
const ENDING: &str = ".atom";

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(all)).routes(routes!(tag)).routes(routes!(source))
}

/// All changes as an Atom feed
#[utoipa::path(get, path = "/v1/feeds/all.atom", tag = "changes",
    responses((status = 200, description = "The newest 100", body = String,
        content_type = "application/atom+xml")))]
async fn all(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Problem> {
    feed(&app, &headers, &uri, "freshet".to_owned(), everything()).await
}

/// The changes of sources with a tag as an Atom feed
#[utoipa::path(get, path = "/v1/feeds/tag/{tag}", tag = "changes",
    params(("tag" = String, Path, description = "The tag, and `.atom`: `news.atom`")),
    responses((status = 200, description = "The newest 100", body = String,
        content_type = "application/atom+xml")))]
async fn tag(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
    Place(tag): Place<String>,
) -> Result<Response, Problem> {
    let tag = tag.strip_suffix(ENDING).unwrap_or(&tag).to_owned();
    let title = format!("freshet: {tag}");
    let filter = ChangeFilter { tag: Some(tag), ..everything() };
    feed(&app, &headers, &uri, title, filter).await
}

/// The changes of a source as an Atom feed
#[utoipa::path(get, path = "/v1/feeds/source/{id}", tag = "changes",
    params(("id" = String, Path, pattern = "^[0-9]{1,9}[.]atom$", description = "The number of the source, and `.atom`: `7.atom`")),
    responses((status = 200, description = "The newest 100", body = String,
        content_type = "application/atom+xml")))]
async fn source(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
    Place(name): Place<String>,
) -> Result<Response, Problem> {
    let id = name.strip_suffix(ENDING).unwrap_or(&name).parse::<u32>();
    let id = id.map_err(|_| {
        Problem::field("id", format!("`{name}` is not the number of a source and `{ENDING}`"))
    })?;
    let source = app.read(move |reader| reader.source(id)).await?;
    let source = source.ok_or_else(|| Problem::no_source(id))?;
    let filter = ChangeFilter { source: Some(id), ..everything() };
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
        let changes = reader.latest_changes(None, ENTRIES, &filter)?;
        let identity = reader.identity()?;
        let made = reader.meta("made")?.and_then(|it| it.parse().ok()).unwrap_or(0);
        let about = Feed { identity: &identity, title: &title, url: &url, base: &base, made };
        Ok(atom::feed(&about, &changes))
    });
    Ok(etag::answer(headers, MEDIA_TYPE, text.await?.into()))
}
