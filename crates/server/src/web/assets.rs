//! Style sheet, script and logo, compiled in.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use xxhash_rust::xxh3::xxh3_64;

use crate::app::App;
use crate::problem::Problem;

/// In cascade order.
const STYLES: &[&str] = &[
    include_str!("../../assets/style/base.css"),
    include_str!("../../assets/style/parts.css"),
    include_str!("../../assets/style/chart.css"),
    include_str!("../../assets/style/pages.css"),
    include_str!("../../assets/style/sources.css"),
    include_str!("../../assets/style/source.css"),
];
const SCRIPTS: &[&str] =
    &[include_str!("../../assets/script.js"), include_str!("../../assets/preview.js")];
const LOGO: &str = include_str!("../../assets/sign.svg");

static STYLE: LazyLock<(String, String)> = LazyLock::new(|| versioned("style", "css", STYLES));
static SCRIPT: LazyLock<(String, String)> = LazyLock::new(|| versioned("script", "js", SCRIPTS));

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/assets/{name}", get(serve_asset)).route("/favicon.ico", get(logo))
}

/// Returns a versioned path, so that browsers can cache the file indefinitely, and the content.
fn versioned(name: &str, extension: &str, parts: &[&str]) -> (String, String) {
    let text = parts.concat();
    let path = format!("/assets/{name}-{:016x}.{extension}", xxh3_64(text.as_bytes()));
    (path, text)
}

/// Path of the style sheet.
pub(super) fn style_path() -> &'static str {
    &STYLE.0
}

/// Path of the script.
pub(super) fn script_path() -> &'static str {
    &SCRIPT.0
}

async fn serve_asset(Path(name): Path<String>) -> Result<Response, Problem> {
    let path = format!("/assets/{name}");
    let (text, kind) = match path {
        _ if path == STYLE.0 => (STYLE.1.as_str(), "text/css; charset=utf-8"),
        _ if path == SCRIPT.0 => (SCRIPT.1.as_str(), "text/javascript; charset=utf-8"),
        _ if name == "sign.svg" => return Ok(logo().await),
        _ => return Err(Problem::not_found(format!("asset `{name}` not found"))),
    };
    let cache_policy = "public, max-age=31536000, immutable";
    Ok(([(CONTENT_TYPE, kind), (CACHE_CONTROL, cache_policy)], text).into_response())
}

async fn logo() -> Response {
    let headers = [(CONTENT_TYPE, "image/svg+xml"), (CACHE_CONTROL, "public, max-age=86400")];
    (headers, LOGO).into_response()
}
