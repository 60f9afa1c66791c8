//! The dashboard: pages for people over the same daemon. They are made here and readable without a
//! script; `assets/script.js` makes them comfortable.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `frame.rs` | what every page has: who looks, the menu, the key of its forms |
//! | `form.rs` | what forms send: read within limits, and only with that key |
//! | `session.rs`, `login.rs` | who looks: a token becomes a cookie |
//! | `said.rs` | what is told once, on the page that comes after a form |
//! | `chart.rs`, `words.rs` | pictures with a table behind each; numbers and moments in words |
//! | `live.rs` | when a page should look again |
//! | `source.rs`, `source/` | one source: next fetch and why, belief, past, differences, what counts |
//! | `signals.rs`, `signals/` | who says that sources have changed, and how far that is true |
//! | `failed.rs` | what went wrong, as a page |
//! | `asset.rs` | what pages are drawn with |
//!
//! A page is a file with a function for each of its forms, a template under `templates/` that extends
//! `base.html`, and its routes in a line below. What changes by itself on a page stands in an element
//! with an `id` and `data-live`: the script fetches the page again when something happens, and puts
//! these in place of the old ones.

mod asset;
mod changes;
mod chart;
mod failed;
mod forecast;
mod form;
mod frame;
mod hosts;
mod live;
mod login;
mod overview;
mod said;
mod session;
mod settings;
mod signals;
mod source;
mod sources;
mod what_if;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode};

pub(crate) use self::failed::as_page;
pub(crate) use self::session::{Sessions, cookie};
use crate::app::App;
use crate::problem::Problem;
use crate::ranking::Ranking;
use crate::token::Scope;

/// What pages share.
pub(crate) struct Web {
    pub(crate) sessions: Sessions,
    pub(crate) said: said::FlashMessage,
    pub(crate) forecasts: forecast::Forecasts,
    pub(crate) ranking: Arc<Ranking>,
    pastes: sources::Pastes,
    /// By which forms are known: nobody else can know it, and it ends with the process.
    key: [u8; 32],
}

impl Web {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self {
            sessions: Sessions::default(),
            said: said::FlashMessage::default(),
            forecasts: forecast::Forecasts::default(),
            ranking: Arc::default(),
            pastes: sources::Pastes::default(),
            key,
        })
    }
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .merge(asset::routes())
        .merge(login::routes())
        .merge(live::routes())
        .merge(overview::routes())
        .merge(what_if::routes())
        .merge(changes::routes())
        .merge(hosts::routes())
        .merge(signals::routes())
        .merge(settings::routes())
        .merge(sources::routes())
        .merge(source::routes())
}

/// Whether a path is one of a page, and not of the API.
pub(crate) fn is_page(path: &str) -> bool {
    let is_api = matches!(path, "/v1" | "/metrics" | "/healthz" | "/readyz" | "/indexnow");
    !(is_api || path.starts_with("/v1/") || path.starts_with("/websub/"))
}

/// What a page needs: `None` if anybody may see it.
pub(crate) fn needs(method: &Method, path: &str) -> Option<Scope> {
    let is_reading = matches!(*method, Method::GET | Method::HEAD);
    match path {
        "/login" | "/logout" => None,
        _ if is_reading && path.starts_with("/assets/") => None,
        _ if is_reading => Some(Scope::Read),
        _ if path.starts_with("/settings/tokens") => Some(Scope::Admin),
        // What somebody has read is theirs to say.
        "/changes/read" => Some(Scope::Read),
        _ => Some(Scope::Write),
    }
}

/// A template that cannot be filled in: a fault of ours.
fn fault(why: impl std::fmt::Display) -> Problem {
    tracing::error!("a page cannot be made: {why}");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "a fault of freshet: its log says more")
}

/// A text as it stands in an address.
pub(crate) fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
