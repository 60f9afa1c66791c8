//! Conditional responses: an unchanged response is answered with 304.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::problem::Problem;

/// Returns a JSON response, or 304 if the client has it.
pub(crate) fn json<T: Serialize>(headers: &HeaderMap, value: &T) -> Result<Response, Problem> {
    let text = serde_json::to_vec(value).map_err(|error| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("cannot serialize the response: {error}"),
        )
    })?;
    Ok(respond(headers, "application/json", text.into()))
}

/// Returns a response of a media type, or 304 if the client has it.
pub(crate) fn respond(headers: &HeaderMap, media_type: &'static str, bytes: Bytes) -> Response {
    let tag = format!("\"{:016x}\"", xxh3_64(&bytes));
    let is_unchanged = headers.get_all(IF_NONE_MATCH).iter().any(|known| has_tag(known, &tag));
    let mut response = Response::new(if is_unchanged { Body::empty() } else { Body::from(bytes) });
    let out = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(ETAG, tag);
    }
    out.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    out.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    if is_unchanged {
        out.remove(CONTENT_TYPE);
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}

/// True if a list of entity tags contains one (RFC 9110 §13.1.2: weak comparison).
fn has_tag(known: &HeaderValue, tag: &str) -> bool {
    let Ok(known) = known.to_str() else { return false };
    known.split(',').map(str::trim).any(|it| it == "*" || it.trim_start_matches("W/") == tag)
}
