//! One source: when it is fetched next and why, what is believed of it, what happened to it, and what is
//! to count of it.

mod belief;
mod compare;
mod edit;
mod next;
mod past;
mod tune;

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use freshet_daemon::{DaemonError, Edit, Explained, Which};
use freshet_store::{ChangeFilter, Source, SourceState as Standing};
use serde::Deserialize;
use tokio::time::timeout;

use self::belief::Believed;
use self::edit::EditForm;
use self::next::Next;
use self::past::{Past, Version};
use super::chart::Drawn;
use super::form::Fields;
use super::frame::{Frame, page, page_with};
use super::said::{Flash, go_to};
use super::words::{self, When};
use crate::app::App;
use crate::etag;
use crate::input::{Place, Query};
use crate::problem::Problem;

/// Fetches in the picture, and in the table unless more are asked for.
const FETCHES: usize = 200;
const ROWS: usize = 20;
/// Versions that are listed at the most.
const VERSIONS: usize = 1000;
/// How long a fetch is waited for.
const PATIENCE: Duration = Duration::from_secs(8);

pub(super) fn routes() -> Router<Arc<App>> {
    use axum::routing::post;
    Router::new()
        .route("/sources/{id}", get(show).post(change))
        .route("/sources/{id}/check", post(check))
        .route("/sources/{id}/remove", get(ask_to_remove).post(remove))
        .route("/sources/{id}/diff", get(compare::show))
        .route("/sources/{id}/tune", get(tune::show).post(tune::change))
        .route("/raw/{id}/{n}", get(raw))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ShowQuery {
    /// Rows of the table of fetches.
    fetches: Option<usize>,
    /// Rows of the table of versions.
    versions: Option<usize>,
}

#[derive(Template)]
#[template(path = "source.html")]
struct SourcePage {
    frame: Frame,
    head: Head,
    next: Next,
    climb: Option<Drawn>,
    believed: Option<Believed>,
    past: Past,
    versions: Vec<Version>,
    /// Versions that are kept and not listed, and how many could be.
    more_versions: usize,
    all_versions: usize,
    form: EditForm,
    counts: Vec<(&'static str, String)>,
}

/// What stands at the top of every page of a source.
pub(super) struct Head {
    id: u32,
    url: String,
    /// Where it leads, if that is for browsers.
    link: Option<String>,
    host: String,
    host_link: String,
    state: &'static str,
    tone: &'static str,
    paused: bool,
    observed: bool,
    tags: Vec<(String, String)>,
    importance: String,
    added: When,
    fetches: String,
    version: u32,
    /// Which of its pages this is.
    here: &'static str,
}

impl Head {
    fn of(source: &Source, host: &str, frame: &Frame, here: &'static str) -> Self {
        let (state, tone) = match source.state {
            Standing::New => ("never fetched", ""),
            Standing::Good => ("good", "good"),
            Standing::Failing => ("failing", "bad"),
            Standing::Gone => ("gone", "bad"),
            Standing::Disallowed => ("not allowed by robots.txt", "warn"),
        };
        let tags = source.tags.iter();
        let tags = tags.map(|tag| (tag.clone(), format!("/sources?tag={}", super::encoded(tag))));
        Self {
            id: source.id,
            link: link(&source.url),
            url: source.url.clone(),
            host_link: format!("/hosts?name={}", super::encoded(host)),
            host: host.to_owned(),
            state,
            tone,
            paused: source.paused,
            observed: source.observed,
            tags: tags.collect(),
            importance: words::figure(source.importance),
            added: words::when(source.added_at, frame.now),
            fetches: words::plural(source.fetches, "fetch", "fetches"),
            version: source.version,
            here,
        }
    }

    fn current(&self, name: &str) -> &'static str {
        if self.here == name { "page" } else { "false" }
    }
}

/// An address that a browser may be led to.
fn link(url: &str) -> Option<String> {
    let is_of_the_web = url.starts_with("https://") || url.starts_with("http://");
    is_of_the_web.then(|| url.to_owned())
}

/// A source with the name of its host.
async fn find(app: &App, id: u32) -> Result<(Source, String), Problem> {
    let found = app.read(move |reader| {
        let Some(source) = reader.source(id)? else { return Ok(None) };
        let host = reader.host(source.host)?.map(|it| it.name).unwrap_or_default();
        Ok(Some((source, host)))
    });
    found.await?.ok_or_else(|| Problem::no_source(id))
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Place(id): Place<u32>,
    Query(asked): Query<ShowQuery>,
) -> Result<Response, Problem> {
    let (source, host) = find(&app, id).await?;
    if source.is_signal_source
        && let Some(herald) = app.read(move |reader| reader.signal_source_at(id)).await?
    {
        // What is read to hear somebody is no page.
        return Ok(Redirect::to(&format!("/signals/{}", herald.id)).into_response());
    }
    let form = EditForm::of(&source);
    let rows = Rows {
        fetches: asked.fetches.unwrap_or(ROWS).clamp(1, FETCHES),
        versions: asked.versions.unwrap_or(ROWS).clamp(1, VERSIONS),
    };
    render(&app, frame, source, &host, form, rows).await
}

/// How many rows there are of each.
#[derive(Clone, Copy)]
struct Rows {
    fetches: usize,
    versions: usize,
}

impl Default for Rows {
    fn default() -> Self {
        Self { fetches: ROWS, versions: ROWS }
    }
}

async fn render(
    app: &App,
    frame: Frame,
    source: Source,
    host: &str,
    form: EditForm,
    rows: Rows,
) -> Result<Response, Problem> {
    let frame = frame.at("sources");
    let id = source.id;
    let explained: Option<Explained> = app.handle.explain_number(id).await?;
    let read = app.read(move |reader| {
        let filter = ChangeFilter { source: Some(id), ..ChangeFilter::default() };
        let changes = reader.latest_changes(None, FETCHES, &filter)?;
        Ok((reader.history(id, FETCHES)?, reader.versions(id)?, changes))
    });
    let (history, versions, changes) = read.await?;
    let now = frame.now;
    let status = if form.is_good() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let template = SourcePage {
        head: Head::of(&source, host, &frame, "source"),
        next: Next::of(explained.as_ref(), now),
        climb: explained.as_ref().and_then(next::value_curve),
        believed: explained.as_ref().and_then(Believed::of),
        past: Past::of(&history, now, rows.fetches),
        versions: past::versions(id, &versions, &changes, rows.versions, now),
        more_versions: versions.len().saturating_sub(rows.versions),
        all_versions: versions.len().min(VERSIONS),
        counts: tune::in_words(&source.settings),
        form,
        frame,
    };
    page_with(status, &template)
}

/// Changes what is said of a source.
async fn change(
    State(app): State<Arc<App>>,
    frame: Frame,
    Place(id): Place<u32>,
    fields: Fields,
) -> Result<Response, Problem> {
    let (source, host) = find(&app, id).await?;
    let mut form = EditForm::typed(&fields);
    let given = match form.given() {
        Ok(given) => given,
        Err(problem) => {
            form.refuse(problem);
            return render(&app, frame, source, &host, form, Rows::default()).await;
        }
    };
    let which = Which { ids: vec![id], ..Which::default() };
    if let Err(why) = app.handle.edit(Edit::Change(which, Box::new(given))).await {
        let problem = Problem::from(why);
        if problem.status != StatusCode::BAD_REQUEST.as_u16() {
            return Err(problem);
        }
        form.refuse(problem);
        return render(&app, frame, source, &host, form, Rows::default()).await;
    }
    Ok(go_to(&app, &format!("/sources/{id}"), Flash::good("Saved: it holds from now on.")))
}

/// Fetches a source now.
async fn check(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    _fields: Fields,
) -> Result<Response, Problem> {
    let handle = app.handle.clone();
    // It goes on if nobody waits any more.
    let checking = tokio::spawn(async move { handle.check_number(id).await });
    let told = match timeout(PATIENCE, checking).await {
        Err(_) => Flash::good("It is being fetched; that takes a while."),
        Ok(Err(_)) => return Err(crate::app::too_long()),
        Ok(Ok(Ok(()))) => {
            let last = app.read(move |reader| Ok(reader.history(id, 1)?.pop())).await?;
            past::told(last.as_ref())
        }
        Ok(Ok(Err(why @ DaemonError::Rests { .. }))) => {
            Flash::bad(format!("Not fetched: {why}. It is fetched after that."))
        }
        Ok(Ok(Err(why))) => return Err(why.into()),
    };
    Ok(go_to(&app, &format!("/sources/{id}"), told))
}

#[derive(Template)]
#[template(path = "source_remove.html")]
struct RemovePage {
    frame: Frame,
    head: Head,
    versions: String,
}

async fn ask_to_remove(
    State(app): State<Arc<App>>,
    frame: Frame,
    Place(id): Place<u32>,
) -> Result<Response, Problem> {
    let frame = frame.at("sources");
    let (source, host) = find(&app, id).await?;
    let kept = app.read(move |reader| Ok(reader.versions(id)?.len())).await?;
    let head = Head::of(&source, &host, &frame, "remove");
    page(&RemovePage { head, versions: words::plural(kept as u64, "version", "versions"), frame })
}

async fn remove(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    _fields: Fields,
) -> Result<Response, Problem> {
    let (source, _) = find(&app, id).await?;
    let which = Which { ids: vec![id], ..Which::default() };
    app.handle.edit(Edit::Remove(which)).await?;
    let told = format!("{} is not kept fresh any more.", source.url);
    Ok(go_to(&app, "/sources", Flash::good(told)))
}

/// The content of a version as it came, and nothing in it does anything.
async fn raw(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Place((id, n)): Place<(u32, u32)>,
) -> Result<Response, Problem> {
    let version = app.read(move |reader| reader.version(id, n)).await?;
    let version = version.ok_or_else(|| {
        Problem::absent(format!("version {n} of source {id} is not kept"))
            .hint("the page of the source lists those that are")
    })?;
    let mut response = etag::answer(&headers, "text/plain; charset=utf-8", version.content.into());
    let out = response.headers_mut();
    let policy = "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'";
    out.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    out.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    out.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("text/plain; charset=utf-8"));
    Ok(response)
}
