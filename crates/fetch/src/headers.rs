//! What the headers of an answer say. All of it is data from strangers: what makes no sense says
//! nothing.

use std::time::{Duration, SystemTime};

use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, LINK, LOCATION,
    RETRY_AFTER, TRANSFER_ENCODING,
};
use url::Url;

use crate::decode::Coding;
use crate::error::{FetchError, ProtocolFault};
use crate::secret::shown;

/// A wish for more than this is taken as this.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);
/// Characters of a header that an error repeats.
const SHOWN: usize = 200;
/// `Link` headers that are kept, and how long each may be.
const MOST_LINKS: usize = 16;
const LONGEST_LINK: usize = 4096;

/// How long a host wants to be left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// From the answer on.
    For(Duration),
    /// Up to a date, of a host that does not say what its clock shows now. It may be any date:
    /// [`Wait::length`] says how long that is, within bounds.
    Until(SystemTime),
}

impl Wait {
    /// How long it is from now on, in whole seconds and at most a year. `now` is when the answer came. Part
    /// of a second counts as one: to ask a little later is what the host wants.
    #[must_use]
    pub fn length(self, now: SystemTime) -> Duration {
        let time = match self {
            Self::For(time) => time,
            Self::Until(date) => date.duration_since(now).unwrap_or_default(),
        };
        let rest = u64::from(time.subsec_nanos() > 0);
        Duration::from_secs(time.as_secs().saturating_add(rest)).min(LONGEST)
    }

    /// What is left of it after some time.
    pub(crate) fn after(self, time: Duration) -> Self {
        match self {
            Self::For(whole) => Self::For(whole.saturating_sub(time)),
            Self::Until(date) => Self::Until(date),
        }
    }
}

/// What `Cache-Control` says. A hint: it is never a reason to fetch more often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHint {
    /// How long the answer stays fresh.
    pub max_age: Option<Duration>,
    /// Whether it should not be kept.
    pub no_store: bool,
    /// Whether it never changes.
    pub immutable: bool,
}

/// A header as text, if there is one that is text.
pub(crate) fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let text = std::str::from_utf8(headers.get(name)?.as_bytes()).ok()?.trim();
    (!text.is_empty()).then_some(text)
}

/// `Retry-After`: seconds, or a date, which is taken by the host's own clock (RFC 9110 §10.2.3).
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Wait> {
    let value = text(headers, RETRY_AFTER)?;
    if let Some(seconds) = seconds(value) {
        return Some(Wait::For(seconds));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    match text(headers, DATE).and_then(|date| httpdate::parse_http_date(date).ok()) {
        Some(now) => Some(Wait::For(until.duration_since(now).unwrap_or_default().min(LONGEST))),
        None => Some(Wait::Until(until)),
    }
}

/// `Cache-Control`, of all lines of it.
pub(crate) fn cache_hint(headers: &HeaderMap) -> CacheHint {
    let mut hint = CacheHint::default();
    for value in headers.get_all(CACHE_CONTROL) {
        let Ok(value) = std::str::from_utf8(value.as_bytes()) else { continue };
        for directive in directives(value) {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "max-age" if hint.max_age.is_none() => {
                    hint.max_age = seconds(value.trim().trim_matches('"'));
                }
                "no-store" => hint.no_store = true,
                "immutable" => hint.immutable = true,
                _ => {}
            }
        }
    }
    hint
}

/// The parts between commas, but for those in quotes (RFC 9110 §5.6.4).
fn directives(value: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    value.split(move |it| {
        is_quoted ^= it == '"' && !is_escaped;
        is_escaped = is_quoted && it == '\\' && !is_escaped;
        it == ',' && !is_quoted
    })
}

/// `Content-Encoding` and what `Transfer-Encoding` has beside chunks, of all lines of them, in the order
/// in which they were applied.
pub(crate) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, FetchError> {
    if !headers.contains_key(CONTENT_ENCODING) && !headers.contains_key(TRANSFER_ENCODING) {
        return Ok(Vec::new());
    }
    let mut list = names(headers, CONTENT_ENCODING);
    let mut transfer = names(headers, TRANSFER_ENCODING);
    let is_chunked = |name: &String| name.eq_ignore_ascii_case("chunked");
    // Chunks are the outermost, and the library has taken them off.
    let _ = transfer.pop_if(|name| is_chunked(name));
    if transfer.iter().any(is_chunked) {
        return Err(FetchError::Protocol { fault: ProtocolFault::Framing });
    }
    list.append(&mut transfer);
    Coding::list(&list)
}

/// The names in a list, of all lines of it, without those that are empty.
fn names(headers: &HeaderMap, name: HeaderName) -> Vec<String> {
    let mut names = Vec::new();
    for value in headers.get_all(name) {
        let text = String::from_utf8_lossy(value.as_bytes());
        names.extend(text.split(',').map(|it| it.trim().to_owned()));
    }
    names.retain(|it| !it.is_empty());
    names
}

/// The media type in lower case and the label of its charset.
pub(crate) fn content_type(headers: &HeaderMap) -> (Option<String>, Option<String>) {
    let Some(text) = text(headers, CONTENT_TYPE) else { return (None, None) };
    let mut parts = text.split(';');
    let media_type = parts.next().map(|it| it.trim().to_ascii_lowercase());
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    });
    (media_type.filter(|it| !it.is_empty()), charset)
}

/// What a redirect says, as it may be shown.
pub(crate) fn raw_location(headers: &HeaderMap) -> Option<String> {
    let bytes = headers.get(LOCATION)?.as_bytes();
    let text = shown(&bytes.escape_ascii().to_string());
    let is_long = text.chars().count() > SHOWN;
    Some(text.chars().take(SHOWN).chain(is_long.then_some('…')).collect())
}

/// The values of `Link` headers: some, and not without end.
pub(crate) fn links(headers: &HeaderMap) -> Vec<String> {
    let texts = headers.get_all(LINK).iter().filter_map(|it| it.to_str().ok());
    texts.filter(|it| it.len() <= LONGEST_LINK).take(MOST_LINKS).map(str::to_owned).collect()
}

/// Where a redirect goes. Bytes that are not ASCII are taken as they are sent, percent-encoded.
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
    // Of no use to a host, and what names a part must not make one page two.
    url.set_fragment(None);
    // A stranger has no say in whom we sign in as.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(url)
}

fn seconds(text: &str) -> Option<Duration> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Too many digits for a number are more than the longest anyway.
    Some(text.parse().map_or(LONGEST, Duration::from_secs).min(LONGEST))
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
    fn check_wait(lines: &[(&'static str, &[u8])], expect: Option<Wait>) {
        assert_eq!(retry_after(&headers(lines)), expect);
    }

    #[test]
    fn a_wish_is_in_seconds_or_a_date() {
        let wait = |seconds| Some(Wait::For(Duration::from_secs(seconds)));
        check_wait(&[("retry-after", b"120")], wait(120));
        check_wait(&[("retry-after", b" 0 ")], wait(0));
        check_wait(&[("retry-after", b"99999999999999999999999")], Some(Wait::For(LONGEST)));
        for nonsense in [&b"-1"[..], b"1.5", b"1e300", b"soon", b"+5", b"10s", b"Sun, 06 Nov"] {
            check_wait(&[("retry-after", nonsense)], None);
        }
        check_wait(&[("retry-after", b"\xff")], None);
        // RFC 9110 §5.6.7: the same date in its three forms.
        let now: &[u8] = b"Sun, 06 Nov 1994 08:47:37 GMT";
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            check_wait(&[("retry-after", date.as_bytes()), ("date", now)], wait(120));
        }
        check_wait(&[("retry-after", now), ("date", b"Sun, 06 Nov 1994 09:00:00 GMT")], wait(0));
        let until = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let date: &[u8] = b"Sun, 06 Nov 1994 08:49:37 GMT";
        check_wait(&[("retry-after", date)], Some(Wait::Until(until)));
        check_wait(&[("retry-after", date), ("date", b"today")], Some(Wait::Until(until)));
        let far: &[u8] = b"Fri, 31 Dec 9999 23:59:59 GMT";
        check_wait(&[("retry-after", far), ("date", now)], Some(Wait::For(LONGEST)));
        // Whatever the date is, the time is not longer than a year.
        let minute = Duration::from_secs(60);
        assert_eq!(Wait::Until(until).length(until - minute), minute);
        assert_eq!(Wait::Until(until).length(until + minute), Duration::ZERO);
        assert_eq!(Wait::Until(until).length(SystemTime::UNIX_EPOCH), LONGEST);
        let part = Wait::For(minute).after(Duration::from_millis(1));
        assert_eq!((part.length(until), Wait::For(Duration::MAX).length(until)), (minute, LONGEST));
        let far = retry_after(&headers(&[("retry-after", far)])).unwrap();
        assert_eq!(far.length(until), LONGEST);
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
        let go = |value: &[u8]| location(&headers(&[("location", value)]), &base).map(String::from);
        assert_eq!(go(b"../b#part").as_deref(), Some("https://a.test/b"));
        assert_eq!(go(b"//b.test/").as_deref(), Some("https://b.test/"));
        assert_eq!(go(b"/caf\xe9").as_deref(), Some("https://a.test/caf%E9"));
        assert_eq!(go("/café".as_bytes()).as_deref(), Some("https://a.test/caf%C3%A9"));
        assert_eq!(go("//bücher.test/".as_bytes()).as_deref(), Some("https://xn--bcher-kva.test/"));
        assert_eq!(go(b"https://me:pass@b.test/").as_deref(), Some("https://b.test/"));
        assert_eq!(go(b"//\xff.test/"), None);
        assert_eq!(go(b"http://[::1/"), None);
    }
}
