//! PDF as bytes, without the dates and identifiers that differ between copies.
//!
//! The text is not extracted: the libraries for it panic or abort on malformed files, so a hostile
//! file could end the program.

use memchr::memmem;

/// The start and the last byte of each field that differs between copies.
const VOLATILE_FIELDS: [(&[u8], u8); 8] = [
    (b"/CreationDate", b')'),
    (b"/ModDate", b')'),
    (b"/ID", b']'),
    (b"<xmp:CreateDate>", b'<'),
    (b"<xmp:ModifyDate>", b'<'),
    (b"<xmp:MetadataDate>", b'<'),
    (b"<xmpMM:DocumentID>", b'<'),
    (b"<xmpMM:InstanceID>", b'<'),
];

/// Longer values are not such a field, in bytes.
const MAX_VALUE_LEN: usize = 200;

/// Returns the parts of a file that are the same in every copy.
pub(crate) fn stable_parts(bytes: &[u8]) -> Vec<&[u8]> {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for (mark, end) in VOLATILE_FIELDS {
        for at in memmem::find_iter(bytes, mark) {
            let from = at + mark.len();
            let value = &bytes[from..bytes.len().min(from + MAX_VALUE_LEN)];
            if let Some(length) = value.iter().position(|it| *it == end) {
                cuts.push((from, from + length));
            }
        }
    }
    cuts.sort_unstable();
    let (mut parts, mut at) = (Vec::new(), 0);
    for (from, to) in cuts {
        if from >= at {
            parts.push(&bytes[at..from]);
        }
        at = at.max(to);
    }
    parts.push(&bytes[at..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expect: &str) {
        assert_eq!(stable_parts(file.as_bytes()).concat(), expect.as_bytes());
    }

    #[test]
    fn dates_and_identifiers_are_removed() {
        check("a /CreationDate (D:2026) b /ID [<1><2>] c", "a /CreationDate) b /ID] c");
        check("/ID no end", "/ID no end");
        check("/ID /ID ]x", "/ID]x");
        check("", "");
    }
}
