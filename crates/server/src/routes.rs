//! The routes: one file for each resource, merged here.

mod about;
mod changes;
mod claims;
mod curve;
pub(crate) mod destinations;
mod diff;
mod feeds;
mod history;
mod hosts;
mod indexnow;
mod plan;
mod reports;
mod settings;
pub(crate) mod signal_sources;
mod signals;
mod source_search;
mod source_view;
mod sources;
mod stream;
mod subscriptions;
pub(crate) mod tokens;
mod upsert;
mod versions;
mod websub;

use std::sync::Arc;

use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use self::diff::{MAX_LINE_CHARS, load_versions, version_text};
pub(crate) use self::source_view::{SourceSettingsInput, check_tags, check_url};
use crate::access_control::check_access;
use crate::app::App;
use crate::openapi::{self, RenderedDocument};
use crate::problem::Problem;
use crate::web;

fn api_router() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(openapi::base_document())
        .merge(sources::routes())
        .merge(upsert::routes())
        .merge(history::routes())
        .merge(versions::routes())
        .merge(diff::routes())
        .merge(plan::routes())
        .merge(curve::routes())
        .merge(signals::routes())
        .merge(signal_sources::routes())
        .merge(subscriptions::routes())
        .merge(websub::routes())
        .merge(indexnow::routes())
        .merge(settings::routes())
        .merge(hosts::routes())
        .merge(claims::routes())
        .merge(reports::routes())
        .merge(changes::routes())
        .merge(stream::routes())
        .merge(feeds::routes())
        .merge(destinations::routes())
        .merge(tokens::routes())
        .merge(about::routes())
}

/// Returns the OpenAPI 3.1 document.
#[must_use]
pub fn document() -> OpenApi {
    let (_, mut api) = api_router().split_for_parts();
    openapi::add_common_parts(&mut api);
    api
}

pub(crate) fn router(app: &Arc<App>) -> Router {
    let (router, mut api) = api_router().split_for_parts();
    openapi::add_common_parts(&mut api);
    router
        .merge(web::routes())
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(Extension(Arc::new(RenderedDocument::new(&api))))
        .layer(from_fn_with_state(Arc::clone(app), check_access))
        .with_state(Arc::clone(app))
}

async fn not_found(uri: Uri) -> Response {
    let detail = format!("no such path: `{}`", uri.path());
    Problem::not_found(detail).with_hint("/v1/docs lists all routes").into_response()
}

async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    let detail = format!("method {method} is not allowed for `{}`", uri.path());
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail);
    problem.with_hint("see the `Allow` header").into_response()
}
