//! Tables of sources as one JSON object a line.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use freshet_model::SourceTable;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::column::Column;
use crate::columns::{Columns, Refused};
use crate::error::{Fault, Place, Position, Quoted, TableError};
use crate::header;
use crate::input::{Gauge, Progress, REPORT_EVERY};
use crate::pieces::Pieces;
use crate::text::line_map::LineMap;
use crate::text::lines::Lines;

pub(crate) fn read(
    source: impl Read,
    gauge: &Gauge,
    file: &str,
    ignore_extra: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<SourceTable, TableError> {
    let mut lines = Lines::new(source, file)?;
    let row = Row { ignore_extra, given: Vec::new(), unknown: Vec::new(), problem: None };
    let mut rows = Rows { file, columns: Columns::default(), lines: LineMap::default(), row };
    let filled = rows.fill(&mut lines, &mut |rows| progress(gauge.progress(rows)));
    rows.columns.settle().map_err(|refused| rows.at(refused, 0))?;
    filled?;
    Ok(rows.columns.into_table())
}

pub(crate) fn stream(
    source: impl Read,
    file: &str,
    pieces: &mut Pieces<'_>,
) -> Result<(), TableError> {
    let mut lines = Lines::new(source, file)?;
    let row = Row { ignore_extra: true, given: Vec::new(), unknown: Vec::new(), problem: None };
    let columns = Columns::loose([]);
    let mut rows = Rows { file, columns, lines: LineMap::default(), row };
    while let Some((line, text)) = lines.next()? {
        let row = rows
            .add(line, text)
            .and_then(|()| rows.columns.pad_row().map_err(|refused| rows.at(refused, line)));
        if pieces.row(&mut rows.columns, row).is_break() {
            return Ok(());
        }
    }
    pieces.end(&mut rows.columns);
    Ok(())
}

struct Rows<'a> {
    file: &'a str,
    columns: Columns,
    lines: LineMap,
    row: Row,
}

impl Rows<'_> {
    fn fill(
        &mut self,
        lines: &mut Lines<impl Read>,
        report: &mut dyn FnMut(usize),
    ) -> Result<(), TableError> {
        while let Some((line, text)) = lines.next()? {
            self.lines.note(self.columns.rows(), line);
            self.add(line, text)?;
            self.columns.pad_row().map_err(|refused| self.at(refused, line))?;
            if self.columns.rows().is_multiple_of(REPORT_EVERY) {
                report(self.columns.rows());
            }
        }
        Ok(())
    }

    fn add(&mut self, line: u64, text: &str) -> Result<(), TableError> {
        let mut parser = serde_json::Deserializer::from_str(text);
        let parsed = Object { columns: &mut self.columns, row: &mut self.row }
            .deserialize(&mut parser)
            .and_then(|()| parser.end());
        let place = || Place::line(self.file, line);
        match self.row.problem.take() {
            Some(Problem::Refused(refused)) => return Err(self.at(refused, line)),
            Some(Problem::Twice(column)) => {
                let name = column.name().to_owned();
                return Err(TableError::DuplicateColumn { file: place().to_string(), name });
            }
            None => parsed.map_err(|error| json_error(&error, place()))?,
        }
        if self.row.unknown.is_empty() {
            return Ok(());
        }
        let names = std::mem::take(&mut self.row.unknown);
        Err(header::unknown_columns(&place().to_string(), names))
    }

    fn at(&self, refused: Refused, line: u64) -> TableError {
        let position = |row| Position::Line(self.lines.line(row));
        refused.at(self.file, Position::Line(line), position)
    }
}

fn json_error(error: &serde_json::Error, at: Place) -> TableError {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or_default().to_owned();
    TableError::Json { at, column: error.column(), message }
}

/// State of one line besides its cells.
struct Row {
    ignore_extra: bool,
    given: Vec<Column>,
    unknown: Vec<String>,
    problem: Option<Problem>,
}

enum Problem {
    Refused(Refused),
    Twice(Column),
}

/// Deserialises an object directly into the columns.
struct Object<'a> {
    columns: &'a mut Columns,
    row: &'a mut Row,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        self.row.given.clear();
        while let Some(key) = map.next_key_seed(Key)? {
            let value: &RawValue = map.next_value()?;
            let column = match key {
                Ok(column) => column,
                Err(_) if self.row.ignore_extra => continue,
                Err(name) => {
                    self.row.unknown.push(name);
                    continue;
                }
            };
            let problem = if self.row.given.contains(&column) {
                Some(Problem::Twice(column))
            } else {
                push(self.columns, column, value.get()).err().map(Problem::Refused)
            };
            if problem.is_some() {
                self.row.problem = problem;
                return Err(M::Error::custom("refused"));
            }
            self.row.given.push(column);
        }
        Ok(())
    }
}

/// A known column, or the name of an unknown one.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Result<Column, String>;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Result<Column, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Column::named(name).ok_or_else(|| name.to_owned()))
    }
}

/// One value as written.
fn push(columns: &mut Columns, column: Column, raw: &str) -> Result<(), Refused> {
    if raw == "null" {
        return Ok(());
    }
    columns.declare(column)?;
    let named = matches!(column, Column::Id | Column::Host);
    match raw.as_bytes().first() {
        Some(b'"') if named => match unescape(raw) {
            Some(text) => columns.push_name(column, &text),
            None => Err(Refused::Fault(column, Fault::NotAName(Quoted::new(raw)))),
        },
        Some(b'0'..=b'9' | b'-') if named && raw.parse::<i128>().is_ok() => {
            columns.push_name(column, raw)
        }
        Some(b't' | b'f') if column == Column::Complete => {
            columns.push_bool(raw == "true");
            Ok(())
        }
        Some(b'0'..=b'9' | b'-') if !named => columns.push_text(column, raw),
        _ => {
            let value = Quoted::new(raw);
            let fault = match column {
                Column::Id | Column::Host => Fault::NotAName(value),
                Column::Complete => Fault::NotABool(value),
                _ => Fault::NotANumber(value),
            };
            Err(Refused::Fault(column, fault))
        }
    }
}

fn unescape(raw: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        return raw.get(1..raw.len() - 1).map(Cow::Borrowed);
    }
    // A lone surrogate is the only escape without a character.
    serde_json::from_str(raw).ok().map(Cow::Owned)
}
