//! Hosts as people name them.

use std::net::Ipv6Addr;

use freshet_store::HostFilter;
use thiserror::Error;
use url::Url;

/// A text that names no host.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not the name of a host, such as `example.com` or `example.com:8080`")]
pub struct InvalidHost(pub String);

/// Which hosts a text names: without a port, the host at all its ports. Names that are not ASCII are
/// taken as URLs have them.
///
/// # Errors
/// If it names none.
pub fn host_filter(text: &str) -> Result<HostFilter, InvalidHost> {
    let fault = || InvalidHost(text.chars().filter(|it| !it.is_control()).take(100).collect());
    let text = text.trim();
    if matches!(text, "file:" | "exec:") {
        return Ok(HostFilter { name: text.to_owned(), any_port: false, scheme: None });
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
    // A URL does not have the usual port of its scheme.
    let (port, scheme) = match (http.port(), https.port()) {
        (None, Some(_)) => (None, Some("http://")),
        (Some(_), None) => (None, Some("https://")),
        (port, _) => (port, None),
    };
    let any_port = port.is_none() && scheme.is_none();
    let name = port.map_or_else(|| name.clone(), |port| format!("{name}:{port}"));
    Ok(HostFilter { name, any_port, scheme })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, url: &str, expect: bool) {
        let (url, host) = crate::work::host_of(url).unwrap();
        assert_eq!(host_filter(text).unwrap().matches(&host, &url), expect, "{text} {url}");
    }

    #[test]
    fn a_host_is_named_with_or_without_a_port_in_any_alphabet() {
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
            assert!(host_filter(text).is_err(), "{text}");
        }
    }
}
