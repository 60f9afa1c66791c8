//! Signal sources: accuracy, cost and value.

mod add_form;
mod row;

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use freshet_daemon::{SignalSourcePatch, SignalSourceState};
use freshet_store::SignalSourceQuery;
use serde::Deserialize;

use self::add_form::AddForm;
use self::row::{PlanFigures, SignalSourceDetails, SignalSourceRow};
use super::flash::{FlashMessage, redirect_with_flash};
use super::form_fields::FormFields;
use super::format;
use super::frame::{Frame, render_page, render_page_with_status};
use crate::app::App;
use crate::extractors::{PathParams, QueryParams};
use crate::problem::Problem;
use crate::routes::signal_sources::read_now;

/// Signal sources per page.
const PAGE_SIZE: usize = 50;
/// How long a request waits for a fetch.
const READ_TIMEOUT: Duration = Duration::from_secs(8);

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/signals", get(list).post(add))
        .route("/signals/{number}", get(show))
        .route("/signals/{number}/read", post(read_source_now))
        .route("/signals/{number}/pause", post(pause))
        .route("/signals/{number}/remove", post(remove))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListQuery {
    text: Option<String>,
    after: Option<u32>,
}

#[derive(Template)]
#[template(path = "signals.html")]
struct SignalsPage {
    frame: Frame,
    rows: Vec<SignalSourceRow>,
    query: String,
    /// True if there is any signal source.
    has_any: bool,
    /// Address of the next page.
    next: Option<String>,
    form: AddForm,
}

#[derive(Template)]
#[template(path = "signal.html")]
struct SignalSourcePage {
    frame: Frame,
    signal_source: SignalSourceDetails,
    parts: Vec<SignalSourceRow>,
    next: Option<String>,
}

async fn list(
    State(app): State<Arc<App>>,
    frame: Frame,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Response, Problem> {
    render_list(&app, frame, query, AddForm::default()).await
}

async fn render_list(
    app: &App,
    frame: Frame,
    query: ListQuery,
    form: AddForm,
) -> Result<Response, Problem> {
    let frame = frame.with_section("signals");
    let text = query.text.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let query = SignalSourceQuery {
        name_contains: text.clone(),
        top_level_only: true,
        after: query.after,
        ..base_query()
    };
    let (rows, next) = load_page(app, query, frame.now).await?;
    let encoded = text.as_deref().map(super::url_encode).unwrap_or_default();
    let next = next.map(|after| format!("/signals?text={encoded}&after={after}"));
    let (all, _) = app.read(|reader| reader.count_signal_sources()).await?;
    let status = if form.is_valid() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let query = text.unwrap_or_default();
    render_page_with_status(
        status,
        &SignalsPage { rows, query, has_any: all > 0, next, form, frame },
    )
}

fn base_query() -> SignalSourceQuery {
    SignalSourceQuery { limit: PAGE_SIZE + 1, ..SignalSourceQuery::default() }
}

/// Loads a page of signal sources and the cursor of the next page.
async fn load_page(
    app: &App,
    query: SignalSourceQuery,
    now: i64,
) -> Result<(Vec<SignalSourceRow>, Option<u32>), Problem> {
    let mut found = app.handle.signal_sources(query).await?;
    let is_more = found.len() > PAGE_SIZE;
    found.truncate(PAGE_SIZE);
    let next = found.last().filter(|_| is_more).map(|it| it.signal_source.id);
    let plan = plan_figures(app).await?;
    Ok((found.iter().map(|it| SignalSourceRow::new(it, plan, now)).collect(), next))
}

async fn plan_figures(app: &App) -> Result<PlanFigures, Problem> {
    let status = app.handle.status().await?;
    Ok(PlanFigures { budget: status.budget, price: status.price })
}

async fn find_signal_source(app: &App, number: u32) -> Result<SignalSourceState, Problem> {
    let found = app.handle.signal_source(number).await?;
    found.ok_or_else(|| {
        Problem::not_found(format!("signal source {number} not found"))
            .with_hint("it may have been removed; see /signals")
    })
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    PathParams(number): PathParams<u32>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Response, Problem> {
    let frame = frame.with_section("signals");
    let state = find_signal_source(&app, number).await?;
    let parent = match state.signal_source.parent {
        Some(parent) => app.read(move |reader| reader.signal_source(parent)).await?,
        None => None,
    };
    let plan = plan_figures(&app).await?;
    let signal_source = SignalSourceDetails::new(&state, parent, plan, frame.now);
    let (mut parts, mut next) = (Vec::new(), None);
    if signal_source.has_parts {
        let query = SignalSourceQuery { parent: Some(number), after: query.after, ..base_query() };
        let (rows, after) = load_page(&app, query, frame.now).await?;
        (parts, next) = (rows, after.map(|after| format!("/signals/{number}?after={after}#parts")));
    }
    render_page(&SignalSourcePage { signal_source, parts, next, frame })
}

/// Adds a sitemap or feed.
async fn add(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: FormFields,
) -> Result<Response, Problem> {
    let mut form = AddForm::from_fields(&fields);
    let request = match form.to_request() {
        Ok(request) => request,
        Err(problem) => {
            form.set_error(problem);
            return render_list(&app, frame, ListQuery::default(), form).await;
        }
    };
    match app.handle.add_signal_source(request).await {
        Ok(added) => {
            let flash = match added.is_new {
                true => "Signal source added. It is fetched as often as its signals are worth.",
                false => "Signal source updated.",
            };
            Ok(redirect_with_flash(
                &app,
                &format!("/signals/{}", added.id),
                FlashMessage::success(flash),
            ))
        }
        Err(error) => {
            let problem = Problem::from(error);
            if problem.status != StatusCode::BAD_REQUEST.as_u16() {
                return Err(problem);
            }
            form.set_error(problem);
            render_list(&app, frame, ListQuery::default(), form).await
        }
    }
}

/// Fetches a signal source now.
async fn read_source_now(
    State(app): State<Arc<App>>,
    PathParams(number): PathParams<u32>,
    _fields: FormFields,
) -> Result<Response, Problem> {
    let flash = match read_now(&app, number, READ_TIMEOUT).await {
        Ok(false) => FlashMessage::success("Fetch in progress. The result will appear here."),
        Ok(true) => {
            let it = find_signal_source(&app, number).await?;
            let is_good = it.last_read.as_ref().is_some_and(|it| it.outcome == "read");
            let words = it.last_read.map_or_else(String::new, |it| it.describe());
            if is_good {
                FlashMessage::success(format!("Fetched: {words}."))
            } else {
                FlashMessage::error(format!("Fetch failed: {}", format::sentence(&words)))
            }
        }
        Err(problem) if problem.status == StatusCode::TOO_MANY_REQUESTS.as_u16() => {
            FlashMessage::error(format!(
                "Not fetched yet: {}. The fetch is queued.",
                problem.detail
            ))
        }
        Err(problem) => return Err(problem),
    };
    Ok(redirect_with_flash(&app, &format!("/signals/{number}"), flash))
}

/// Pauses or resumes a signal source.
async fn pause(
    State(app): State<Arc<App>>,
    PathParams(number): PathParams<u32>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let paused = fields.get("paused") == Some("1");
    let patch = SignalSourcePatch { paused: Some(paused), ..SignalSourcePatch::default() };
    app.handle.update_signal_source(number, patch).await?;
    let flash = if paused { "Paused." } else { "Resumed." };
    Ok(redirect_with_flash(&app, &format!("/signals/{number}"), FlashMessage::success(flash)))
}

/// Removes a signal source.
async fn remove(
    State(app): State<Arc<App>>,
    PathParams(number): PathParams<u32>,
    _fields: FormFields,
) -> Result<Response, Problem> {
    let name = find_signal_source(&app, number).await?.signal_source.name;
    app.handle.remove_signal_source(number).await?;
    let flash = format!("Removed {name}. Sources it added are kept.");
    Ok(redirect_with_flash(&app, "/signals", FlashMessage::success(flash)))
}
