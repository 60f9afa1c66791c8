//! What can be asked: one file for each noun, and one line for each file.

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
mod search;
mod settings;
pub(crate) mod signal_sources;
mod signals;
mod source;
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

pub(crate) use self::diff::{LONGEST_LINE, pair, text};
pub(crate) use self::source::{SourceSettingsView, check_tags, check_url};
use crate::app::App;
use crate::document::{self, Pages};
use crate::guard::guard;
use crate::problem::Problem;
use crate::web;

fn all() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(document::head())
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

/// What the service answers to, as OpenAPI 3.1.
#[must_use]
pub fn document() -> OpenApi {
    let (_, mut api) = all().split_for_parts();
    document::complete(&mut api);
    api
}

pub(crate) fn router(app: &Arc<App>) -> Router {
    let (router, mut api) = all().split_for_parts();
    document::complete(&mut api);
    router
        .merge(web::routes())
        .method_not_allowed_fallback(not_allowed)
        .fallback(absent)
        .layer(Extension(Arc::new(Pages::of(&api))))
        .layer(from_fn_with_state(Arc::clone(app), guard))
        .with_state(Arc::clone(app))
}

async fn absent(uri: Uri) -> Response {
    let detail = format!("there is nothing at {}", uri.path());
    Problem::absent(detail).hint("/v1/docs lists what there is").into_response()
}

async fn not_allowed(method: Method, uri: Uri) -> Response {
    let detail = format!("{method} is not for {}", uri.path());
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail);
    problem.hint("the header `Allow` says what is").into_response()
}
