//! Reader of lines, for formats with one row per line.

use std::io::Read;

use crate::error::TableError;
use crate::text::Window;

/// Lines of a text, without their ends.
pub(crate) struct Lines<R> {
    window: Window<R>,
    line: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R, file: &str) -> Result<Self, TableError> {
        let mut window = Window::new(reader, file);
        window.skip_mark()?;
        Ok(Self { window, line: 0 })
    }

    /// Returns the next line that is not blank, with its number from 1.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &str)>, TableError> {
        loop {
            let (length, taken) = loop {
                let rest = self.window.rest();
                if let Some(end) = memchr::memchr(b'\n', rest.as_bytes()) {
                    break (end, end + 1);
                }
                if self.window.ended() {
                    if rest.is_empty() {
                        return Ok(None);
                    }
                    break (rest.len(), rest.len());
                }
                self.window.more(self.line + 1)?;
            };
            self.line += 1;
            let start = self.window.position();
            self.window.take(taken);
            let blank = self.window.taken(start, start + length).trim_ascii().is_empty();
            if !blank {
                let line = self.window.taken(start, start + length);
                return Ok(Some((self.line, line.strip_suffix('\r').unwrap_or(line))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[u8], expect: &[(u64, &str)], end: Option<&str>) {
        let mut got: Vec<(u64, String)> = Vec::new();
        let mut collect = || -> Result<(), TableError> {
            let mut lines = Lines::new(text, "f")?;
            while let Some((number, line)) = lines.next()? {
                got.push((number, line.to_owned()));
            }
            Ok(())
        };
        let error = collect().err().map(|error| error.to_string());
        let got: Vec<(u64, &str)> = got.iter().map(|(n, line)| (*n, line.as_str())).collect();
        assert_eq!((got.as_slice(), error.as_deref()), (expect, end));
    }

    #[test]
    fn lines_are_numbered_as_an_editor_does() {
        check(b"", &[], None);
        check(b"\n \n\r\n", &[], None);
        check(b"\xEF\xBB\xBFa\n\nb\r\nc", &[(1, "a"), (3, "b"), (4, "c")], None);
    }

    #[test]
    fn lines_before_a_byte_that_is_no_text_are_still_read() {
        check(b"a\nb\xFF\nc\n", &[(1, "a")], Some("f:2: not UTF-8"));
        check(b"a\n\nb\xC3", &[(1, "a")], Some("f:3: not UTF-8"));
    }

    #[test]
    fn an_endless_line_is_refused_before_it_fills_the_memory() {
        let endless = std::io::repeat(b'x');
        let mut lines = Lines::new(endless, "f").unwrap();
        let error = lines.next().unwrap_err();
        assert_eq!(error.to_string(), "f:1: a row of more than 16 MiB");
    }
}
