//! Data and headers of every page.

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

use super::assets;
use super::flash::FlashMessage;
use crate::access_control::AuthContext;
use crate::app::App;
use crate::problem::Problem;
use crate::token::Scope;

/// Allows only own resources and no inline scripts.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Data of every page.
pub(crate) struct Frame {
    /// Current time of the daemon's clock.
    pub(crate) now: Millis,
    /// Name of the token in use; `None` if no token is needed.
    pub(crate) token_name: Option<String>,
    /// True if the token may change settings.
    pub(crate) can_write: bool,
    /// True if the token may manage tokens.
    pub(crate) can_admin: bool,
    /// Key that every form submits, against cross-site requests.
    pub(crate) form_key: String,
    /// Message shown once.
    pub(crate) flash: Option<FlashMessage>,
    /// Paths of the script and the style sheet.
    pub(crate) script: &'static str,
    pub(crate) style: &'static str,
    /// Menu entry of this page.
    pub(crate) section: &'static str,
    /// True in `freshet demo`.
    pub(crate) is_demo: bool,
}

impl Frame {
    /// Sets the menu entry of the page.
    pub(crate) fn with_section(mut self, section: &'static str) -> Self {
        self.section = section;
        self
    }

    /// Returns the `aria-current` value of a menu entry.
    pub(crate) fn aria_current(&self, name: &str) -> &'static str {
        if self.section == name { "page" } else { "false" }
    }
}

impl FromRequestParts<Arc<App>> for Frame {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let auth = parts.extensions.get::<AuthContext>().cloned().unwrap_or_default();
        let query = parts.uri.query().unwrap_or_default();
        let flash_id = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "flash");
        Ok(Self {
            now: app.handle.now(),
            can_write: auth.can(Scope::Write),
            can_admin: auth.can(Scope::Admin),
            form_key: form_key(app, &auth),
            token_name: auth.name,
            flash: flash_id.and_then(|(_, name)| app.web.flash_messages.take(&name)),
            script: assets::script_path(),
            style: assets::style_path(),
            section: "",
            is_demo: app.true_freshness.is_some(),
        })
    }
}

/// Returns the form key of a session, or of this process if no token is needed.
pub(super) fn form_key(app: &App, auth: &AuthContext) -> String {
    let mut hash = Sha256::new();
    hash.update(app.web.form_secret);
    hash.update(auth.session.as_deref().unwrap_or_default().as_bytes());
    super::session::hex(&hash.finalize()[..16])
}

/// Renders a template as a page.
pub(crate) fn render_page(template: &impl Template) -> Result<Response, Problem> {
    render_page_with_status(StatusCode::OK, template)
}

/// Renders a template as a page with another status.
pub(crate) fn render_page_with_status(
    status: StatusCode,
    template: &impl Template,
) -> Result<Response, Problem> {
    let text = template.render().map_err(super::internal_error)?;
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_POLICY));
    // The `Referer` of own forms is checked.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    Ok(response)
}
