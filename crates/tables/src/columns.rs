//! Builder of a table of sources, cell by cell.

use freshet_model::{HostColumn, PackedStrings, SourceTable};

use crate::column::Column;
use crate::error::{Fault, Place, Position, Quoted, TableError};
use crate::names::{Names, Same};
use crate::value::{self, Range};

/// Builder of a table of sources. [`Columns::end_row`] completes a row;
/// missing cells then take their defaults.
#[derive(Default)]
pub(crate) struct Columns {
    rows: usize,
    ids: Option<Names>,
    importance: Option<Vec<f64>>,
    change_rate: Option<Vec<f64>>,
    complete: Option<Vec<bool>>,
    cost: Option<Vec<f64>>,
    min_rate: Option<Vec<f64>>,
    max_rate: Option<Vec<f64>>,
    hosts: Option<(Names, Vec<u32>)>,
    /// Ids of a table that is read in pieces: duplicates and missing change rates are allowed.
    loose: Option<PackedStrings>,
}

/// Error of a cell, before its row is mapped to a position.
#[derive(Debug)]
pub(crate) enum Refused {
    Fault(Column, Fault),
    /// The second row has the id of the first.
    Duplicate {
        id: Quoted,
        first: usize,
        second: usize,
    },
    TooMany,
}

impl Refused {
    /// Returns the error to report; `position` maps a row to its position in the file.
    #[cold]
    pub(crate) fn at(
        self,
        file: &str,
        here: Position,
        position: impl Fn(usize) -> Position,
    ) -> TableError {
        let (column, fault, here) = match self {
            Self::Fault(column, fault) => (column, fault, here),
            Self::Duplicate { id: value, first, second } => {
                let fault = Fault::Duplicate { value, first: position(first) };
                (Column::Id, fault, position(second))
            }
            Self::TooMany => return TableError::TooManySources { file: file.to_owned() },
        };
        let at = Place { file: file.to_owned(), position: here };
        TableError::Value { at, column: column.name(), fault }
    }
}

/// Name of the host of a source without a host.
const NO_HOST: &str = "";

const fn range(column: Column) -> Range {
    match column {
        Column::Cost => Range::Positive,
        Column::MaxRate => Range::Limit,
        _ => Range::NotNegative,
    }
}

const fn default(column: Column) -> Option<f64> {
    match column {
        Column::Importance | Column::Cost => Some(1.0),
        Column::MinRate => Some(0.0),
        Column::MaxRate => Some(f64::INFINITY),
        _ => None,
    }
}

impl Columns {
    /// Creates an empty table with the given columns.
    pub(crate) fn with(columns: impl IntoIterator<Item = Column>) -> Self {
        let mut all = Self::default();
        for column in columns {
            match column {
                Column::Id => all.ids = Some(Names::new()),
                Column::Complete => all.complete = Some(Vec::new()),
                Column::Host => all.hosts = Some((Names::new(), Vec::new())),
                _ => *all.numbers(column) = Some(Vec::new()),
            }
        }
        all
    }

    /// Creates an empty table for reading in pieces.
    pub(crate) fn loose(columns: impl IntoIterator<Item = Column>) -> Self {
        let mut all = Self { loose: Some(PackedStrings::new()), ..Self::default() };
        for column in columns {
            match column {
                Column::Id | Column::Host => {}
                Column::Complete => all.complete = Some(Vec::new()),
                _ => *all.numbers(column) = Some(Vec::new()),
            }
        }
        all
    }

    /// Returns the complete rows and discards the cells of an incomplete one.
    pub(crate) fn take(&mut self) -> SourceTable {
        self.undo_row();
        let mut columns = vec![];
        columns.extend(self.complete.is_some().then_some(Column::Complete));
        columns.extend(Column::NUMBERS.into_iter().filter(|it| self.numbers(*it).is_some()));
        std::mem::replace(self, Self::loose(columns)).into_table()
    }

    /// Discards the cells of an incomplete row.
    fn undo_row(&mut self) {
        self.undo_to(self.rows);
    }

    /// Truncates the table to its first rows.
    pub(crate) fn undo_to(&mut self, rows: usize) {
        self.rows = rows;
        if let Some(ids) = &mut self.loose {
            ids.truncate(rows);
        }
        if let Some(cells) = &mut self.complete {
            cells.truncate(rows);
        }
        for column in Column::NUMBERS {
            if let Some(cells) = self.numbers(column) {
                cells.truncate(rows);
            }
        }
    }

    /// Number of complete rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds the column; earlier rows have its default value.
    pub(crate) fn declare(&mut self, column: Column) -> Result<(), Refused> {
        let rows = self.rows;
        match column {
            Column::Id | Column::Host if self.loose.is_some() => {}
            Column::Id if self.ids.is_none() => {
                let ids = self.ids.insert(Names::new());
                for row in 0..rows {
                    push_id(ids, &(row + 1).to_string())?;
                }
            }
            Column::Host if self.hosts.is_none() => {
                self.hosts = Some((Names::new(), Vec::with_capacity(rows)));
                for _ in 0..rows {
                    self.push_host(NO_HOST);
                }
            }
            Column::Complete => {
                self.complete.get_or_insert_with(|| vec![false; rows]);
            }
            Column::Id | Column::Host => {}
            _ => {
                let missing = if self.loose.is_some() { f64::NAN } else { 0.0 };
                let fill = default(column).unwrap_or(missing);
                self.numbers(column).get_or_insert_with(|| vec![fill; rows]);
            }
        }
        Ok(())
    }

    /// Returns a cell as text, as in CSV; an empty one is a missing one.
    #[inline]
    pub(crate) fn push_text(&mut self, column: Column, text: &str) -> Result<(), Refused> {
        if text.is_empty() {
            return self.push_missing(column);
        }
        let pushed = match column {
            Column::Id | Column::Host => return self.push_name(column, text),
            Column::Complete => {
                value::parse_bool(text).map(|value| push(&mut self.complete, value))
            }
            _ => value::parse(text, range(column)).map(|value| push(self.numbers(column), value)),
        };
        pushed.or_else(|fault| {
            if text.trim().is_empty() {
                self.push_missing(column)
            } else {
                Err(Refused::Fault(column, fault))
            }
        })
    }

    /// Returns a cell as a number.
    #[inline]
    pub(crate) fn push_number(&mut self, column: Column, number: f64) -> Result<(), Refused> {
        let refuse = |fault| Refused::Fault(column, fault);
        match column {
            Column::Id | Column::Host => Err(refuse(Fault::NotAName(Quoted::number(number)))),
            Column::Complete => {
                push(&mut self.complete, value::check_bool(number).map_err(refuse)?);
                Ok(())
            }
            _ => {
                let value = value::check(number, range(column)).map_err(refuse)?;
                push(self.numbers(column), value);
                Ok(())
            }
        }
    }

    pub(crate) fn push_bool(&mut self, value: bool) {
        push(&mut self.complete, value);
    }

    /// Returns the text of an id or a host.
    #[inline]
    pub(crate) fn push_name(&mut self, column: Column, text: &str) -> Result<(), Refused> {
        if text.is_empty() {
            return self.push_missing(column);
        }
        if column == Column::Id {
            if let Some(ids) = &mut self.loose {
                ids.push(text);
                return Ok(());
            }
            return self.ids.as_mut().map_or(Ok(()), |ids| push_id(ids, text));
        }
        self.push_host(text);
        Ok(())
    }

    #[inline]
    fn push_host(&mut self, name: &str) {
        if let Some((names, of_source)) = &mut self.hosts {
            let (Ok(number) | Err(number)) = names.insert(name);
            of_source.push(number);
        }
    }

    /// Returns a cell without a value.
    #[cold]
    pub(crate) fn push_missing(&mut self, column: Column) -> Result<(), Refused> {
        match column {
            Column::Id => {
                if let Some(ids) = &mut self.loose {
                    ids.push("");
                }
                self.ids.as_mut().map_or(Ok(()), |ids| push_id(ids, &(ids.len() + 1).to_string()))
            }
            Column::Complete => {
                push(&mut self.complete, false);
                Ok(())
            }
            Column::Host => {
                self.push_host(NO_HOST);
                Ok(())
            }
            _ => {
                // A missing change rate is NaN where it is optional.
                let value = default(column).or(self.loose.as_ref().map(|_| f64::NAN));
                let value = value.ok_or(Refused::Fault(column, Fault::Missing))?;
                push(self.numbers(column), value);
                Ok(())
            }
        }
    }

    /// Completes a row; missing cells take their defaults.
    pub(crate) fn pad_row(&mut self) -> Result<(), Refused> {
        for column in Column::ALL {
            let given = match column {
                Column::Id => self
                    .loose
                    .as_ref()
                    .map(PackedStrings::len)
                    .or(self.ids.as_ref().map(Names::len)),
                Column::Complete => self.complete.as_ref().map(Vec::len),
                Column::Host => self.hosts.as_ref().map(|(_, of_source)| of_source.len()),
                _ => self.numbers(column).as_ref().map(Vec::len),
            };
            if given == Some(self.rows) {
                self.push_missing(column)?;
            }
        }
        if self.change_rate.is_none() && self.loose.is_none() {
            return Err(Refused::Fault(Column::ChangeRate, Fault::Missing));
        }
        self.end_row()
    }

    /// Completes a row in which every declared column has a cell.
    #[inline]
    pub(crate) fn end_row(&mut self) -> Result<(), Refused> {
        let row = self.rows;
        if let (Some(min), Some(max)) = (&self.min_rate, &self.max_rate)
            && let (Some(&min), Some(&max)) = (min.get(row), max.get(row))
            && max < min
        {
            let fault = Fault::BelowMinRate { max: Quoted::number(max), min: Quoted::number(min) };
            return Err(Refused::Fault(Column::MaxRate, fault));
        }
        if row + 1 >= u32::MAX as usize {
            return Err(Refused::TooMany);
        }
        self.rows += 1;
        Ok(())
    }

    /// Checks the ids of the last rows, which are checked in batches. Must be called
    /// before another error is reported, because a duplicate may precede it.
    pub(crate) fn settle(&mut self) -> Result<(), Refused> {
        let Some(ids) = &mut self.ids else {
            return Ok(());
        };
        ids.settle().map_err(|same| duplicate(ids, same))
    }

    pub(crate) fn into_table(self) -> SourceTable {
        let rows = self.rows;
        SourceTable {
            ids: self.loose.or(self.ids.map(Names::into_strings)),
            importance: self.importance.unwrap_or_else(|| vec![1.0; rows]),
            change_rate: self.change_rate.unwrap_or_else(|| vec![f64::NAN; rows]),
            observed: self.complete,
            cost: self.cost,
            min_rate: self.min_rate,
            max_rate: self.max_rate,
            hosts: self.hosts.map(|(names, of_source)| HostColumn {
                names: names.into_strings(),
                index_by_source: of_source,
            }),
        }
    }

    fn numbers(&mut self, column: Column) -> &mut Option<Vec<f64>> {
        match column {
            Column::Importance => &mut self.importance,
            Column::Cost => &mut self.cost,
            Column::MinRate => &mut self.min_rate,
            Column::MaxRate => &mut self.max_rate,
            _ => &mut self.change_rate,
        }
    }
}

fn push<T>(cells: &mut Option<Vec<T>>, value: T) {
    if let Some(cells) = cells {
        cells.push(value);
    }
}

#[inline]
fn push_id(ids: &mut Names, id: &str) -> Result<(), Refused> {
    ids.append(id).map_err(|same| duplicate(ids, same))
}

#[cold]
fn duplicate(ids: &Names, same: Same) -> Refused {
    let id = Quoted::new(ids.text(same.second));
    Refused::Duplicate { id, first: same.first as usize, second: same.second as usize }
}
