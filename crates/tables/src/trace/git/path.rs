//! Paths as text.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns a path as text, injectively: invalid bytes become U+FFFD and two hexadecimal digits,
/// and so does U+FFFD itself.
pub(super) fn readable(path: &[u8]) -> Cow<'_, str> {
    const MARK: char = char::REPLACEMENT_CHARACTER;
    match std::str::from_utf8(path) {
        Ok(text) if !text.contains(MARK) => Cow::Borrowed(text),
        _ => {
            let mut text = String::new();
            let mark = |text: &mut String, bytes: &[u8]| {
                for byte in bytes {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "{MARK}{byte:02X}");
                }
            };
            for chunk in path.utf8_chunks() {
                for char in chunk.valid().chars() {
                    match char {
                        MARK => mark(&mut text, MARK.encode_utf8(&mut [0; 4]).as_bytes()),
                        char => text.push(char),
                    }
                }
                mark(&mut text, chunk.invalid());
            }
            Cow::Owned(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        assert_eq!(readable("é.txt".as_bytes()), "é.txt");
        assert_eq!(readable(b"caf\xE9.txt"), "caf\u{fffd}E9.txt");
        assert_eq!(readable("\u{fffd}E9".as_bytes()), "\u{fffd}EF\u{fffd}BF\u{fffd}BDE9");
    }

    proptest! {
        #[test]
        fn different_paths_have_different_names(
            a in prop::collection::vec(prop::sample::select(&b"\xEF\xBF\xBD\xE9EBFD9"[..]), 0..9),
            b in prop::collection::vec(prop::sample::select(&b"\xEF\xBF\xBD\xE9EBFD9"[..]), 0..9),
        ) {
            prop_assert_eq!(a == b, readable(&a) == readable(&b));
        }
    }
}
