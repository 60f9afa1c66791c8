//! PDF: bytes, without what a new copy of the same pages has of its own.
//!
//! The text is not taken out: the libraries for it end a program on files that are not as they
//! should be, and a hostile one can be made to.

use memchr::memmem;

/// What stands before a value that each copy has of its own, and what ends it.
const PASSING: [(&[u8], u8); 8] = [
    (b"/CreationDate", b')'),
    (b"/ModDate", b')'),
    (b"/ID", b']'),
    (b"<xmp:CreateDate>", b'<'),
    (b"<xmp:ModifyDate>", b'<'),
    (b"<xmp:MetadataDate>", b'<'),
    (b"<xmpMM:DocumentID>", b'<'),
    (b"<xmpMM:InstanceID>", b'<'),
];

/// Longer values are something else.
const LONGEST: usize = 200;

/// The parts of a file that a copy made again would have too.
pub(crate) fn lasting(bytes: &[u8]) -> Vec<&[u8]> {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for (mark, end) in PASSING {
        for at in memmem::find_iter(bytes, mark) {
            let from = at + mark.len();
            let value = &bytes[from..bytes.len().min(from + LONGEST)];
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
        assert_eq!(lasting(file.as_bytes()).concat(), expect.as_bytes());
    }

    #[test]
    fn dates_and_numbers_of_a_copy() {
        check("a /CreationDate (D:2026) b /ID [<1><2>] c", "a /CreationDate) b /ID] c");
        check("/ID no end", "/ID no end");
        check("/ID /ID ]x", "/ID]x");
        check("", "");
    }
}
