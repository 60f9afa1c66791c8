//! What the service says of itself.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::document::Pages;
use crate::etag;
use crate::metrics::MEDIA_TYPE;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(openapi))
        .routes(routes!(docs))
        .routes(routes!(metrics))
        .routes(routes!(healthz))
        .routes(routes!(readyz))
}

/// This document
#[utoipa::path(get, path = "/v1/openapi.json", tag = "about",
    responses((status = 200, description = "OpenAPI 3.1", body = Object)))]
async fn openapi(headers: HeaderMap, Extension(pages): Extension<Arc<Pages>>) -> Response {
    etag::answer(&headers, "application/json", pages.json.clone())
}

/// This document for people
#[utoipa::path(get, path = "/v1/docs", tag = "about",
    responses((status = 200, description = "A page without scripts", body = String,
        content_type = "text/html")))]
async fn docs(headers: HeaderMap, Extension(pages): Extension<Arc<Pages>>) -> Response {
    let mut response = etag::answer(&headers, "text/html; charset=utf-8", pages.html.clone());
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; \
        base-uri 'none'; form-action 'none'";
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "about",
    responses((status = 200, description = "OpenMetrics", body = String,
        content_type = "application/openmetrics-text")))]
async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let status = app.handle.status().await?;
    let text = app.metrics.text(&status, app.hub.followers());
    Ok(([(CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

/// Whether the process is alive
#[utoipa::path(get, path = "/healthz", tag = "about",
    responses((status = 200, description = "It is", body = String, content_type = "text/plain")))]
async fn healthz() -> Response {
    plain(StatusCode::OK, "ok\n")
}

/// Whether it can do its work
///
/// The daemon answers, and the store can be read and written.
#[utoipa::path(get, path = "/readyz", tag = "about",
    responses((status = 200, description = "It can", body = String, content_type = "text/plain"),
        (status = 503, description = "It cannot")))]
async fn readyz(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let status = app.handle.status().await?;
    app.read(|reader| reader.last_cursor()).await?;
    match status.trouble {
        None => Ok(plain(StatusCode::OK, "ready\n")),
        Some(trouble) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, trouble).after(5)),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
