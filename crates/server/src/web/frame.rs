//! What every page has.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use freshet_daemon::Millis;
use sha2::{Digest, Sha256};

use super::asset;
use super::said::Flash;
use crate::app::App;
use crate::guard::Who;
use crate::problem::Problem;
use crate::token::Scope;

/// Nothing but what is ours, and no script in the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What every page has: who looks, what was said last, the key of its forms.
pub(crate) struct Frame {
    /// What its clock shows.
    pub(crate) now: Millis,
    /// The token that lets in, by name; none where everybody may.
    pub(crate) who: Option<String>,
    /// Whether something may be changed.
    pub(crate) may_write: bool,
    /// Whether tokens may be seen and made.
    pub(crate) may_admin: bool,
    /// What forms send along, so that nobody else's can.
    pub(crate) key: String,
    /// What is told on this page, once.
    pub(crate) told: Option<Flash>,
    /// Where the script and the style are.
    pub(crate) script: &'static str,
    pub(crate) style: &'static str,
    /// The part of the menu that this page is.
    pub(crate) here: &'static str,
    /// Whether this is the web of `freshet demo`.
    pub(crate) is_demo: bool,
}

impl Frame {
    /// The same page, and where in the menu it is.
    pub(crate) fn at(mut self, here: &'static str) -> Self {
        self.here = here;
        self
    }

    /// For the menu: `page` for the page that this is.
    pub(crate) fn current(&self, name: &str) -> &'static str {
        if self.here == name { "page" } else { "false" }
    }
}

impl FromRequestParts<Arc<App>> for Frame {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let who = parts.extensions.get::<Who>().cloned().unwrap_or_default();
        let query = parts.uri.query().unwrap_or_default();
        let said = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "said");
        Ok(Self {
            now: app.handle.now(),
            may_write: who.may(Scope::Write),
            may_admin: who.may(Scope::Admin),
            key: key(app, &who),
            who: who.name,
            told: said.and_then(|(_, name)| app.web.said.take(&name)),
            script: asset::script(),
            style: asset::style(),
            here: "",
            is_demo: app.truth.is_some(),
        })
    }
}

/// What the forms of somebody send along. It is of their session, or of this process where everybody may.
pub(super) fn key(app: &App, who: &Who) -> String {
    let mut hash = Sha256::new();
    hash.update(app.web.key);
    hash.update(who.session.as_deref().unwrap_or_default().as_bytes());
    super::session::hex(&hash.finalize()[..16])
}

/// A template as a page.
pub(crate) fn page(template: &impl Template) -> Result<Response, Problem> {
    page_with(StatusCode::OK, template)
}

/// The same with another status.
pub(crate) fn page_with(status: StatusCode, template: &impl Template) -> Result<Response, Problem> {
    let text = template.render().map_err(super::fault)?;
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Forms of our own say where they come from.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    Ok(response)
}
