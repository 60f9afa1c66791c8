//! The pages of one source: next fetch, change rate, history, versions, settings and change detection.

mod change_rate;
mod detection;
mod diff_page;
mod history;
mod next_fetch;
mod settings_form;

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use freshet_daemon::{DaemonError, SourceEdit, SourceExplanation, SourceSelector};
use freshet_store::{ChangeFilter, Source, SourceState};
use serde::Deserialize;
use tokio::time::timeout;

use self::change_rate::ChangeRateView;
use self::history::{FetchHistoryView, VersionRow};
use self::next_fetch::NextFetchView;
use self::settings_form::SettingsForm;
use super::chart::ChartMarkup;
use super::flash::{FlashMessage, redirect_with_flash};
use super::form_fields::FormFields;
use super::format::{self, RelativeTime};
use super::frame::{Frame, render_page, render_page_with_status};
use crate::app::App;
use crate::etag;
use crate::extractors::{PathParams, QueryParams};
use crate::problem::Problem;

/// Fetches in the timeline, and in the table at most.
const MAX_FETCHES: usize = 200;
/// Rows per table by default.
const DEFAULT_ROWS: usize = 20;
/// Versions listed at most.
const MAX_VERSIONS: usize = 1000;
/// How long a request waits for a fetch.
const FETCH_TIMEOUT: Duration = Duration::from_secs(8);

pub(super) fn routes() -> Router<Arc<App>> {
    use axum::routing::post;
    Router::new()
        .route("/sources/{id}", get(show).post(save_settings))
        .route("/sources/{id}/check", post(fetch_now))
        .route("/sources/{id}/remove", get(confirm_removal).post(remove))
        .route("/sources/{id}/diff", get(diff_page::show))
        .route("/sources/{id}/tune", get(detection::show).post(detection::submit))
        .route("/raw/{id}/{n}", get(raw_version))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ShowQuery {
    /// Rows of the fetch history.
    fetches: Option<usize>,
    /// Rows of the list of versions.
    versions: Option<usize>,
}

#[derive(Template)]
#[template(path = "source.html")]
struct SourcePage {
    frame: Frame,
    header: SourceHeader,
    next: NextFetchView,
    value_curve: Option<ChartMarkup>,
    change_rate: Option<ChangeRateView>,
    history: FetchHistoryView,
    versions: Vec<VersionRow>,
    /// Number of stored versions not listed.
    more_versions: usize,
    all_versions: usize,
    form: SettingsForm,
    detection: Vec<(&'static str, String)>,
}

/// The header of all pages of a source.
pub(super) struct SourceHeader {
    id: u32,
    url: String,
    /// The URL, if a browser can open it.
    link: Option<String>,
    host: String,
    host_link: String,
    state: &'static str,
    tone: &'static str,
    paused: bool,
    observed: bool,
    tags: Vec<(String, String)>,
    importance: String,
    added: RelativeTime,
    fetches: String,
    version: u32,
    /// The selected tab.
    tab: &'static str,
}

impl SourceHeader {
    fn new(source: &Source, host: &str, frame: &Frame, tab: &'static str) -> Self {
        let (state, tone) = match source.state {
            SourceState::New => ("never fetched", ""),
            SourceState::Good => ("good", "good"),
            SourceState::Failing => ("failing", "bad"),
            SourceState::Gone => ("gone", "bad"),
            SourceState::Disallowed => ("disallowed by robots.txt", "warn"),
        };
        let tags = source.tags.iter();
        let tags =
            tags.map(|tag| (tag.clone(), format!("/sources?tag={}", super::url_encode(tag))));
        Self {
            id: source.id,
            link: http_url(&source.url),
            url: source.url.clone(),
            host_link: format!("/hosts?name={}", super::url_encode(host)),
            host: host.to_owned(),
            state,
            tone,
            paused: source.paused,
            observed: source.observed,
            tags: tags.collect(),
            importance: format::number(source.importance),
            added: format::relative_time(source.added_at, frame.now),
            fetches: format::plural(source.fetches, "fetch", "fetches"),
            version: source.version,
            tab,
        }
    }

    fn aria_current(&self, name: &str) -> &'static str {
        if self.tab == name { "page" } else { "false" }
    }
}

/// Returns the URL if it is safe to link to: HTTP or HTTPS.
fn http_url(url: &str) -> Option<String> {
    let is_http = url.starts_with("https://") || url.starts_with("http://");
    is_http.then(|| url.to_owned())
}

/// Loads a source and the name of its host.
async fn find(app: &App, id: u32) -> Result<(Source, String), Problem> {
    let found = app.read(move |reader| {
        let Some(source) = reader.source(id)? else { return Ok(None) };
        let host = reader.host(source.host)?.map(|it| it.name).unwrap_or_default();
        Ok(Some((source, host)))
    });
    found.await?.ok_or_else(|| Problem::source_not_found(id))
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    PathParams(id): PathParams<u32>,
    QueryParams(query): QueryParams<ShowQuery>,
) -> Result<Response, Problem> {
    let (source, host) = find(&app, id).await?;
    if source.is_signal_source
        && let Some(signal_source) =
            app.read(move |reader| reader.signal_source_of_source(id)).await?
    {
        // A signal source has its own page.
        return Ok(Redirect::to(&format!("/signals/{}", signal_source.id)).into_response());
    }
    let form = SettingsForm::from_source(&source);
    let limits = RowLimits {
        fetches: query.fetches.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_FETCHES),
        versions: query.versions.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_VERSIONS),
    };
    render(&app, frame, source, &host, form, limits).await
}

/// Number of table rows to show.
#[derive(Clone, Copy)]
struct RowLimits {
    fetches: usize,
    versions: usize,
}

impl Default for RowLimits {
    fn default() -> Self {
        Self { fetches: DEFAULT_ROWS, versions: DEFAULT_ROWS }
    }
}

async fn render(
    app: &App,
    frame: Frame,
    source: Source,
    host: &str,
    form: SettingsForm,
    limits: RowLimits,
) -> Result<Response, Problem> {
    let frame = frame.with_section("sources");
    let id = source.id;
    let explained: Option<SourceExplanation> = app.handle.explain_id(id).await?;
    let read = app.read(move |reader| {
        let filter = ChangeFilter { source: Some(id), ..ChangeFilter::default() };
        let changes = reader.latest_changes(None, MAX_FETCHES, &filter)?;
        Ok((reader.history(id, MAX_FETCHES)?, reader.versions(id)?, changes))
    });
    let (fetches, versions, changes) = read.await?;
    let now = frame.now;
    let status = if form.is_valid() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let template = SourcePage {
        header: SourceHeader::new(&source, host, &frame, "source"),
        next: NextFetchView::from_explanation(explained.as_ref(), now),
        value_curve: explained.as_ref().and_then(next_fetch::value_curve),
        change_rate: explained.as_ref().and_then(ChangeRateView::from_explanation),
        history: FetchHistoryView::from_history(&fetches, now, limits.fetches),
        versions: history::version_rows(id, &versions, &changes, limits.versions, now),
        more_versions: versions.len().saturating_sub(limits.versions),
        all_versions: versions.len().min(MAX_VERSIONS),
        detection: detection::summary(&source.settings),
        form,
        frame,
    };
    render_page_with_status(status, &template)
}

/// Saves the settings of a source.
async fn save_settings(
    State(app): State<Arc<App>>,
    frame: Frame,
    PathParams(id): PathParams<u32>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let (source, host) = find(&app, id).await?;
    let mut form = SettingsForm::from_fields(&fields);
    let settings = match form.to_settings() {
        Ok(settings) => settings,
        Err(problem) => {
            form.set_error(problem);
            return render(&app, frame, source, &host, form, RowLimits::default()).await;
        }
    };
    let selector = SourceSelector { ids: vec![id], ..SourceSelector::default() };
    if let Err(error) = app.handle.edit(SourceEdit::Update(selector, Box::new(settings))).await {
        let problem = Problem::from(error);
        if problem.status != StatusCode::BAD_REQUEST.as_u16() {
            return Err(problem);
        }
        form.set_error(problem);
        return render(&app, frame, source, &host, form, RowLimits::default()).await;
    }
    Ok(redirect_with_flash(
        &app,
        &format!("/sources/{id}"),
        FlashMessage::success("Settings saved."),
    ))
}

/// Fetches the source now.
async fn fetch_now(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    _fields: FormFields,
) -> Result<Response, Problem> {
    let handle = app.handle.clone();
    // The fetch continues if the request ends.
    let checking = tokio::spawn(async move { handle.check_id(id).await });
    let flash = match timeout(FETCH_TIMEOUT, checking).await {
        Err(_) => FlashMessage::success("Fetch in progress. The result will appear here."),
        Ok(Err(_)) => return Err(crate::app::timeout_problem()),
        Ok(Ok(Ok(()))) => {
            let last = app.read(move |reader| Ok(reader.history(id, 1)?.pop())).await?;
            history::fetch_flash(last.as_ref())
        }
        Ok(Ok(Err(error @ DaemonError::HostCooldown { .. }))) => {
            FlashMessage::error(format!("Not fetched yet: {error}. The fetch is queued."))
        }
        Ok(Ok(Err(error))) => return Err(error.into()),
    };
    Ok(redirect_with_flash(&app, &format!("/sources/{id}"), flash))
}

#[derive(Template)]
#[template(path = "source_remove.html")]
struct RemovePage {
    frame: Frame,
    header: SourceHeader,
    versions: String,
}

async fn confirm_removal(
    State(app): State<Arc<App>>,
    frame: Frame,
    PathParams(id): PathParams<u32>,
) -> Result<Response, Problem> {
    let frame = frame.with_section("sources");
    let (source, host) = find(&app, id).await?;
    let version_count = app.read(move |reader| Ok(reader.versions(id)?.len())).await?;
    let header = SourceHeader::new(&source, &host, &frame, "remove");
    render_page(&RemovePage {
        header,
        versions: format::plural(version_count as u64, "version", "versions"),
        frame,
    })
}

async fn remove(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    _fields: FormFields,
) -> Result<Response, Problem> {
    let (source, _) = find(&app, id).await?;
    let selector = SourceSelector { ids: vec![id], ..SourceSelector::default() };
    app.handle.edit(SourceEdit::Remove(selector)).await?;
    let flash = format!("Removed {}.", source.url);
    Ok(redirect_with_flash(&app, "/sources", FlashMessage::success(flash)))
}

/// Serves the content of a version as sandboxed plain text.
async fn raw_version(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    PathParams((id, n)): PathParams<(u32, u32)>,
) -> Result<Response, Problem> {
    let version = app.read(move |reader| reader.version(id, n)).await?;
    let version = version.ok_or_else(|| {
        Problem::not_found(format!("version {n} of source {id} not found"))
            .with_hint("the page of the source lists the stored versions")
    })?;
    let mut response = etag::respond(&headers, "text/plain; charset=utf-8", version.content.into());
    let out = response.headers_mut();
    let policy = "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'";
    out.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    out.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    out.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("text/plain; charset=utf-8"));
    Ok(response)
}
