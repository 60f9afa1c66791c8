//! What clients send: read within limits, and refused with the place that is wrong.

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

/// Bytes of a body that is too large that are let go by at most, and how long more of it is waited for.
const WASTED: u64 = 128 << 20;
const QUIET: Duration = Duration::from_secs(1);

/// A body of JSON, of at most so many mebibytes.
pub(crate) struct Input<T, const MIB: usize = 1>(pub(crate) T);

impl<T: DeserializeOwned, const MIB: usize> FromRequest<Arc<App>> for Input<T, MIB> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        parse(&read(request, app, MIB << 20).await?).map(Self)
    }
}

/// A body with a list of things that stand each for themselves: what is wrong with one does not hold up
/// the others.
pub(crate) trait Bulk: DeserializeOwned {
    /// The same with things that have not been looked into.
    type Unread: DeserializeOwned;

    /// Reads each thing by itself.
    fn read(unread: Self::Unread) -> Self;
}

/// Such a body, of at most so many mebibytes.
pub(crate) struct Many<T, const MIB: usize>(pub(crate) T);

impl<T: Bulk, const MIB: usize> FromRequest<Arc<App>> for Many<T, MIB> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let bytes = read(request, app, MIB << 20).await?;
        // Mostly nothing is wrong, and one look is enough.
        if let Ok(value) = serde_json::from_slice(&bytes) {
            return Ok(Self(value));
        }
        parse(&bytes).map(T::read).map(Self)
    }
}

/// A thing that has been read, or what is wrong with it.
pub(crate) enum Each<T> {
    Read(T),
    Odd { problem: Problem, given: Box<RawValue> },
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Each<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        T::deserialize(reader).map(Self::Read)
    }
}

impl<T: DeserializeOwned> Each<T> {
    /// Reads a thing at a place: `sources[3]`.
    pub(crate) fn read(given: Box<RawValue>, place: &str) -> Self {
        let mut reader = serde_json::Deserializer::from_str(given.get());
        let why = match serde_path_to_error::deserialize::<_, T>(&mut reader) {
            Ok(it) => return Self::Read(it),
            Err(why) => why,
        };
        let detail = without_place(why.inner().to_string());
        let problem = match named(why.path().to_string(), &detail).as_str() {
            "body" => Problem::new(StatusCode::BAD_REQUEST, detail),
            field => Problem::field(field, detail),
        };
        Self::Odd { problem: problem.within(place), given }
    }

    /// All of a list by its name.
    pub(crate) fn all(list: Vec<Box<RawValue>>, name: &str) -> Vec<Self> {
        let each = list.into_iter().enumerate();
        each.map(|(at, given)| Self::read(given, &format!("{name}[{at}]"))).collect()
    }

    /// The thing, or what is wrong with it.
    pub(crate) fn result(self) -> Result<T, Problem> {
        match self {
            Self::Read(it) => Ok(it),
            Self::Odd { problem, .. } => Err(problem),
        }
    }
}

/// Lines and columns within a thing lead nobody to it: the field does.
fn without_place(mut detail: String) -> String {
    if let Some(at) = detail.rfind(" at line ") {
        detail.truncate(at);
    }
    detail
}

/// A field of something that could not be read as a whole.
pub(crate) fn field_of<T: DeserializeOwned>(given: &RawValue, name: &str) -> Option<T> {
    let mut fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(given.get()).ok()?;
    serde_json::from_value(fields.remove(name)?).ok()
}

async fn read(request: Request, app: &App, most: usize) -> Result<Bytes, Problem> {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        let detail = "the body is not said to be JSON";
        let problem = Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail);
        return Err(problem.hint("send it with `Content-Type: application/json`"));
    }
    any(&parts.headers, body, app, most).await
}

/// A body of any kind, of at most so many bytes.
pub(crate) async fn any(
    headers: &HeaderMap,
    mut body: Body,
    app: &App,
    most: usize,
) -> Result<Bytes, Problem> {
    let bytes = timeout(app.limits.body, within(headers, &mut body, most)).await;
    if matches!(&bytes, Ok(Err(problem)) if problem.status == StatusCode::PAYLOAD_TOO_LARGE.as_u16())
    {
        let _ = timeout(app.limits.body, waste(headers, body)).await;
    }
    bytes.map_err(|_| {
        let detail = format!("the body did not come within {:?}", app.limits.body);
        Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
    })?
}

/// Lets the rest of a body go by. Many clients send all of it before they look at the answer, and see none
/// if the connection ends meanwhile.
async fn waste(headers: &HeaderMap, mut body: Body) {
    // Whoever asks first does not send it, and nobody waits for what is without end.
    if headers.contains_key(EXPECT) || said(headers).is_some_and(|said| said > WASTED) {
        return;
    }
    let mut gone = 0;
    while gone < WASTED
        && let Ok(Some(Ok(frame))) = timeout(QUIET, body.frame()).await
    {
        gone += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
}

/// How large a body is said to be.
fn said(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_json(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let essence = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json"
        || essence.starts_with("application/") && essence.ends_with("+json")
}

pub(crate) async fn whole(
    headers: &HeaderMap,
    mut body: Body,
    most: usize,
) -> Result<Bytes, Problem> {
    within(headers, &mut body, most).await
}

async fn within(headers: &HeaderMap, body: &mut Body, most: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        let detail = format!("the body is larger than {} MiB", most >> 20);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail).hint("send it in several parts")
    };
    if said(headers).is_some_and(|said| said > most as u64) {
        return Err(too_large());
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|why| {
            Problem::new(StatusCode::BAD_REQUEST, format!("the body broke off: {why}"))
        })?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > most {
                return Err(too_large());
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes.freeze())
}

/// Reads JSON. What is wrong is looked for only if something is.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first.is_some_and(|first| *first != b'{') {
        return Err(Problem::field("body", "not an object of JSON"));
    }
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Ok(value);
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let why = match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Ok(_) => match reader.end() {
            Ok(()) => return Err(Problem::field("body", "not JSON")),
            Err(why) => return Err(Problem::field("body", format!("not JSON: {why}"))),
        },
        Err(why) => why,
    };
    let path = why.path().to_string();
    let (detail, is_syntax) = (why.inner().to_string(), !why.inner().is_data());
    if is_syntax {
        return Err(Problem::field("body", format!("not JSON: {detail}")));
    }
    Err(Problem::field(named(path, &detail), detail))
}

/// The field that is missing, or there twice, stands in the message, not in the path.
fn named(path: String, detail: &str) -> String {
    let before = ["missing field `", "duplicate field `"];
    let rest = before.iter().find_map(|before| detail.strip_prefix(before));
    let inner = rest.and_then(|rest| rest.split('`').next());
    match (path.as_str(), inner) {
        (".", Some(field)) => field.to_owned(),
        (_, Some(field)) => format!("{path}.{field}"),
        (".", None) => "body".to_owned(),
        _ => path,
    }
}

/// What stands behind the question mark.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        let reader = serde_urlencoded::Deserializer::new(pairs);
        serde_path_to_error::deserialize(reader).map(Self).map_err(|why| {
            let detail = why.inner().to_string();
            let field = match unknown(&detail) {
                Some(field) => field,
                None => named(why.path().to_string(), &detail),
            };
            Problem::field(field, format!("in the query: {detail}"))
        })
    }
}

/// A field that nobody knows stands in the message as well.
fn unknown(detail: &str) -> Option<String> {
    let before = ["unknown field `", "duplicate field `"];
    let rest = before.iter().find_map(|before| detail.strip_prefix(before))?;
    rest.split('`').next().map(str::to_owned)
}

/// What stands in the path.
pub(crate) struct Place<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Place<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let why = match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(place)) => return Ok(Self(place)),
            Err(PathRejection::FailedToDeserializePathParams(why)) => why.into_kind(),
            Err(why) => return Err(Problem::field("path", why.body_text())),
        };
        let odd = |key: String, value: &str| {
            Err(Problem::field(key, format!("`{value}` is not a number that it can be")))
        };
        match why {
            ErrorKind::ParseErrorAtKey { key, value, .. } => odd(key, &value),
            ErrorKind::ParseErrorAtIndex { index, value, .. } => {
                odd(name_of(parts, state, index).await, &value)
            }
            ErrorKind::ParseError { value, .. } => odd(name_of(parts, state, 0).await, &value),
            ErrorKind::InvalidUtf8InPathParam { key } => Err(Problem::field(key, "is not UTF-8")),
            kind => Err(Problem::field("path", kind.to_string())),
        }
    }
}

/// What a part of the path is called.
async fn name_of<S: Send + Sync>(parts: &mut Parts, state: &S, index: usize) -> String {
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
    fn the_field_that_is_wrong_is_named() {
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
