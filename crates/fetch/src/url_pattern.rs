//! URL patterns of settings.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use url::{Host, Url};

use crate::glob;
use crate::secret::redact_userinfo;

/// Pattern for URLs: `[SCHEME://]HOST[:PORT][/PATH]`.
///
/// `*` stands for any run of characters. The host must match as a whole and the path as a prefix,
/// so that `example.com/api/` matches everything below it. Omitted parts match anything;
/// `*.example.com` matches all names below `example.com`, but not itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UrlPattern {
    scheme: Option<String>,
    host: String,
    port: Option<u16>,
    path: Option<String>,
}

/// Error for text that is not a URL pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidUrlPattern {
    /// The pattern has no host.
    #[error("the pattern `{0}` has no host")]
    NoHost(String),
    /// The scheme is neither http nor https.
    #[error("the scheme of the pattern `{0}` is neither http nor https")]
    Scheme(String),
    /// The port is not a number from 0 to 65535.
    #[error("the pattern `{0}` has an invalid port")]
    Port(String),
    /// The host is neither a valid name nor an address.
    #[error("the pattern `{0}` has an invalid host")]
    Host(String),
}

impl UrlPattern {
    /// True if a URL matches the pattern.
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

    /// True if a host name or address matches, whatever the scheme and the path.
    pub(crate) fn matches_host(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.port.is_none_or(|own| own == port)
            && glob::matches(self.host.as_bytes(), host.as_bytes(), false)
    }

    /// True if the pattern names `http`, so that secrets may be sent unencrypted.
    pub(crate) fn requires_plain_http(&self) -> bool {
        self.scheme.as_deref() == Some("http")
    }

    /// True if the pattern has neither a scheme nor a path.
    pub(crate) fn is_host_only(&self) -> bool {
        self.scheme.is_none() && self.path.is_none()
    }
}

impl FromStr for UrlPattern {
    type Err = InvalidUrlPattern;

    fn from_str(text: &str) -> Result<Self, InvalidUrlPattern> {
        let error = |kind: fn(String) -> InvalidUrlPattern| Err(kind(redact_userinfo(text)));
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, text),
        };
        if scheme.as_deref().is_some_and(|scheme| !matches!(scheme, "http" | "https")) {
            return error(InvalidUrlPattern::Scheme);
        }
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], Some(rest[at..].to_owned())),
            None => (rest, None),
        };
        let (host, port) = match authority.rsplit_once(':') {
            // A colon within brackets is part of the address.
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let port = match port.map(str::parse) {
            None => None,
            Some(Ok(port)) => Some(port),
            Some(Err(_)) => return error(InvalidUrlPattern::Port),
        };
        let host = host.trim_end_matches('.');
        if host.is_empty() {
            return error(InvalidUrlPattern::NoHost);
        }
        let host = if host.contains('*') {
            let plain = |it: char| it.is_ascii_alphanumeric() || "*.-_[]:".contains(it);
            if !host.chars().all(plain) {
                return error(InvalidUrlPattern::Host);
            }
            host.to_ascii_lowercase()
        } else {
            match Host::parse(host) {
                Ok(host) => host.to_string(),
                Err(_) => return error(InvalidUrlPattern::Host),
            }
        };
        Ok(Self { scheme, host, port, path })
    }
}

impl fmt::Display for UrlPattern {
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
        let parsed: UrlPattern = pattern.parse().unwrap();
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
    fn paths_match_as_a_prefix() {
        check("example.com/api/", "https://example.com/api/v1?x=1", true);
        check("example.com/api/", "https://example.com/apis", false);
        check("example.com/*.json", "https://example.com/a/b.json?x", true);
        check("example.com/?q=", "https://example.com/?q=1", true);
        check("example.com/API", "https://example.com/api", false);
    }

    #[test]
    fn schemes_and_ports_match_if_present() {
        check("https://example.com", "http://example.com/", false);
        check("example.com:443", "https://example.com/", true);
        check("example.com:443", "http://example.com/", false);
        check("http://*:8080/x", "http://a.test:8080/xy", true);
    }

    #[test]
    fn an_invalid_pattern_is_an_error() {
        for (text, expect) in [
            ("", InvalidUrlPattern::NoHost as fn(String) -> InvalidUrlPattern),
            ("https://", InvalidUrlPattern::NoHost),
            ("/path", InvalidUrlPattern::NoHost),
            ("ftp://example.com", InvalidUrlPattern::Scheme),
            ("example.com:http", InvalidUrlPattern::Port),
            ("example.com:65536", InvalidUrlPattern::Port),
            ("exa mple.com", InvalidUrlPattern::Host),
            ("*.bücher.example", InvalidUrlPattern::Host),
        ] {
            assert_eq!(text.parse::<UrlPattern>(), Err(expect(text.to_owned())));
        }
        for text in ["me:hunter2@example.com", "https://hunter2@example.com/x", "ftp://hunter2@x"] {
            let error = text.parse::<UrlPattern>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }
}
