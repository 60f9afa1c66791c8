//! Parses response headers. All of it is untrusted: invalid values are ignored.

use std::time::{Duration, SystemTime};

use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, LINK, LOCATION,
    RETRY_AFTER, TRANSFER_ENCODING,
};
use url::Url;

use crate::decode::ContentCoding;
use crate::error::{FetchError, ProtocolFault};
use crate::secret::redact_userinfo;

/// Maximum delay taken from `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(365 * 86_400);
/// Maximum number of characters of a `Location` header in an error.
const MAX_SHOWN_LOCATION: usize = 200;
/// Maximum number of `Link` headers kept, and the maximum length of each.
const MAX_LINK_HEADERS: usize = 16;
const MAX_LINK_HEADER_LEN: usize = 4096;

/// Value of a `Retry-After` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// Delay from the time of the response.
    Delay(Duration),
    /// Date, from a host that does not send its own clock. It may be any date:
    /// [`RetryAfter::delay_from`] bounds the delay.
    Date(SystemTime),
}

impl RetryAfter {
    /// Returns the delay from `now`, the time of the response, rounded up to whole seconds and
    /// capped at one year. A little later is what the host wants.
    #[must_use]
    pub fn delay_from(self, now: SystemTime) -> Duration {
        let time = match self {
            Self::Delay(time) => time,
            Self::Date(date) => date.duration_since(now).unwrap_or_default(),
        };
        let round_up = u64::from(time.subsec_nanos() > 0);
        Duration::from_secs(time.as_secs().saturating_add(round_up)).min(MAX_RETRY_AFTER)
    }

    /// Subtracts time that has passed since the response.
    pub(crate) fn minus_elapsed(self, elapsed: Duration) -> Self {
        match self {
            Self::Delay(delay) => Self::Delay(delay.saturating_sub(elapsed)),
            Self::Date(date) => Self::Date(date),
        }
    }
}

/// Cache lifetime from `Cache-Control`. Only a hint: it never makes a source be fetched more often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHint {
    /// Time for which the response stays fresh.
    pub max_age: Option<Duration>,
    /// True if the response must not be stored.
    pub no_store: bool,
    /// True if the response never changes.
    pub immutable: bool,
}

/// Returns a header if it is non-empty UTF-8.
pub(crate) fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let text = std::str::from_utf8(headers.get(name)?.as_bytes()).ok()?.trim();
    (!text.is_empty()).then_some(text)
}

/// Parses `Retry-After`: seconds, or a date that is relative to the host's own clock (RFC 9110
/// §10.2.3).
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<RetryAfter> {
    let value = header_text(headers, RETRY_AFTER)?;
    if let Some(seconds) = parse_seconds(value) {
        return Some(RetryAfter::Delay(seconds));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    match header_text(headers, DATE).and_then(|date| httpdate::parse_http_date(date).ok()) {
        Some(now) => Some(RetryAfter::Delay(
            until.duration_since(now).unwrap_or_default().min(MAX_RETRY_AFTER),
        )),
        None => Some(RetryAfter::Date(until)),
    }
}

/// Parses all `Cache-Control` lines.
pub(crate) fn cache_hint(headers: &HeaderMap) -> CacheHint {
    let mut hint = CacheHint::default();
    for value in headers.get_all(CACHE_CONTROL) {
        let Ok(value) = std::str::from_utf8(value.as_bytes()) else { continue };
        for directive in split_directives(value) {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "max-age" if hint.max_age.is_none() => {
                    hint.max_age = parse_seconds(value.trim().trim_matches('"'));
                }
                "no-store" => hint.no_store = true,
                "immutable" => hint.immutable = true,
                _ => {}
            }
        }
    }
    hint
}

/// Splits at commas outside of quoted strings (RFC 9110 §5.6.4).
fn split_directives(value: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    value.split(move |it| {
        is_quoted ^= it == '"' && !is_escaped;
        is_escaped = is_quoted && it == '\\' && !is_escaped;
        it == ',' && !is_quoted
    })
}

/// Parses `Content-Encoding` and `Transfer-Encoding` without `chunked`, over all lines, in the
/// order in which the codings were applied.
pub(crate) fn codings(headers: &HeaderMap) -> Result<Vec<ContentCoding>, FetchError> {
    if !headers.contains_key(CONTENT_ENCODING) && !headers.contains_key(TRANSFER_ENCODING) {
        return Ok(Vec::new());
    }
    let mut list = list_items(headers, CONTENT_ENCODING);
    let mut transfer = list_items(headers, TRANSFER_ENCODING);
    let is_chunked = |name: &String| name.eq_ignore_ascii_case("chunked");
    // Chunks are the outermost coding, and the library has removed them.
    let _ = transfer.pop_if(|name| is_chunked(name));
    if transfer.iter().any(is_chunked) {
        return Err(FetchError::Protocol { fault: ProtocolFault::Framing });
    }
    list.append(&mut transfer);
    ContentCoding::parse_list(&list)
}

/// Returns the non-empty items of a comma-separated list, over all lines.
fn list_items(headers: &HeaderMap, name: HeaderName) -> Vec<String> {
    let mut items = Vec::new();
    for value in headers.get_all(name) {
        let text = String::from_utf8_lossy(value.as_bytes());
        items.extend(text.split(',').map(|it| it.trim().to_owned()));
    }
    items.retain(|it| !it.is_empty());
    items
}

/// Returns the media type in lower case and the charset label.
pub(crate) fn content_type(headers: &HeaderMap) -> (Option<String>, Option<String>) {
    let Some(text) = header_text(headers, CONTENT_TYPE) else { return (None, None) };
    let mut parts = text.split(';');
    let media_type = parts.next().map(|it| it.trim().to_ascii_lowercase());
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    });
    (media_type.filter(|it| !it.is_empty()), charset)
}

/// Returns the `Location` header redacted and shortened for display.
pub(crate) fn raw_location(headers: &HeaderMap) -> Option<String> {
    let bytes = headers.get(LOCATION)?.as_bytes();
    let text = redact_userinfo(&bytes.escape_ascii().to_string());
    let is_long = text.chars().count() > MAX_SHOWN_LOCATION;
    Some(text.chars().take(MAX_SHOWN_LOCATION).chain(is_long.then_some('…')).collect())
}

/// Returns the values of `Link` headers, up to a limit.
pub(crate) fn link_headers(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(LINK).iter().filter_map(|it| it.to_str().ok());
    values
        .filter(|it| it.len() <= MAX_LINK_HEADER_LEN)
        .take(MAX_LINK_HEADERS)
        .map(str::to_owned)
        .collect()
}

/// Returns the target of a redirect. Bytes outside of ASCII are percent-encoded as sent.
pub(crate) fn location(headers: &HeaderMap, base: &Url) -> Option<Url> {
    let mut text = String::new();
    for &byte in headers.get(LOCATION)?.as_bytes() {
        if byte.is_ascii() {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    let mut url = base.join(&text).ok()?;
    // Fragments are not sent, and must not make two pages of one.
    url.set_fragment(None);
    // A redirect must not choose the credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(url)
}

fn parse_seconds(text: &str) -> Option<Duration> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A number that overflows exceeds the maximum anyway.
    Some(text.parse().map_or(MAX_RETRY_AFTER, Duration::from_secs).min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
        let line = |&(name, value): &(&'static str, &[u8])| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap())
        };
        lines.iter().map(line).collect()
    }

    #[track_caller]
    fn check_wait(lines: &[(&'static str, &[u8])], expect: Option<RetryAfter>) {
        assert_eq!(retry_after(&headers(lines)), expect);
    }

    #[test]
    fn retry_after_is_in_seconds_or_a_date() {
        let retry_after_header = |seconds| Some(RetryAfter::Delay(Duration::from_secs(seconds)));
        check_wait(&[("retry-after", b"120")], retry_after_header(120));
        check_wait(&[("retry-after", b" 0 ")], retry_after_header(0));
        check_wait(
            &[("retry-after", b"99999999999999999999999")],
            Some(RetryAfter::Delay(MAX_RETRY_AFTER)),
        );
        for invalid in [&b"-1"[..], b"1.5", b"1e300", b"soon", b"+5", b"10s", b"Sun, 06 Nov"] {
            check_wait(&[("retry-after", invalid)], None);
        }
        check_wait(&[("retry-after", b"\xff")], None);
        // RFC 9110 §5.6.7: one date in its three forms.
        let now: &[u8] = b"Sun, 06 Nov 1994 08:47:37 GMT";
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            check_wait(&[("retry-after", date.as_bytes()), ("date", now)], retry_after_header(120));
        }
        check_wait(
            &[("retry-after", now), ("date", b"Sun, 06 Nov 1994 09:00:00 GMT")],
            retry_after_header(0),
        );
        let until = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let date: &[u8] = b"Sun, 06 Nov 1994 08:49:37 GMT";
        check_wait(&[("retry-after", date)], Some(RetryAfter::Date(until)));
        check_wait(&[("retry-after", date), ("date", b"today")], Some(RetryAfter::Date(until)));
        let far: &[u8] = b"Fri, 31 Dec 9999 23:59:59 GMT";
        check_wait(
            &[("retry-after", far), ("date", now)],
            Some(RetryAfter::Delay(MAX_RETRY_AFTER)),
        );
        // Whatever the date, the delay is at most a year.
        let minute = Duration::from_secs(60);
        assert_eq!(RetryAfter::Date(until).delay_from(until - minute), minute);
        assert_eq!(RetryAfter::Date(until).delay_from(until + minute), Duration::ZERO);
        assert_eq!(RetryAfter::Date(until).delay_from(SystemTime::UNIX_EPOCH), MAX_RETRY_AFTER);
        let part = RetryAfter::Delay(minute).minus_elapsed(Duration::from_millis(1));
        assert_eq!(
            (part.delay_from(until), RetryAfter::Delay(Duration::MAX).delay_from(until)),
            (minute, MAX_RETRY_AFTER)
        );
        let far = retry_after(&headers(&[("retry-after", far)])).unwrap();
        assert_eq!(far.delay_from(until), MAX_RETRY_AFTER);
    }

    #[test]
    fn a_cache_hint_is_read_from_all_lines() {
        let hint = |lines: &[(&'static str, &[u8])]| cache_hint(&headers(lines));
        let age = |seconds| CacheHint {
            max_age: Some(Duration::from_secs(seconds)),
            ..CacheHint::default()
        };
        assert_eq!(hint(&[("cache-control", b"public, Max-Age=60")]), age(60));
        assert_eq!(hint(&[("cache-control", b"max-age=\"60\"")]), age(60));
        assert_eq!(hint(&[("cache-control", b"private"), ("cache-control", b"max-age=5")]), age(5));
        assert_eq!(hint(&[("cache-control", b"max-age=x, \xff")]), CacheHint::default());
        assert!(hint(&[("cache-control", b"no-store, immutable")]).no_store);
        let quoted = b"private=\"a, no-store, \\\", max-age=7\", max-age=60";
        assert_eq!(hint(&[("cache-control", quoted)]), age(60));
    }

    #[test]
    fn a_content_type_has_a_charset() {
        let read = |value: &[u8]| content_type(&headers(&[("content-type", value)]));
        let (html, latin) = (Some("text/html".to_owned()), Some("latin1".to_owned()));
        assert_eq!(read(b"Text/HTML; x=1; Charset=\"latin1\""), (html.clone(), latin));
        assert_eq!(read(b"text/html; charset="), (html, None));
        assert_eq!(read(b";"), (None, None));
        assert_eq!(read(b"\xff"), (None, None));
    }

    #[test]
    fn a_redirect_is_relative_to_where_it_comes_from() {
        let base = Url::parse("https://a.test/x/y?z").unwrap();
        let target =
            |value: &[u8]| location(&headers(&[("location", value)]), &base).map(String::from);
        assert_eq!(target(b"../b#part").as_deref(), Some("https://a.test/b"));
        assert_eq!(target(b"//b.test/").as_deref(), Some("https://b.test/"));
        assert_eq!(target(b"/caf\xe9").as_deref(), Some("https://a.test/caf%E9"));
        assert_eq!(target("/café".as_bytes()).as_deref(), Some("https://a.test/caf%C3%A9"));
        assert_eq!(
            target("//bücher.test/".as_bytes()).as_deref(),
            Some("https://xn--bcher-kva.test/")
        );
        assert_eq!(target(b"https://me:pass@b.test/").as_deref(), Some("https://b.test/"));
        assert_eq!(target(b"//\xff.test/"), None);
        assert_eq!(target(b"http://[::1/"), None);
    }
}
