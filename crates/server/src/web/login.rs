//! Login and logout.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::header::{HOST, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::Deserialize;

use super::form_fields::FormFields;
use super::frame::{Frame, render_page, render_page_with_status};
use super::session::{COOKIE_NAME, SESSION_SECONDS, session_cookie};
use crate::access_control::{Peer, host_without_port};
use crate::app::{App, is_local};
use crate::extractors::QueryParams;
use crate::problem::Problem;
use crate::token;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/login", get(show).post(log_in)).route("/logout", post(log_out))
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    frame: Frame,
    next: String,
    error: Option<&'static str>,
    /// True if the token would be sent unencrypted over a network.
    is_unencrypted: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LoginQuery {
    next: Option<String>,
}

async fn show(
    frame: Frame,
    headers: HeaderMap,
    QueryParams(asked): QueryParams<LoginQuery>,
) -> Result<Response, Problem> {
    let next = safe_next_path(asked.next.as_deref()).to_owned();
    render_page(&LoginPage {
        frame,
        next,
        error: None,
        is_unencrypted: !is_private_connection(&headers),
    })
}

async fn log_in(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    headers: HeaderMap,
    frame: Frame,
    fields: FormFields,
) -> Result<Response, Problem> {
    let next = safe_next_path(fields.get("next")).to_owned();
    let tokens = app.tokens().await?;
    let secret = fields.get("token").unwrap_or_default();
    let now = app.handle.now();
    let Some(token) = token::find_token(&tokens, secret) else {
        app.metrics.refused.inc();
        if let Some(seconds) = app.auth_failures.record_failure(peer.ip(), now) {
            let detail = "too many invalid tokens";
            return Err(
                Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry_after(seconds)
            );
        }
        let error = Some("Invalid token.");
        let login =
            LoginPage { frame, next, error, is_unencrypted: !is_private_connection(&headers) };
        return render_page_with_status(StatusCode::UNAUTHORIZED, &login);
    };
    app.record_token_use(token);
    let session = app.web.sessions.start(token.hash, now).map_err(super::internal_error)?;
    let mut response = Redirect::to(&next).into_response();
    let secure = if is_private_connection(&headers) { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE_NAME}={session}; Path=/; Max-Age={SESSION_SECONDS}; HttpOnly; SameSite=Lax{secure}"
    );
    let cookie = HeaderValue::from_str(&cookie).map_err(super::internal_error)?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

async fn log_out(State(app): State<Arc<App>>, headers: HeaderMap, _: FormFields) -> Response {
    if let Some(cookie) = session_cookie(&headers) {
        app.web.sessions.end(cookie);
    }
    let mut response = Redirect::to("/login").into_response();
    let expired = format!("{COOKIE_NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    if let Ok(expired) = HeaderValue::from_str(&expired) {
        response.headers_mut().insert(SET_COOKIE, expired);
    }
    response
}

/// Returns the path to go to after login; always one of this site.
fn safe_next_path(next: Option<&str>) -> &str {
    let next = next.unwrap_or("/");
    // Browsers treat `//` and `/\` as the start of a host, and drop some characters before parsing.
    let is_local_path = next.starts_with('/')
        && !next[1..].starts_with(['/', '\\'])
        && next.bytes().all(|byte| byte.is_ascii_graphic())
        && !next.starts_with("/login");
    if is_local_path { next } else { "/" }
}

/// True if nobody on the network can read the request: over TLS, or on one machine. Browsers do not send
/// `Secure` cookies over other connections.
fn is_private_connection(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|it: &HeaderValue| it.to_str().ok());
    if text(ORIGIN).is_some_and(|origin| origin.starts_with("https://")) {
        return true;
    }
    let protocol = headers.get("x-forwarded-proto").and_then(|it| it.to_str().ok());
    if protocol.is_some_and(|protocol| protocol.trim().eq_ignore_ascii_case("https")) {
        return true;
    }
    let host = text(HOST).map(host_without_port).unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || literal.parse().is_ok_and(is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_redirects_only_to_local_pages() {
        let cases = [
            (None, "/"),
            (Some("/sources?tag=news"), "/sources?tag=news"),
            (Some("//evil.example/"), "/"),
            (Some("/\\evil.example/"), "/"),
            (Some("/\t/evil.example/"), "/"),
            (Some("https://evil.example/"), "/"),
            (Some("javascript:alert(1)"), "/"),
            (Some("/login?next=/"), "/"),
            (Some(""), "/"),
        ];
        for (next, expect) in cases {
            assert_eq!(safe_next_path(next), expect, "{next:?}");
        }
    }
}
