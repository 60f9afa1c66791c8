//! Host names as users write them.

use std::net::Ipv6Addr;

use freshet_store::HostFilter;
use thiserror::Error;
use url::Url;

/// A text that does not name a host.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a host name, such as `example.com` or `example.com:8080`")]
pub struct InvalidHost(pub String);

/// Parses a host name. Without a port, it matches the host at all ports. Non-ASCII names are
/// converted as in URLs.
///
/// # Errors
/// Returns [`InvalidHost`] if the text does not name a host.
pub fn parse_host_filter(text: &str) -> Result<HostFilter, InvalidHost> {
    let fault = || InvalidHost(text.chars().filter(|it| !it.is_control()).take(100).collect());
    let text = text.trim();
    if matches!(text, "file:" | "exec:") {
        return Ok(HostFilter { name: text.to_owned(), any_port: false, url_prefix: None });
    }
    if text.is_empty() || text.contains(|it: char| it.is_whitespace() || "/@?#\\%".contains(it)) {
        return Err(fault());
    }
    let written = match text.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => text.to_owned(),
    };
    let read = |scheme: &str| Url::parse(&format!("{scheme}://{written}/")).map_err(|_| fault());
    let (http, https) = (read("http")?, read("https")?);
    let name = http.host_str().unwrap_or_default().trim_end_matches('.').to_owned();
    if name.is_empty() {
        return Err(fault());
    }
    // URLs omit the default port of their scheme.
    let (port, scheme) = match (http.port(), https.port()) {
        (None, Some(_)) => (None, Some("http://")),
        (Some(_), None) => (None, Some("https://")),
        (port, _) => (port, None),
    };
    let any_port = port.is_none() && scheme.is_none();
    let name = port.map_or_else(|| name.clone(), |port| format!("{name}:{port}"));
    Ok(HostFilter { name, any_port, url_prefix: scheme })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, url: &str, expect: bool) {
        let (url, host) = crate::fetch_context::parse_source_url(url).unwrap();
        assert_eq!(parse_host_filter(text).unwrap().matches(&host, &url), expect, "{text} {url}");
    }

    #[test]
    fn host_names_with_ports_and_in_any_alphabet_are_parsed() {
        check("bücher.example", "https://xn--bcher-kva.example/", true);
        check("xn--bcher-kva.example", "https://bücher.example:8443/", true);
        check("BÜCHER.example:8443", "https://bücher.example:8443/", true);
        check("bücher.example:8444", "https://bücher.example:8443/", false);
        check("Example.com.", "http://example.com:81/", true);
        check("example.com", "http://example.com.evil:81/", false);
        check("example.com:443", "https://example.com/", true);
        check("example.com:443", "http://example.com/", false);
        check("example.com:80", "http://example.com/", true);
        check("::1", "http://[::1]:8080/", true);
        check("[::1]:8080", "http://[::1]:8080/", true);
        check("127.0.0.1", "http://127.0.0.1:8080/", true);
        check("file:", "file:///tmp/x", true);
        check("file", "file:///tmp/x", true);
        for text in ["", " ", "a b", "https://a.example/", "a@b", "a:99999", "[::1", "a/b", "."] {
            assert!(parse_host_filter(text).is_err(), "{text}");
        }
    }
}
