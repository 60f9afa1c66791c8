//! Answers that need not come twice.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::problem::Problem;

/// JSON, or that it is what the client has.
pub(crate) fn json<T: Serialize>(headers: &HeaderMap, value: &T) -> Result<Response, Problem> {
    let text = serde_json::to_vec(value).map_err(|why| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot be written: {why}"))
    })?;
    Ok(answer(headers, "application/json", text.into()))
}

/// Bytes of a type, or that they are what the client has.
pub(crate) fn answer(headers: &HeaderMap, media_type: &'static str, bytes: Bytes) -> Response {
    let tag = format!("\"{:016x}\"", xxh3_64(&bytes));
    let is_known = headers.get_all(IF_NONE_MATCH).iter().any(|known| has(known, &tag));
    let mut response = Response::new(if is_known { Body::empty() } else { Body::from(bytes) });
    let out = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(ETAG, tag);
    }
    out.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    out.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    if is_known {
        out.remove(CONTENT_TYPE);
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}

/// Whether a list of tags has one (RFC 9110 §13.1.2: weak ones count).
fn has(known: &HeaderValue, tag: &str) -> bool {
    let Ok(known) = known.to_str() else { return false };
    known.split(',').map(str::trim).any(|it| it == "*" || it.trim_start_matches("W/") == tag)
}
