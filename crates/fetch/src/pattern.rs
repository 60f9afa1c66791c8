//! Which URLs a setting is for.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use url::{Host, Url};

use crate::glob;
use crate::secret::shown;

/// A pattern for URLs: `[SCHEME://]HOST[:PORT][/PATH]`.
///
/// `*` stands for any run of characters. The host must match as a whole and the path as a beginning,
/// so that `example.com/api/` is for all below it. What is left out matches anything; `*.example.com`
/// is for all names below `example.com`, but not for itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    scheme: Option<String>,
    host: String,
    port: Option<u16>,
    path: Option<String>,
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidPattern {
    /// It names no host.
    #[error("the pattern `{0}` names no host")]
    NoHost(String),
    /// Its scheme is neither http nor https.
    #[error("the pattern `{0}` is for neither http nor https")]
    Scheme(String),
    /// Its port is not a number from 0 to 65535.
    #[error("the pattern `{0}` has a port that is none")]
    Port(String),
    /// Its host cannot be the name or the address of one.
    #[error("the pattern `{0}` has a host that is none")]
    Host(String),
}

impl Pattern {
    /// Whether the pattern is for a URL.
    #[must_use]
    pub fn matches(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let host = host.trim_end_matches('.');
        self.scheme.as_deref().is_none_or(|scheme| scheme == url.scheme())
            && self.port.is_none_or(|port| Some(port) == url.port_or_known_default())
            && glob::matches(self.host.as_bytes(), host.as_bytes(), false)
            && self.path.as_deref().is_none_or(|path| {
                let own = match url.query() {
                    Some(query) => format!("{}?{query}", url.path()),
                    None => url.path().to_owned(),
                };
                glob::matches(path.as_bytes(), own.as_bytes(), true)
            })
    }

    /// Whether the pattern is for a name or an address, whatever the scheme and the path.
    pub(crate) fn matches_host(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.port.is_none_or(|own| own == port)
            && glob::matches(self.host.as_bytes(), host.as_bytes(), false)
    }

    /// Whether it names `http` itself, so that secrets may go unencrypted.
    pub(crate) fn is_for_plain(&self) -> bool {
        self.scheme.as_deref() == Some("http")
    }

    /// Whether it is for hosts only.
    pub(crate) fn is_host_only(&self) -> bool {
        self.scheme.is_none() && self.path.is_none()
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        let refuse = |why: fn(String) -> InvalidPattern| Err(why(shown(text)));
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, text),
        };
        if scheme.as_deref().is_some_and(|scheme| !matches!(scheme, "http" | "https")) {
            return refuse(InvalidPattern::Scheme);
        }
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], Some(rest[at..].to_owned())),
            None => (rest, None),
        };
        let (host, port) = match authority.rsplit_once(':') {
            // A colon within brackets is the address's own.
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let port = match port.map(str::parse) {
            None => None,
            Some(Ok(port)) => Some(port),
            Some(Err(_)) => return refuse(InvalidPattern::Port),
        };
        let host = host.trim_end_matches('.');
        if host.is_empty() {
            return refuse(InvalidPattern::NoHost);
        }
        let host = if host.contains('*') {
            let plain = |it: char| it.is_ascii_alphanumeric() || "*.-_[]:".contains(it);
            if !host.chars().all(plain) {
                return refuse(InvalidPattern::Host);
            }
            host.to_ascii_lowercase()
        } else {
            match Host::parse(host) {
                Ok(host) => host.to_string(),
                Err(_) => return refuse(InvalidPattern::Host),
            }
        };
        Ok(Self { scheme, host, port, path })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}://")?;
        }
        f.write_str(&self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        f.write_str(self.path.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, url: &str, expect: bool) {
        let parsed: Pattern = pattern.parse().unwrap();
        assert_eq!(parsed.matches(&Url::parse(url).unwrap()), expect, "{pattern} for {url}");
        assert_eq!(parsed.to_string().parse(), Ok(parsed));
    }

    #[test]
    fn hosts_match_as_a_whole() {
        check("example.com", "https://example.com/a?b", true);
        check("EXAMPLE.com.", "http://example.com./", true);
        check("example.com", "https://example.com.evil.test/", false);
        check("example.com", "https://evil.test/example.com", false);
        check("example.com", "https://example.com@evil.test/", false);
        check("*.example.com", "https://a.b.example.com/", true);
        check("*.example.com", "https://example.com/", false);
        check("*.example.com", "https://notexample.com/", false);
        check("*", "http://[::1]:8080/", true);
        check("bücher.example", "http://xn--bcher-kva.example/", true);
        check("0x7f.1", "http://127.0.0.1/", true);
        check("[::1]:8080", "http://[0:0::1]:8080/", true);
    }

    #[test]
    fn paths_match_as_a_beginning() {
        check("example.com/api/", "https://example.com/api/v1?x=1", true);
        check("example.com/api/", "https://example.com/apis", false);
        check("example.com/*.json", "https://example.com/a/b.json?x", true);
        check("example.com/?q=", "https://example.com/?q=1", true);
        check("example.com/API", "https://example.com/api", false);
    }

    #[test]
    fn schemes_and_ports_match_if_given() {
        check("https://example.com", "http://example.com/", false);
        check("example.com:443", "https://example.com/", true);
        check("example.com:443", "http://example.com/", false);
        check("http://*:8080/x", "http://a.test:8080/xy", true);
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for (text, expect) in [
            ("", InvalidPattern::NoHost as fn(String) -> InvalidPattern),
            ("https://", InvalidPattern::NoHost),
            ("/path", InvalidPattern::NoHost),
            ("ftp://example.com", InvalidPattern::Scheme),
            ("example.com:http", InvalidPattern::Port),
            ("example.com:65536", InvalidPattern::Port),
            ("exa mple.com", InvalidPattern::Host),
            ("*.bücher.example", InvalidPattern::Host),
        ] {
            assert_eq!(text.parse::<Pattern>(), Err(expect(text.to_owned())));
        }
        for text in ["me:hunter2@example.com", "https://hunter2@example.com/x", "ftp://hunter2@x"] {
            let error = text.parse::<Pattern>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }
}
