//! What went wrong, as a page.

use std::sync::Arc;

use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};

use super::frame::{Frame, page_with};
use crate::app::App;
use crate::problem::{MEDIA_TYPE, Problem};

#[derive(Template)]
#[template(path = "failed.html")]
struct Failed {
    frame: Frame,
    problem: Problem,
    headline: &'static str,
}

/// Makes a page of a problem, or leads to the login if that is what is missing.
pub(crate) async fn as_page(app: &Arc<App>, mut parts: Parts, response: Response) -> Response {
    let is_problem = response.headers().get(CONTENT_TYPE).is_some_and(|it| it == MEDIA_TYPE);
    let problem = response.extensions().get::<Problem>().filter(|_| is_problem);
    let Some(problem) = problem.cloned() else { return response };
    if problem.status == StatusCode::UNAUTHORIZED.as_u16() && parts.method == Method::GET {
        return to_login(&parts);
    }
    let status = response.status();
    let Ok(frame) = Frame::from_request_parts(&mut parts, app).await else { return response };
    let headline = match status.as_u16() {
        400 => "That cannot be meant",
        401 => "Log in first",
        403 => "That is not allowed",
        404 => "There is nothing here",
        429 => "Not so fast",
        503 => "Not now",
        500.. => "That went wrong",
        _ => "That did not work",
    };
    let retry = response.headers().get(RETRY_AFTER).cloned();
    let mut answer = match page_with(status, &Failed { frame, problem, headline }) {
        Ok(page) => page,
        Err(_) => return response,
    };
    if let Some(retry) = retry {
        answer.headers_mut().insert(RETRY_AFTER, retry);
    }
    answer
}

fn to_login(parts: &Parts) -> Response {
    let wanted = parts.uri.path_and_query().map_or("/", |it| it.as_str());
    let next: String = form_urlencoded::byte_serialize(wanted.as_bytes()).collect();
    let to = if wanted == "/" { "/login".to_owned() } else { format!("/login?next={next}") };
    Redirect::to(&to).into_response()
}
