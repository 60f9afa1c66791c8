//! Row reader of a trace file.

use crate::error::{Fault, Place, Quoted, TableError};
use crate::header::Layout;
use crate::input::{Gauge, Input, Source};
use crate::text::records::Records;
use crate::trace::name::is_gzip;
use crate::value::{self, Range};

/// Latest accepted time, about thirty thousand years from now; times in milliseconds exceed it.
const LATEST: f64 = 1e12;

/// A table with `N` known columns.
pub(super) struct Sheet<const N: usize> {
    pub(super) file: String,
    pub(super) gauge: Gauge,
    known: [&'static str; N],
    layout: Layout<N>,
    records: Records<Source>,
}

/// A row; cells of missing columns are empty.
pub(super) struct Row<'a, const N: usize> {
    pub(super) line: u64,
    file: &'a str,
    known: &'a [&'static str; N],
    cells: [&'a str; N],
}

impl<const N: usize> Sheet<N> {
    /// The first `required` columns must exist.
    pub(super) fn open(
        input: &Input,
        known: [&'static str; N],
        required: usize,
        ignore_extra: bool,
    ) -> Result<Self, TableError> {
        let (source, file) = match input {
            Input::Stdin => (Source::stdin(), "standard input".to_owned()),
            Input::File(path) => (Source::open(path, is_gzip(path)?)?, path.display().to_string()),
            Input::Directory(path) => return Err(TableError::NotATrace { path: path.clone() }),
        };
        let gauge = source.gauge();
        let mut records = Records::new(source, &file, b',')?;
        let Some(names) = records.next()? else {
            return Err(TableError::Empty { file });
        };
        let layout = Layout::of(&file, names.cells(), known, required, ignore_extra)?;
        Ok(Self { file, gauge, known, layout, records })
    }

    pub(super) fn has(&self, column: usize) -> bool {
        self.layout.has(column)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Row<'_, N>>, TableError> {
        let Some(record) = self.records.next()? else {
            return Ok(None);
        };
        let cells = self.layout.cells(&self.file, &record)?;
        Ok(Some(Row { line: record.line, file: &self.file, known: &self.known, cells }))
    }
}

impl<'a, const N: usize> Row<'a, N> {
    pub(super) fn cell(&self, column: usize) -> &'a str {
        self.cells[column]
    }

    /// Returns a cell that must not be empty.
    pub(super) fn text(&self, column: usize) -> Result<&'a str, TableError> {
        match self.cells[column] {
            "" => Err(self.wrong(column, Fault::Missing)),
            text => Ok(text),
        }
    }

    /// Returns a cell that is a time.
    #[inline]
    pub(super) fn time(&self, column: usize) -> Result<f64, TableError> {
        time(self.text(column)?).map_err(|fault| self.wrong(column, fault))
    }

    #[cold]
    pub(super) fn wrong(&self, column: usize, fault: Fault) -> TableError {
        let at = Place::line(self.file, self.line);
        TableError::Value { at, column: self.known[column], fault }
    }
}

/// Seconds since 1970.
#[inline]
fn time(text: &str) -> Result<f64, Fault> {
    let digits = text.as_bytes();
    if (1..=12).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
        let number = digits.iter().fold(0, |number, digit| 10 * number + u64::from(digit - b'0'));
        return Ok(number as f64);
    }
    match value::parse(text, Range::NotNegative) {
        Ok(time) if time <= LATEST => Ok(time),
        Ok(_) => Err(Fault::TooLate(Quoted::new(text))),
        Err(Fault::OutOfRange(text)) => Err(Fault::TooLate(text)),
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<f64, &str>) {
        let got = time(text).map_err(|fault| fault.to_string());
        assert_eq!(got, expect.map_err(str::to_owned));
    }

    #[test]
    fn times_are_seconds() {
        check("0", Ok(0.0));
        check("1600205164", Ok(1_600_205_164.0));
        check("1600205164.25", Ok(1_600_205_164.25));
        check(" 1.5e9 ", Ok(1.5e9));
        check("1000000000000", Ok(1e12));
        check("1000000000001", Err("`1000000000001` is more than 1e12 seconds after 1970"));
        check("1600205164000", Err("`1600205164000` is more than 1e12 seconds after 1970"));
        check("1e99", Err("`1e99` is more than 1e12 seconds after 1970"));
        check("-1", Err("`-1` is negative"));
        check("NaN", Err("`NaN` is not a finite number"));
        check("inf", Err("`inf` is not a finite number"));
        check("2020-09-15", Err("`2020-09-15` is not a number"));
        check(" ", Err("` ` is not a number"));
    }
}
