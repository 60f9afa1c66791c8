//! Errors as pages.

use std::sync::Arc;

use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};

use super::frame::{Frame, render_page_with_status};
use crate::app::App;
use crate::problem::{MEDIA_TYPE, Problem};

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: Frame,
    problem: Problem,
    headline: &'static str,
}

/// Renders a problem as a page, or redirects to the login if a token is missing.
pub(crate) async fn to_page(app: &Arc<App>, mut parts: Parts, response: Response) -> Response {
    let is_problem = response.headers().get(CONTENT_TYPE).is_some_and(|it| it == MEDIA_TYPE);
    let problem = response.extensions().get::<Problem>().filter(|_| is_problem);
    let Some(problem) = problem.cloned() else { return response };
    if problem.status == StatusCode::UNAUTHORIZED.as_u16() && parts.method == Method::GET {
        return redirect_to_login(&parts);
    }
    let status = response.status();
    let Ok(frame) = Frame::from_request_parts(&mut parts, app).await else { return response };
    let headline = match status.as_u16() {
        400 => "Invalid request",
        401 => "Login required",
        403 => "Not allowed",
        404 => "Not found",
        429 => "Too many requests",
        503 => "Temporarily unavailable",
        500.. => "Internal error",
        _ => "Request failed",
    };
    let retry = response.headers().get(RETRY_AFTER).cloned();
    let mut answer = match render_page_with_status(status, &ErrorPage { frame, problem, headline })
    {
        Ok(page) => page,
        Err(_) => return response,
    };
    if let Some(retry) = retry {
        answer.headers_mut().insert(RETRY_AFTER, retry);
    }
    answer
}

fn redirect_to_login(parts: &Parts) -> Response {
    let requested = parts.uri.path_and_query().map_or("/", |it| it.as_str());
    let next: String = form_urlencoded::byte_serialize(requested.as_bytes()).collect();
    let to = if requested == "/" { "/login".to_owned() } else { format!("/login?next={next}") };
    Redirect::to(&to).into_response()
}
