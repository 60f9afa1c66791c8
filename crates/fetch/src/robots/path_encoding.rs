//! Normalizes paths for comparison (RFC 9309 §2.2.2): percent-encodes bytes outside of ASCII and
//! those that a URI must not contain, decodes unreserved characters, and writes hexadecimal digits
//! in upper case.

/// Normalizes a path with its query. `*` and `$` are literal in it, so they are encoded.
pub(super) fn normalize_path(path: &[u8]) -> Vec<u8> {
    normalize(path, |byte| !matches!(byte, b'*' | b'$'))
}

/// Normalizes a pattern without its final `$`. `*` is a wildcard in it.
pub(super) fn normalize_pattern(pattern: &[u8]) -> Vec<u8> {
    normalize(pattern, |byte| byte != b'$')
}

fn normalize(octets: &[u8], keep: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(octets.len());
    let mut at = 0;
    while at < octets.len() {
        let byte = octets[at];
        at += 1;
        if byte == b'%' {
            match octets
                .get(at..at + 2)
                .and_then(|digits| Some((hex_value(digits[0])?, hex_value(digits[1])?)))
            {
                Some((high, low)) => {
                    at += 2;
                    let byte = high << 4 | low;
                    if is_unreserved(byte) {
                        out.push(byte)
                    } else {
                        percent_encode(byte, &mut out)
                    }
                }
                None => percent_encode(b'%', &mut out),
            }
        } else if (is_unreserved(byte) || is_reserved(byte)) && keep(byte) {
            out.push(byte);
        } else {
            percent_encode(byte, &mut out);
        }
    }
    out
}

fn percent_encode(byte: u8, out: &mut Vec<u8>) {
    let digit = |half: u8| b"0123456789ABCDEF"[usize::from(half & 15)];
    out.extend([b'%', digit(byte >> 4), digit(byte)]);
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// RFC 3986 §2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// RFC 3986 §2.2.
fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_normal_form() {
        for (path, expect) in [
            ("/a%7eb%7E", "/a~b~"),
            ("/%2f%2F/", "/%2F%2F/"),
            ("/ツ", "/%E3%83%84"),
            ("/%e3%83%84", "/%E3%83%84"),
            ("/a*b$", "/a%2Ab%24"),
            ("/100%", "/100%25"),
            ("/%zz%4", "/%25zz%254"),
            ("/a b\"", "/a%20b%22"),
            ("/%61%41", "/aA"),
        ] {
            assert_eq!(String::from_utf8(normalize_path(path.as_bytes())).unwrap(), expect);
        }
        assert_eq!(normalize_pattern(b"/a*b$c"), b"/a*b%24c");
    }
}
