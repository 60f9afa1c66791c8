//! Documentation, metrics and health checks.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::etag;
use crate::metrics::MEDIA_TYPE;
use crate::openapi::RenderedDocument;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(openapi))
        .routes(routes!(docs))
        .routes(routes!(metrics))
        .routes(routes!(healthz))
        .routes(routes!(readyz))
}

/// Get the OpenAPI document
#[utoipa::path(get, path = "/v1/openapi.json", tag = "about",
    responses((status = 200, description = "OpenAPI 3.1 document", body = Object)))]
async fn openapi(
    headers: HeaderMap,
    Extension(document): Extension<Arc<RenderedDocument>>,
) -> Response {
    etag::respond(&headers, "application/json", document.json.clone())
}

/// Get the API documentation as a page
#[utoipa::path(get, path = "/v1/docs", tag = "about",
    responses((status = 200, description = "HTML page without scripts", body = String,
        content_type = "text/html")))]
async fn docs(
    headers: HeaderMap,
    Extension(document): Extension<Arc<RenderedDocument>>,
) -> Response {
    let mut response = etag::respond(&headers, "text/html; charset=utf-8", document.html.clone());
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; \
        base-uri 'none'; form-action 'none'";
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// Get metrics for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "about",
    responses((status = 200, description = "Metrics in the OpenMetrics format", body = String,
        content_type = "application/openmetrics-text")))]
async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let status = app.handle.status().await?;
    let text = app.metrics.text(&status, app.broadcast.subscriber_count());
    Ok(([(CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

/// Check that the process is alive
#[utoipa::path(get, path = "/healthz", tag = "about",
    responses((status = 200, description = "The process is alive", body = String, content_type = "text/plain")))]
async fn healthz() -> Response {
    plain_text(StatusCode::OK, "ok\n")
}

/// Check that the service is ready
///
/// The daemon responds, and the store can be read and written.
#[utoipa::path(get, path = "/readyz", tag = "about",
    responses((status = 200, description = "The service is ready", body = String, content_type = "text/plain"),
        (status = 503, description = "The service is not ready")))]
async fn readyz(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let status = app.handle.status().await?;
    app.read(|reader| reader.last_cursor()).await?;
    match status.write_error {
        None => Ok(plain_text(StatusCode::OK, "ready\n")),
        Some(reason) => {
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, reason).with_retry_after(5))
        }
    }
}

fn plain_text(status: StatusCode, text: &'static str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
