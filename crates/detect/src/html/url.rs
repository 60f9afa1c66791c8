//! Where a link leads, without what changes from visit to visit.

use super::entity::entity;

/// A URL without its fragment, the session in its path, and parameters that say who asks, or that
/// only keep caches away.
pub(crate) fn plain_url(url: &str) -> String {
    let url = decoded(url.trim());
    let url = url.split('#').next().unwrap_or_default();
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut plain = match path.to_ascii_lowercase().find(";jsessionid=") {
        Some(at) => path[..at].to_owned(),
        None => path.to_owned(),
    };
    let kept = query.split('&').filter(|it| !it.is_empty() && !is_passing(it));
    for (at, parameter) in kept.enumerate() {
        plain.push(if at == 0 { '?' } else { '&' });
        plain.push_str(parameter);
    }
    plain
}

fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        // In a URL, `&copy=1` is a parameter.
        let reference = rest[at + 1..].starts_with('#') || rest[at..].starts_with("&amp;");
        let (character, length) = if reference { entity(&rest[at..]) } else { ('&', 1) };
        out.push(character);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

/// Whether a parameter changes without the target changing.
fn is_passing(parameter: &str) -> bool {
    const PASSING: &[&str] = &[
        "_",
        "cb",
        "cachebuster",
        "cache",
        "csrf",
        "csrf_token",
        "fbclid",
        "gclid",
        "msclkid",
        "nonce",
        "phpsessid",
        "jsessionid",
        "rand",
        "rnd",
        "s_id",
        "session",
        "session_id",
        "sessionid",
        "sid",
        "t",
        "timestamp",
        "token",
        "ts",
        "v",
        "ver",
        "version",
    ];
    let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    name.starts_with("utm_") || PASSING.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_from_visit_to_visit_is_left_out() {
        assert_eq!(plain_url("/a?id=1&amp;sid=77&utm_source=x#top"), "/a?id=1");
        assert_eq!(plain_url("/a;jsessionid=1A?q=x"), "/a?q=x");
        assert_eq!(plain_url("/style.css?v=123"), "/style.css");
        assert_eq!(plain_url("/a?copy=1&copy=2"), "/a?copy=1&copy=2");
    }
}
