//! The page file: life of each page.

use freshet_model::{ChangeTrace, TimeRange};

use crate::error::{Fault, Place, Position, Quoted, TableError};
use crate::input::Input;
use crate::names::Names;
use crate::text::line_map::LineMap;
use crate::trace::sheet::Sheet;
use crate::trace::{BIRTH, COUNT, END, PAGE, PATH};
use crate::value::{self, Range};

/// Pages of a trace, in the order of the page file.
pub(super) struct Pages {
    file: String,
    keys: Names,
    /// Names other than the keys, if the file has them.
    paths: Option<Names>,
    lives: Vec<TimeRange>,
    /// Number of changes according to the file; NaN if missing.
    counts: Vec<f64>,
    lines: LineMap,
}

/// Error of a change of a page.
pub(super) enum Misfit {
    Page(Fault),
    Time(Fault),
}

const KNOWN: [&str; 5] = [PAGE, BIRTH, END, COUNT, PATH];
const REQUIRED: usize = 3;
const PAGE_AT: usize = 0;
const BIRTH_AT: usize = 1;
const END_AT: usize = 2;
const COUNT_AT: usize = 3;
const PATH_AT: usize = 4;

impl Pages {
    pub(super) fn read(input: &Input, ignore_extra: bool) -> Result<Self, TableError> {
        let mut sheet = Sheet::open(input, KNOWN, REQUIRED, ignore_extra)?;
        let mut pages = Self {
            file: sheet.file.clone(),
            keys: Names::new(),
            paths: sheet.has(PATH_AT).then(Names::new),
            lives: Vec::new(),
            counts: Vec::new(),
            lines: LineMap::default(),
        };
        while let Some(row) = sheet.next()? {
            if pages.lives.len() == u32::MAX as usize {
                return Err(TableError::TooManySources { file: pages.file });
            }
            pages.lines.note(pages.lives.len(), row.line);
            let key = row.text(PAGE_AT)?;
            let seen = |value: &str, first: u32| {
                let first = Position::Line(pages.lines.line(first as usize));
                Fault::Duplicate { value: Quoted::new(value), first }
            };
            pages.keys.insert(key).map_err(|first| row.wrong(PAGE_AT, seen(key, first)))?;
            if let Some(paths) = &mut pages.paths {
                let path = match row.cell(PATH_AT) {
                    "" => key,
                    path => path,
                };
                paths.insert(path).map_err(|first| row.wrong(PATH_AT, seen(path, first)))?;
            }
            let life = TimeRange { start: row.time(BIRTH_AT)?, end: row.time(END_AT)? };
            if life.end < life.start {
                let value = Quoted::new(row.cell(END_AT));
                let birth = Quoted::new(row.cell(BIRTH_AT));
                return Err(row.wrong(END_AT, Fault::BeforeBirth { value, birth }));
            }
            pages.lives.push(life);
            pages.counts.push(match row.cell(COUNT_AT) {
                "" => f64::NAN,
                count => value::parse(count, Range::NotNegative)
                    .map_err(|fault| row.wrong(COUNT_AT, fault))?,
            });
        }
        if pages.lives.is_empty() {
            return Err(TableError::NoSources { file: pages.file });
        }
        Ok(pages)
    }

    /// Returns the number of a page that changed at `time`.
    #[inline]
    pub(super) fn changed(&self, page: &str, time: f64) -> Result<u32, Misfit> {
        let Some(number) = self.keys.get(page) else {
            let (value, pages) = (Quoted::new(page), self.file.clone());
            return Err(Misfit::Page(Fault::UnknownPage { value, pages }));
        };
        let TimeRange { start: birth, end } = self.lives[number as usize];
        let value = || Quoted::number(time);
        if time < birth {
            let birth = Quoted::number(birth);
            Err(Misfit::Time(Fault::BeforeBirth { value: value(), birth }))
        } else if time > end {
            let end = Quoted::number(end);
            Err(Misfit::Time(Fault::AfterEnd { value: value(), end }))
        } else {
            Ok(number)
        }
    }

    /// Returns the history if its number of changes matches the file.
    pub(super) fn with_changes(self, changes: &[(u32, f64)]) -> Result<ChangeTrace, TableError> {
        let names = self.paths.unwrap_or(self.keys);
        let history = ChangeTrace::new(names.into_strings(), self.lives, changes);
        for (page, &count) in self.counts.iter().enumerate() {
            let found = history.change_times(page).len();
            if count != found as f64 && !count.is_nan() {
                return Err(TableError::Value {
                    at: Place::line(&self.file, self.lines.line(page)),
                    column: COUNT,
                    fault: Fault::OtherCount { given: Quoted::number(count), found },
                });
            }
        }
        Ok(history)
    }
}
