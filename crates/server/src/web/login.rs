//! Coming in with a token, and going.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::header::{HOST, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::Deserialize;

use super::form::Fields;
use super::frame::{Frame, page, page_with};
use super::session::{LASTS, NAME, cookie};
use crate::app::{App, is_local};
use crate::guard::{Peer, host_of};
use crate::input::Query;
use crate::problem::Problem;
use crate::token;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/login", get(show).post(come_in)).route("/logout", post(go))
}

#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    frame: Frame,
    next: String,
    error: Option<&'static str>,
    /// Whether what is typed can be read on the way.
    is_plain: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LoginQuery {
    next: Option<String>,
}

async fn show(
    frame: Frame,
    headers: HeaderMap,
    Query(asked): Query<LoginQuery>,
) -> Result<Response, Problem> {
    let next = own(asked.next.as_deref()).to_owned();
    page(&Login { frame, next, error: None, is_plain: !is_safe(&headers) })
}

async fn come_in(
    State(app): State<Arc<App>>,
    Extension(Peer(peer)): Extension<Peer>,
    headers: HeaderMap,
    frame: Frame,
    fields: Fields,
) -> Result<Response, Problem> {
    let next = own(fields.get("next")).to_owned();
    let tokens = app.tokens().await?;
    let shown = fields.get("token").unwrap_or_default();
    let now = app.handle.now();
    let Some(token) = token::find(&tokens, shown) else {
        app.metrics.refused.inc();
        if let Some(seconds) = app.failures.count(peer.ip(), now) {
            let detail = "too many tokens that do not count";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).after(seconds));
        }
        let error = Some("This token does not count.");
        let login = Login { frame, next, error, is_plain: !is_safe(&headers) };
        return page_with(StatusCode::UNAUTHORIZED, &login);
    };
    app.used(token);
    let session = app.web.sessions.begin(token.hash, now).map_err(super::fault)?;
    let mut response = Redirect::to(&next).into_response();
    let secure = if is_safe(&headers) { "; Secure" } else { "" };
    let cookie =
        format!("{NAME}={session}; Path=/; Max-Age={LASTS}; HttpOnly; SameSite=Lax{secure}");
    let cookie = HeaderValue::from_str(&cookie).map_err(super::fault)?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

async fn go(State(app): State<Arc<App>>, headers: HeaderMap, _: Fields) -> Response {
    if let Some(cookie) = cookie(&headers) {
        app.web.sessions.end(cookie);
    }
    let mut response = Redirect::to("/login").into_response();
    let gone = format!("{NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    if let Ok(gone) = HeaderValue::from_str(&gone) {
        response.headers_mut().insert(SET_COOKIE, gone);
    }
    response
}

/// Where to go on: to a page of ours, whatever is asked for.
fn own(next: Option<&str>) -> &str {
    let next = next.unwrap_or("/");
    // Browsers take `//` and `/\` for the name of a host, and leave out some characters before they look.
    let is_own = next.starts_with('/')
        && !next[1..].starts_with(['/', '\\'])
        && next.bytes().all(|byte| byte.is_ascii_graphic())
        && !next.starts_with("/login");
    if is_own { next } else { "/" }
}

/// Whether nobody can read on the way what a browser sends: by TLS, or on one machine. A browser that is
/// told that a cookie is for such ways alone does not send it on others.
fn is_safe(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|it: &HeaderValue| it.to_str().ok());
    if text(ORIGIN).is_some_and(|origin| origin.starts_with("https://")) {
        return true;
    }
    let said = headers.get("x-forwarded-proto").and_then(|it| it.to_str().ok());
    if said.is_some_and(|said| said.trim().eq_ignore_ascii_case("https")) {
        return true;
    }
    let host = text(HOST).map(host_of).unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || literal.parse().is_ok_and(is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_goes_on_to_pages_of_ours_alone() {
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
            assert_eq!(own(next), expect, "{next:?}");
        }
    }
}
