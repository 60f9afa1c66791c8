//! Who says that sources have changed: how far that is true, what it costs and what it brings.

mod form;
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

use self::form::AddForm;
use self::row::{Row, Shown};
use super::form::Fields;
use super::frame::{Frame, page, page_with};
use super::said::{Flash, go_to};
use super::words;
use crate::app::App;
use crate::input::{Place, Query};
use crate::problem::Problem;
use crate::routes::signal_sources::read_now;

/// Signal sources of a page.
const PAGE: usize = 50;
/// How long a read is waited for.
const PATIENCE: Duration = Duration::from_secs(8);

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/signals", get(list).post(add))
        .route("/signals/{number}", get(show))
        .route("/signals/{number}/read", post(read))
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
struct ListPage {
    frame: Frame,
    rows: Vec<Row>,
    asked: String,
    /// Whether there are any at all.
    has_some: bool,
    /// Where the next page is.
    next: Option<String>,
    form: AddForm,
}

#[derive(Template)]
#[template(path = "signal.html")]
struct OnePage {
    frame: Frame,
    it: Shown,
    parts: Vec<Row>,
    next: Option<String>,
}

async fn list(
    State(app): State<Arc<App>>,
    frame: Frame,
    Query(asked): Query<ListQuery>,
) -> Result<Response, Problem> {
    render(&app, frame, asked, AddForm::default()).await
}

async fn render(
    app: &App,
    frame: Frame,
    asked: ListQuery,
    form: AddForm,
) -> Result<Response, Problem> {
    let frame = frame.at("signals");
    let text = asked.text.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let query = SignalSourceQuery {
        text: text.clone(),
        top_level_only: true,
        after: asked.after,
        ..query()
    };
    let (rows, next) = some(app, query, frame.now).await?;
    let encoded = text.as_deref().map(super::encoded).unwrap_or_default();
    let next = next.map(|after| format!("/signals?text={encoded}&after={after}"));
    let (all, _) = app.read(|reader| reader.count_signal_sources()).await?;
    let status = if form.is_good() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let asked = text.unwrap_or_default();
    page_with(status, &ListPage { rows, asked, has_some: all > 0, next, form, frame })
}

fn query() -> SignalSourceQuery {
    SignalSourceQuery { limit: PAGE + 1, ..SignalSourceQuery::default() }
}

/// A page of them, and where the next one begins.
async fn some(
    app: &App,
    query: SignalSourceQuery,
    now: i64,
) -> Result<(Vec<Row>, Option<u32>), Problem> {
    let mut found = app.handle.heralds(query).await?;
    let is_more = found.len() > PAGE;
    found.truncate(PAGE);
    let next = found.last().filter(|_| is_more).map(|it| it.herald.id);
    let budget = app.handle.status().await?.budget;
    Ok((found.iter().map(|it| Row::of(it, budget, now)).collect(), next))
}

async fn find(app: &App, number: u32) -> Result<SignalSourceState, Problem> {
    let found = app.handle.herald(number).await?;
    found.ok_or_else(|| {
        Problem::absent(format!("there is no signal source {number}"))
            .hint("it may have been removed: /signals lists them")
    })
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Place(number): Place<u32>,
    Query(asked): Query<ListQuery>,
) -> Result<Response, Problem> {
    let frame = frame.at("signals");
    let it = find(&app, number).await?;
    let parent = match it.herald.parent {
        Some(parent) => app.read(move |reader| reader.signal_source(parent)).await?,
        None => None,
    };
    let budget = app.handle.status().await?.budget;
    let it = Shown::of(&it, parent, budget, frame.now);
    let (mut parts, mut next) = (Vec::new(), None);
    if it.has_parts {
        let query = SignalSourceQuery { parent: Some(number), after: asked.after, ..query() };
        let (rows, after) = some(&app, query, frame.now).await?;
        (parts, next) = (rows, after.map(|after| format!("/signals/{number}?after={after}#parts")));
    }
    page(&OnePage { it, parts, next, frame })
}

/// Has a sitemap or feed read.
async fn add(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: Fields,
) -> Result<Response, Problem> {
    let mut form = AddForm::typed(&fields);
    let wanted = match form.wanted() {
        Ok(wanted) => wanted,
        Err(problem) => {
            form.refuse(problem);
            return render(&app, frame, ListQuery::default(), form).await;
        }
    };
    match app.handle.add_herald(wanted).await {
        Ok(added) => {
            let told = match added.is_new {
                true => "It is read from now on, as often as its signals are worth.",
                false => "It was known, and is described anew.",
            };
            Ok(go_to(&app, &format!("/signals/{}", added.id), Flash::good(told)))
        }
        Err(why) => {
            let problem = Problem::from(why);
            if problem.status != StatusCode::BAD_REQUEST.as_u16() {
                return Err(problem);
            }
            form.refuse(problem);
            render(&app, frame, ListQuery::default(), form).await
        }
    }
}

/// Reads one now.
async fn read(
    State(app): State<Arc<App>>,
    Place(number): Place<u32>,
    _fields: Fields,
) -> Result<Response, Problem> {
    let told = match read_now(&app, number, PATIENCE).await {
        Ok(false) => Flash::good("It is being read; that takes a while."),
        Ok(true) => {
            let it = find(&app, number).await?;
            let is_good = it.last.as_ref().is_some_and(|it| it.outcome == "read");
            let words = it.last.map_or_else(String::new, |it| it.words());
            if is_good {
                Flash::good(format!("Read: {words}."))
            } else {
                Flash::bad(format!("Not read: {}", words::sentence(&words)))
            }
        }
        Err(problem) if problem.status == StatusCode::TOO_MANY_REQUESTS.as_u16() => {
            Flash::bad(format!("Not read: {}. It is read after that.", problem.detail))
        }
        Err(problem) => return Err(problem),
    };
    Ok(go_to(&app, &format!("/signals/{number}"), told))
}

/// Leaves one alone for the time being, or not.
async fn pause(
    State(app): State<Arc<App>>,
    Place(number): Place<u32>,
    fields: Fields,
) -> Result<Response, Problem> {
    let paused = fields.get("paused") == Some("1");
    let given = SignalSourcePatch { paused: Some(paused), ..SignalSourcePatch::default() };
    app.handle.change_herald(number, given).await?;
    let told = if paused { "It is left alone for now." } else { "It is read again." };
    Ok(go_to(&app, &format!("/signals/{number}"), Flash::good(told)))
}

/// Forgets one.
async fn remove(
    State(app): State<Arc<App>>,
    Place(number): Place<u32>,
    _fields: Fields,
) -> Result<Response, Problem> {
    let name = find(&app, number).await?.herald.name;
    app.handle.remove_herald(number).await?;
    let told = format!("{name} is listened to no more. Pages that it brought stay.");
    Ok(go_to(&app, "/signals", Flash::good(told)))
}
