//! Canonical form of strings: only what needs an escape has one.

use std::fmt::Write;

/// Appends the string at an offset, and returns its end.
pub(crate) fn push_string(text: &str, at: usize, out: &mut String) -> Option<usize> {
    let bytes = text.as_bytes();
    out.push('"');
    let mut at = at + 1;
    let mut from = at;
    loop {
        let step = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..])?;
        at += step;
        out.push_str(&text[from..at]);
        if bytes[at] == b'"' {
            out.push('"');
            return Some(at + 1);
        }
        let (character, length) = parse_escape(text, at)?;
        push(character, out);
        at += length;
        from = at;
    }
}

/// Decodes an escape. Returns the character and the length of the escape.
fn parse_escape(text: &str, at: usize) -> Option<(char, usize)> {
    let simple = |character| Some((character, 2));
    match text.as_bytes().get(at + 1)? {
        b'"' => simple('"'),
        b'\\' => simple('\\'),
        b'/' => simple('/'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'u' => {
            let high = parse_code_unit(text, at)?;
            if (0xd800..0xdc00).contains(&high)
                && let Some(low) =
                    parse_code_unit(text, at + 6).filter(|it| (0xdc00..0xe000).contains(it))
            {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Some((char::from_u32(code)?, 12));
            }
            // An unpaired surrogate is not a character.
            Some((char::from_u32(high).unwrap_or('\u{fffd}'), 6))
        }
        _ => None,
    }
}

/// Parses `\uXXXX`.
fn parse_code_unit(text: &str, at: usize) -> Option<u32> {
    let rest = text.as_bytes().get(at..at + 6)?;
    let digits = rest.strip_prefix(b"\\u")?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn push(character: char, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\u{1f}' => {
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        }
        _ => out.push(character),
    }
}
