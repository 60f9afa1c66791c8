//! Matches text against patterns in which `*` stands for any run of bytes.

use memchr::memmem;

/// True if `pattern` matches all of `text`, or a prefix of it if `prefix` is set.
///
/// Takes linear time in both, whatever they contain: each literal part is matched at its first
/// occurrence, which is never worse than a later one.
pub(crate) fn matches(pattern: &[u8], text: &[u8], prefix: bool) -> bool {
    let mut parts = pattern.split(|&byte| byte == b'*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(mut part) = parts.next() else { return prefix || rest.is_empty() };
    for next in parts {
        match memmem::find(rest, part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
        part = next;
    }
    if prefix { memmem::find(rest, part).is_some() } else { rest.ends_with(part) }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[track_caller]
    fn check(pattern: &str, text: &str, whole: bool, prefix: bool) {
        let matches = |prefix| matches(pattern.as_bytes(), text.as_bytes(), prefix);
        assert_eq!((matches(false), matches(true)), (whole, prefix), "{pattern} on {text}");
    }

    #[test]
    fn a_star_matches_any_run() {
        check("", "", true, true);
        check("", "a", false, true);
        check("a", "", false, false);
        check("*", "", true, true);
        check("a*", "abc", true, true);
        check("a*c", "abc", true, true);
        check("a*c", "abcd", false, true);
        check("a*b*c", "axbxbxc", true, true);
        check("a*b*c", "acb", false, false);
        check("*.html", "/x.html.html", true, true);
        check("ab*ba", "aba", false, false);
        check("**a**", "xay", true, true);
    }
}
