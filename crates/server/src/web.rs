//! The dashboard: HTML pages over the same daemon as the API. Pages are rendered on the server and work
//! without scripts; `assets/script.js` adds live updates and previews.
//!
//! | file | content |
//! | --- | --- |
//! | `frame.rs` | data of every page: token, menu, form key |
//! | `form_fields.rs` | form submissions, with size limits and a check of the form key |
//! | `session.rs`, `login.rs` | login: a token becomes a session cookie |
//! | `flash.rs` | messages shown once, on the page after a form |
//! | `chart.rs`, `format.rs` | charts with data tables; formatting of numbers and times |
//! | `page_events.rs` | event stream that tells pages to refresh |
//! | `source.rs`, `source/` | one source: next fetch, change rate, history, diff, change detection |
//! | `signals.rs`, `signals/` | signal sources with their accuracy |
//! | `error_page.rs` | errors as pages |
//! | `assets.rs` | style, script and logo |
//!
//! A page is a file with a handler for each of its forms, a template under `templates/` that extends
//! `base.html`, and a line in [`routes`]. Elements with an `id` and `data-live` are updated in place: the
//! script fetches the page again on an event and replaces them.

mod assets;
mod budget;
mod changes;
mod chart;
mod error_page;
mod flash;
mod forecast;
mod form_fields;
mod format;
mod frame;
mod hosts;
mod login;
mod overview;
mod page_events;
mod session;
mod settings;
mod signals;
mod source;
mod sources;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode};

pub(crate) use self::error_page::to_page;
pub(crate) use self::session::{Sessions, session_cookie};
use crate::app::App;
use crate::problem::Problem;
use crate::ranking::Ranking;
use crate::token::Scope;

/// State shared by all pages.
pub(crate) struct DashboardState {
    pub(crate) sessions: Sessions,
    pub(crate) flash_messages: flash::FlashStore,
    pub(crate) forecasts: forecast::ForecastCache,
    pub(crate) ranking: Arc<Ranking>,
    pastes: sources::PasteStore,
    /// Secret from which form keys are derived; random, and valid until the process ends.
    form_secret: [u8; 32],
}

impl DashboardState {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut form_secret = [0; 32];
        getrandom::fill(&mut form_secret)?;
        Ok(Self {
            sessions: Sessions::default(),
            flash_messages: flash::FlashStore::default(),
            forecasts: forecast::ForecastCache::default(),
            ranking: Arc::default(),
            pastes: sources::PasteStore::default(),
            form_secret,
        })
    }
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .merge(assets::routes())
        .merge(login::routes())
        .merge(page_events::routes())
        .merge(overview::routes())
        .merge(budget::routes())
        .merge(changes::routes())
        .merge(hosts::routes())
        .merge(signals::routes())
        .merge(settings::routes())
        .merge(sources::routes())
        .merge(source::routes())
}

/// True if the path is one of a page, not of the API.
pub(crate) fn is_page(path: &str) -> bool {
    let is_api = matches!(path, "/v1" | "/metrics" | "/healthz" | "/readyz" | "/indexnow");
    !(is_api || path.starts_with("/v1/") || path.starts_with("/websub/"))
}

/// Returns the scope that a request to a page needs; `None` if no token is needed.
pub(crate) fn required_scope(method: &Method, path: &str) -> Option<Scope> {
    let is_reading = matches!(*method, Method::GET | Method::HEAD);
    match path {
        "/login" | "/logout" => None,
        _ if is_reading && path.starts_with("/assets/") => None,
        _ if is_reading => Some(Scope::Read),
        _ if path.starts_with("/settings/tokens") => Some(Scope::Admin),
        // Marking changes as read affects only the reader.
        "/changes/read" => Some(Scope::Read),
        _ => Some(Scope::Write),
    }
}

/// Logs a rendering failure and returns a generic error.
fn internal_error(why: impl std::fmt::Display) -> Problem {
    tracing::error!("page not rendered: {why}");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: see the log of freshet")
}

/// Percent-encodes text for a URL query.
pub(crate) fn url_encode(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
