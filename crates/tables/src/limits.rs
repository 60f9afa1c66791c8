//! Limits of fetches per host.

use std::path::Path;

use freshet_model::{InvalidRate, PerDay};

use crate::error::{Fault, Place, Position, Quoted, TableError};
use crate::format::Format;
use crate::header::Layout;
use crate::input::Source;
use crate::names::Names;
use crate::text::line_map::LineMap;
use crate::text::records::Records;
use crate::value::{self, Range};

const HOST: &str = "host";
const LIMIT: &str = "limit";

/// Reads host limits: CSV or TSV with the columns `host` and `limit`. A limit is a
/// rate such as `1/s` or `500/day`, or a number of fetches per day.
///
/// # Errors
/// Returns the first error in the table, including a duplicate host.
pub fn read_host_limits(path: &Path) -> Result<Vec<(String, PerDay)>, TableError> {
    let Format::Separated { separator, gzip } = Format::of(path)? else {
        return Err(TableError::UnknownFormat { path: path.to_owned() });
    };
    let file = path.display().to_string();
    let mut records = Records::new(Source::open(path, gzip)?, &file, separator)?;
    let Some(header) = records.next()? else {
        return Err(TableError::Empty { file });
    };
    let layout = Layout::of(&file, header.cells(), [HOST, LIMIT], 2, false)?;
    let mut limits = Vec::new();
    let mut hosts = Names::new();
    let mut lines = LineMap::default();
    while let Some(record) = records.next()? {
        let [name, text] = layout.cells(&file, &record)?;
        lines.note(limits.len(), record.line);
        let checked = match hosts.insert(name) {
            _ if name.is_empty() => Err((HOST, Fault::Missing)),
            Err(first) => {
                let first = Position::Line(lines.line(first as usize));
                Err((HOST, Fault::Duplicate { value: Quoted::new(name), first }))
            }
            Ok(_) => parse_limit(text).map_err(|fault| (LIMIT, fault)),
        };
        let limit = checked.map_err(|(column, fault)| {
            let at = Place::line(&file, record.line);
            TableError::Value { at, column, fault }
        })?;
        limits.push((name.to_owned(), limit));
    }
    Ok(limits)
}

fn parse_limit(text: &str) -> Result<PerDay, Fault> {
    let quoted = || Quoted::new(text);
    let text = text.trim();
    if text.is_empty() {
        return Err(Fault::Missing);
    }
    let rate = match text.parse::<PerDay>() {
        Err(InvalidRate::Malformed(_)) => match value::parse(text, Range::NotNegative) {
            Err(Fault::NotANumber(value)) => return Err(Fault::NotARate(value)),
            plain => plain?,
        },
        Err(InvalidRate::Negative(_)) => return Err(Fault::Negative(quoted())),
        Err(InvalidRate::NotFinite(_)) => return Err(Fault::NotFinite(quoted())),
        Ok(rate) => {
            value::check(rate.get(), Range::NotNegative).map_err(|_| Fault::OutOfRange(quoted()))?
        }
    };
    PerDay::new(rate).map_err(|_| Fault::NotARate(quoted()))
}
