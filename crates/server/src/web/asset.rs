//! What pages are drawn with: the style, the script and the sign, as they are compiled in.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use xxhash_rust::xxh3::xxh3_64;

use crate::app::App;
use crate::problem::Problem;

/// In the order in which they count.
const STYLES: &[&str] = &[
    include_str!("../../assets/style/base.css"),
    include_str!("../../assets/style/parts.css"),
    include_str!("../../assets/style/chart.css"),
    include_str!("../../assets/style/pages.css"),
    include_str!("../../assets/style/sources.css"),
    include_str!("../../assets/style/source.css"),
];
const SCRIPTS: &[&str] =
    &[include_str!("../../assets/script.js"), include_str!("../../assets/tune.js")];
const SIGN: &str = include_str!("../../assets/sign.svg");

static STYLE: LazyLock<(String, String)> = LazyLock::new(|| named("style", "css", STYLES));
static SCRIPT: LazyLock<(String, String)> = LazyLock::new(|| named("script", "js", SCRIPTS));

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/assets/{name}", get(asset)).route("/favicon.ico", get(sign))
}

/// A file, and a path that changes with it: browsers need not ask again.
fn named(name: &str, extension: &str, parts: &[&str]) -> (String, String) {
    let text = parts.concat();
    let path = format!("/assets/{name}-{:016x}.{extension}", xxh3_64(text.as_bytes()));
    (path, text)
}

/// Where the style is.
pub(super) fn style() -> &'static str {
    &STYLE.0
}

/// Where the script is.
pub(super) fn script() -> &'static str {
    &SCRIPT.0
}

async fn asset(Path(name): Path<String>) -> Result<Response, Problem> {
    let path = format!("/assets/{name}");
    let (text, kind) = match path {
        _ if path == STYLE.0 => (STYLE.1.as_str(), "text/css; charset=utf-8"),
        _ if path == SCRIPT.0 => (SCRIPT.1.as_str(), "text/javascript; charset=utf-8"),
        _ if name == "sign.svg" => return Ok(sign().await),
        _ => return Err(Problem::absent(format!("there is no `{name}`"))),
    };
    let kept = "public, max-age=31536000, immutable";
    Ok(([(CONTENT_TYPE, kind), (CACHE_CONTROL, kept)], text).into_response())
}

async fn sign() -> Response {
    let headers = [(CONTENT_TYPE, "image/svg+xml"), (CACHE_CONTROL, "public, max-age=86400")];
    (headers, SIGN).into_response()
}
