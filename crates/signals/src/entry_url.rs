//! Resolves URLs as documents write them.

use url::{ParseError, Url};

use crate::defect::Defect;

/// Maximum length of a URL in bytes, as in the sitemap protocol.
pub(crate) const MAX_URL_LEN: usize = 2048;

/// URL of an entry, resolved and normalized.
pub(crate) struct ResolvedAddress {
    pub(crate) url: Url,
    pub(crate) is_relative: bool,
}

/// Parses a URL, relative to `base` if it is not absolute.
pub(crate) fn resolve(text: &str, base: &Url) -> Result<ResolvedAddress, Defect> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Defect::NoUrl);
    }
    if text.len() > MAX_URL_LEN {
        return Err(Defect::LongUrl);
    }
    // Text with undecodable bytes cannot be a URL.
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err(Defect::NotAUrl);
    }
    let (parsed, is_relative) = match Url::parse(text) {
        Err(ParseError::RelativeUrlWithoutBase) => (join(text, base), true),
        // In `host:8080/path` the host is not a scheme.
        Ok(url) if !is_http(&url) && is_host_and_port(text, base) => (join(text, base), true),
        parsed => (parsed, false),
    };
    let mut url = parsed.map_err(|_| Defect::NotAUrl)?;
    if !is_http(&url) {
        return Err(Defect::OtherScheme);
    }
    url.set_fragment(None);
    if !url.username().is_empty() || url.password().is_some() {
        let removed = url.set_username("").and_then(|()| url.set_password(None));
        removed.map_err(|()| Defect::NotAUrl)?;
    }
    // Percent-encoding makes a URL longer.
    if url.as_str().len() > 3 * MAX_URL_LEN || !url.has_host() {
        return Err(Defect::LongUrl);
    }
    Ok(ResolvedAddress { url, is_relative })
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Joins a URL to its base. A host without a scheme counts as a host, not as a path.
fn join(text: &str, base: &Url) -> Result<Url, ParseError> {
    let host = text.split(['/', ':', '?', '#']).next().unwrap_or(text);
    let is_host = host.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("www."))
        || base.host_str().is_some_and(|it| it.eq_ignore_ascii_case(host));
    if is_host && !host.is_empty() {
        return Url::parse(&format!("{}://{text}", base.scheme()));
    }
    base.join(text)
}

fn is_host_and_port(text: &str, base: &Url) -> bool {
    let Some((host, port)) = text.split_once(':') else { return false };
    port.starts_with(|it: char| it.is_ascii_digit())
        && (host == "localhost" || base.host_str().is_some_and(|it| it.eq_ignore_ascii_case(host)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, Defect>) {
        let base = Url::parse("https://a.example/dir/map.xml").unwrap();
        let resolved = resolve(text, &base).map(|it| it.url.to_string());
        assert_eq!(resolved, expect.map(str::to_owned), "{text}");
    }

    #[test]
    fn urls_are_normalized() {
        check(" HTTPS://A.Example:443/x y#z ", Ok("https://a.example/x%20y"));
        check("http://user:secret@a.example/", Ok("http://a.example/"));
        check("https://bücher.example/ü", Ok("https://xn--bcher-kva.example/%C3%BC"));
        check("/x", Ok("https://a.example/x"));
        check("x?y", Ok("https://a.example/dir/x?y"));
        check("//b.example/x", Ok("https://b.example/x"));
        check("www.b.example/x", Ok("https://www.b.example/x"));
        check("a.example/x", Ok("https://a.example/x"));
        check("a.example:8080/x", Ok("https://a.example:8080/x"));
        check("mailto:a@b", Err(Defect::OtherScheme));
        check("javascript:void(0)", Err(Defect::OtherScheme));
        check("ftp://a.example/", Err(Defect::OtherScheme));
        check("http://", Err(Defect::NotAUrl));
        check("https://a b/", Err(Defect::NotAUrl));
        check("  ", Err(Defect::NoUrl));
        check(&format!("https://a.example/{}", "x".repeat(2048)), Err(Defect::LongUrl));
        check("https://a.example/\u{fffd}", Err(Defect::NotAUrl));
    }
}
