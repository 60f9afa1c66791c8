//! Records of separated cells, quoted as in RFC 4180.

use std::io::Read;

use csv_core::ReadRecordResult;

use crate::error::{Place, TableError};
use crate::text::{Window, line_ends};

/// Records of a text of separated values.
///
/// A record without quotes is split in place; one with quotes is parsed by `csv_core`.
/// Both give the same cells.
pub(crate) struct Records<R> {
    window: Window<R>,
    separator: u8,
    /// Line of the next record.
    line: u64,
    cells: Vec<(usize, usize)>,
    quoted: Quoted,
}

/// A record, with its cells as parts of a text.
pub(crate) struct Record<'a> {
    pub(crate) line: u64,
    text: &'a str,
    cells: &'a [(usize, usize)],
}

impl<'a> Record<'a> {
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns the cell at `place`, which must be below [`Record::len`].
    #[inline]
    pub(crate) fn cell(&self, place: usize) -> &'a str {
        let (start, end) = self.cells[place];
        &self.text[start..end]
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = &'a str> {
        let text = self.text;
        self.cells.iter().map(move |&(start, end)| &text[start..end])
    }
}

/// End of a record, and start of the next one.
enum Found {
    Plain { length: usize, taken: usize },
    Quoted,
    End,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(reader: R, file: &str, separator: u8) -> Result<Self, TableError> {
        Self::over(Window::new(reader, file), separator)
    }

    fn over(mut window: Window<R>, separator: u8) -> Result<Self, TableError> {
        window.skip_mark()?;
        let quoted = Quoted::new(separator);
        Ok(Self { window, separator, line: 1, cells: Vec::new(), quoted })
    }

    /// Returns the next record that is not an empty line.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, TableError> {
        loop {
            match self.find()? {
                Found::End => return Ok(None),
                Found::Quoted => return self.take_quoted().map(Some),
                Found::Plain { length: 0, taken } => {
                    self.window.take(taken);
                    self.line += 1;
                }
                Found::Plain { length, taken } => return Ok(Some(self.take_plain(length, taken))),
            }
        }
    }

    fn find(&mut self) -> Result<Found, TableError> {
        loop {
            let rest = self.window.rest().as_bytes();
            match memchr::memchr3(b'\n', b'\r', b'"', rest) {
                Some(at) if rest[at] == b'"' => return Ok(Found::Quoted),
                Some(at) if rest[at] == b'\n' => {
                    return Ok(Found::Plain { length: at, taken: at + 1 });
                }
                // A carriage return ends a record with or without a line feed.
                Some(at) if at + 1 < rest.len() || self.window.ended() => {
                    let taken = at + 1 + usize::from(rest.get(at + 1) == Some(&b'\n'));
                    return Ok(Found::Plain { length: at, taken });
                }
                None if self.window.ended() => {
                    let length = rest.len();
                    let end = Found::Plain { length, taken: length };
                    return Ok(if length == 0 { Found::End } else { end });
                }
                _ => self.window.more(self.line)?,
            }
        }
    }

    fn take_plain(&mut self, length: usize, taken: usize) -> Record<'_> {
        let start = self.window.position();
        let text = &self.window.rest().as_bytes()[..length];
        self.cells.clear();
        let mut from = 0;
        for at in memchr::memchr_iter(self.separator, text) {
            self.cells.push((from, at));
            from = at + 1;
        }
        self.cells.push((from, length));
        let line = self.line;
        self.line += 1;
        self.window.take(taken);
        Record { line, text: self.window.taken(start, start + length), cells: &self.cells }
    }

    #[cold]
    fn take_quoted(&mut self) -> Result<Record<'_>, TableError> {
        let taken = loop {
            let ended = self.window.ended();
            let rest = self.window.rest().as_bytes();
            if let Some(taken) = self.quoted.read(rest, ended) {
                // A line feed may follow the carriage return.
                if ended || taken < rest.len() || rest.last() != Some(&b'\r') {
                    break taken
                        + usize::from(
                            rest.get(taken - 1) == Some(&b'\r') && rest.get(taken) == Some(&b'\n'),
                        );
                }
            } else if ended {
                return Err(TableError::UnclosedQuote {
                    at: Place::line(self.window.file(), self.line),
                });
            }
            self.window.more(self.line)?;
        };
        let line = self.line;
        self.line += line_ends(&self.window.rest().as_bytes()[..taken]);
        self.window.take(taken);
        self.cells.clear();
        let mut from = 0;
        for &end in self.quoted.ends() {
            self.cells.push((from, end));
            from = end;
        }
        // Text without its quotes is still valid text.
        let text = std::str::from_utf8(&self.quoted.output[..from]).unwrap_or_default();
        Ok(Record { line, text, cells: &self.cells })
    }
}

/// Parser for records with quotes, and its output.
struct Quoted {
    automaton: csv_core::Reader,
    output: Vec<u8>,
    ends: Vec<usize>,
    cells: usize,
}

impl Quoted {
    fn new(separator: u8) -> Self {
        let automaton = csv_core::ReaderBuilder::new().delimiter(separator).build();
        Self { automaton, output: vec![0; 1024], ends: vec![0; 16], cells: 0 }
    }

    fn ends(&self) -> &[usize] {
        &self.ends[..self.cells]
    }

    /// Parses one record at the start of `rest`. Returns its length in bytes, or `None` if it
    /// does not end in `rest`.
    fn read(&mut self, rest: &[u8], ended: bool) -> Option<usize> {
        self.automaton.reset();
        // The parser drops a byte order mark at the start of its input; this is not the start.
        self.automaton.read_record(b"\n", &mut self.output, &mut self.ends);
        self.cells = 0;
        let (mut taken, mut written) = (0, 0);
        loop {
            let input = if taken < rest.len() {
                &rest[taken..]
            } else if ended && taken == rest.len() {
                // A record at the very end needs no line end, unless a quote is still open.
                b"\n"
            } else {
                return None;
            };
            let (result, read, wrote, cells) = self.automaton.read_record(
                input,
                &mut self.output[written..],
                &mut self.ends[self.cells..],
            );
            taken += read;
            written += wrote;
            self.cells += cells;
            match result {
                ReadRecordResult::Record => return Some(taken.min(rest.len())),
                ReadRecordResult::OutputFull => self.output.resize(self.output.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::CHUNK;

    type Rows = Vec<(u64, Vec<String>)>;

    fn ours(text: &[u8], chunk: usize) -> (Rows, Option<String>) {
        let mut rows = Rows::new();
        let mut collect = || -> Result<(), TableError> {
            let mut records = Records::over(Window::with_chunk(text, "f", chunk), b',')?;
            while let Some(record) = records.next()? {
                rows.push((record.line, record.cells().map(str::to_owned).collect()));
            }
            Ok(())
        };
        let error = collect().err().map(|error| error.to_string());
        (rows, error)
    }

    fn theirs(text: &[u8]) -> Vec<Vec<String>> {
        csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text)
            .into_records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect()
    }

    #[track_caller]
    fn check(text: &str, expect: &[(u64, &[&str])], end: Option<&str>) {
        for chunk in [1, 2, 3, 1 << 20] {
            let (rows, error) = ours(text.as_bytes(), chunk);
            let rows: Vec<(u64, Vec<&str>)> = rows
                .iter()
                .map(|(line, cells)| (*line, cells.iter().map(String::as_str).collect()))
                .collect();
            let rows: Vec<(u64, &[&str])> =
                rows.iter().map(|(line, cells)| (*line, cells.as_slice())).collect();
            assert_eq!((rows.as_slice(), error.as_deref()), (expect, end));
        }
    }

    #[test]
    fn lines_are_counted_through_quotes_blank_lines_and_every_line_end() {
        check(
            "\u{feff}a,b\r\n\r\n\"1\r\n2\",3\n\n4,5",
            &[(1, &["a", "b"]), (3, &["1\r\n2", "3"]), (6, &["4", "5"])],
            None,
        );
        check("a\rb\r\"c\"\r\nd", &[(1, &["a"]), (2, &["b"]), (3, &["c"]), (4, &["d"])], None);
        check("a,,\n,\n", &[(1, &["a", "", ""]), (2, &["", ""])], None);
        check("\"a\"\"b\",\"\"\n", &[(1, &["a\"b", ""])], None);
    }

    #[test]
    fn an_open_quote_is_named_where_it_opens() {
        check(
            "a,b\n1,\"2\n3,4\n",
            &[(1, &["a", "b"])],
            Some("f:2: a quote is opened here and not closed"),
        );
        check("\"a", &[], Some("f:1: a quote is opened here and not closed"));
    }

    #[test]
    fn records_longer_than_the_window_are_whole() {
        let long = "x\n,".repeat(400_000);
        let text = format!("a,b\n\"{long}\",1\r\n2,3\n");
        let (rows, _) = ours(text.as_bytes(), CHUNK);
        assert_eq!(rows[1], (2, vec![long, "1".to_owned()]));
        assert_eq!(rows[2], (400_003, vec!["2".to_owned(), "3".to_owned()]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_same_cells_as_the_csv_crate(text in "[ab,\"\r\n é\u{feff}]{0,60}", chunk in 1usize..9) {
            let (rows, error) = ours(text.as_bytes(), chunk);
            prop_assert_eq!((&rows, &error), (&ours(text.as_bytes(), 1 << 20).0, &error));
            let cells: Vec<Vec<String>> = rows.into_iter().map(|(_, cells)| cells).collect();
            let mut expect = theirs(text.as_bytes());
            // The reference reader closes an open quote at the end; this one returns an error.
            if error.is_some() {
                expect.pop();
            }
            prop_assert_eq!(cells, expect);
        }
    }
}
