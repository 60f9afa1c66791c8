//! Extractors: bodies, queries and paths of requests, parsed within limits. Each error names the
//! field that is wrong.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, RawPathParams, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::app::App;
use crate::problem::Problem;

/// Maximum number of bytes of a refused body that are read and discarded, and the longest wait for
/// more of it.
const MAX_DRAINED_BYTES: u64 = 128 << 20;
const DRAIN_IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// A JSON body of at most `MIB` mebibytes.
pub(crate) struct JsonBody<T, const MIB: usize = 1>(pub(crate) T);

impl<T: DeserializeOwned, const MIB: usize> FromRequest<Arc<App>> for JsonBody<T, MIB> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        parse(&read_json(request, app, MIB << 20).await?).map(Self)
    }
}

/// A body with lists of independent items: an invalid item does not affect the others.
pub(crate) trait BulkBody: DeserializeOwned {
    /// The body with unparsed items.
    type Unparsed: DeserializeOwned;

    /// Parses each item by itself.
    fn read(unread: Self::Unparsed) -> Self;
}

/// A [`BulkBody`] of at most `MIB` mebibytes.
pub(crate) struct BulkJsonBody<T, const MIB: usize>(pub(crate) T);

impl<T: BulkBody, const MIB: usize> FromRequest<Arc<App>> for BulkJsonBody<T, MIB> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let bytes = read_json(request, app, MIB << 20).await?;
        // Usually nothing is wrong, and one pass is enough.
        if let Ok(value) = serde_json::from_slice(&bytes) {
            return Ok(Self(value));
        }
        parse(&bytes).map(T::read).map(Self)
    }
}

/// An item of a [`BulkBody`].
pub(crate) enum BulkItem<T> {
    Valid(T),
    Invalid { problem: Problem, raw: Box<RawValue> },
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for BulkItem<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        T::deserialize(reader).map(Self::Valid)
    }
}

impl<T: DeserializeOwned> BulkItem<T> {
    /// Parses an item; `path` is its position in the body: `sources[3]`.
    pub(crate) fn parse(raw: Box<RawValue>, path: &str) -> Self {
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        let error = match serde_path_to_error::deserialize::<_, T>(&mut reader) {
            Ok(it) => return Self::Valid(it),
            Err(error) => error,
        };
        let detail = without_position(error.inner().to_string());
        let problem = match field_path(error.path().to_string(), &detail).as_str() {
            "body" => Problem::new(StatusCode::BAD_REQUEST, detail),
            field => Problem::invalid(field, detail),
        };
        Self::Invalid { problem: problem.in_parent(path), raw }
    }

    /// Parses all items of a list.
    pub(crate) fn parse_list(list: Vec<Box<RawValue>>, name: &str) -> Vec<Self> {
        let each = list.into_iter().enumerate();
        each.map(|(at, raw)| Self::parse(raw, &format!("{name}[{at}]"))).collect()
    }

    /// Returns the item, or what is wrong with it.
    pub(crate) fn result(self) -> Result<T, Problem> {
        match self {
            Self::Valid(it) => Ok(it),
            Self::Invalid { problem, .. } => Err(problem),
        }
    }
}

/// Removes the line and column from a message: they are relative to the item, and the field says
/// more.
fn without_position(mut detail: String) -> String {
    if let Some(at) = detail.rfind(" at line ") {
        detail.truncate(at);
    }
    detail
}

/// Returns a field of an item that could not be parsed as a whole.
pub(crate) fn raw_field<T: DeserializeOwned>(raw: &RawValue, name: &str) -> Option<T> {
    let mut fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(raw.get()).ok()?;
    serde_json::from_value(fields.remove(name)?).ok()
}

async fn read_json(request: Request, app: &App, max_bytes: usize) -> Result<Bytes, Problem> {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        let detail = "the content type of the body is not JSON";
        let problem = Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
        return Err(problem.with_hint("send it with `Content-Type: application/json`"));
    }
    read_body(&parts.headers, body, app, max_bytes).await
}

/// Reads a body of any media type, of at most `max_bytes`.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    mut body: Body,
    app: &App,
    max_bytes: usize,
) -> Result<Bytes, Problem> {
    let bytes = timeout(app.timeouts.request_body, read_up_to(headers, &mut body, max_bytes)).await;
    if matches!(&bytes, Ok(Err(problem)) if problem.status == StatusCode::PAYLOAD_TOO_LARGE.as_u16())
    {
        let _ = timeout(app.timeouts.request_body, drain(headers, body)).await;
    }
    bytes.map_err(|_| {
        let detail = format!("the body was not received within {:?}", app.timeouts.request_body);
        Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
    })?
}

/// Reads and discards the rest of a refused body. Many clients send all of it before they read the
/// response, and get none if the connection is closed meanwhile.
async fn drain(headers: &HeaderMap, mut body: Body) {
    // Clients that send `Expect` do not send the body, and very large bodies are not worth waiting
    // for.
    if headers.contains_key(EXPECT)
        || declared_length(headers).is_some_and(|length| length > MAX_DRAINED_BYTES)
    {
        return;
    }
    let mut drained = 0;
    while drained < MAX_DRAINED_BYTES
        && let Ok(Some(Ok(frame))) = timeout(DRAIN_IDLE_TIMEOUT, body.frame()).await
    {
        drained += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
}

/// Returns the value of `Content-Length`.
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json"
        || essence.starts_with("application/") && essence.ends_with("+json")
}

pub(crate) async fn read_capped(
    headers: &HeaderMap,
    mut body: Body,
    max_bytes: usize,
) -> Result<Bytes, Problem> {
    read_up_to(headers, &mut body, max_bytes).await
}

async fn read_up_to(
    headers: &HeaderMap,
    body: &mut Body,
    max_bytes: usize,
) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("the body is larger than {} MiB", max_bytes >> 20);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
            .with_hint("split it into several requests")
    };
    if declared_length(headers).is_some_and(|length| length > max_bytes as u64) {
        return Err(too_large());
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Problem::new(StatusCode::BAD_REQUEST, format!("cannot read the body: {error}"))
        })?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > max_bytes {
                return Err(too_large());
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes.freeze())
}

/// Parses JSON. The path of an error is determined in a second pass, only if there is one.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first.is_some_and(|first| *first != b'{') {
        return Err(Problem::invalid("body", "the body is not a JSON object"));
    }
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Ok(value);
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let error = match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Ok(_) => match reader.end() {
            Ok(()) => return Err(Problem::invalid("body", "the body is not valid JSON")),
            Err(error) => {
                return Err(Problem::invalid(
                    "body",
                    format!("the body is not valid JSON: {error}"),
                ));
            }
        },
        Err(error) => error,
    };
    let path = error.path().to_string();
    let (detail, is_syntax) = (error.inner().to_string(), !error.inner().is_data());
    if is_syntax {
        return Err(Problem::invalid("body", format!("the body is not valid JSON: {detail}")));
    }
    Err(Problem::invalid(field_path(path, &detail), detail))
}

/// Returns the path of a field. A missing or duplicate field is named in the message, not in the
/// path.
fn field_path(path: String, detail: &str) -> String {
    let prefixes = ["missing field `", "duplicate field `"];
    let rest = prefixes.iter().find_map(|prefix| detail.strip_prefix(prefix));
    let inner = rest.and_then(|rest| rest.split('`').next());
    match (path.as_str(), inner) {
        (".", Some(field)) => field.to_owned(),
        (_, Some(field)) => format!("{path}.{field}"),
        (".", None) => "body".to_owned(),
        _ => path,
    }
}

/// The query string.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        let reader = serde_urlencoded::Deserializer::new(pairs);
        serde_path_to_error::deserialize(reader).map(Self).map_err(|error| {
            let detail = error.inner().to_string();
            let field = match unknown_field(&detail) {
                Some(field) => field,
                None => field_path(error.path().to_string(), &detail),
            };
            Problem::invalid(field, format!("invalid query: {detail}"))
        })
    }
}

/// Returns the name of an unknown field, which is only in the message as well.
fn unknown_field(detail: &str) -> Option<String> {
    let prefixes = ["unknown field `", "duplicate field `"];
    let rest = prefixes.iter().find_map(|prefix| detail.strip_prefix(prefix))?;
    rest.split('`').next().map(str::to_owned)
}

/// The parameters in the path.
pub(crate) struct PathParams<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let error = match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(parameters)) => return Ok(Self(parameters)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => error.into_kind(),
            Err(error) => return Err(Problem::invalid("path", error.body_text())),
        };
        let invalid_number = |key: String, value: &str| {
            Err(Problem::invalid(key, format!("invalid number `{value}`")))
        };
        match error {
            ErrorKind::ParseErrorAtKey { key, value, .. } => invalid_number(key, &value),
            ErrorKind::ParseErrorAtIndex { index, value, .. } => {
                invalid_number(param_name(parts, state, index).await, &value)
            }
            ErrorKind::ParseError { value, .. } => {
                invalid_number(param_name(parts, state, 0).await, &value)
            }
            ErrorKind::InvalidUtf8InPathParam { key } => {
                Err(Problem::invalid(key, "the path is not valid UTF-8"))
            }
            kind => Err(Problem::invalid("path", kind.to_string())),
        }
    }
}

/// Returns the name of a path parameter.
async fn param_name<S: Send + Sync>(parts: &mut Parts, state: &S, index: usize) -> String {
    let all = RawPathParams::from_request_parts(parts, state).await.ok();
    let name = all.and_then(|all| all.iter().nth(index).map(|(name, _)| name.to_owned()));
    name.unwrap_or_else(|| "path".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "count")]
        _count: u32,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "some")]
        _some: Vec<Inner>,
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let problem = parse::<Outer>(text.as_bytes()).unwrap_err();
        assert_eq!(problem.field.as_deref(), Some(expect), "{problem:?}");
    }

    #[test]
    fn errors_name_the_field_that_is_wrong() {
        assert!(parse::<Outer>(br#"{"some": [{"count": 1}]}"#).is_ok());
        check(r#"{"some": [{"count": 1}, {"count": -1}]}"#, "some[1].count");
        check(r#"{"some": [{}]}"#, "some[0].count");
        check(r#"{"some": [{"count": 1, "kount": 1}]}"#, "some[0].kount");
        check(r#"{"some": [{"count": 1, "count": 1}]}"#, "some[0].count");
        check("{}", "some");
        check("[]", "body");
        check("", "body");
        check(r#"{"some": []"#, "body");
        check(r#"{"some": []} x"#, "body");
    }
}
